"""Errors of credentials and of the OAuth proxy."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from handler.errors import StileError


class AccessError(StileError):
    """The caller may not do this. ``reason`` is for the log, and holds nothing that the caller sent."""

    def __init__(self, message: str, *, reason: str) -> None:
        super().__init__(message)
        self.reason = reason


class CredentialRequired(AccessError):
    """An anonymous caller, and a credential is required. ``scopes``: those that it needs, as far as known."""

    stile_code = "credential-required"

    def __init__(self, scopes: Sequence[str] = ()) -> None:
        super().__init__("a credential is required", reason="no_credential")
        self.scopes = tuple(scopes)


class CredentialRefused(AccessError):
    """A credential that is unknown, expired or malformed. Only ``reason`` says which; the message does not."""

    stile_code = "credential-refused"

    def __init__(self, reason: str) -> None:
        super().__init__("the credential was refused", reason=reason)


class CredentialMalformed(AccessError):
    """A request from which no single credential can be read."""

    stile_code = "credential-malformed"

    def __init__(self) -> None:
        forms = "Authorization: Bearer TOKEN, Authorization: Apikey KEY or X-API-Key: KEY"
        super().__init__(f"expected one credential, as {forms}", reason="malformed")


class KeysUnavailable(AccessError):
    """A token whose keys cannot be read now. The token may be valid, so its holder has no reason to sign in again."""

    stile_code = "keys-unavailable"

    def __init__(self, reason: str = "key_set") -> None:
        super().__init__("the credential cannot be verified at the moment", reason=reason)


class VerifierMissing(AccessError):
    """A token that may be valid, and a function without the packages to verify it."""

    stile_code = "verifier-missing"

    def __init__(self) -> None:
        super().__init__(
            "this function cannot verify the credential",
            reason="no_verifier: the extra jwt cannot be imported; add it to Extras in samconfig.toml",
        )


class InsufficientScope(AccessError):
    """A tool whose scopes the caller's credential lacks. ``scopes``: all that it needs; ``held``: all that it has.

    The error ends one call. If one request holds several calls (a batch of MCP 2025-03-26), it is the error of its item
    alone: only the status and the challenge of a whole response are lost.
    """

    stile_code = "insufficient-scope"

    def __init__(self, tool: str, scopes: Sequence[str], *, held: Iterable[str] = ()) -> None:
        super().__init__(f"{tool} needs a token with the scopes {' '.join(scopes)}", reason="insufficient_scope")
        self.tool = tool
        self.scopes = tuple(scopes)
        self.held = tuple(sorted(held))


class OAuthRefused(StileError):
    """A request that the OAuth proxy refuses. ``code`` is OAuth's, ``description`` a sentence in ASCII."""

    def __init__(self, code: str, description: str) -> None:
        super().__init__(f"{code}: {description}")
        self.code = code
        self.description = description


class AssertionRefused(OAuthRefused):
    """An identity assertion that is not valid here and now. Only ``reason``, a word for the log, says why."""

    def __init__(self, reason: str) -> None:
        super().__init__("invalid_grant", "the assertion is not valid for this client and endpoint now")
        self.reason = reason


class RedirectRefused(OAuthRefused):
    """A redirect URI that is not on the owner's list. The log shows the URI, so that the owner can add it."""

    def __init__(self, code: str, redirect_uri: str) -> None:
        super().__init__(code, "the owner of this server does not allow this redirect URI")
        self.redirect_uri = redirect_uri
