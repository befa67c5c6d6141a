"""The checks of bundles before they are published or served, and their warnings in ``stile check``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

from handler.bundle.identity import SECRET_REFERENCE
from handler.bundle.model import Bundle
from handler.bundle.tools import CONFIRM_LEVELS, PrescribedTool
from handler.bundle.upstream import SAMPLE, Upstream, is_in_host, is_reference, parse_reference, sample_address
from handler.commands.console import complain, warn
from handler.commands.folders.endpoints import Outcome
from handler.commands.local.local_endpoint import local_settings
from handler.compiler.compile import Compiled
from handler.compiler.config.config import left_over, unused_ignores
from handler.compiler.problems import Place, Problems
from handler.compiler.source.files import CONFIG
from handler.errors.authoring import Problem
from handler.http.addresses import LOOPBACK, NO_TLS, AddressRules, literal_fault
from handler.text.sentences import some

NO_UPSTREAM = "config.yaml names no upstream.url, so its tools have no API to ask"
NO_CONFIG = "config.yaml does not exist, so its tools have no API to ask, and no caller may use them"


def are_publishable(compiled: Sequence[Compiled], *, rules: AddressRules | None = None) -> bool:
    """Return whether the bundles may be published or served, and complain of each reason against it.

    ``rules`` are those of addresses for a command with --allow-http; without them, the rules of the function.

    Raises:
        SettingsError: an environment variable does not fit, such as STILE_UPSTREAM_HOSTS, which applies here too.
    """

    def faults() -> Iterator[str]:
        yield from (f"{one.bundle.endpoint}: {NO_UPSTREAM}" for one in compiled if _lacks_upstream(one))
        yield from _secrets_in(compiled)
        allowed = rules or publish_rules()
        for one in compiled:
            found = address_faults(one.bundle, allowed, offers_http=bool(rules))
            yield from (f"{one.bundle.endpoint}: {fault}" for fault in found)

    return _complain(faults())


def are_free_of_secrets(compiled: Sequence[Compiled]) -> bool:
    """Return whether no bundle holds a secret, and complain of each that does."""
    return _complain(_secrets_in(compiled))


def _complain(sentences: Iterator[str]) -> bool:
    is_fit = True
    for sentence in sentences:
        is_fit = False
        complain(sentence)
    return is_fit


def _secrets_in(compiled: Sequence[Compiled]) -> Iterator[str]:
    """Yield a sentence for each literal secret: HS256 keys, whose readers could make tokens, then credentials."""
    for one in compiled:
        for issuer in one.bundle.identity.issuers:
            for key in issuer.keys:
                if key.algorithm == "HS256" and not key.key.startswith(SECRET_REFERENCE):
                    which = f" {key.id}" if key.id else ""
                    of = f" of the issuer {issuer.issuer}" if issuer.issuer else ""
                    yield (
                        f"{one.bundle.endpoint}: the HS256 key{which}{of} is a secret that would be stored in the "
                        "bundle: write env:NAME, and set STILE_SECRET_NAME where the function runs"
                    )
    for one in compiled:
        if not all(map(is_reference, one.bundle.upstream.secrets)):
            yield (
                f"{one.bundle.endpoint}: upstream.auth has a secret that would be stored in the bundle: write "
                "secret:NAME, ssm:NAME or env:NAME, and put it there"
            )


def warn_of_upstreams(compiled: Sequence[Compiled]) -> None:
    """Print the endpoints that name no API: these can be listed here, but not published."""
    for one in compiled:
        if _lacks_upstream(one):
            warn(f"{one.bundle.endpoint}: {NO_UPSTREAM}: `stile publish` will refuse it")


def _lacks_upstream(compiled: Compiled) -> bool:
    """Return whether a bundle has a schema but no API. An endpoint with only tools in Python needs neither."""
    return bool(compiled.bundle.index) and not compiled.bundle.upstream.url


def publish_rules() -> AddressRules:
    """Return the rules of the function that a bundle is published for: this environment's, but for this machine.

    Raises:
        SettingsError: an environment variable does not fit, such as STILE_UPSTREAM_HOSTS.
    """
    return replace(local_settings().addresses, local=False)


def address_faults(bundle: Bundle, rules: AddressRules, *, offers_http: bool = False) -> list[str]:
    """Return a sentence on each URL that the rules refuse without resolving names. ``offers_http``: --allow-http."""
    faults = []
    for key, url in _addresses(bundle):
        parts = urlsplit(url)
        host = parts.hostname or ""
        kind = literal_fault(host, rules)
        allowed = _with_tenants(rules, bundle.upstream) if key == "upstream.url" else rules
        fault = f"its address is {kind}" if kind else allowed.url_fault(parts.scheme, host)
        option = f", or --allow-http {host}" if kind == LOOPBACK or fault == NO_TLS else ""
        expected = f"may be asked{option}" if offers_http else "the function may ask"
        if fault:
            faults.append(f"{key} {url}: {fault}; expected the https URL of a host that {expected}")
    return faults


def http_sentences(bundle: Bundle) -> Iterator[str]:
    """Yield a sentence on each URL in a bundle that is asked without TLS."""
    for key, url in _addresses(bundle):
        if urlsplit(url).scheme == "http":
            host = urlsplit(url).hostname
            yield f"{bundle.endpoint}: {key} is asked without TLS, which only `stile serve --allow-http {host}` allows"


def _addresses(bundle: Bundle) -> Iterator[tuple[str, str]]:
    """Yield the URLs to which the function sends requests or people, each after its key in the configuration."""
    if bundle.upstream.url:
        yield "upstream.url", sample_address(bundle.upstream)
    if bundle.upstream.client:
        yield "token_url", bundle.upstream.client.token_url
    yield from (("jwksendpoint", issuer.jwks_url) for issuer in bundle.identity.issuers if issuer.jwks_url)
    if bundle.identity.oauth_proxy:
        yield "oauth_proxy.authorize_url", bundle.identity.oauth_proxy.authorize_url
        yield "oauth_proxy.token_url", bundle.identity.oauth_proxy.token_url


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


def secret_places(compiled: Compiled) -> list[str]:
    """Return a sentence on the place of each secret that an endpoint refers to."""
    name = compiled.bundle.endpoint
    references = filter(None, map(parse_reference, compiled.bundle.upstream.secrets))
    places = ((each, _PLACES[each.source].format(endpoint=name, name=each.name)) for each in references)
    return [f"{name}: {reference} is read from {place}" for reference, place in places]


_PLACES = {
    "env": "the function's variable STILE_SECRET_{name}, or the secret {name} among its STILE_SECRET_ARNS",
    "secret": "Secrets Manager, {{STILE_SECRETS}}/{endpoint}/{name}",
    "ssm": "Parameter Store, /{{STILE_SECRETS}}/{endpoint}/{name}",
}


def state_key_warnings(compiled: Compiled) -> list[str]:
    """Return a sentence on the effects of a missing state key, if the endpoint needs one."""
    tools, proxy = compiled.bundle.tools, compiled.bundle.identity.oauth_proxy
    asking = {level: [tool.name for tool in tools if tool.options.confirm == level] for level in CONFIRM_LEVELS}
    continued = [tool.name for tool in tools if tool.options.cursor]
    starters = [tool.name for tool in tools if isinstance(tool, PrescribedTool) and tool.task]
    effects = []
    if starters:
        effects.append(f"{some(starters)} gives no ids to ask about jobs")
    if asking["required"]:
        effects.append(f"{', '.join(asking['required'])} cannot be called")
    if asking["advisory"]:
        effects.append(f"{', '.join(asking['advisory'])} takes the model's word that its user agreed")
    if continued:
        effects.append(f"{some(continued)} gives no cursors for answers that are cut")
    if proxy and proxy.assertion_clients:
        effects.append("no client gets a token for an identity assertion")
    if compiled.asking:
        effects.append(f"{', '.join(compiled.asking)} cannot ask its user")
    unset = "unless STILE_STATE_KEY is set where the function runs"
    return [f"{compiled.bundle.endpoint}: {unset}, {' and '.join(effects)}"] if effects else []


def check_warnings(compiled: Compiled, folder: Path) -> list[Problem]:
    """Return all warnings about an endpoint that ``stile check`` prints, in file order, as config.yaml leaves them.

    Raises:
        SettingsError: an environment variable does not fit, such as STILE_STATE_KEY.
    """
    problems = Problems()
    if not local_settings().state_keys:
        for each in compiled.made:
            name, starts = each.tool.name, isinstance(each.tool, PrescribedTool) and each.tool.task
            if starts or each.tool.options.confirm:
                need = f"tool {name} {'starts jobs' if starts else 'asks its user'}, {_NEEDS_KEY}"
                problems.warn(each.at, need, code="needs-state-key", about=[name])
        for label, at in compiled.asking.items():
            problems.warn(at, f"{label} may ask its user, {_NEEDS_KEY}", code="needs-state-key", about=[label])
    if _lacks_upstream(compiled):
        file = compiled.env_file.with_name(CONFIG)
        lacking = f"{NO_UPSTREAM}: add it" if file.exists() else f"{NO_CONFIG}: write it, with upstream.url and access"
        at = Place(file.relative_to(folder).as_posix())
        problems.warn(at, f"{lacking}; `stile publish` refuses the endpoint", code="no-upstream")
    warnings = [*compiled.warnings, *compiled.client_warnings, *problems.warnings]
    if compiled.bundle.skills:
        from handler.audience.skill_tools import warnings_about_skills  # it loads the server

        warnings += warnings_about_skills(compiled)
    return sorted([*left_over(warnings, compiled.ignores), *unused_ignores(warnings, compiled.ignores)])


def with_sealed_cursors(outcome: Outcome) -> Outcome:
    """Add a problem if answers of tools can be continued, unless a state key is set here too.

    Raises:
        SettingsError: an environment variable does not fit, such as STILE_STATE_KEY.
    """
    continued = [each for each in (outcome.compiled.made if outcome.compiled else ()) if each.tool.options.cursor]
    if not continued or local_settings().state_keys:
        return outcome
    problems, names = Problems(), some([each.tool.name for each in continued])
    problems.add(continued[0].at, f"answers of {names} can be continued, {_NEEDS_KEY}", code="unsealed-cursors")
    return replace(outcome, problems=(*outcome.problems, *problems.error().problems))


_NEEDS_KEY = "for which the function needs STILE_STATE_KEY: set it there, and here for this check"
