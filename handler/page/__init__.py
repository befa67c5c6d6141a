"""The page: static files that show an endpoint's tools in a browser."""
