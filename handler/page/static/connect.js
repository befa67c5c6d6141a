// connect: not built yet.
