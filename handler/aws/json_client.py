"""AWS services with JSON over POST, without boto3, whose import takes longer than the rest of a cold start."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from datetime import UTC, datetime

from handler.aws.sigv4 import CredentialSource, domain_of, endpoint_of, region_of, sign
from handler.cold.records import replaced
from handler.errors.infrastructure import AwsDenied, AwsError, AwsUnanswered, HttpError
from handler.http.client import HttpClient, HttpRequest, HttpResponse
from handler.strict_json import JSONObject, find_json, to_json_bytes

TIMEOUT_S = 3.0
MAX_BYTES = 262_144


class AwsJson:
    """A client of services in the environment's account and region, or of a substitute at ``AWS_ENDPOINT_URL``."""

    def __init__(self, http: HttpClient, environ: Mapping[str, str], *, credentials: CredentialSource) -> None:
        self._http = http
        self._environ = environ
        self.credentials = credentials

    async def call(self, service: str, action: str, arguments: JSONObject, *, region: str = "") -> JSONObject:
        """Call a service and return its answer. ``action`` is as in ``secretsmanager.GetSecretValue``.

        An empty ``region`` means the environment's.

        Raises:
            AwsUnanswered: no answer, or one that says to try later.
            AwsDenied: the credentials do not allow the call.
            AwsError: any other refusal; the message has the service's code, and nothing of the arguments.
            SettingsError: an AWS variable is missing or malformed.
        """
        endpoint = endpoint_of(self._environ, service)
        region = region or region_of(self._environ, required=endpoint is None)
        request = HttpRequest(
            method="POST",
            url=endpoint or f"https://{service}.{region}.{domain_of(region)}/",
            headers={"content-type": "application/x-amz-json-1.1", "x-amz-target": action},
            body=to_json_bytes(arguments),
            timeout_s=TIMEOUT_S,
            max_bytes=MAX_BYTES,
            guarded=False,
            repeatable=True,  # all calls are reads
        )
        credentials = await asyncio.to_thread(self.credentials.current)  # boto3 may have to look for them
        added = sign(request, service=service, region=region, credentials=credentials, now=datetime.now(UTC))
        try:
            response = await self._http.send_async(replaced(request, headers={**request.headers, **added}))
        except HttpError as exc:
            raise AwsUnanswered(f"{service}: {exc.reason}") from exc
        return _read(response)


def _read(response: HttpResponse) -> JSONObject:
    body = find_json(response.body)
    if response.status == 200 and isinstance(body, dict):
        return body
    kind = body.get("__type") if isinstance(body, dict) else None
    match = re.search(r"(?:^|#)(\w{1,80})$", kind) if isinstance(kind, str) else None
    code = match[1] if match else f"HTTP status {response.status}"
    if response.status >= 500 or code == "ThrottlingException":
        raise AwsUnanswered(code)
    raise AwsDenied(code) if code.startswith("AccessDenied") or response.status == 403 else AwsError(code)
