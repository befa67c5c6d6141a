// results: not built yet.
