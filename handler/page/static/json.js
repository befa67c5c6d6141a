// json: not built yet.
