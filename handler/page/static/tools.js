// tools: not built yet.
