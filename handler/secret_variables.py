"""Secrets in environment variables: the text of a secret, or the ARN of a secret in Secrets Manager."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from handler.cold.records import record
from handler.errors.infrastructure import SettingsError

SECRET_NAME = re.compile(r"[A-Za-z0-9_]+")
SECRET_PREFIX = "STILE_SECRET_"  # noqa: S105 - the prefix of variables' names
SECRET_ARNS = "STILE_SECRET_ARNS"  # noqa: S105 - a variable's name
RESERVED_NAME = SECRET_ARNS.removeprefix(SECRET_PREFIX)
MAX_SECRET_NAME_CHARS = 128

ARN = (
    r"arn:(?P<partition>aws|aws-cn|aws-us-gov):secretsmanager:(?P<region>[a-z]{2}(-[a-z]+)+-[0-9]{1,2}):[0-9]{12}"
    r":secret:(?P<name>[A-Za-z0-9/_+=.@-]{1,512})-[A-Za-z0-9]{6}"
)
"""Source: the AWS Secrets Manager guide, "Secrets Manager ARNs": a name, and six random characters."""

ARN_FORM = "arn:aws:secretsmanager:REGION:ACCOUNT:secret:NAME-SUFFIX, the whole ARN of a secret"
NO_TEXT = "…"
"""Shown instead of the value of a variable that holds a secret."""


@record(frozen=True, slots=True, kw_only=True)
class SecretArn:
    """A secret in Secrets Manager. ``variable`` names it in the log, in the owner's terms."""

    variable: str
    arn: str
    region: str
    name: str  # without the suffix


Secret = str | SecretArn
"""A secret of the owner: the text itself, or its location."""


def read_secrets(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the secrets by the NAME in an author's ``env:NAME``. Authors can read no other variables."""
    return {
        name.removeprefix(SECRET_PREFIX): value
        for name, value in environ.items()
        if name.startswith(SECRET_PREFIX) and name != SECRET_ARNS
    }


def read_secret(variable: str, text: str) -> Secret:
    """Return a variable's secret: its text, or the secret that it names if the text begins as an ARN does.

    A malformed ARN is never taken for a secret, because anyone could guess it.

    Raises:
        SettingsError: an ARN that is not the whole ARN of a Secrets Manager secret.
    """
    stripped = text.strip()
    if not stripped.lower().startswith("arn:") and ":secretsmanager:" not in stripped:
        return text
    found = _secret_arn(variable, stripped)
    if found is None:
        raise SettingsError(variable, NO_TEXT, expected=f"a secret, or {ARN_FORM}")
    return found


def secrets_by_name(environ: Mapping[str, str], arns: Iterable[str]) -> dict[str, Secret]:
    """Return the secrets by the authors' names for them, from their own variables and from the list of ARNs.

    Raises:
        SettingsError: an ARN that is not valid, or two secrets with one name.
    """
    found = {name: read_secret(f"{SECRET_PREFIX}{name}", text) for name, text in read_secrets(environ).items()}
    listed: dict[str, SecretArn] = {}
    for text in dict.fromkeys(arns):
        arn = _secret_arn(SECRET_ARNS, text)
        if arn is None:  # a text that is not an ARN may be the secret itself, so it is not shown
            shown = text if text.startswith("arn:") else NO_TEXT
            raise SettingsError(SECRET_ARNS, shown, expected=f"{ARN_FORM}, several separated by commas")
        name = arn.name.rpartition("/")[2]
        if not SECRET_NAME.fullmatch(name) or len(name) > MAX_SECRET_NAME_CHARS or name == RESERVED_NAME:
            expected = "a secret whose name ends in the NAME of env:NAME, as stile/NAME: letters, digits and _"
            raise SettingsError(SECRET_ARNS, text, expected=expected)
        if name in listed:
            raise SettingsError(SECRET_ARNS, text, expected=f"one secret for env:{name}, not {listed[name].arn} too")
        if found.get(name):
            raise SettingsError(SECRET_ARNS, text, expected=f"env:{name} here or as {SECRET_PREFIX}{name}, not both")
        listed[name] = arn
    return {**found, **listed}


def _secret_arn(variable: str, text: str) -> SecretArn | None:
    """Return the secret with this ARN; ``None`` if the text is not the whole ARN of a secret."""
    parts = re.fullmatch(ARN, text)
    if not parts or parts["partition"] != _partition_of(parts["region"]):
        return None
    return SecretArn(variable=variable, arn=text, region=parts["region"], name=parts["name"])


def _partition_of(region: str) -> str:
    return next((f"aws-{kind}" for kind in ("cn", "us-gov") if region.startswith(f"{kind}-")), "aws")
