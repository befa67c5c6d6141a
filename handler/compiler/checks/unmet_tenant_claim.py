"""A warning of an address by tenant that no caller's claims can fill."""

from __future__ import annotations

from collections.abc import Iterator

from handler.bundle.identity import Identity
from handler.compiler.checks.compiled_endpoint import CompiledEndpoint
from handler.compiler.checks.finding import Finding, check


@check("unmet-tenant-claim")
def unmet_tenant_claim(endpoint: CompiledEndpoint) -> Iterator[Finding]:
    """Find a place for the tenant in ``upstream.url`` that stays empty: callers without claims cannot fill it."""
    config = endpoint.context.config
    tenant = config.upstream.tenant
    if tenant and not _may_have(tenant.claim, endpoint.identity):
        sentence = (
            '"upstream.url" takes the tenant from a claim, and no caller has it, so every call of the API fails: '
            "expected an issuer, an API key with this claim or a trusted authorizer in identity"
        )
        yield Finding(config.url_at, sentence, (tenant.claim,))


def _may_have(claim: str, identity: Identity) -> bool:
    """Tell if some caller may have a claim. A claim with a dot is a path."""
    names = {claim, claim.partition(".")[0]}
    of_keys = [name for key in identity.api_keys for name in key.claims or ()]
    return bool(identity.issuers or identity.trusted_apis or names.intersection(of_keys))
