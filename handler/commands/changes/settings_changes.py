"""The differences of an endpoint's settings: its callers, its API, its limits and its log."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict, fields, replace
from typing import Any
from urllib.parse import urlsplit

from handler.audience.condition_bits import mask_in_words
from handler.bundle.content import Prompt, Resource, Skill, TextPrompt
from handler.bundle.identity import ApiKey, Identity
from handler.bundle.model import Bundle
from handler.bundle.operations import Limits
from handler.bundle.tools import PrescribedTool
from handler.bundle.upstream import Upstream, is_reference
from handler.commands.changes.change import Change
from handler.commands.changes.schema_comparison import prompt_argument_changes, prompt_value_changes, variable_changes
from handler.policy.evaluation import OPEN, Mask
from handler.policy.predicates import Predicate


def settings_changes(before: Bundle, after: Bundle) -> Iterator[Change]:
    """Yield the differences of settings."""
    yield from _access(before, after)
    yield from _identity(before.identity, after.identity)
    yield from _upstream(before.upstream, after.upstream)
    yield from limit_changes(before.limits, after.limits, about="limits", where="limits")
    if before.log != after.log:
        yield Change(code="log-changed", about="log", sentence="the log has other facts of calls")
    yield from _kits(before, after)
    if before.synonyms != after.synonyms:
        yield Change(code="catalog-changed", about="find", sentence="questions about tools have other synonyms")


def _kits(before: Bundle, after: Bundle) -> Iterator[Change]:
    """Yield the toolkits that are new, gone or set otherwise; their tools are compared by themselves."""
    old, new = ({each.use: each for each in bundle.code} for bundle in (before, after))
    for name in {**old, **new}:
        if name not in old or name not in new:
            what = "new" if name in new else "gone"
            yield Change(code="code-changed", about=name, sentence=f"the toolkit {name} is {what}")
            continue
        if conditions_of(old[name].mask, before.conditions) != conditions_of(new[name].mask, after.conditions):
            masks, conditions = (old[name].mask, new[name].mask), (before.conditions, after.conditions)
            yield content_opened(f"toolkit {name}", masks, conditions)
        parts = _differing(replace(old[name], mask=OPEN), replace(new[name], mask=OPEN))
        if parts:
            yield Change(code="code-changed", about=name, sentence=f"the toolkit {name}: other {', '.join(parts)}")


def _access(before: Bundle, after: Bundle) -> Iterator[Change]:
    if before.access.anonymous != after.access.anonymous:
        admitted = after.access.anonymous == "allow"
        what = "admitted" if admitted else "refused"
        yield Change(
            code="anonymous-admitted" if admitted else "anonymous-refused",
            about="access.anonymous",
            sentence=f"callers without a credential are {what}",
        )
    if before.access.listed != after.access.listed:
        with_them = "have" if after.access.listed == "all" else "lack"
        yield Change(
            code="listing-changed",
            about="access.listed",
            sentence=f"lists {with_them} the tools whose scopes the caller does not have",
        )
    if before.access.advertises_scopes != after.access.advertises_scopes:
        named = "named" if after.access.advertises_scopes else "not named"
        sentence = f"scopes of tools are {named} to callers without a credential"
        yield Change(code="listing-changed", about="access.scopes.advertise", sentence=sentence)


def _identity(before: Identity, after: Identity) -> Iterator[Change]:
    keys = [{key.name: key for key in of.api_keys} for of in (before, after)]
    for name in {**keys[0], **keys[1]}:
        if name not in keys[0]:
            yield Change(code="key-added", about=name, sentence=f"API key {name} is new")
        elif name not in keys[1]:
            yield Change(code="key-removed", about=name, sentence=f"API key {name} is gone")
        else:
            yield from _key(keys[0][name], keys[1][name])
    old, new = ({(each.issuer, each.subject): each for each in of.issuers} for of in (before, after))
    for key in {**old, **new}:
        name = key[0] or "an issuer without a name"
        if key not in old:
            yield Change(code="issuer-added", about=name, sentence=f"tokens of {name} are accepted")
        elif key not in new:
            yield Change(code="issuer-removed", about=name, sentence=f"tokens of {name} are not accepted")
        elif old[key] != new[key]:
            parts = ", ".join(_differing(old[key], new[key]))
            yield Change(code="issuer-changed", about=name, sentence=f"tokens of {name}: other {parts}")
    for api in dict.fromkeys((*before.trusted_apis, *after.trusted_apis)):
        if api not in before.trusted_apis:
            yield Change(code="authorizer-added", about=api, sentence=f"the authorizer of the API {api} is believed")
        elif api not in after.trusted_apis:
            sentence = f"the authorizer of the API {api} is not believed"
            yield Change(code="authorizer-removed", about=api, sentence=sentence)
        elif (api in before.typed_apis) != (api in after.typed_apis):
            sentence = f"the types of claims of the API {api} are read otherwise"
            yield Change(code="issuer-changed", about=api, sentence=sentence)
    if before.oauth_proxy != after.oauth_proxy:
        both = before.oauth_proxy and after.oauth_proxy
        what = (
            f"the OAuth proxy has other {', '.join(_differing(before.oauth_proxy, after.oauth_proxy))}"
            if both
            else f"the OAuth proxy is {'new' if after.oauth_proxy else 'gone'}"
        )
        yield Change(code="sign-in-changed", about="identity.oauth_proxy", sentence=what)


def _key(old: ApiKey, new: ApiKey) -> Iterator[Change]:
    name = new.name
    if old.sha256 != new.sha256:
        yield Change(code="key-changed", about=name, sentence=f"API key {name} is another key")
    if old.claims != new.claims:
        what = "skips policies" if new.claims is None else "has other claims"
        yield Change(code="key-claims", about=name, sentence=f"the holder of API key {name} {what}")
    if old.expires != new.expires:
        later = not new.expires or (bool(old.expires) and new.expires > old.expires)
        code, what = ("key-expires-later", "later") if later else ("key-expires-earlier", "earlier")
        end = what if new.expires else "never"
        yield Change(code=code, about=name, sentence=f"API key {name} expires {end}")


def _upstream(old: Upstream, new: Upstream) -> Iterator[Change]:
    if old.url != new.url:
        sentence = f"requests go to {_plain(new.url)}, and went to {_plain(old.url)}"
        yield Change(code="upstream-url", about="upstream.url", sentence=sentence)
    patterns = [each.tenant.pattern if each.tenant else "" for each in (old, new)]
    if patterns[0] != patterns[1] and all(patterns):
        sentence = f"tenants in the URL fit {patterns[1]}, and fitted {patterns[0]}"
        yield Change(code="upstream-url", about="upstream.tenant_pattern", sentence=sentence)
    for part in ("headers", "claim_headers", "forward_headers"):
        names = _differing_names(getattr(old, part), getattr(new, part))
        if names:
            sentence = f"upstream.{part}: other {', '.join(names)}"
            yield Change(code="upstream-headers", about=f"upstream.{part}", sentence=sentence)
    if old.auth != new.auth:
        yield Change(code="upstream-credential", about="upstream.auth", sentence=_credential(old, new))
    if old.documents != new.documents:
        sentence = f"operations are sent as {new.documents}, and were sent as {old.documents}"
        yield Change(code="upstream-documents", about="upstream", sentence=sentence)
    for part in ("timeout_s", "max_bytes"):
        where = f"upstream.{part}"
        yield from number_change(getattr(old, part), getattr(new, part), about=where, where=where)


def _plain(url: str) -> str:
    """Return a URL without user, password and query, which may hold secrets."""
    parts = urlsplit(url)
    query = "?…" if parts.query else ""
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}{query}" if url else "no URL"


def _differing_names(old: Any, new: Any) -> list[str]:
    if isinstance(old, tuple):
        return sorted({*old} ^ {*new})
    return sorted(name for name in {**old, **new} if old.get(name) != new.get(name))


def _credential(old: Upstream, new: Upstream) -> str:
    """Name the kinds and references of both credentials; a secret itself is never named."""
    was, now = _in_words(old), _in_words(new)
    if was != now:
        return f"the credential for the API is {now}, and was {was}"
    parts = _differing(old.client, new.client) if old.client and new.client else []
    others = [each for each in _differing(old.auth, new.auth) if each != "client"]
    return f"the credential for the API is {now}, with other {', '.join([*parts, *others])}"


def _in_words(upstream: Upstream) -> str:
    secrets = [each if is_reference(each) else "a secret in the bundle" for each in upstream.secrets]
    parts = [*secrets, _plain(upstream.client.token_url)] if upstream.client else secrets
    return f"{upstream.auth.KIND} ({', '.join(parts)})" if parts else upstream.auth.KIND


def _differing(old: Any, new: Any) -> list[str]:
    before, after = asdict(old), asdict(new)
    return [name for name in before if before[name] != after[name]]


RESULT = "max_result_bytes"


def limit_changes(before: Limits, after: Limits, *, about: str, where: str) -> Iterator[Change]:
    """Yield the limits that differ. ``where`` names the limits' owner in the sentences."""
    for each in fields(Limits):
        old, new = getattr(before, each.name), getattr(after, each.name)
        if each.name == RESULT:
            yield from result_size_change(old, new, about=about, where=where)
        else:
            yield from number_change(old, new, about=about, where=f"{where}: {each.name}")


def number_change(old: float, new: float, *, about: str, where: str) -> Iterator[Change]:
    """Yield the difference of a number that allows more if it is larger."""
    if old != new:
        code = "limit-raised" if new > old else "limit-lowered"
        yield Change(code=code, about=about, sentence=f"{where} is {_shown(new)}, and was {_shown(old)}")


def result_size_change(old: int, new: int, *, about: str, where: str) -> Iterator[Change]:
    """Yield the difference of the size of results, which has no limit if it is 0."""
    yield from number_change(old or math.inf, new or math.inf, about=about, where=f"{where}: {RESULT}")


def _shown(number: float) -> str:
    return "without limit" if number == math.inf else f"{number:,}"


Content = Prompt | Resource | Skill


def content_changes(before: Bundle, after: Bundle) -> Iterator[Change]:
    """Yield the differences of what an endpoint has beside tools."""
    old, new = contents_of(before), contents_of(after)
    for name in [name for name in new if name not in old]:
        yield Change(code="content-added", about=name, sentence=f"{name} is new")
    for name, each in old.items():
        if name not in new:
            yield Change(code="content-removed", about=name, sentence=f"{name} is gone")
        else:
            yield from _of_content(name, each, new[name], conditions=(before.conditions, after.conditions))
    if before.instructions != after.instructions:
        yield Change(code="content-changed", about="instructions", sentence="the instructions are others")
    yield from _documents(before, after)


def contents_of(bundle: Bundle) -> dict[str, Content]:
    """Return the prompts, resources and skills by their kind and name. The files of skills are part of skills."""
    prompts: dict[str, Content] = {f"prompt {prompt.name}": prompt for prompt in bundle.prompts}
    skills: dict[str, Content] = {f"skill {skill.name}": skill for skill in bundle.skills}
    uris = (str(each.entry.get("uri") or each.entry["uriTemplate"]) for each in bundle.resources)
    resources = {f"resource {uri}": each for uri, each in zip(uris, bundle.resources, strict=True)}
    of_skills = {f"resource {file['uri']}" for skill in bundle.skills for file in skill.entry["resources"]}
    return prompts | {name: each for name, each in resources.items() if name not in of_skills} | skills


def _of_content(
    name: str, old: Content, new: Content, *, conditions: tuple[tuple[Predicate, ...], tuple[Predicate, ...]]
) -> Iterator[Change]:
    if conditions_of(old.mask, conditions[0]) != conditions_of(new.mask, conditions[1]):
        yield content_opened(name, (old.mask, new.mask), conditions)
    if name.startswith("prompt "):
        yield from prompt_argument_changes(old.entry.get("arguments"), new.entry.get("arguments"), about=name)
    if isinstance(old, TextPrompt) and isinstance(new, TextPrompt):  # a function may take other values than it offers
        both = {each["name"] for each in old.entry.get("arguments", ())} & {
            each["name"] for each in new.entry.get("arguments", ())
        }
        was, now = ({key: of.completions[key] for key in of.completions if key in both} for of in (old, new))
        yield from prompt_value_changes(was, now, about=name)
    if replace(old, mask=OPEN) != replace(new, mask=OPEN):
        # Members of a page's ``_meta.ui``, such as the origins that it may ask, are named.
        was, now = ((each.entry.get("_meta") or {}).get("ui") or {} for each in (old, new))
        parts = [str(key) for key in {**was, **now} if was.get(key) != now.get(key)]
        with_others = f", with other {', '.join(parts)}" if parts else ""
        yield Change(code="content-changed", about=name, sentence=f"{name} is another{with_others}")


def content_opened(
    name: str, masks: tuple[Mask, Mask], conditions: tuple[tuple[Predicate, ...], tuple[Predicate, ...]]
) -> Change:
    """Return the difference of a content's callers, with the conditions of both versions."""
    was, now = (mask_in_words(mask, some) for mask, some in zip(masks, conditions, strict=True))
    return Change(code="content-opened", about=name, sentence=f"{name} is for other callers: {now}, before: {was}")


def conditions_of(mask: Mask, conditions: tuple[Predicate, ...]) -> list[str]:
    """Return the conditions of a mask in a form that both versions have."""
    return sorted(str(conditions[number]) for number in mask)


def _documents(before: Bundle, after: Bundle) -> Iterator[Change]:
    old, new = _operations_of(before), _operations_of(after)
    modes = ("off", "persisted", "on")
    was, now = before.graphql.mode, after.graphql.mode
    if was != now:
        code = "route-opened" if modes.index(now) > modes.index(was) else "route-closed"
        yield Change(code=code, about="graphql", sentence=f"graphql is {now}, and was {was}")
    yield from _inputs_of_documents(before, after)
    added, removed = [each for each in new if each not in old], [each for each in old if each not in new]
    for id_ in removed:
        successor = next((each for each in added if {*new[each]} >= {*old[id_]}), "")
        if successor:
            added.remove(successor)
            sentence = f"the persisted document of {', '.join(old[id_])} is {successor}, and was {id_}"
            yield Change(code="document-replaced", about=", ".join(old[id_]), sentence=sentence)
        else:
            sentence = f"the persisted document of {', '.join(old[id_])} is gone: {id_}"
            yield Change(code="document-removed", about=", ".join(old[id_]), sentence=sentence)
    for id_ in added:
        names = ", ".join(new[id_])
        yield Change(code="document-added", about=names, sentence=f"the persisted document of {names} is new: {id_}")


def _inputs_of_documents(before: Bundle, after: Bundle) -> Iterator[Change]:
    """Yield the differences of variables in documents of one id: their types are the schema's."""
    old = {
        (document.id, each.operation.name): each
        for document in before.graphql.documents
        for each in document.operations
    }
    for document in after.graphql.documents:
        for each in document.operations:
            known = old.get((document.id, each.operation.name))
            if known:
                name = each.operation.name or document.id
                yield from variable_changes(known.variables, each.variables, about=f"/graphql {name}")


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
