"""A warning of tools in Python with ``requires_auth`` that no caller can meet."""

from __future__ import annotations

from collections.abc import Iterator

from handler.compiler.checks.compiled_endpoint import CompiledEndpoint
from handler.compiler.checks.finding import Finding, check
from handler.compiler.config.upstream import is_by_token


@check("unmet-required-auth")
def unmet_required_auth(endpoint: CompiledEndpoint) -> Iterator[Finding]:
    """Find tools with ``requires_auth`` in an endpoint whose ``identity`` has no suitable credentials."""
    if is_by_token(endpoint.context.config.upstream.auth):
        helps, expected = bool(endpoint.identity.issuers), "an issuer"
    else:
        helps, expected = endpoint.identity.exists, "an issuer, API keys or a trusted authorizer"
    for name, at in endpoint.code.requiring.items() if not helps else ():
        sentence = f'nobody can call "{name}": it has requires_auth, and no caller has a credential'
        yield Finding(at, f"{sentence}: expected {expected} in identity", (name,))
