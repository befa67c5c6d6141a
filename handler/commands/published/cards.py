"""Questions to the running function: the card of an endpoint tells a maintainer if a version is served."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from handler.errors.infrastructure import HttpError
from handler.http.client import HttpClient, HttpRequest
from handler.strict_json import parse_json

TIMEOUT_S = 30
MAX_BYTES = 2_000_000
MAX_HEADER_CHARS = 6_000
"""The length of the header with versions. API Gateway takes 10 KB of headers."""

SERVED = "yes"
OLD = "not yet"
NOT_A_CARD = "the answer is not a card: expected the URL of a function of this release"
UNKNOWN = "unknown: the function's storage keeps no versions"


def served(http: HttpClient, url: str, versions: Sequence[str], *, headers: Mapping[str, str]) -> str:
    """Return ``SERVED`` if the endpoint at ``url`` is one of the versions; otherwise a reason for a person."""
    if not versions:
        return "unknown: the storage keeps no versions with ids"
    told = ""
    for version in versions:
        told = f"{told} {version}".strip() if len(told) + len(version) < MAX_HEADER_CHARS else told
    sent = {"accept": "application/json", "stile-versions": told, **headers}
    request = HttpRequest(
        method="GET", url=url, headers=sent, timeout_s=TIMEOUT_S, max_bytes=MAX_BYTES, repeatable=True, guarded=False
    )
    try:
        response = http.send(request)
    except HttpError as exc:
        return f"no answer: {exc}"
    if response.status != 200:
        return f"HTTP status {response.status}{_REMEDIES.get(response.status, '')}"
    return _told(response.body)


def _told(body: bytes) -> str:
    try:
        card = parse_json(body)
    except ValueError:
        card = None
    if not isinstance(card, dict) or not {"serves", "digest"} & card.keys():
        return NOT_A_CARD
    if "serves" not in card:
        return "the header Stile-Versions did not arrive: a proxy on the way has to pass it on"
    if card["serves"] is True:
        return SERVED
    if card["serves"] is None:
        return UNKNOWN
    return OLD if card["serves"] is False else NOT_A_CARD


_REMEDIES = {
    **dict.fromkeys((301, 302, 303, 307, 308), ": it leads elsewhere, where no credential is sent: give that URL"),
    401: ": give a credential with -H",
    403: ": the credential lacks a right",
    404: ": the endpoint is unknown there, or the function is of an older release",
}
