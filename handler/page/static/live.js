// live: not built yet.
