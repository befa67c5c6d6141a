"""Deploy time: compile an endpoint folder to a bundle. ``server/`` never imports this package."""

from handler.cold.fast_nodes import load

load()  # before any module here imports graphql-core: it takes half the time
