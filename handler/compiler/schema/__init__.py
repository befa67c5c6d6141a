"""The schema of the author: merged, mended, and indexed."""
