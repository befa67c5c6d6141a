"""Read ``config.yaml``, section by section."""
