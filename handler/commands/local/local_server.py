"""Services on this machine, as the function would have them, from compiled endpoints.

The HTTP exchanges of a request or call are kept for the author at the terminal. Secrets are variables of the
environment, else of ``.env`` beside config.yaml.
"""

from __future__ import annotations

import os
import re
import secrets
import ssl
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from handler.aws.json_client import AwsJson
from handler.aws.sigv4 import CredentialSource
from handler.bundle.identity import SECRET_REFERENCE, Issuer
from handler.bundle.upstream import parse_reference
from handler.commands.console import complain
from handler.commands.folders.user_secret import state_key
from handler.commands.local.development_tokens import LocalVerifier, find_issuer
from handler.commands.local.local_endpoint import local_settings
from handler.compiler.compile import Compiled
from handler.compiler.source.files import MAX_FILE_BYTES, Unreadable, env_fault, parse_env, read_bytes
from handler.errors.authoring import KeyFileRefused
from handler.errors.infrastructure import HttpError, SettingsError
from handler.http.client import HttpClient, HttpRequest, HttpResponse
from handler.http.response import InvalidResponse
from handler.server.auth.sealed_state import RequestStates
from handler.server.auth.tokens import TokenVerifier
from handler.server.context import Services
from handler.server.endpoints.registry import CachePolicy, Endpoints
from handler.server.outgoing.outgoing_services import outgoing_services
from handler.server.outgoing.secret_store import variable_of
from handler.settings import SECRET_PREFIX, Secret, Settings, read_secret, read_secrets, secrets_here
from handler.storage.storage import Storage


def local_http() -> ObservedHttp:
    """Return a client that may also ask this machine, and without TLS: authors often try an API there.

    Raises:
        SettingsError: an environment variable that does not fit.
    """
    return ObservedHttp(replace(local_settings().addresses, local=True))


PLAIN = {"HTTP_REQUEST", "PACKET_LENGTH_TOO_LONG", "RECORD_LAYER_FAILURE", "UNKNOWN_PROTOCOL", "WRONG_VERSION_NUMBER"}
"""The reasons of several versions of OpenSSL for an answer without TLS."""

WANTS_TLS = re.compile(rb"HTTPS (port|server)|requires (TLS|HTTPS)", re.IGNORECASE)  # as nginx, Apache and Go say it


def address_hint(url: str, outcome: HttpResponse | HttpError) -> str:
    """Return the remedy for a URL that is almost right, from the outcome of a request; else an empty string."""
    scheme, failure = urlsplit(url).scheme, outcome if isinstance(outcome, HttpError) else None
    match failure and failure.__cause__:
        case ssl.SSLError(reason=str() as reason) if scheme == "https" and reason in PLAIN:
            return "the server answers in plain HTTP: try http://"
        case ConnectionError() | InvalidResponse() if scheme == "http" and failure and failure.sent:
            return "if the server expects TLS, try https://"
    if isinstance(outcome, HttpResponse) and outcome.status >= 400:
        if WANTS_TLS.search(outcome.body):
            return "the server expects TLS: try https://"
        return "Django expects the URL with a final slash" if b"APPEND_SLASH" in outcome.body else ""
    return ""


Find = Callable[[str], Compiled | None]
"""Find a compiled endpoint by its name."""


def local_services(
    storage: Storage, http: HttpClient, *, find: Find, trusts_trials: bool = False, **more: Any
) -> Services:
    """Return the services for requests on this machine, with the settings that the function would have.

    The secrets of the endpoints that ``find`` returns are also read from their ``.env``. ``trusts_trials``: the tokens
    of ``stile token`` are accepted. If the settings have no state key, the user's own is used, so that a later command
    opens the ids of jobs. If it cannot be kept, a random one is made.

    Raises:
        SettingsError: an environment variable that does not fit.
    """
    settings = local_settings()
    outgoing = outgoing_services(
        settings,
        AwsJson(http, os.environ, credentials=CredentialSource(os.environ, http=http)),
        stand_ins=lambda name: trial_secrets(_env_file(find, name), name, settings.env_secrets),
        on_trouble=lambda secret, reason: complain(f"{secret.variable}, {secret.arn}: {reason}"),
    )

    @cache
    def verifier_of(name: str) -> TokenVerifier:
        def development_issuer() -> Issuer | None:
            compiled = find(name) if trusts_trials else None
            try:
                if compiled:
                    return find_issuer(compiled.env_file.parent, compiled.bundle.identity, environ=os.environ)
            except KeyFileRefused as exc:
                complain(str(exc))
            return None

        of_endpoint = TrialSecrets(settings, lambda: _env_file(find, name))
        return LocalVerifier(http, secrets=of_endpoint, own=outgoing.own, find_issuer=development_issuer)

    return Services(
        endpoints=Endpoints(
            storage,
            keeping=CachePolicy(refresh_s=0, max_stale_s=0),
            on_trouble=lambda name, exc: complain(f"{name}: {exc}"),
        ),
        http=http,
        tokens=TokenVerifier(http, secrets=settings.secrets, own=outgoing.own),
        verifiers=verifier_of,
        states=RequestStates(settings.state_keys or [_own_state_key()], own=outgoing.own),
        code_modules=settings.code_modules,
        outgoing=outgoing,
        **more,
    )


def _own_state_key() -> str:
    try:
        return state_key(os.environ)[1]
    except (KeyFileRefused, RuntimeError):  # without a folder that can be written, or a home
        return secrets.token_urlsafe(32)


def _env_file(find: Find, name: str) -> Path | None:
    compiled = find(name)
    return compiled.env_file if compiled else None


def trial_secrets(env_file: Path | None, endpoint: str = "", allowed: Collection[str] = ()) -> dict[str, str]:
    """Return an endpoint's secrets on a machine: those of its ``.env``, over which the environment's win.

    ``allowed``: as for ``secrets_here``.
    """
    text, fault = _read_env(env_file)
    if fault:
        complain(f"{env_file} {fault}")
    return read_secrets(parse_env(text)) | secrets_here(os.environ, endpoint, allowed)


def _read_env(env_file: Path | None) -> tuple[str, str]:
    """Return the text of a ``.env``, and why it cannot be read; both are empty if there is none."""
    if not env_file or not os.path.lexists(env_file):
        return "", ""
    try:
        return read_bytes(env_file.parent, env_file.name, MAX_FILE_BYTES).decode("utf-8-sig"), ""
    except (Unreadable, UnicodeDecodeError) as exc:
        return "", str(exc) if isinstance(exc, Unreadable) else "is not UTF-8"


def fault_in_env(env_file: Path, variable: str) -> str:
    """Return the place and the fault of a variable in a ``.env``; empty string if no line begins with it."""
    fault = env_fault(_read_env(env_file)[0], variable)
    return f"{env_file.as_posix()}:{fault}" if fault else ""


class TrialSecrets(Mapping[str, Secret]):
    """The secrets of an endpoint by name, read from its ``.env`` at each look, so that a saved value counts at once."""

    def __init__(self, settings: Settings, env_file: Callable[[], Path | None]) -> None:
        self._settings = settings
        self._env_file = env_file

    def __getitem__(self, name: str) -> Secret:
        if self._settings.secrets.get(name):
            return self._settings.secrets[name]
        try:
            return read_secret(f"{SECRET_PREFIX}{name}", trial_secrets(self._env_file())[name])
        except SettingsError as exc:  # the beginning of an ARN, which is never a secret itself
            raise KeyError(name) from exc

    def __iter__(self) -> Iterator[str]:
        return iter({**trial_secrets(self._env_file()), **self._settings.secrets})

    def __len__(self) -> int:
        return len(list(iter(self)))


def unset_secrets(compiled: Compiled, settings: Settings) -> list[str]:
    """Return a sentence for each secret that the endpoint names and that is not set on this machine."""
    there, bundle, file = TrialSecrets(settings, lambda: compiled.env_file), compiled.bundle, compiled.env_file
    shown = file.relative_to(Path.cwd()) if file.is_relative_to(Path.cwd()) else file

    def unset(name: str, source: str) -> str:
        variable = f"{SECRET_PREFIX}{name}"
        if name.startswith(SECRET_PREFIX):
            return f"{variable} is not set here: {source}:{name.removeprefix(SECRET_PREFIX)} names the variable {name}"
        unread = _read_env(file)[1]
        remedy = fault_in_env(shown, variable) or f"set it in the environment, or in {shown.as_posix()}"
        remedy += f", which {unread}" if unread else ""
        return f"{variable} is not set here: {remedy}"

    sentences = []
    issuers = bundle.identity.issuers
    for issuer in issuers:
        of = f" of the issuer {issuer.issuer}" if len(issuers) > 1 and issuer.issuer else ""
        for place, key in enumerate(issuer.keys):
            name = key.key.removeprefix(SECRET_REFERENCE)
            if key.algorithm == "HS256" and name != key.key and not there.get(name):
                sentences.append(f"identity.keys[{place}]{of}: {unset(name, 'env')}")
    for reference in filter(None, map(parse_reference, bundle.upstream.secrets)):
        name = variable_of(reference)
        if there.get(name) or (reference.source != "env" and settings.secrets_prefix):
            continue
        source = {
            "env": f"its own variable {SECRET_PREFIX}{reference.name}",
            "secret": f"Secrets Manager, {{STILE_SECRETS}}/{bundle.endpoint}/{reference.name}",
            "ssm": f"Parameter Store, /{{STILE_SECRETS}}/{bundle.endpoint}/{reference.name}",
        }[reference.source]
        sentences.append(
            f"upstream.auth: {unset(name, reference.source)}. The function reads {reference} from {source}"
        )
    return sentences


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservedExchange:
    """One request, and its answer or failure."""

    request: HttpRequest
    answer: HttpResponse | None = None
    failure: HttpError | None = None
    duration_ms: float


_EXCHANGES: ContextVar[list[ObservedExchange] | None] = ContextVar("exchanges", default=None)


@contextmanager
def observed() -> Iterator[list[ObservedExchange]]:
    """Yield the list of the exchanges inside, in the order of their ends."""
    exchanges: list[ObservedExchange] = []
    token = _EXCHANGES.set(exchanges)
    try:
        yield exchanges
    finally:
        _EXCHANGES.reset(token)


class ObservedHttp(HttpClient):
    """A client whose exchanges ``observed`` sees."""

    async def send_async(self, request: HttpRequest) -> HttpResponse:
        """Send one request, as ``HttpClient.send_async``."""
        started = time.perf_counter()
        answer: HttpResponse | None = None
        failure: HttpError | None = None
        try:
            answer = await super().send_async(request)
        except HttpError as exc:
            failure = exc
            raise
        finally:
            exchanges = _EXCHANGES.get()
            if exchanges is not None and (answer is not None or failure):
                duration_ms = round((time.perf_counter() - started) * 1e3, 2)
                exchanges.append(
                    ObservedExchange(request=request, answer=answer, failure=failure, duration_ms=duration_ms)
                )
        return answer
