"""The checks of bundles before a publish, for contents that only an author's own trials allow."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

from handler.bundle.identity import SECRET_REFERENCE
from handler.bundle.model import Bundle
from handler.bundle.tools import CONFIRM_LEVELS
from handler.bundle.upstream import SAMPLE, Upstream, is_in_host, is_reference, parse_reference, sample_address
from handler.commands.folders.endpoints import Outcome
from handler.commands.local.local_endpoint import local_settings
from handler.commands.terminal.console import complain, warn
from handler.compiler.compile import Compiled
from handler.compiler.problems import Place, Problems
from handler.compiler.source.files import CONFIG
from handler.errors.authoring import Problem
from handler.http.addresses import AddressRules, literal_fault
from handler.text.sentences import some

NO_UPSTREAM = "config.yaml names no upstream.url, so its tools have no API to ask"
NO_CONFIG = "config.yaml does not exist, so its tools have no API to ask, and no caller may use them"


def are_publishable(compiled: Sequence[Compiled]) -> bool:
    """Tell if the bundles may be published, and complain of each reason against it.

    Raises:
        SettingsError: an environment variable does not fit, such as STILE_UPSTREAM_HOSTS, which applies here too.
    """
    judged = [have_upstreams(compiled), have_no_secrets(compiled), have_no_credentials(compiled)]
    return all([*judged, have_allowed_addresses(compiled, publish_rules())])


def have_upstreams(compiled: Sequence[Compiled]) -> bool:
    """Tell if each bundle with a schema names its API, and complain of each that does not."""
    return _complain(f"{one.bundle.endpoint}: {NO_UPSTREAM}" for one in compiled if _lacks_upstream(one))


def warn_of_upstreams(compiled: Sequence[Compiled]) -> None:
    """Print the endpoints that name no API: these can be listed here, but not published."""
    for one in compiled:
        if _lacks_upstream(one):
            warn(f"{one.bundle.endpoint}: {NO_UPSTREAM}: `stile publish` will refuse it")


def warnings_about_upstream(compiled: Compiled, folder: Path) -> Sequence[Problem]:
    """Return a warning in config.yaml if an endpoint names no API."""
    problems = Problems()
    if _lacks_upstream(compiled):
        file = compiled.env_file.with_name(CONFIG)
        lacking = f"{NO_UPSTREAM}: add it" if file.exists() else f"{NO_CONFIG}: write it, with upstream.url and access"
        at = Place(file.relative_to(folder).as_posix())
        problems.warn(at, f"{lacking}; `stile publish` refuses the endpoint", code="no-upstream")
    return problems.warnings


def _lacks_upstream(compiled: Compiled) -> bool:
    """Tell if a bundle has a schema but no API. An endpoint with only tools in Python needs neither."""
    return bool(compiled.bundle.index) and not compiled.bundle.upstream.url


def have_no_secrets(compiled: Sequence[Compiled]) -> bool:
    """Tell if no bundle holds a literal HS256 key, and complain of each that does: its readers could make tokens."""
    return _complain(
        f"{one.bundle.endpoint}: {which} is a secret that would be stored in the bundle: write env:NAME, and set "
        "STILE_SECRET_NAME where the function runs"
        for one in compiled
        for which in _literal_secrets(one.bundle)
    )


def have_no_credentials(compiled: Sequence[Compiled]) -> bool:
    """Tell if no bundle holds a credential for its API, and complain of each that does."""
    return _complain(
        f"{one.bundle.endpoint}: upstream.auth has a secret that would be stored in the bundle: write secret:NAME, "
        "ssm:NAME or env:NAME, and put it there"
        for one in compiled
        if not all(map(is_reference, one.bundle.upstream.secrets))
    )


def have_allowed_addresses(compiled: Sequence[Compiled], rules: AddressRules) -> bool:
    """Tell if all addresses in the bundles are allowed by the rules, and complain of each that is not."""
    return _complain(
        f"{one.bundle.endpoint}: {fault}" for one in compiled for fault in address_faults(one.bundle, rules)
    )


def publish_rules() -> AddressRules:
    """Return the rules of the function that a bundle is published for: this environment's, but for this machine.

    Raises:
        SettingsError: an environment variable does not fit, such as STILE_UPSTREAM_HOSTS.
    """
    return replace(local_settings().addresses, local=False)


def address_faults(bundle: Bundle, rules: AddressRules) -> list[str]:
    """Return a sentence on each URL in a bundle that the rules refuse without resolving names."""
    found = []
    for key, url in _addresses(bundle):
        parts = urlsplit(url)
        host = parts.hostname or ""
        kind = literal_fault(host, rules)
        allowed = _with_tenants(rules, bundle.upstream) if key == "upstream.url" else rules
        fault = f"its address is {kind}" if kind else allowed.url_fault(parts.scheme, host)
        if fault:
            found.append(f"{key} {url}: {fault}; expected the https URL of a host that the function may ask")
    return found


def _with_tenants(rules: AddressRules, upstream: Upstream) -> AddressRules:
    """Return the rules without names of hosts, if these allow the host of some tenant."""
    if upstream.tenant is None or not is_in_host(upstream.tenant):
        return rules
    domain = (urlsplit(sample_address(upstream)).hostname or "").partition(f"{SAMPLE}.")[2]
    allowed = any(
        host.lower().endswith(f".{domain}") or (host.startswith("*.") and f".{domain}".endswith(host[1:].lower()))
        for host in rules.hosts
    )
    return replace(rules, hosts=()) if allowed else rules


def _addresses(bundle: Bundle) -> Iterator[tuple[str, str]]:
    """Yield the URLs to which the function sends requests or people, each after its key in the configuration."""
    if bundle.upstream.url:
        yield "upstream.url", sample_address(bundle.upstream)
    if bundle.upstream.client:
        yield "token_url", bundle.upstream.client.token_url
    for issuer in bundle.identity.issuers:
        if issuer.jwks_url:
            yield "jwksendpoint", issuer.jwks_url
    if bundle.identity.oauth_proxy:
        yield "oauth_proxy.authorize_url", bundle.identity.oauth_proxy.authorize_url
        yield "oauth_proxy.token_url", bundle.identity.oauth_proxy.token_url


def tell_of_secrets(compiled: Sequence[Compiled]) -> None:
    """Print the place of each secret that endpoints refer to."""
    for one in compiled:
        for reference in filter(None, map(parse_reference, one.bundle.upstream.secrets)):
            place = _PLACES[reference.source].format(endpoint=one.bundle.endpoint, name=reference.name)
            warn(f"{one.bundle.endpoint}: {reference} is read from {place}")


def warn_of_questions(compiled: Sequence[Compiled]) -> None:
    """Print the endpoints that ask users or continue answers, for which the function needs a state key."""
    for one in compiled:
        sentence = _need_of_state_key(one)
        if sentence:
            warn(f"{one.bundle.endpoint}: {sentence}")


def warnings_about_questions(compiled: Compiled) -> Sequence[Problem]:
    """Return a warning for each tool, prompt or resource that asks its user, unless a state key is set here too.

    Raises:
        SettingsError: an environment variable does not fit, such as STILE_STATE_KEY.
    """
    if local_settings().state_keys:
        return ()
    problems = Problems()
    for made in compiled.made:
        if made.tool.options.confirm:
            problems.warn(
                made.at,
                f"tool {made.tool.name} asks its user, {_NEEDS_KEY}",
                code="needs-state-key",
                about=[made.tool.name],
            )
    for label, at in compiled.asking.items():
        problems.warn(at, f"{label} may ask its user, {_NEEDS_KEY}", code="needs-state-key", about=[label])
    return problems.warnings


def with_sealed_cursors(outcome: Outcome) -> Outcome:
    """Add a problem if answers of tools can be continued, unless a state key is set here too.

    Raises:
        SettingsError: an environment variable does not fit, such as STILE_STATE_KEY.
    """
    made = outcome.compiled.made if outcome.compiled else ()
    continued = [each for each in made if each.tool.options.cursor]
    if not continued or local_settings().state_keys:
        return outcome
    problems, names = Problems(), some([each.tool.name for each in continued])
    problems.add(continued[0].at, f"answers of {names} can be continued, {_NEEDS_KEY}", code="unsealed-cursors")
    return replace(outcome, problems=(*outcome.problems, *problems.error().problems))


_NEEDS_KEY = "for which the function needs STILE_STATE_KEY: set it there, and here for this check"


def _need_of_state_key(compiled: Compiled) -> str:
    """Say the effect of a missing state key on an endpoint; empty string if the endpoint needs no key."""
    tools = compiled.bundle.tools
    asking = {level: [tool.name for tool in tools if tool.options.confirm == level] for level in CONFIRM_LEVELS}
    parts = []
    if asking["required"]:
        parts.append(f"{', '.join(asking['required'])} cannot be called")
    if asking["advisory"]:
        parts.append(f"{', '.join(asking['advisory'])} takes the model's word that its user agreed")
    continued = [tool.name for tool in tools if tool.options.cursor]
    if continued:
        parts.append(f"{some(continued)} gives no cursors for answers that are cut")
    proxy = compiled.bundle.identity.oauth_proxy
    if proxy and proxy.assertion_clients:
        parts.append("no client gets a token for an identity assertion")
    if compiled.asking:
        parts.append(f"{', '.join(compiled.asking)} cannot ask its user")
    return f"unless STILE_STATE_KEY is set where the function runs, {' and '.join(parts)}" if parts else ""


def _literal_secrets(bundle: Bundle) -> Iterator[str]:
    for issuer in bundle.identity.issuers:
        for key in issuer.keys:
            if key.algorithm == "HS256" and not key.key.startswith(SECRET_REFERENCE):
                of = f" of the issuer {issuer.issuer}" if issuer.issuer else ""
                yield f"the HS256 key {key.id}{of}" if key.id else f"the HS256 key{of}"


_PLACES = {
    "env": "the function's variable STILE_SECRET_{name}, or the secret {name} among its STILE_SECRET_ARNS",
    "secret": "Secrets Manager, {{STILE_SECRETS}}/{endpoint}/{name}",
    "ssm": "Parameter Store, /{{STILE_SECRETS}}/{endpoint}/{name}",
}


def _complain(sentences: Iterator[str]) -> bool:
    found = list(sentences)
    for sentence in found:
        complain(sentence)
    return not found
