"""The one HTTP client: addresses, connections, answers."""
