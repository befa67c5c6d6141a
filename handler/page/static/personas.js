// personas: not built yet.
