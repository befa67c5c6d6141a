"""Secrets, tokens and circuit breakers that requests of all callers share."""
