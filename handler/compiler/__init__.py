"""Deploy time: compile an endpoint folder to a bundle. ``server/`` never imports this package."""
