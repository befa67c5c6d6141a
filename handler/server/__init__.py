"""Request time: a bundle and a request in, a response out. Never imports ``compiler/``."""
