"""The differences of an endpoint's settings: its callers, its API, its limits and its log."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, replace
from typing import Any
from urllib.parse import urlsplit

from handler.bundle.identity import ApiKey, Identity
from handler.bundle.model import Bundle
from handler.bundle.upstream import Upstream, is_reference
from handler.commands.changes.change import Change
from handler.commands.changes.content_changes import conditions_of, content_opened
from handler.commands.changes.limit_changes import limit_changes, number_change
from handler.policy.evaluation import OPEN


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
    """Yield the toolkits that are new, gone or set otherwise; their tools are told by themselves."""
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
    yield from _keys({key.name: key for key in before.api_keys}, {key.name: key for key in after.api_keys})
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
    yield from _trusted(before, after)
    if before.oauth_proxy != after.oauth_proxy:
        both = before.oauth_proxy and after.oauth_proxy
        what = (
            f"the OAuth proxy has other {', '.join(_differing(before.oauth_proxy, after.oauth_proxy))}"
            if both
            else f"the OAuth proxy is {'new' if after.oauth_proxy else 'gone'}"
        )
        yield Change(code="sign-in-changed", about="identity.oauth_proxy", sentence=what)


def _trusted(before: Identity, after: Identity) -> Iterator[Change]:
    for api in dict.fromkeys((*before.trusted_apis, *after.trusted_apis)):
        if api not in before.trusted_apis:
            yield Change(code="authorizer-added", about=api, sentence=f"the authorizer of the API {api} is believed")
        elif api not in after.trusted_apis:
            sentence = f"the authorizer of the API {api} is not believed"
            yield Change(code="authorizer-removed", about=api, sentence=sentence)
        elif (api in before.typed_apis) != (api in after.typed_apis):
            sentence = f"the types of claims of the API {api} are read otherwise"
            yield Change(code="issuer-changed", about=api, sentence=sentence)


def _keys(old: dict[str, ApiKey], new: dict[str, ApiKey]) -> Iterator[Change]:
    for name in {**old, **new}:
        if name not in old:
            yield Change(code="key-added", about=name, sentence=f"API key {name} is new")
        elif name not in new:
            yield Change(code="key-removed", about=name, sentence=f"API key {name} is gone")
        else:
            yield from _key(old[name], new[name])


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
    """Name the kinds and references of both credentials; a secret itself is never told."""
    was, now = _in_words(old), _in_words(new)
    if was != now:
        return f"the credential for the API is {now}, and was {was}"
    parts = _differing(old.client, new.client) if old.client and new.client else []
    others = [each for each in _differing(old.auth, new.auth) if each != "client"]
    return f"the credential for the API is {now}, with other {', '.join([*parts, *others])}"


def _in_words(upstream: Upstream) -> str:
    secrets = [each if is_reference(each) else "a secret in the bundle" for each in upstream.secrets]
    told = [*secrets, _plain(upstream.client.token_url)] if upstream.client else secrets
    return f"{upstream.auth.KIND} ({', '.join(told)})" if told else upstream.auth.KIND


def _differing(old: Any, new: Any) -> list[str]:
    before, after = asdict(old), asdict(new)
    return [name for name in before if before[name] != after[name]]
