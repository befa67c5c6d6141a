"""The ``config.yaml`` of a new endpoint."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import yaml

from handler.commands.editor_files.writing import SCHEMA_COMMENT

ACCESS = ("open", "keys", "identity")

COMMENTS: Mapping[str, str] = {
    "open": "# Everybody may use all queries, and nobody may change anything.",
    "keys": "# For holders of API keys: `stile key NAME` makes a key, and prints lines that belong here.",
    "identity": "# For callers with a token of this issuer. They may use all queries, and change nothing.",
}

REASON = "The API's own schema has it, as stile init found."


@dataclass(frozen=True, slots=True, kw_only=True)
class Issuer:
    """An issuer of tokens."""

    issuer: str
    jwks_url: str
    audience: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointSettings:
    """The settings of a new endpoint. ``issuer`` goes with the access ``identity``."""

    url: str
    access: str
    issuer: Issuer | None = None


def config_text(settings: EndpointSettings, *, query: str, mutation: str, ignored: Iterable[str] = ()) -> str:
    """Return the YAML. ``query`` and ``mutation`` name the root types; ``ignored`` has codes of warnings to silence."""
    parts = [f"{SCHEMA_COMMENT}\n{_yaml({'upstream': {'url': settings.url}})}", f"{COMMENTS[settings.access]}\n"]
    parts[-1] += _yaml({"access": _access(settings.access, query=query, mutation=mutation)})
    if settings.issuer:
        parts.append(_yaml({"identity": _identity(settings.issuer)}))
    ignores = [{"code": code, "reason": REASON} for code in ignored]
    if ignores:
        parts.append(_yaml({"checks": {"ignore": ignores}}))
    return "\n".join(parts)


def _access(access: str, *, query: str, mutation: str) -> dict[str, Any]:
    if access == "keys":
        return {"anonymous": "challenge"}
    condition = True if access == "open" else "?$jwt"
    policies = [{"type": query, "policyDefault": {"condition": condition}}]
    policies += [{"type": mutation, "policyDefault": {"condition": False}}] if mutation else []
    return {"anonymous": "allow" if access == "open" else "challenge", "policies": policies}


def _identity(issuer: Issuer) -> dict[str, str]:
    return {"issuer": issuer.issuer, "jwksendpoint": issuer.jwks_url, "audience": issuer.audience}


def _yaml(section: Mapping[str, Any]) -> str:
    return str(yaml.safe_dump(section, sort_keys=False, allow_unicode=True, width=sys.maxsize))
