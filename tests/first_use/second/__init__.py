"""A second list of mistakes of first use, with what each message lacks today."""

from __future__ import annotations

from tests.first_use.second.in_configs import IN_CONFIGS
from tests.first_use.second.in_documents import IN_DOCUMENTS
from tests.first_use.second.in_python import IN_PYTHON
from tests.first_use.second.on_command_lines import ON_COMMAND_LINES
from tests.first_use.second.with_apis import WITH_APIS
from tests.first_use.second.with_servers import WITH_SERVERS

SECOND = (*IN_CONFIGS, *IN_DOCUMENTS, *IN_PYTHON, *ON_COMMAND_LINES, *WITH_APIS, *WITH_SERVERS)
