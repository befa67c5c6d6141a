"""A tool's list entry, as both halves read it: hints for hosts, arguments in headers, and sizes."""
