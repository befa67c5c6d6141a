"""The function's settings: environment variables, read once from a passed mapping."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import field
from urllib.parse import urlsplit

from handler.bundle.model import ENDPOINT_NAME
from handler.cold.records import record
from handler.errors.infrastructure import SettingsError
from handler.http.addresses import STRICT, AddressRules, is_host_pattern
from handler.secret_variables import NO_TEXT, SECRET_ARNS, SECRET_NAME, Secret, SecretArn, read_secret, secrets_by_name

ORIGIN = r"\*|[a-z][a-z0-9+.-]*://[^/?#@*\s]+"
"""An origin as browsers write it: a scheme, a host and an optional port, and nothing after them."""

PUBLIC_URL = r"https?://[A-Za-z0-9_.:\[\]-]+(/[^/?#\s\"]+)*"

MIN_LOG_KEY_CHARS = 32

MIN_STATE_KEY_CHARS = 32
MAX_STATE_KEYS = 2

MODULE = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*")

LOG_SUBJECTS = ("hashed", "plain")
METRICS = ("on", "function", "off")
PAGES = ("off", "on")
SECRETS_PREFIX = r"[A-Za-z0-9_-]+(/[A-Za-z0-9_-]+)*"


@record(frozen=True, slots=True, kw_only=True)
class Settings:
    """The settings of the function, from environment variables."""

    bundles: str  # STILE_BUNDLES: a folder, or s3://bucket/prefix
    preload: tuple[str, ...] = ()  # STILE_PRELOAD: folder/name, comma-separated; loaded during init
    refresh_s: float = 60.0  # STILE_REFRESH_S: age after which a bundle is fetched again
    max_stale_s: float = 300.0  # STILE_MAX_STALE_S: age after which requests wait for that fetch
    cache_mb: int = 128  # STILE_CACHE_MB: memory for the cached endpoints
    allowed_origins: frozenset[str] = frozenset()  # STILE_ALLOWED_ORIGINS: browser origins that may call; *: any
    page: bool = False  # STILE_PAGE: on | off; on: browsers get the page
    public_url: str = ""  # STILE_PUBLIC_URL: URL of the function for clients; empty: as in the events
    log_key: Secret = field(default="", repr=False)  # STILE_LOG_KEY: key of the digests of subjects in the log
    log_subject: str = "hashed"  # STILE_LOG_SUBJECT: hashed | plain
    metrics: str = "on"  # STILE_METRICS: on | function | off
    # STILE_STATE_KEY: one, or the new and the old
    state_keys: tuple[str, ...] | SecretArn = field(default=(), repr=False)
    code_modules: tuple[str, ...] = ()  # STILE_CODE_MODULES: packages and modules that endpoints may take tools from
    addresses: AddressRules = STRICT  # STILE_UPSTREAM_HOSTS, STILE_ALLOW_LOCAL_UPSTREAMS: hosts that authors may name
    secrets_prefix: str = ""  # STILE_SECRETS: prefix of secrets' names in AWS; empty: no secret is read there
    # STILE_SECRET_NAME, STILE_SECRET_ARNS: the values of env:NAME
    secrets: Mapping[str, Secret] = field(default_factory=dict, repr=False)
    env_secrets: frozenset[str] = frozenset()  # STILE_ENV_SECRETS: folder/name/NAME: the allowed reads; empty: all


def read_settings(environ: Mapping[str, str]) -> Settings:
    """Read the settings.

    Raises:
        SettingsError: a variable that is missing or not valid, with its name and the expected value.
    """
    bundles = environ.get("STILE_BUNDLES", "").strip()
    if not bundles:
        raise SettingsError("STILE_BUNDLES", bundles, expected="a folder, or s3://bucket/prefix")
    return Settings(
        bundles=bundles,
        preload=_endpoints(environ),
        refresh_s=_seconds(environ, "STILE_REFRESH_S", 60.0),
        max_stale_s=_seconds(environ, "STILE_MAX_STALE_S", 300.0),
        cache_mb=_megabytes(environ, "STILE_CACHE_MB", 128),
        allowed_origins=_origins(environ),
        page=_choice(environ, "STILE_PAGE", PAGES) == "on",
        public_url=_public_url(environ),
        log_key=_log_key(environ),
        log_subject=_choice(environ, "STILE_LOG_SUBJECT", LOG_SUBJECTS),
        metrics=_choice(environ, "STILE_METRICS", METRICS),
        state_keys=_state_keys(environ),
        code_modules=read_code_modules(environ),
        addresses=_addresses(environ),
        secrets_prefix=_secrets_prefix(environ),
        secrets=secrets_by_name(environ, _list(environ, SECRET_ARNS)),
        env_secrets=_env_secrets(environ),
    )


def read_code_modules(environ: Mapping[str, str]) -> tuple[str, ...]:
    """Return the packages and modules that endpoints may take tools in Python from; without any, none is imported.

    Raises:
        SettingsError: a text that is not the name of a module.
    """
    names = _list(environ, "STILE_CODE_MODULES")
    for name in names:
        if not MODULE.fullmatch(name):
            raise SettingsError("STILE_CODE_MODULES", name, expected="names of modules, several separated by commas")
    return names


def log_key_fault(key: str) -> str:
    """Return the expected form if a log key is not valid; empty string if it is."""
    return f"{MIN_LOG_KEY_CHARS} characters or more" if len(key) < MIN_LOG_KEY_CHARS else ""


def state_keys_in(text: str) -> tuple[str, ...]:
    """Return the keys of states: one, or the new one and the old one."""
    return _parts(text)


def state_key_fault(text: str) -> str:
    """Return the expected form if state keys are not valid; empty string if they are."""
    keys = state_keys_in(text)
    if 1 <= len(keys) <= MAX_STATE_KEYS and all(len(key) >= MIN_STATE_KEY_CHARS for key in keys):
        return ""
    return f"one or two keys of {MIN_STATE_KEY_CHARS} characters or more, separated by a comma"


def _endpoints(environ: Mapping[str, str]) -> tuple[str, ...]:
    names = _list(environ, "STILE_PRELOAD")
    for name in names:
        if not ENDPOINT_NAME.fullmatch(name):
            raise SettingsError("STILE_PRELOAD", name, expected="folder/name, several separated by commas")
    return names


def _origins(environ: Mapping[str, str]) -> frozenset[str]:
    origins = _list(environ, "STILE_ALLOWED_ORIGINS")
    for origin in origins:
        if not re.fullmatch(ORIGIN, origin):
            expected = "origins such as https://app.example.com, several separated by commas, or *"
            raise SettingsError("STILE_ALLOWED_ORIGINS", origin, expected=expected)
    return frozenset(origins)


def _public_url(environ: Mapping[str, str]) -> str:
    url = environ.get("STILE_PUBLIC_URL", "").strip().rstrip("/")
    if url and not _is_public_url(url):
        expected = "a URL such as https://mcp.example.com, with an ASCII host and without a query or fragment"
        raise SettingsError("STILE_PUBLIC_URL", url, expected=expected)
    return url


def _is_public_url(url: str) -> bool:
    try:
        return bool(re.fullmatch(PUBLIC_URL, url)) and urlsplit(url).port != 0
    except ValueError:  # a port above 65535, or brackets around another text than an address
        return False


def _log_key(environ: Mapping[str, str]) -> Secret:
    key = read_secret("STILE_LOG_KEY", environ.get("STILE_LOG_KEY", ""))
    if isinstance(key, str) and key:
        _require("STILE_LOG_KEY", log_key_fault(key))
    return key


def _state_keys(environ: Mapping[str, str]) -> tuple[str, ...] | SecretArn:
    secret = read_secret("STILE_STATE_KEY", environ.get("STILE_STATE_KEY", ""))
    if isinstance(secret, SecretArn):
        return secret
    keys = state_keys_in(secret)
    if keys:
        _require("STILE_STATE_KEY", state_key_fault(secret))
    return keys


def _require(variable: str, fault: str) -> None:
    if fault:
        raise SettingsError(variable, NO_TEXT, expected=fault)


def _secrets_prefix(environ: Mapping[str, str]) -> str:
    prefix = environ.get("STILE_SECRETS", "").strip()
    if prefix and not re.fullmatch(SECRETS_PREFIX, prefix):
        expected = "how names of secrets begin, such as stile or prod/stile, without a slash at either end"
        raise SettingsError("STILE_SECRETS", prefix, expected=expected)
    return prefix


def _env_secrets(environ: Mapping[str, str]) -> frozenset[str]:
    listed = _list(environ, "STILE_ENV_SECRETS")
    for entry in listed:
        endpoint, _, name = entry.rpartition("/")
        if not ENDPOINT_NAME.fullmatch(endpoint) or not SECRET_NAME.fullmatch(name):
            expected = "folder/name/NAME, several separated by commas, without the STILE_SECRET_ of NAME"
            raise SettingsError("STILE_ENV_SECRETS", entry, expected=expected)
    return frozenset(listed)


def _choice(environ: Mapping[str, str], name: str, choices: tuple[str, ...]) -> str:
    """Return one of ``choices``; the first if the variable is empty."""
    text = environ.get(name, "") or choices[0]
    if text not in choices:
        raise SettingsError(name, text, expected=" or ".join(choices))
    return text


def _addresses(environ: Mapping[str, str]) -> AddressRules:
    hosts = _list(environ, "STILE_UPSTREAM_HOSTS")
    for host in hosts:
        if not is_host_pattern(host):
            expected = "names of hosts such as api.example.com or *.example.com, several separated by commas"
            raise SettingsError("STILE_UPSTREAM_HOSTS", host, expected=expected)
    return AddressRules(
        local=_choice(environ, "STILE_ALLOW_LOCAL_UPSTREAMS", ("false", "true")) == "true",
        hosts=hosts,
    )


def _list(environ: Mapping[str, str], name: str) -> tuple[str, ...]:
    return _parts(environ.get(name, ""))


def _parts(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())


def _seconds(environ: Mapping[str, str], name: str, default: float) -> float:
    text = environ.get(name, "")
    try:
        value = float(text) if text else default
    except ValueError:
        value = -1
    if not 0 <= value <= 86_400:
        raise SettingsError(name, text, expected="seconds, from 0 to 86400")
    return value


def _megabytes(environ: Mapping[str, str], name: str, default: int) -> int:
    text = environ.get(name, "")
    if text and not (text.isascii() and text.isdigit() and len(text) <= 5 and int(text)):
        raise SettingsError(name, text, expected="megabytes, a whole number from 1 to 99999")
    return int(text) if text else default
