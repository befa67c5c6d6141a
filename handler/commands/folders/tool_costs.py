"""The costs of tools: the size of their entries in a context of a model, and in answers to ``tools/list``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from handler.bundle.short_list import INPUT, OUTPUT
from handler.bundle.tools import CodeTool, PrescribedTool
from handler.commands.local.local_endpoint import local_endpoint
from handler.compiler.compile import Compiled
from handler.list_entries import BYTES_PER_TOKEN
from handler.policy.evaluation import Evaluation
from handler.server.asgi.response_size import LAMBDA, page_count
from handler.server.endpoints.endpoint import Endpoint
from handler.strict_json import Entries, Entry, JSONObject, to_json_bytes
from handler.text.sentences import counted, cut_text, some

MAX_RUNS_CHARS = 60

MAX_NAMED = 5
"""Tools that a sentence names. ``--json`` has all of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolRow:
    """A tool and its cost: the bytes of its ``tools/list`` entry, and roughly the tokens that a model pays for it.

    ``runs`` is the operation, root fields or toolkit; ``types`` is the number of types that the tool reaches;
    ``anonymous`` is the share that is open to callers without a credential: ``all``, ``part`` or ``none``. A toolkit
    that decides for each caller is never ``all``.
    """

    name: str
    kind: str
    runs: str
    types: int
    bytes: int
    tokens: int
    listed: bool
    condition: str  # of the tool alone, as written; empty if it has none
    sends: str  # the sent text's documentId, by which an API may know it; empty unless the tool is prescribed
    anonymous: str
    shortened: Mapping[str, int]  # schema of the entry that the limits shorten -> its bytes if it were whole

    def cells(self) -> tuple[str | int, ...]:
        """Return the cells of the table. ``runs`` is cut: a schema may have hundreds of root fields."""
        runs = cut_text(self.runs, MAX_RUNS_CHARS)
        listed = "yes" if self.listed else "no"
        return self.name, self.kind, runs, self.types, self.bytes, self.tokens, listed, self.anonymous


def tool_list(compiled: Compiled) -> JSONObject:
    """Return the size of the list of a caller who may everything, its pages on Lambda, and what it leaves out."""
    endpoint = local_endpoint(compiled)
    whole = _listed(endpoint)
    entries = endpoint.short_list(whole, LAMBDA.page_bytes)
    names = {str(entry["name"]) for entry in entries}
    left_out = any(not each.options.hidden and each.name not in names for each in compiled.bundle.tools)
    pairs = list(zip(entries, whole, strict=True))
    return {
        "bytes": len(Entries(entries).json),
        "wholeBytes": len(Entries(whole).json),
        "pages": page_count(entries, LAMBDA),
        "byCatalog": left_out and endpoint.catalog is not None,
        "leftOut": {
            "output schemas": sum(OUTPUT in each and OUTPUT not in short for short, each in pairs),
            "inner levels of output schemas": sum(
                OUTPUT in short and short[OUTPUT] != each[OUTPUT] for short, each in pairs
            ),
            "descriptions inside arguments": sum(short[INPUT] != each[INPUT] for short, each in pairs),
        },
    }


def sentences_on_tools(rows: Sequence[ToolRow], tools: JSONObject) -> Iterator[str]:
    """Yield sentences on the conditions of tools, on shortened schemas, and on a list that does not go out whole."""
    conditions: dict[str, list[str]] = {}
    for row in rows:
        conditions.setdefault(row.condition, []).append(row.name)
    for condition, names in conditions.items():
        if condition and len(names) > MAX_NAMED:
            yield f"{some(names, most=MAX_NAMED)} ask their callers for {condition}"
        elif condition:
            yield from (f"{name} asks its caller for {condition}" for name in names)
    for schema, limit in (("inputSchema", "max_schema_bytes"), ("outputSchema", "max_output_schema_bytes")):
        sizes = {row.name: row.shortened[schema] for row in rows if schema in row.shortened}
        names = [f"{name} ({size} bytes)" for name, size in sorted(sizes.items(), key=lambda each: -each[1])]
        if names:
            whose = f"the {schema} of {counted(len(names), 'tool')}"
            yield f"limits.{limit} shortens {whose}: {some(names, most=MAX_NAMED)}."
    size, whole = tools["bytes"] // BYTES_PER_TOKEN, tools["wholeBytes"] // BYTES_PER_TOKEN
    parts = [f"{part} of {counted(number, 'tool')}" for part, number in tools["leftOut"].items() if number]
    if parts:
        yield f"limits.list_budget shortens the list from about {whole} to {size} tokens, without {', '.join(parts)}."
    if tools["pages"] > 1:
        yield f"The list of tools has {tools['bytes']} bytes: {tools['pages']} pages."
    if tools["byCatalog"]:
        yield f"The catalog keeps the list of tools to {tools['bytes']} bytes."


def tool_rows(compiled: Compiled) -> list[ToolRow]:
    """Return a row for each tool, in the bundle's order."""
    bundle = compiled.bundle
    endpoint = local_endpoint(compiled)
    everything = _everything(endpoint)
    per_caller = {kit.use for kit in bundle.code if kit.per_caller}
    listed = {str(entry["name"]): entry for entry in endpoint.short_list(_listed(endpoint), LAMBDA.page_bytes)}
    rows = []
    for each in compiled.made:
        tool = each.tool
        entry = endpoint.entry(tool, everything)  # None if all callers lack a condition of the tool
        size = listed[tool.name].size if tool.name in listed else len(to_json_bytes(entry)) if entry else 0
        closed = bundle.access.anonymous != "allow" or tool.options.scopes
        anonymous = None if closed else endpoint.entry(tool, endpoint.everybody)
        whole = anonymous == entry and not (isinstance(tool, CodeTool) and tool.kit in per_caller)
        rows.append(
            ToolRow(
                name=tool.name,
                kind=tool.KIND,
                runs=each.runs,
                types=each.types,
                bytes=size,
                tokens=size // BYTES_PER_TOKEN,
                sends=f"sha256:{tool.operation.sha256}" if isinstance(tool, PrescribedTool) else "",
                listed=tool.name in listed,
                condition=each.rule.text.removeprefix(f"condition of {tool.name}: ") if each.rule else "",
                anonymous="none" if anonymous is None else "all" if whole else "part",
                shortened=each.shortened_from,
            )
        )
    return rows


def _listed(endpoint: Endpoint) -> list[Entry]:
    """Return the list of a caller who may everything, as a catalog leaves it, before it is shortened."""
    entries = [(tool, endpoint.entry(tool, _everything(endpoint))) for tool in endpoint.bundle.tools]
    if endpoint.catalog is None:
        return [Entry.of(entry) for tool, entry in entries if entry is not None and not tool.options.hidden]
    from handler.code_tools.sections import Listed  # with a catalog alone
    from handler.server.mcp.tools_list import with_catalog

    listed = [
        Listed(entry=entry, hidden=tool.options.hidden, pinned=tool.options.pinned, role=getattr(tool, "role", ""))
        for tool, entry in entries
        if entry is not None
    ]
    return [Entry.of(each.entry) for each in with_catalog(listed, endpoint) if not each.hidden]


def _everything(endpoint: Endpoint) -> Evaluation:
    return Evaluation(endpoint.bundle.conditions, claims=None, unrestricted=True)
