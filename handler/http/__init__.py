"""The HTTP client: addresses, connections, responses."""
