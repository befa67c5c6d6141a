// graphql: not built yet.
