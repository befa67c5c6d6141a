// calls: not built yet.
