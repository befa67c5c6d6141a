"""An OAuth authorization server in front of a provider that clients cannot register with."""
