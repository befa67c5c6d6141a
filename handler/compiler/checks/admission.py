"""Warnings of tools that no caller can call, or more callers than the author expects."""

from __future__ import annotations

from collections.abc import Iterator

from handler.bundle.tools import CodeTool, PrescribedTool
from handler.compiler.checks.finding import CompiledEndpoint, Finding, check
from handler.compiler.config.config import KitUse
from handler.policy.evaluation import HIDDEN


@check("uncallable-tool", remedy="Take it out of the operation, or show it.")
def uncallable_tool(endpoint: CompiledEndpoint) -> Iterator[Finding]:
    """A tool's operation uses a field that is hidden from everybody."""
    for each in endpoint.api.tools:
        if each.operation and isinstance(each.tool, PrescribedTool) and not HIDDEN.isdisjoint(each.tool.mask):
            sentence = f'nobody can call "{each.operation.name}": it uses a part of the schema that is always hidden'
            yield Finding(each.operation.node, sentence, (each.operation.name,))


@check("unmet-required-auth", remedy="Add an issuer, or API keys, to identity.")
def unmet_required_auth(endpoint: CompiledEndpoint) -> Iterator[Finding]:
    """A tool in Python has requires_auth, and no caller can have the credential."""
    if endpoint.context.config.upstream.auth.OF_CALLER:
        has_any, expected = bool(endpoint.identity.issuers), "an issuer"
    else:
        has_any, expected = endpoint.identity.exists, "an issuer, API keys or a trusted authorizer"
    for name, at in endpoint.code.requiring.items() if not has_any else ():
        sentence = f'nobody can call "{name}": it has requires_auth, and no caller has a credential'
        yield Finding(at, f"{sentence}: expected {expected} in identity", (name,))


@check("unmet-tenant-claim", remedy="Add an issuer, or API keys with the claim, to identity.")
def unmet_tenant_claim(endpoint: CompiledEndpoint) -> Iterator[Finding]:
    """upstream.url takes the tenant from a claim that no caller has."""
    config, identity = endpoint.context.config, endpoint.identity
    tenant = config.upstream.tenant
    if tenant is None or identity.issuers or identity.trusted_apis:
        return
    names = {tenant.claim, tenant.claim.partition(".")[0]}  # a claim with a dot is a path
    if names.isdisjoint(name for key in identity.api_keys for name in key.claims or ()):
        sentence = (
            '"upstream.url" takes the tenant from a claim, and no caller has it, so every call of the API fails: '
            "expected an issuer, an API key with this claim or a trusted authorizer in identity"
        )
        yield Finding(config.url_at, sentence, (tenant.claim,))


@check("closed-toolkit", remedy="Give the toolkit a condition.")
def closed_toolkit(endpoint: CompiledEndpoint) -> Iterator[Finding]:
    """A toolkit has no condition, and the endpoint no policies, so only keys without claims may use it."""
    for kit in endpoint.context.config.code.kits if not endpoint.grounds.policies else ():
        if "condition" not in kit.section:
            yield _open_or_closed(kit, f"there are no access.policies, so only keys without claims may use {kit.use}")


@check("open-toolkit", remedy="Give the toolkit a condition; true is for whoever gets in.")
def open_toolkit(endpoint: CompiledEndpoint) -> Iterator[Finding]:
    """A toolkit has no condition, and callers without a credential may call its tools."""
    grounds = endpoint.grounds
    is_open = grounds.policies and grounds.anonymous and not grounds.by_policies_alone
    tools = [each.tool for each in endpoint.code.tools if isinstance(each.tool, CodeTool)]
    for kit in endpoint.context.config.code.kits if is_open else ():
        unscoped = [tool.name for tool in tools if tool.kit == kit.use and not tool.options.scopes and not tool.mask]
        if unscoped and "condition" not in kit.section:
            yield _open_or_closed(
                kit, f"{kit.use} has no condition, so callers without a credential may call {unscoped[0]}"
            )


def _open_or_closed(kit: KitUse, sentence: str) -> Finding:
    expected = f'expected {{use: "{kit.use}", condition: "…"}}, where true is for every admitted caller'
    return Finding(kit.at, f"{sentence}: {expected}", (kit.use,))


@check("unused-exception", remedy="Remove it.")
def unused_exception(endpoint: CompiledEndpoint) -> Iterator[Finding]:
    """An entry of access.show has no effect, as nothing hides its coordinate for its name."""
    context = endpoint.api.context
    for coordinate, place in endpoint.api.shown.items() if context else ():
        if context and coordinate not in context.consequences.excepted:
            sentence = f'access.show "{coordinate}": no rule hides it because of its name, so this entry has no effect'
            yield Finding(place, sentence, (coordinate,))
