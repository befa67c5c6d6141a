"""One test for each check of ``handler/server/mcp/jsonrpc.py``."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from typing import Any

import pytest

from handler.server.mcp.jsonrpc import Notification, Rejected, Request, classify
from handler.server.mcp.revisions import LEGACY
from tests.support.function import META, MODERN

HEADERS = {"mcp-protocol-version": MODERN, "mcp-method": "tools/list"}
MODERN_LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": META}}


def _classify(message: Any, headers: Mapping[str, str] | None = None) -> Request | Notification:
    read = classify(headers or {}, json.dumps(message).encode())
    assert not isinstance(read, list)
    return read


def _rejection(message: Any, headers: Mapping[str, str] | None = None) -> Rejected:
    with pytest.raises(Rejected) as caught:
        _classify(message, headers)
    return caught.value


@pytest.mark.parametrize("message", [[], [MODERN_LIST] * 21, 1, "x", None, True])
def test_anything_but_one_object_is_an_invalid_request(message: Any) -> None:
    rejected = _rejection(message)

    assert (rejected.code, rejected.status, rejected.id) == (-32600, 400, None)


def test_message_without_an_id_is_a_notification() -> None:
    assert _classify({"jsonrpc": "2.0", "method": "notifications/initialized"}) == Notification(
        method="notifications/initialized"
    )
    for wrong in (
        {"jsonrpc": "2.0"},
        {"method": "a"},
        {"jsonrpc": "1.0", "method": "a"},
        {"jsonrpc": "2.0", "method": 1},
    ):
        assert (_rejection(wrong).code, _rejection(wrong).id) == (-32600, None)


RESPONSES = [
    {"jsonrpc": "2.0", "id": 1, "result": {}},
    {"jsonrpc": "2.0", "id": 1, "error": {"code": 1, "message": ""}},
]


@pytest.mark.parametrize("message", [*RESPONSES, {"jsonrpc": "2.0", "result": {}}])
@pytest.mark.parametrize("version", [None, *LEGACY])
def test_posted_response_is_taken_in_the_legacy_era(message: Any, version: str | None) -> None:
    headers = {"mcp-protocol-version": version} if version else {}

    assert _classify(message, headers) == Notification(method="response")


@pytest.mark.parametrize("message", RESPONSES)
@pytest.mark.parametrize("version", [MODERN, "2099-01-01", ""])
def test_posted_response_is_refused_in_the_modern_era(message: Any, version: str) -> None:
    rejected = _rejection(message, {"mcp-protocol-version": version})

    assert (rejected.code, rejected.status, rejected.id) == (-32600, 400, None)


def test_a_message_with_a_method_and_a_result_is_a_request() -> None:
    assert isinstance(_classify({"jsonrpc": "2.0", "id": 1, "method": "ping", "result": {}}), Request)


@pytest.mark.parametrize("identifier", [0, 7, -1, "", "a", "1", "x" * 10_000, 2**60, 10**400])
def test_strings_and_integers_are_ids(identifier: Any) -> None:
    request = _classify({"jsonrpc": "2.0", "id": identifier, "method": "ping"})

    assert isinstance(request, Request)
    assert request.id == identifier
    assert type(request.id) is type(identifier)


@pytest.mark.parametrize("identifier", [None, True, False, 1.5, [], {}])
def test_other_ids_are_refused_and_not_echoed(identifier: Any) -> None:
    rejected = _rejection({"jsonrpc": "2.0", "id": identifier, "method": "ping"})

    assert (rejected.code, rejected.id) == (-32600, None)


@pytest.mark.parametrize(
    "message",
    [
        {"id": 1, "method": "ping"},
        {"jsonrpc": "1.0", "id": 1, "method": "ping"},
        {"jsonrpc": "2.0", "id": 1},
        {"jsonrpc": "2.0", "id": 1, "method": 5},
    ],
)
def test_message_that_is_no_request_is_refused_with_its_id(message: Any) -> None:
    rejected = _rejection(message)

    assert (rejected.code, rejected.id) == (-32600, 1)


def test_params_that_are_no_object_are_invalid_params() -> None:
    rejected = _rejection({"jsonrpc": "2.0", "id": 1, "method": "ping", "params": []})

    assert (rejected.code, rejected.id) == (-32602, 1)


@pytest.mark.parametrize(
    ("version", "revision"),
    [
        (None, "2025-03-26"),
        ("2024-11-05", "2024-11-05"),
        ("2025-03-26", "2025-03-26"),
        ("2025-06-18", "2025-06-18"),
        ("2025-11-25", "2025-11-25"),
    ],
)
def test_legacy_header_or_none_is_the_legacy_era(version: str | None, revision: str) -> None:
    headers = {"mcp-protocol-version": version} if version else {}

    request = _classify({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}, headers)

    assert isinstance(request, Request)
    assert request.revision == revision


def test_modern_request_is_read() -> None:
    request = _classify(MODERN_LIST, HEADERS)

    assert request == Request(id=1, method="tools/list", params={"_meta": META}, revision=MODERN)


@pytest.mark.parametrize("lacking", ["protocolVersion", "clientCapabilities"])
def test_modern_request_without_its_metadata_is_invalid_params(lacking: str) -> None:
    meta = {key: value for key, value in META.items() if not key.endswith(lacking)}

    rejected = _rejection({**MODERN_LIST, "params": {"_meta": meta}}, HEADERS)

    assert (rejected.code, rejected.status, rejected.id) == (-32602, 400, 1)
    assert lacking in rejected.message


def test_client_info_is_not_required() -> None:
    meta = {key: value for key, value in META.items() if not key.endswith("clientInfo")}

    assert isinstance(_classify({**MODERN_LIST, "params": {"_meta": meta}}, HEADERS), Request)


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"mcp-protocol-version": MODERN},
        {"mcp-method": "tools/list"},
        {"mcp-protocol-version": "2099-01-01", "mcp-method": "tools/list"},
        {"mcp-protocol-version": MODERN, "mcp-method": "tools/call"},
        {"mcp-protocol-version": MODERN, "mcp-method": "TOOLS/LIST"},
        {"mcp-protocol-version": MODERN, "mcp-method": "tools/list, tools/list"},
    ],
)
def test_routing_headers_must_equal_the_body(headers: Mapping[str, str]) -> None:
    assert _rejection(MODERN_LIST, headers).code == -32020


def test_routing_header_values_are_trimmed() -> None:
    headers = {"mcp-protocol-version": f" {MODERN} ", "mcp-method": "\ttools/list"}

    assert isinstance(_classify(MODERN_LIST, headers), Request)


def _call(name: str) -> Any:
    return {**MODERN_LIST, "method": "tools/call", "params": {"_meta": META, "name": name}}


def test_method_and_version_do_not_travel_as_base64() -> None:
    for name, value in HEADERS.items():
        encoded = base64.b64encode(value.encode()).decode()

        assert _rejection(MODERN_LIST, {**HEADERS, name: f"=?base64?{encoded}?="}).code == -32020


UNKNOWN = ("1999-01-01", "2024-10-07", "2099-01-01", "1.0", "", "2025-11-25, 2025-11-25", "2026-07-28, 2026-07-28")
ABSENT = "absent"


def _of_version(named: Any) -> dict[str, Any]:
    """A request whose ``_meta`` names a version; ``ABSENT``: names none."""
    others = {key: value for key, value in META.items() if not key.endswith("protocolVersion")}
    meta = others if named == ABSENT else {**others, "io.modelcontextprotocol/protocolVersion": named}
    return {**MODERN_LIST, "params": {"_meta": meta}}


def _outcome(named: Any, header: str) -> int | str:
    """The revision in which a request is answered, or the code with which it is refused."""
    headers = {"mcp-method": "tools/list", **({} if header == ABSENT else {"mcp-protocol-version": header})}
    try:
        request = _classify(_of_version(named), headers)
    except Rejected as rejected:
        return rejected.code if (rejected.status, rejected.id) == (400, 1) else f"status {rejected.status}"
    assert isinstance(request, Request)
    return request.revision


@pytest.mark.parametrize("header", [ABSENT, MODERN, *LEGACY, *UNKNOWN])
@pytest.mark.parametrize("named", [ABSENT, MODERN, *LEGACY, "2099-01-01", "", None, 5, ["2025-11-25"]])
def test_header_and_body_agree_about_the_version(named: Any, header: str) -> None:
    match named, header:
        case "absent", "absent":
            expected: int | str = "2025-03-26"
        case "absent", str() if header in LEGACY:
            expected = header
        case "absent", str() if header in UNKNOWN:
            expected = -32022
        case str(), _ if named != ABSENT and named != header:
            expected = -32020
        case str(), "2099-01-01" | "":
            expected = -32022
        case str(), _ if named == header:
            expected = header
        case _:  # modern by its header or by a version that is not a text, and without the metadata
            expected = -32602

    assert _outcome(named, header) == expected


@pytest.mark.parametrize("header", [f" {LEGACY[0]}\t", f"\t{LEGACY[0]}"])
def test_version_in_the_header_is_trimmed(header: str) -> None:
    assert _outcome(ABSENT, header) == _outcome(LEGACY[0], header) == LEGACY[0]


@pytest.mark.parametrize("version", LEGACY)
@pytest.mark.parametrize("wrong", [{"mcp-method": "tools/list"}, {"mcp-name": "zzz"}, {}])
def test_modern_call_cannot_name_another_tool_by_the_header_of_a_legacy_revision(
    version: str, wrong: Mapping[str, str]
) -> None:
    headers = {"mcp-protocol-version": version, "mcp-method": "tools/call", "mcp-name": "a", **wrong}

    assert _rejection(_call("a"), headers).code == -32020


def test_modern_item_of_a_batch_is_refused() -> None:
    (item,) = [classify({}, json.dumps([_call("a")]).encode())]
    assert isinstance(item, list)
    (rejected,) = item

    assert isinstance(rejected, Rejected)
    assert (rejected.code, rejected.id) == (-32020, 1)


def test_without_a_header_and_metadata_a_request_speaks_2025_03_26() -> None:
    given: list[dict[str, Any]] = [{}, {"_meta": {}}, {"_meta": None}, {"_meta": {"progressToken": 1}}]
    for params in given:
        request = _classify({**MODERN_LIST, "params": params})

        assert isinstance(request, Request)
        assert request.revision == "2025-03-26"


@pytest.mark.parametrize("version", [*UNKNOWN, "2025-11-25\n", "２０２５-11-25", "x" * 9_000])
@pytest.mark.parametrize("method", ["tools/list", "initialize", "ping"])
def test_unknown_version_in_the_header_alone_is_the_fault_of_the_version(version: str, method: str) -> None:
    rejected = _rejection({"jsonrpc": "2.0", "id": 1, "method": method}, {"mcp-protocol-version": version})

    assert (rejected.code, rejected.status, rejected.id) == (-32022, 400, 1)
    assert rejected.facts == {"supported": [MODERN], "requested": version[:200]}
    assert rejected.message.endswith(": expected 2026-07-28, 2025-11-25, 2025-06-18, 2025-03-26, 2024-11-05")
    assert len(rejected.message) < 350


LOG_LEVEL = "io.modelcontextprotocol/logLevel"


@pytest.mark.parametrize("level", ["verbose", "INFO", "", None, 3, ["info"], {}])
def test_unknown_level_of_log_messages_is_invalid_params(level: Any) -> None:
    rejected = _rejection({**MODERN_LIST, "params": {"_meta": {**META, LOG_LEVEL: level}}}, HEADERS)

    assert (rejected.code, rejected.status, rejected.id) == (-32602, 400, 1)
    assert rejected.message.startswith(f"Invalid params: {LOG_LEVEL} has to be one of debug, info, ")


@pytest.mark.parametrize("level", ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"])
def test_levels_of_log_messages_are_known(level: str) -> None:
    assert isinstance(_classify({**MODERN_LIST, "params": {"_meta": {**META, LOG_LEVEL: level}}}, HEADERS), Request)


def test_level_means_nothing_in_a_legacy_request() -> None:
    request = _classify({**MODERN_LIST, "params": {"_meta": {LOG_LEVEL: "verbose"}}}, {})

    assert isinstance(request, Request)


def test_tools_call_needs_its_name_in_a_header() -> None:
    headers = {"mcp-protocol-version": MODERN, "mcp-method": "tools/call"}

    assert _rejection(_call("a"), headers).code == -32020
    assert _rejection(_call("a"), {**headers, "mcp-name": "b"}).code == -32020
    assert isinstance(_classify(_call("a"), {**headers, "mcp-name": "a"}), Request)


def test_name_outside_ascii_travels_as_base64() -> None:
    headers = {"mcp-protocol-version": MODERN, "mcp-method": "tools/call"}
    encoded = base64.b64encode("größe".encode()).decode()

    assert isinstance(_classify(_call("größe"), {**headers, "mcp-name": f"=?base64?{encoded}?="}), Request)
    bent = encoded.replace("ZQ==", "ZR==")  # the same bytes, written in another way
    raw = "größe".encode().decode("latin-1")
    bad_ones = (f"=?base64?{encoded}junk!?=", "=?base64?/w==?=", "=?base64??=", f"=?base64?{bent}?=", "größe", raw)
    for bad in bad_ones:
        assert _rejection(_call("größe"), {**headers, "mcp-name": bad}).code == -32020


def test_unknown_version_names_those_that_are_served() -> None:
    meta = {**META, "io.modelcontextprotocol/protocolVersion": "2099-01-01"}
    headers = {**HEADERS, "mcp-protocol-version": "2099-01-01"}

    rejected = _rejection({**MODERN_LIST, "params": {"_meta": meta}}, headers)

    assert rejected.code == -32022
    assert rejected.facts == {"supported": [MODERN], "requested": "2099-01-01"}
