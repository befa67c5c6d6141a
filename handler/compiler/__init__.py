"""Deploy time: an endpoint folder in, a bundle out. Never imported by ``server/``."""
