"""One request in context: services, caller, denials."""
