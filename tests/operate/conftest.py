"""The built function, as ``tests/infra`` names it."""

from tests.infra.conftest import arch, artifact

__all__ = ["arch", "artifact"]
