"""Tools over GraphQL: an author's operations, requests of models, bound variables and persisted documents."""
