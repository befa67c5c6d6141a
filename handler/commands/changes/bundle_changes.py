"""The differences of an endpoint's bundle: its tools and other contents, callers, API, limits and log."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, fields, replace
from typing import Any, TypeVar
from urllib.parse import urlsplit

from handler.audience.caller_classes import mask_in_words
from handler.bundle.content import TextPrompt
from handler.bundle.identity import ApiKey, Identity, Issuer
from handler.bundle.model import Bundle
from handler.bundle.tools import (
    CONFIRM_LEVELS,
    CatalogTool,
    CodeTool,
    GraphQLTool,
    Limits,
    PrescribedTool,
    Tool,
)
from handler.bundle.upstream import Upstream, is_reference
from handler.commands.changes.change import Change
from handler.commands.changes.schema_comparison import (
    argument_changes,
    entry_of,
    output_changes,
    variable_changes,
)
from handler.commands.publishing.bundle_parts import Content, contents_of
from handler.list_entries import BYTES_PER_TOKEN
from handler.policy.evaluation import OPEN, Mask
from handler.server.mcp.input_required import sent_claims
from handler.strict_json import JSONObject, to_json_bytes

MIN_TOKENS = 50
"""Tokens by which an entry has to grow or shrink for a difference: shorter texts are differences by themselves."""

FORMS: Mapping[str, frozenset[str]] = {
    "both": frozenset({"text", "structured"}),
    "text": frozenset({"text"}),
    "structured": frozenset({"structured"}),
}

RESULT = "max_result_bytes"

T = TypeVar("T")


def tool_changes(before: Bundle, after: Bundle) -> Iterator[Change]:
    """Yield the differences of tools. A tool with a new name is the same tool if the old name is its alias."""
    old, new = ({tool.name: tool for tool in bundle.tools} for bundle in (before, after))
    renamed = renamed_tools(before, after)
    for name in new:
        if name not in old and name not in renamed.values():
            yield Change("tool-added", name, f"tool {name} is new")
    for name, tool in old.items():
        if name in renamed:
            sentence = f"tool {name} is now {renamed[name]}, and may be called by its old name"
            yield Change("tool-renamed", name, sentence)
        successor = new.get(renamed.get(name, name))
        if successor:
            yield from _of_tool(tool, successor)
            yield from _task_changes(before, after, tool, successor)
            # A limit of its own: the endpoint's comes once for all tools, and a GraphQL tool's with its other limits.
            of_graphql = isinstance(tool, GraphQLTool) and isinstance(successor, GraphQLTool)
            if not of_graphql and tool.options.max_result_bytes != successor.options.max_result_bytes:
                sizes = before.max_result_bytes(tool), after.max_result_bytes(successor)
                yield from _result_size_change(*sizes, about=successor.name, where=f"tool {successor.name}")
        elif other := next((each.name for each in new.values() if name in each.options.aliases), ""):
            yield Change("tool-replaced", name, f"tool {name} is gone, and calls of it call {other}")
        else:
            yield Change("tool-removed", name, f"tool {name} is gone")


def renamed_tools(before: Bundle, after: Bundle) -> dict[str, str]:
    """Return old name -> new name of the tools whose old name is an alias of a new one."""
    old, new = {tool.name for tool in before.tools}, {tool.name: tool for tool in after.tools}
    renamed = {}
    for name in old - new.keys():
        successor = next((each.name for each in new.values() if name in each.options.aliases), "")
        if successor and successor not in old:
            renamed[name] = successor
    return renamed


def _of_tool(before: Tool, after: Tool) -> Iterator[Change]:
    name = after.name
    if before.KIND != after.KIND:
        yield Change("tool-replaced", name, f"tool {name} is a {after.KIND} tool, and was a {before.KIND} tool")
    yield from _options(before, after)
    yield from _texts(before, after)
    yield from argument_changes(before, after)
    yield from output_changes(before.entry.get("outputSchema"), after.entry.get("outputSchema"), tool=name)
    old, new = _tokens(before), _tokens(after)
    if abs(new - old) >= MIN_TOKENS:
        yield Change("size-changed", name, f"tool {name} takes about {new:,} tokens of a list, and took {old:,}")
    match before, after:
        case PrescribedTool(), PrescribedTool():
            yield from _operation(before, after)
        case GraphQLTool(), GraphQLTool():
            yield from _limit_changes(before.limits, after.limits, about=name, where=f"tool {name}")
        case CodeTool(), CodeTool() if (before.kit, before.digest) != (after.kit, after.digest):
            yield Change("code-changed", name, f"tool {name} has another definition in Python")
        case CatalogTool(), CatalogTool():
            if (before.role, before.unlisted) != (after.role, after.unlisted):
                yield Change("catalog-changed", name, f"tool {name}: the catalog is set otherwise")


def _options(before: Tool, after: Tool) -> Iterator[Change]:
    old, new, name = before.options, after.options, after.name
    for alias in new.aliases:
        if alias not in (*old.aliases, before.name):
            yield Change("alias-added", name, f"tool {name} may be called as {alias}, too")
    for alias in old.aliases:
        if alias not in (*new.aliases, name):
            yield Change("alias-removed", name, f"tool {name} may not be called as {alias}")
    if old.hidden != new.hidden:
        code, verb = ("tool-unlisted", "lists do not have") if new.hidden else ("tool-listed", "lists have")
        yield Change(code, name, f"{verb} tool {name}")
    if old.pinned != new.pinned:
        stays = "stays" if new.pinned else "does not stay"
        yield Change("catalog-changed", name, f"tool {name} {stays} in a short list")
    added = [each for each in new.scopes if each not in old.scopes]
    removed = [each for each in old.scopes if each not in new.scopes]
    if added:
        yield Change("scopes-added", name, f"tool {name} needs the scopes {', '.join(added)}")
    if removed:
        yield Change("scopes-removed", name, f"tool {name} does not need the scopes {', '.join(removed)}")
    if old.confirm != new.confirm:
        raised = CONFIRM_LEVELS.index(new.confirm) > CONFIRM_LEVELS.index(old.confirm)
        sentence = f"tool {name}: confirm is {new.confirm or 'none'}, and was {old.confirm or 'none'}"
        yield Change("confirm-raised" if raised else "confirm-lowered", name, sentence)
    if old.output != new.output:
        code = "output-form" if FORMS[old.output] - FORMS[new.output] else "output-added"
        yield Change(code, name, f"tool {name}: results come as {new.output}, and came as {old.output}")
    if old.meta != new.meta:
        yield Change("meta-changed", name, f"tool {name}: results have another _meta")


def _texts(before: Tool, after: Tool) -> Iterator[Change]:
    name = after.name
    for part, noun in (("title", "another title"), ("description", "another description"), ("icons", "other icons")):
        if before.entry.get(part) != after.entry.get(part):
            yield Change("text-changed", name, f"tool {name} has {noun}")
    (old_page, old_rest), (page, rest) = _view(before), _view(after)
    if old_page != page:
        sentence = f"hosts show results with {page or 'no page'}, and showed them with {old_page or 'no page'}"
        yield Change("view-changed", name, f"tool {name}: {sentence}")
    if old_rest != rest:
        yield Change("meta-changed", name, f"tool {name}: lists have another _meta")
    if before.entry.get("annotations") != after.entry.get("annotations"):
        hints = [tool.entry.get("annotations") or {} for tool in (before, after)]
        yield Change("annotations-changed", name, f"tool {name}: other hints: {', '.join(_differing(*hints))}")


def _view(tool: Tool) -> tuple[str, JSONObject]:
    """Return the URI of the page that shows a tool's results, and the rest of the entry's ``_meta``."""
    meta = tool.entry.get("_meta") or {}
    ui = meta.get("ui")
    if not isinstance(ui, dict):
        return "", meta
    rest = {key: each for key, each in ui.items() if key != "resourceUri"}
    others = {key: each for key, each in meta.items() if key != "ui"}
    return str(ui.get("resourceUri") or ""), {**others, **({"ui": rest} if rest else {})}


def _tokens(tool: Tool) -> int:
    """Return the tokens of a tool's entry, of the largest one if callers are listed several."""
    entries = [entry_of(tool)]
    if isinstance(tool, GraphQLTool):
        entries = [each.entry for each in tool.listings if each.entry] or [tool.entry]
    return max(len(to_json_bytes(dict(entry))) // BYTES_PER_TOKEN for entry in entries)


def _operation(before: PrescribedTool, after: PrescribedTool) -> Iterator[Change]:
    old, new, name = before.operation, after.operation, after.name
    if old.kind != new.kind:
        code = "operation-writes" if new.kind == "mutation" else "operation-reads"
        yield Change(code, name, f"tool {name} sends a {new.kind}, and sent a {old.kind}")
    elif old.text != new.text:
        yield Change("operation-changed", name, f"tool {name} sends another operation")
    if before.flat != after.flat:
        how = "stand by themselves" if after.flat else 'are inside of "variables"'
        yield Change("argument-type", name, f"tool {name}: the variables {how}")
    if before.bindings != after.bindings:
        bindings = [{f"${each.variable}": each for each in tool.bindings} for tool in (before, after)]
        yield Change("binding-changed", name, f"tool {name}: otherwise bound: {', '.join(_differing(*bindings))}")


def _task_changes(before: Bundle, after: Bundle, old: Tool, new: Tool) -> Iterator[Change]:
    """Yield the difference of the job that a tool starts, and the fate of the ids of running jobs."""
    tasks = [tool.task if isinstance(tool, PrescribedTool) else None for tool in (old, new)]
    sealed = [_sealed(*each) for each in ((before, old), (after, new))]
    if tasks[0] and sealed[0] != sealed[1]:
        yield Change("tasks-ended", new.name, f"tool {new.name}: jobs that run cannot be asked about any more")
    elif tasks[0] and tasks[0] != tasks[1]:
        sentence = f"another job: {', '.join(_parts(*tasks))}; jobs that run can still be asked about"
        yield Change("task-changed", new.name, f"tool {new.name}: {sentence}")
    elif tasks[1] and not tasks[0]:
        yield Change("task-changed", new.name, f"tool {new.name} starts jobs that callers can ask about")


def _sealed(bundle: Bundle, tool: Tool) -> Any:
    """Return the facts of a bundle that ids of a tool's jobs are sealed for; ``None`` if it starts none."""
    if not isinstance(tool, PrescribedTool) or not tool.task:
        return None
    asking: PrescribedTool | Any = next(each for each in bundle.tools if each.name == tool.task.status_tool)
    claims = [sent_claims(bundle.upstream, each.bindings) for each in (tool, asking)]
    return tool.name, tool.task.covered(asking), claims


def settings_changes(before: Bundle, after: Bundle) -> Iterator[Change]:
    """Yield the differences of settings."""
    yield from _access(before, after)
    yield from _identity(before.identity, after.identity)
    yield from _upstream(before.upstream, after.upstream)
    yield from _limit_changes(before.limits, after.limits, about="limits", where="limits")
    yield from _number_change(
        before.list_budget or math.inf, after.list_budget or math.inf, about="limits", where="limits: list_budget"
    )
    if (before.server, before.listed) != (after.server, after.listed):
        card = "with" if after.listed else "without"
        yield Change("text-changed", "server", f"the endpoint introduces itself otherwise, {card} a public Server Card")
    if before.log != after.log:
        yield Change("log-changed", "log", "the log has other facts of calls")
    # The tools of toolkits are compared by themselves.
    old, new = ({each.use: each for each in bundle.code} for bundle in (before, after))
    for name in {**old, **new}:
        if name not in old or name not in new:
            yield Change("code-changed", name, f"the toolkit {name} is {'new' if name in new else 'gone'}")
            continue
        yield from _opened(f"toolkit {name}", (before, old[name].mask), (after, new[name].mask))
        parts = _parts(replace(old[name], mask=OPEN), replace(new[name], mask=OPEN))
        if parts:
            yield Change("code-changed", name, f"the toolkit {name}: other {', '.join(parts)}")
    if before.synonyms != after.synonyms:
        yield Change("catalog-changed", "find", "questions about tools have other synonyms")


def _access(before: Bundle, after: Bundle) -> Iterator[Change]:
    old, new = before.access, after.access
    if old.anonymous != new.anonymous:
        fate = "admitted" if new.anonymous == "allow" else "refused"
        yield Change(f"anonymous-{fate}", "access.anonymous", f"callers without a credential are {fate}")
    if old.listed != new.listed:
        have = "have" if new.listed == "all" else "lack"
        sentence = f"lists {have} the tools whose scopes the caller does not have"
        yield Change("listing-changed", "access.listed", sentence)
    if old.advertises_scopes != new.advertises_scopes:
        are_named = "are named" if new.advertises_scopes else "are not named"
        sentence = f"scopes of tools {are_named} to callers without a credential"
        yield Change("listing-changed", "access.scopes.advertise", sentence)


def _identity(before: Identity, after: Identity) -> Iterator[Change]:
    keys = [{key.name: key for key in identity.api_keys} for identity in (before, after)]
    yield from _members("key", *keys, added="API key {} is new", removed="API key {} is gone", both=_key)
    issuers = [{(each.issuer, each.subject): each for each in identity.issuers} for identity in (before, after)]
    added, removed = "tokens of {} are accepted", "tokens of {} are not accepted"
    yield from _members("issuer", *issuers, added=added, removed=removed, both=_issuer)
    apis = [{api: (api, api in identity.typed_apis) for api in identity.trusted_apis} for identity in (before, after)]
    added, removed = (f"the authorizer of the API {{}} is {fate}" for fate in ("believed", "not believed"))
    yield from _members("authorizer", *apis, added=added, removed=removed, both=_authorizer)
    old, new = before.oauth_proxy, after.oauth_proxy
    if old != new:
        difference = f"has other {', '.join(_parts(old, new))}" if old and new else f"is {'new' if new else 'gone'}"
        yield Change("sign-in-changed", "identity.oauth_proxy", f"the OAuth proxy {difference}")


def _members(
    kind: str,
    old: Mapping[Any, T],
    new: Mapping[Any, T],
    *,
    added: str,
    removed: str,
    both: Callable[[str, T, T], Iterator[Change]],
) -> Iterator[Change]:
    """Yield the differences of the members of a kind, which both versions have by keys. An issuer's key is a pair."""
    for key in {**old, **new}:
        name = key if isinstance(key, str) else key[0] or "an issuer without a name"
        if key in old and key in new:
            yield from both(name, old[key], new[key])
        elif key in new:
            yield Change(f"{kind}-added", name, added.format(name))
        else:
            yield Change(f"{kind}-removed", name, removed.format(name))


def _key(name: str, old: ApiKey, new: ApiKey) -> Iterator[Change]:
    if old.sha256 != new.sha256:
        yield Change("key-changed", name, f"API key {name} is another key")
    if old.claims != new.claims:
        difference = "skips policies" if new.claims is None else "has other claims"
        yield Change("key-claims", name, f"the holder of API key {name} {difference}")
    if old.expires != new.expires:
        when = "later" if not new.expires or (bool(old.expires) and new.expires > old.expires) else "earlier"
        yield Change(f"key-expires-{when}", name, f"API key {name} expires {when if new.expires else 'never'}")


def _issuer(name: str, old: Issuer, new: Issuer) -> Iterator[Change]:
    if old != new:
        yield Change("issuer-changed", name, f"tokens of {name}: other {', '.join(_parts(old, new))}")


def _authorizer(api: str, old: tuple[str, bool], new: tuple[str, bool]) -> Iterator[Change]:
    if old != new:
        yield Change("issuer-changed", api, f"the types of claims of the API {api} are read otherwise")


def _upstream(old: Upstream, new: Upstream) -> Iterator[Change]:
    if old.url != new.url:
        sentence = f"requests go to {_without_secrets(new.url)}, and went to {_without_secrets(old.url)}"
        yield Change("upstream-url", "upstream.url", sentence)
    patterns = [each.tenant.pattern if each.tenant else "" for each in (old, new)]
    if patterns[0] != patterns[1] and all(patterns):
        sentence = f"tenants in the URL fit {patterns[1]}, and fitted {patterns[0]}"
        yield Change("upstream-url", "upstream.tenant_pattern", sentence)
    for part in ("headers", "claim_headers", "forward_headers"):
        headers = [getattr(each, part) for each in (old, new)]
        mappings = [dict.fromkeys(each, "") if isinstance(each, tuple) else each for each in headers]
        names = sorted(_differing(*mappings))
        if names:
            yield Change("upstream-headers", f"upstream.{part}", f"upstream.{part}: other {', '.join(names)}")
    if old.auth != new.auth:
        # Kinds and references alone: a secret itself is never named.
        was, now = _credential(old), _credential(new)
        rest = f"and was {was}"
        if was == now:
            parts = _parts(old.client, new.client) if old.client and new.client else []
            parts += [each for each in _parts(old.auth, new.auth) if each != "client"]
            rest = f"with other {', '.join(parts)}"
        yield Change("upstream-credential", "upstream.auth", f"the credential for the API is {now}, {rest}")
    if old.documents != new.documents:
        sentence = f"operations are sent as {new.documents}, and were sent as {old.documents}"
        yield Change("upstream-documents", "upstream", sentence)
    for part in ("timeout_s", "max_bytes"):
        where = f"upstream.{part}"
        yield from _number_change(getattr(old, part), getattr(new, part), about=where, where=where)


def _without_secrets(url: str) -> str:
    """Return a URL without user, password and query, which may hold secrets."""
    parts = urlsplit(url)
    query = "?…" if parts.query else ""
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}{query}" if url else "no URL"


def _credential(upstream: Upstream) -> str:
    secrets = [each if is_reference(each) else "a secret in the bundle" for each in upstream.secrets]
    parts = [*secrets, _without_secrets(upstream.client.token_url)] if upstream.client else secrets
    return f"{upstream.auth.KIND} ({', '.join(parts)})" if parts else upstream.auth.KIND


def _differing(old: Mapping[str, object], new: Mapping[str, object]) -> list[str]:
    """Return the keys whose values differ, or that one mapping lacks."""
    return [key for key in {**old, **new} if old.get(key) != new.get(key)]


def _parts(old: Any, new: Any) -> list[str]:
    """Return the fields in which two instances of one dataclass differ."""
    return _differing(asdict(old), asdict(new))


def _limit_changes(before: Limits, after: Limits, *, about: str, where: str) -> Iterator[Change]:
    """Yield the limits that differ. ``where`` names the limits' owner in the sentences."""
    for each in fields(Limits):
        old, new = getattr(before, each.name), getattr(after, each.name)
        if each.name == RESULT:
            yield from _result_size_change(old, new, about=about, where=where)
        else:
            yield from _number_change(old, new, about=about, where=f"{where}: {each.name}")


def _result_size_change(old: int, new: int, *, about: str, where: str) -> Iterator[Change]:
    """Yield the difference of the size of results, which has no limit if it is 0."""
    yield from _number_change(old or math.inf, new or math.inf, about=about, where=f"{where}: {RESULT}")


def _number_change(old: float, new: float, *, about: str, where: str) -> Iterator[Change]:
    """Yield the difference of a number that allows more if it is larger."""
    if old != new:
        was, now = ("without limit" if number == math.inf else f"{number:,}" for number in (old, new))
        yield Change("limit-raised" if new > old else "limit-lowered", about, f"{where} is {now}, and was {was}")


def content_changes(before: Bundle, after: Bundle) -> Iterator[Change]:
    """Yield the differences of the prompts, resources, skills, instructions and persisted documents."""
    old, new = own_contents_of(before), own_contents_of(after)
    for name in [name for name in new if name not in old]:
        yield Change("content-added", name, f"{name} is new")
    for name, each in old.items():
        if name not in new:
            yield Change("content-removed", name, f"{name} is gone")
        else:
            yield from _opened(name, (before, each.mask), (after, new[name].mask))
            yield from _of_content(name, each, new[name])
    if before.instructions != after.instructions:
        yield Change("content-changed", "instructions", "the instructions are others")
    yield from _documents(before, after)


def own_contents_of(bundle: Bundle) -> dict[str, Content]:
    """Return the prompts, resources and skills by their kind and name. The files of skills are part of skills."""
    of_skills = {f"resource {file['uri']}" for skill in bundle.skills for file in skill.entry["resources"]}
    return {name: each for name, each in contents_of(bundle).items() if name not in of_skills}


def _opened(name: str, before: tuple[Bundle, Mask], after: tuple[Bundle, Mask]) -> Iterator[Change]:
    """Yield the difference of a content's callers, with the conditions of both versions."""
    sides = (before, after)
    was, now = (sorted(str(bundle.conditions[number]) for number in mask) for bundle, mask in sides)
    if was != now:
        old, new = (mask_in_words(mask, bundle.conditions) for bundle, mask in sides)
        yield Change("content-opened", name, f"{name} is for other callers: {new}, before: {old}")


def _of_content(name: str, old: Content, new: Content) -> Iterator[Change]:
    if name.startswith("prompt "):
        # A function may take other values than it offers.
        has_values = isinstance(old, TextPrompt) and isinstance(new, TextPrompt)
        schemas = [_schema_of(each, has_values=has_values) for each in (old, new)]
        yield from variable_changes(*schemas, about=name)
    if replace(old, mask=OPEN) != replace(new, mask=OPEN):
        # Members of a page's ``_meta.ui``, such as the origins that it may ask, are named.
        parts = _differing(*((each.entry.get("_meta") or {}).get("ui") or {} for each in (old, new)))
        with_others = f", with other {', '.join(parts)}" if parts else ""
        yield Change("content-changed", name, f"{name} is another{with_others}")


def _schema_of(prompt: Content, *, has_values: bool) -> JSONObject:
    """Return the JSON Schema of a prompt's arguments, with their values if it ``has_values``."""
    arguments = prompt.entry.get("arguments") or ()
    values = prompt.completions if has_values and isinstance(prompt, TextPrompt) else {}
    enums = {name: {"enum": each} for name, each in values.items()}
    properties = {each["name"]: {"type": "string", **enums.get(each["name"], {})} for each in arguments}
    return {"properties": properties, "required": [each["name"] for each in arguments if each.get("required")]}


def _documents(before: Bundle, after: Bundle) -> Iterator[Change]:
    old, new = _operations_of(before), _operations_of(after)
    modes = ("off", "persisted", "on")
    was, now = before.graphql.mode, after.graphql.mode
    if was != now:
        code = "route-opened" if modes.index(now) > modes.index(was) else "route-closed"
        yield Change(code, "graphql", f"graphql is {now}, and was {was}")
    # Of documents of one id, the types of variables may differ, which are the schema's.
    operations = [
        {(document.id, one.operation.name): one for document in bundle.graphql.documents for one in document.operations}
        for bundle in (before, after)
    ]
    for (id_, name), each in operations[1].items():
        former = operations[0].get((id_, name))
        if former:
            yield from variable_changes(former.variables, each.variables, about=f"/graphql {name or id_}")
    added, removed = [each for each in new if each not in old], [each for each in old if each not in new]
    for id_ in [each for each in old if each in new]:
        if gone := ", ".join(name for name in old[id_] if name not in new[id_]):
            yield Change("document-removed", gone, f"the persisted document {id_} has no {gone} any more")
    for id_ in removed:
        names = ", ".join(old[id_])
        successor = next((each for each in added if {*new[each]} >= {*old[id_]}), "")
        if successor:
            added.remove(successor)
            sentence = f"the persisted document of {names} is {successor}, and was {id_}"
            yield Change("document-replaced", names, sentence)
        else:
            yield Change("document-removed", names, f"the persisted document of {names} is gone: {id_}")
    for id_ in added:
        names = ", ".join(new[id_])
        yield Change("document-added", names, f"the persisted document of {names} is new: {id_}")


def _operations_of(bundle: Bundle) -> dict[str, list[str]]:
    """Return id of a document -> the names of its operations, those that tools run included."""
    tools = {tool.name: tool for tool in bundle.tools if isinstance(tool, PrescribedTool)}
    return {
        document.id: sorted(
            [
                *(each.operation.name or "anonymous" for each in document.operations),
                *(tools[name].operation.name for name in document.tools if name in tools),
            ]
        )
        for document in bundle.graphql.documents
    }
