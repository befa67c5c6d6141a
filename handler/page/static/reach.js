// reach: not built yet.
