"""The context of a request: services, endpoint and caller, and responses to denied requests."""
