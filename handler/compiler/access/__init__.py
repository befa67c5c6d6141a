"""Access rules, from policies and patterns to the masks of coordinates."""
