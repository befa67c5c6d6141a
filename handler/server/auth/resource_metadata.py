"""The metadata of an endpoint for OAuth clients: its authorization servers and scopes.

Source: RFC 9728; MCP 2026-07-28, basic/authorization/authorization-server-discovery.
"""

from __future__ import annotations

from collections.abc import Iterable

from handler.bundle.model import Bundle
from handler.bundle.tools import CatalogTool, CodeTool, CompanionTool, GraphQLTool, PrescribedTool, Tool
from handler.policy.evaluation import Evaluation
from handler.policy.predicates import UNKNOWN
from handler.strict_json import JSONObject

WELL_KNOWN = "/.well-known/oauth-protected-resource"

METADATA_NAMES = ("oauth-authorization-server", "openid-configuration")
"""File names of authorization server metadata. Source: RFC 8414; OpenID Connect Discovery 1.0."""

OFFLINE_ACCESS = "offline_access"
"""A matter between client and authorization server; the scope grants nothing at an endpoint."""


def resource_metadata(bundle: Bundle, public_url: str) -> JSONObject | None:
    """Build the document of RFC 9728, section 2; ``None`` without authorization server or public URL."""
    servers = authorization_servers(bundle, public_url)
    if not servers or not public_url:
        return None
    scopes = open_scopes(bundle)
    return {
        "resource": f"{public_url}/{bundle.endpoint}/mcp",
        "authorization_servers": servers,
        **({"scopes_supported": scopes} if scopes else {}),  # section 3.2: empty arrays are left out
        "bearer_methods_supported": ["header"],
        "resource_name": bundle.endpoint,
    }


def metadata_url(bundle: Bundle, public_url: str) -> str:
    """Return the URL of ``resource_metadata``; empty string if there is no such document."""
    if not authorization_servers(bundle, public_url) or not public_url:
        return ""
    return f"{public_url}{WELL_KNOWN}/{bundle.endpoint}/mcp"


def authorization_servers(bundle: Bundle, public_url: str) -> list[str]:
    """Return the issuers with a URL, exactly as configured: a final slash makes another issuer (RFC 8414, 3.3).

    The OAuth proxy replaces the issuer behind it, and comes first, because clients take the first.
    """
    proxy = bundle.identity.oauth_proxy
    others = [issuer for issuer in _named_issuers(bundle) if not (proxy and issuer == proxy.issuer)]
    own = oauth_proxy_url(bundle, public_url)
    return [own, *others] if own else others


def takes_tokens(bundle: Bundle) -> bool:
    """Return whether clients can find an authorization server."""
    return bundle.identity.oauth_proxy is not None or bool(_named_issuers(bundle))


def _named_issuers(bundle: Bundle) -> list[str]:
    urls = (issuer.issuer for issuer in bundle.identity.issuers)
    return list(dict.fromkeys(issuer for issuer in urls if issuer.startswith(("https://", "http://"))))


def oauth_proxy_url(bundle: Bundle, public_url: str) -> str:
    """Return the issuer and base URL of the endpoint's OAuth proxy; empty string without proxy or public URL."""
    return f"{public_url}/{bundle.endpoint}" if bundle.identity.oauth_proxy and public_url else ""


def open_scopes(bundle: Bundle) -> list[str]:
    """Return the scopes of the listed tools that a caller with some claims may use; none if they are to stay private.

    The scopes do not depend on the claims, so a first sign-in can ask for all of them.
    """
    if not bundle.access.advertises_scopes:
        return []
    someone = Evaluation(bundle.conditions, claims=UNKNOWN)
    listed = [tool for tool in bundle.tools if not tool.options.hidden and _is_open(tool, someone)]
    return without_offline_access(scope for tool in listed for scope in tool.options.scopes)


def all_scopes(bundle: Bundle) -> list[str]:
    """Return the scopes of all tools. They are not published, but a challenged client may request one."""
    return without_offline_access(scope for tool in bundle.tools for scope in tool.options.scopes)


def _is_open(tool: Tool, someone: Evaluation) -> bool:
    """Return whether a caller with some claims may use a tool."""
    match tool:
        case PrescribedTool():
            return someone.may_meet(tool.mask, tool.operation.variables)
        case GraphQLTool():
            return tool.reachable and someone.may_ever_meet(tool.mask)
        case CompanionTool():  # its scopes are those of the GraphQL tool
            return False
        case CodeTool():
            return someone.may_ever_meet(tool.mask)
        case CatalogTool():
            return True


def without_offline_access(scopes: Iterable[str]) -> list[str]:
    """Return the scopes for a client, each once. Source: MCP 2026-07-28, basic/authorization ("Refresh Tokens")."""
    return [scope for scope in dict.fromkeys(scopes) if scope != OFFLINE_ACCESS]
