"""The old name of `stile.testing`. This module is removed after 0.1."""

from stile.testing import Answer, TestClient

__all__ = ["Answer", "TestClient"]
