"""The request-time door: ``handler``, built once per container.

The life of a request: the event goes through Mangum (``server/function.py``) and the middleware to a route
(``server/app.py``). ``McpRoute`` (``server/mcp/route.py``) finds the endpoint, identifies the caller, and reads the
message; ``answer_call`` (``server/mcp/methods.py``) finds the method in its table. A tool call is ``call_any_tool``
(``server/mcp/tools_call.py``): it finds the tool and its function in ``CALLS``, and gives a failure its code
-> ``call_over_graphql`` (in the same module: arguments, consent, the size of the result)
-> ``execute`` (``server/upstream/graphql_client.py``: the operation as HTTP, the response as GraphQL)
-> ``send`` (``server/upstream/sending.py``: credential, circuit breaker) -> ``HttpClient.send_async``
(``http/client.py``) -> the API.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Mapping
from typing import Any

from handler.cold.artefact import artefact_fault, import_from_pack, refusing_handler

YOUNG_OBJECTS = 30_000
"""New objects between collections. The first call of a GraphQL tool makes 26,000, almost all of which stay: collecting
at Python's threshold was 2 % of its processor time."""


def _start(environ: Mapping[str, str]) -> Callable[[Any, Any], Any]:
    fault = artefact_fault() or import_from_pack()
    if fault:
        return refusing_handler(fault, environ.get("POWERTOOLS_SERVICE_NAME", "stile"))
    from handler.aws.sigv4 import CredentialSource
    from handler.bundle.stored import bundle_key
    from handler.cold.prefetch import ReadAhead
    from handler.cold.records import replaced
    from handler.http.client import HttpClient
    from handler.settings import read_settings
    from handler.storage.location import open_storage

    settings = read_settings(environ)
    http = HttpClient(replaced(settings.addresses, runtime_api=environ.get("AWS_LAMBDA_RUNTIME_API", "")))
    credentials = CredentialSource(environ, http=http)
    stored = open_storage(settings.bundles, http=http, environ=environ, credentials=credentials)
    storage = ReadAhead(stored, map(bundle_key, settings.preload))
    # Storage answers during the framework's imports, which take longer than everything else.
    from handler.server.function import build_handler

    return build_handler(settings, environ, http=http, storage=storage, credentials=credentials, settle=storage.settle)


gc.disable()  # almost everything that init makes stays, so collecting would only cost time
try:
    handler = _start(os.environ)
finally:
    gc.freeze()
    gc.set_threshold(YOUNG_OBJECTS)
    gc.enable()
