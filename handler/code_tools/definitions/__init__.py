"""The definition of a tool: its decorator, arguments, results, and the way to resume it."""
