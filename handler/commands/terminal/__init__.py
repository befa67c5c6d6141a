"""Command lines and what commands print: options, exit codes, lines and tables, progress, JSON documents."""
