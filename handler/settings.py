"""The function's settings and the owner's secrets: environment variables, read once from a passed mapping.

A variable of a secret has its text, or the ARN of a secret in Secrets Manager.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import field
from urllib.parse import urlsplit

from handler.bundle.model import ENDPOINT_NAME
from handler.cold.records import record
from handler.errors.infrastructure import SettingsError
from handler.http.addresses import STRICT, AddressRules, is_host_pattern

MIN_LOG_KEY_CHARS = MIN_STATE_KEY_CHARS = 32
MAX_STATE_KEYS = 2
MAX_CATALOG = 50

MODULE = r"[^\W\d]\w*(\.[^\W\d]\w*)*"

LOG_SUBJECTS = ("hashed", "plain")
METRICS = ("function", "endpoint", "off", "on")  # on: the same as endpoint

SECRET_NAME = re.compile(r"[A-Za-z0-9_]+")
SECRET_PREFIX = "STILE_SECRET_"  # noqa: S105 - the prefix of variables' names
SECRET_ARNS = "STILE_SECRET_ARNS"  # noqa: S105 - a variable's name

ARN = (
    r"arn:(?P<partition>aws|aws-cn|aws-us-gov):secretsmanager:(?P<region>[a-z]{2}(-[a-z]+)+-[0-9]{1,2}):[0-9]{12}"
    r":secret:(?P<name>[A-Za-z0-9/_+=.@-]{1,512})-[A-Za-z0-9]{6}"
)
"""Source: the AWS Secrets Manager guide, "Secrets Manager ARNs": a name, and six random characters."""

ARN_FORM = "arn:aws:secretsmanager:REGION:ACCOUNT:secret:NAME-SUFFIX, the whole ARN of a secret"
NO_TEXT = "…"
"""Shown instead of the value of a variable that holds a secret."""


@record(frozen=True, slots=True)
class SecretArn:
    """A secret in Secrets Manager. ``variable`` names it in the log, in the owner's terms."""

    variable: str
    arn: str
    region: str
    name: str  # without the suffix


Secret = str | SecretArn
"""A secret of the owner: the text itself, or its location."""


@record(frozen=True, slots=True, kw_only=True)
class Settings:
    """The settings of the function, from environment variables."""

    bundles: str  # STILE_BUNDLES: a folder, or s3://bucket/prefix
    preload: tuple[str, ...] = ()  # STILE_PRELOAD: folder/name, comma-separated; loaded during init
    catalog: tuple[str, ...] = ()  # STILE_CATALOG: folder/name, comma-separated; in /.well-known/ai-catalog.json
    refresh_s: float = 60.0  # STILE_REFRESH_S: age after which a bundle is fetched again
    max_stale_s: float = 300.0  # STILE_MAX_STALE_S: age after which requests wait for that fetch
    cache_mb: int = 128  # STILE_CACHE_MB: memory for the cached endpoints
    allowed_origins: frozenset[str] = frozenset()  # STILE_ALLOWED_ORIGINS: browser origins that may call; *: any
    page: bool = False  # STILE_PAGE: on | off; on: browsers get the page
    public_url: str = ""  # STILE_PUBLIC_URL: URL of the function for clients; empty: as in the events
    log_key: Secret = field(default="", repr=False)  # STILE_LOG_KEY: key of the digests of subjects in the log
    log_subject: str = "hashed"  # STILE_LOG_SUBJECT: hashed | plain
    metrics: str = "function"  # STILE_METRICS: function | endpoint | off
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
        preload=_list(environ, "STILE_PRELOAD", ENDPOINT_NAME.fullmatch, "folder/name, several separated by commas"),
        catalog=_catalog(environ),
        refresh_s=_seconds(environ, "STILE_REFRESH_S", 60.0),
        max_stale_s=_seconds(environ, "STILE_MAX_STALE_S", 300.0),
        cache_mb=_megabytes(environ, "STILE_CACHE_MB", 128),
        allowed_origins=frozenset(
            _list(
                environ,
                "STILE_ALLOWED_ORIGINS",
                # as browsers write one: a scheme, a host and an optional port, and nothing after them
                lambda origin: re.fullmatch(r"\*|[a-z][a-z0-9+.-]*://[^/?#@*\s]+", origin),
                "origins such as https://app.example.com, several separated by commas, or *",
            )
        ),
        page=_choice(environ, "STILE_PAGE", ("off", "on")) == "on",
        public_url=_text(
            environ.get("STILE_PUBLIC_URL", "").strip().rstrip("/"),
            "STILE_PUBLIC_URL",
            _is_public_url,
            "a URL such as https://mcp.example.com, with an ASCII host and without a query or fragment",
        ),
        log_key=_log_key(environ),
        log_subject=_choice(environ, "STILE_LOG_SUBJECT", LOG_SUBJECTS),
        metrics=_choice(environ, "STILE_METRICS", METRICS),
        state_keys=_state_keys(environ),
        code_modules=read_code_modules(environ),
        addresses=_addresses(environ),
        secrets_prefix=_text(
            environ.get("STILE_SECRETS", "").strip(),
            "STILE_SECRETS",
            lambda prefix: re.fullmatch(r"[A-Za-z0-9_-]+(/[A-Za-z0-9_-]+)*", prefix),
            "how names of secrets begin, such as stile or prod/stile, without a slash at either end",
        ),
        secrets=secrets_by_name(environ, separated(environ.get(SECRET_ARNS, ""))),
        env_secrets=frozenset(
            _list(
                environ,
                "STILE_ENV_SECRETS",
                lambda entry: re.fullmatch(f"{ENDPOINT_NAME.pattern}/{SECRET_NAME.pattern}", entry),
                "folder/name/NAME, several separated by commas, without the STILE_SECRET_ of NAME",
            )
        ),
    )


def read_code_modules(environ: Mapping[str, str]) -> tuple[str, ...]:
    """Return the packages and modules that endpoints may take tools in Python from; without any, none is imported.

    Raises:
        SettingsError: a text that is not the name of a module.
    """
    expected = "names of modules, several separated by commas"
    return _list(environ, "STILE_CODE_MODULES", lambda module: re.fullmatch(MODULE, module), expected)


def read_secrets(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the secrets by the NAME in an author's ``env:NAME``. Authors can read no other variables."""
    return {
        name.removeprefix(SECRET_PREFIX): value
        for name, value in environ.items()
        if name.startswith(SECRET_PREFIX) and name != SECRET_ARNS
    }


def secrets_here(environ: Mapping[str, str], endpoint: str, allowed: Collection[str]) -> dict[str, str]:
    """Return the secrets that an endpoint may read. ``allowed`` is ``Settings.env_secrets``; empty: all."""
    secrets = read_secrets(environ)
    return {name: text for name, text in secrets.items() if not allowed or f"{endpoint}/{name}" in allowed}


def read_secret(variable: str, text: str) -> Secret:
    """Return a variable's secret: its text, or the secret that it names if the text begins as an ARN does.

    A malformed ARN is never taken for a secret, because anyone could guess it.

    Raises:
        SettingsError: an ARN that is not the whole ARN of a Secrets Manager secret.
    """
    stripped = text.strip()
    if not stripped.lower().startswith("arn:") and ":secretsmanager:" not in stripped:
        return text
    arn = _secret_arn(variable, stripped)
    if arn is None:
        raise SettingsError(variable, NO_TEXT, expected=f"a secret, or {ARN_FORM}")
    return arn


def secrets_by_name(environ: Mapping[str, str], arns: Iterable[str]) -> dict[str, Secret]:
    """Return the secrets by the authors' names for them, from their own variables and from the list of ARNs.

    Raises:
        SettingsError: an ARN that is not valid, or two secrets with one name.
    """
    own = {name: read_secret(f"{SECRET_PREFIX}{name}", text) for name, text in read_secrets(environ).items()}
    listed: dict[str, SecretArn] = {}
    for text in dict.fromkeys(arns):
        arn = _secret_arn(SECRET_ARNS, text)
        if arn is None:  # a text that is not an ARN may be the secret itself, so it is not shown
            value = text if text.startswith("arn:") else NO_TEXT
            raise SettingsError(SECRET_ARNS, value, expected=f"{ARN_FORM}, several separated by commas")
        name = arn.name.rpartition("/")[2]
        if not SECRET_NAME.fullmatch(name) or len(name) > 128 or f"{SECRET_PREFIX}{name}" == SECRET_ARNS:
            expected = "a secret whose name ends in the NAME of env:NAME, as stile/NAME: letters, digits and _"
            raise SettingsError(SECRET_ARNS, text, expected=expected)
        if name in listed:
            raise SettingsError(SECRET_ARNS, text, expected=f"one secret for env:{name}, not {listed[name].arn} too")
        if own.get(name):
            raise SettingsError(SECRET_ARNS, text, expected=f"env:{name} here or as {SECRET_PREFIX}{name}, not both")
        listed[name] = arn
    return {**own, **listed}


def _secret_arn(variable: str, text: str) -> SecretArn | None:
    """Return the secret with this ARN; ``None`` if the text is not the whole ARN of a secret."""
    parts = re.fullmatch(ARN, text)
    if parts is None:
        return None
    region = parts["region"]
    partition = next((f"aws-{kind}" for kind in ("cn", "us-gov") if region.startswith(f"{kind}-")), "aws")
    return SecretArn(variable, text, region, parts["name"]) if parts["partition"] == partition else None


def log_key_fault(key: str) -> str:
    """Return the expected form if a log key is not valid; empty string if it is."""
    return f"{MIN_LOG_KEY_CHARS} characters or more" if len(key) < MIN_LOG_KEY_CHARS else ""


def state_key_fault(text: str) -> str:
    """Return the expected form if state keys are not valid; empty string if they are."""
    keys = separated(text)
    if 1 <= len(keys) <= MAX_STATE_KEYS and all(len(key) >= MIN_STATE_KEY_CHARS for key in keys):
        return ""
    return f"one or two keys of {MIN_STATE_KEY_CHARS} characters or more, separated by a comma"


def _is_public_url(url: str) -> bool:
    try:
        return bool(re.fullmatch(r"https?://[A-Za-z0-9_.:\[\]-]+(/[^/?#\s\"]+)*", url)) and urlsplit(url).port != 0
    except ValueError:  # a port above 65535, or brackets around another text than an address
        return False


def _log_key(environ: Mapping[str, str]) -> Secret:
    key = read_secret("STILE_LOG_KEY", environ.get("STILE_LOG_KEY", ""))
    if isinstance(key, str) and key and (fault := log_key_fault(key)):
        raise SettingsError("STILE_LOG_KEY", NO_TEXT, expected=fault)
    return key


def _state_keys(environ: Mapping[str, str]) -> tuple[str, ...] | SecretArn:
    secret = read_secret("STILE_STATE_KEY", environ.get("STILE_STATE_KEY", ""))
    if isinstance(secret, SecretArn):
        return secret
    keys = separated(secret)
    if keys and (fault := state_key_fault(secret)):
        raise SettingsError("STILE_STATE_KEY", NO_TEXT, expected=fault)
    return keys


def _addresses(environ: Mapping[str, str]) -> AddressRules:
    expected = "names of hosts such as api.example.com or *.example.com, several separated by commas"
    hosts = _list(environ, "STILE_UPSTREAM_HOSTS", is_host_pattern, expected)
    return AddressRules(
        local=_choice(environ, "STILE_ALLOW_LOCAL_UPSTREAMS", ("false", "true")) == "true",
        hosts=hosts,
    )


def _text(text: str, name: str, fits: Callable[[str], object], expected: str) -> str:
    if text and not fits(text):
        raise SettingsError(name, text, expected=expected)
    return text


def _list(environ: Mapping[str, str], name: str, fits: Callable[[str], object], expected: str) -> tuple[str, ...]:
    return tuple(_text(part, name, fits, expected) for part in separated(environ.get(name, "")))


def _catalog(environ: Mapping[str, str]) -> tuple[str, ...]:
    expected = f"folder/name, at most {MAX_CATALOG}, separated by commas"
    names = _list(environ, "STILE_CATALOG", ENDPOINT_NAME.fullmatch, expected)
    if len(names) > MAX_CATALOG:
        raise SettingsError("STILE_CATALOG", f"{len(names)} names", expected=expected)
    return tuple(dict.fromkeys(names))


def separated(text: str) -> tuple[str, ...]:
    """Return the parts of a text between commas."""
    return tuple(part.strip() for part in text.split(",") if part.strip())


def _choice(environ: Mapping[str, str], name: str, choices: tuple[str, ...]) -> str:
    """Return one of ``choices``; the first if the variable is empty."""
    return _text(environ.get(name, ""), name, choices.__contains__, " or ".join(choices)) or choices[0]


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
    expected = "megabytes, a whole number from 1 to 99999"
    text = _text(
        environ.get(name, ""), name, lambda text: re.fullmatch("0*[1-9][0-9]*", text) and len(text) <= 5, expected
    )
    return int(text) if text else default
