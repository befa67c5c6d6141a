// forms: not built yet.
