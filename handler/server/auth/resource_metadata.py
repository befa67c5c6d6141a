"""What an endpoint tells OAuth clients of itself: whose tokens it takes, and for what.

Source: RFC 9728; MCP 2026-07-28, basic/authorization/authorization-server-discovery.
"""

from __future__ import annotations

from collections.abc import Iterable

from handler.bundle.model import Bundle, CatalogTool, CodeTool, GraphQLTool, JSONObject, PrescribedTool, Tool
from handler.policy.evaluation import Evaluation

WELL_KNOWN = "/.well-known/oauth-protected-resource"

METADATA_NAMES = ("oauth-authorization-server", "openid-configuration")
"""What the metadata of an authorization server is called. Source: RFC 8414; OpenID Connect Discovery 1.0."""

OFFLINE_ACCESS = "offline_access"
"""A client's own business with the authorization server, and no right to anything here."""


def resource_metadata(bundle: Bundle, public_url: str) -> JSONObject | None:
    """The document of RFC 9728, section 2. Nothing where the endpoint takes no tokens, or its URL is not known."""
    servers = authorization_servers(bundle, public_url)
    if not servers or not public_url:
        return None
    scopes = open_scopes(bundle)
    return {
        "resource": f"{public_url}/{bundle.endpoint}/mcp",
        "authorization_servers": servers,
        **({"scopes_supported": scopes} if scopes else {}),  # section 3.2: what has no element is left out
        "bearer_methods_supported": ["header"],
        "resource_name": bundle.endpoint,
    }


def metadata_url(bundle: Bundle, public_url: str) -> str:
    """Where that document is; empty where there is none."""
    if not authorization_servers(bundle, public_url) or not public_url:
        return ""
    return f"{public_url}{WELL_KNOWN}/{bundle.endpoint}/mcp"


def authorization_servers(bundle: Bundle, public_url: str) -> list[str]:
    """The issuers that clients can find, as configured: a slash more or less is another issuer (RFC 8414, 3.3).

    The bridge stands for the one that it leads to, and comes first: clients take the first.
    """
    bridge = bundle.identity.bridge
    others = [issuer for issuer in _named_issuers(bundle) if not (bridge and issuer == bridge.issuer)]
    own = bridge_url(bundle, public_url)
    return [own, *others] if own else others


def takes_tokens(bundle: Bundle) -> bool:
    """Whether there is a server that clients can find."""
    return bundle.identity.bridge is not None or bool(_named_issuers(bundle))


def _named_issuers(bundle: Bundle) -> list[str]:
    named = (issuer.issuer for issuer in bundle.identity.issuers)
    return list(dict.fromkeys(issuer for issuer in named if issuer.startswith(("https://", "http://"))))


def bridge_url(bundle: Bundle, public_url: str) -> str:
    """What the endpoint's own authorization server is called, and where its routes begin; empty where it has none."""
    return f"{public_url}/{bundle.endpoint}" if bundle.identity.bridge and public_url else ""


def open_scopes(bundle: Bundle) -> list[str]:
    """The scopes of the tools that anybody sees listed: whoever asks has shown no credential."""
    everybody = Evaluation(bundle.conditions, claims=None)
    listed = [tool for tool in bundle.tools if not tool.options.hidden and _is_open(tool, everybody)]
    return without_offline_access(scope for tool in listed for scope in tool.options.scopes)


def all_scopes(bundle: Bundle) -> list[str]:
    """The scopes of all tools. No caller is told them, but who was challenged for one may ask for it."""
    return without_offline_access(scope for tool in bundle.tools for scope in tool.options.scopes)


def _is_open(tool: Tool, everybody: Evaluation) -> bool:
    """Whether anybody may use it. What a GraphQL tool shows them stands in the bundle."""
    match tool:
        case PrescribedTool():
            return everybody.may_meet(tool.mask, tool.operation.variables)
        case GraphQLTool():
            outcome = everybody.outcome(tool.conditions)
            return any(listing.entry is not None for listing in tool.listings if listing.outcome == outcome)
        case CodeTool():
            return everybody.meets(tool.mask)
        case CatalogTool():
            return True


def without_offline_access(scopes: Iterable[str]) -> list[str]:
    """Scopes to tell a client, each once. Source: MCP 2026-07-28, basic/authorization ("Refresh Tokens")."""
    return [scope for scope in dict.fromkeys(scopes) if scope != OFFLINE_ACCESS]
