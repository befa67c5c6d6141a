"""The cold start: code for speed alone. ``docs/design/speed.md`` has the gain of each part, and when it may go."""
