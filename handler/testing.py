"""The old place of `stile.testing`. This module goes after 0.1."""

from stile.testing import Answer, TestClient

__all__ = ["Answer", "TestClient"]
