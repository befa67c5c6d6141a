"""``config.yaml``, section by section."""
