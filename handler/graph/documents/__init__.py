"""Documents of callers, checked against a view. graphql-core loads here."""
