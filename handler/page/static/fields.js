// fields: not built yet.
