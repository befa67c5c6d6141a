"""The old place of `stile.testing`, for tests written before that package. It goes after 0.1."""

from stile.testing import Answer, TestClient

__all__ = ["Answer", "TestClient"]
