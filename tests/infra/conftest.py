import os
from pathlib import Path

import pytest

from tests.infra.cloudformation import ROOT
from tests.support.require import requires


@pytest.fixture(scope="session")
def artifact() -> Path:
    """What `make artifact` made: the folder in ``STILE_ARTIFACT``."""
    folder = os.environ.get("STILE_ARTIFACT")
    requires("artifact", folder, "`make smoke` builds one, and names it in STILE_ARTIFACT")
    return ROOT / str(folder)


@pytest.fixture(scope="session")
def arch() -> str:
    """The architecture the artefact was built for: ``STILE_ARTIFACT_ARCH``, or the template's."""
    return os.environ.get("STILE_ARTIFACT_ARCH", "arm64")
