// schema: not built yet.
