"""A module that cannot be imported."""

raise RuntimeError("boom at /home/author")
