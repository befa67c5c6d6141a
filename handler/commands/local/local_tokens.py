"""The verification of tokens on an author's machine."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from handler.bundle.identity import Issuer, is_for_trials
from handler.http.client import HttpClient
from handler.server.auth.own_secrets import OwnSecrets
from handler.server.auth.tokens import TokenVerifier, parse_token
from handler.settings import Secret
from handler.strict_json import JSONObject


class LocalVerifier(TokenVerifier):
    """A verifier for one endpoint that also accepts the tokens of its development issuer.

    ``find_issuer`` returns the development issuer; ``None`` if its tokens are refused.
    """

    def __init__(
        self,
        http: HttpClient,
        *,
        secrets: Mapping[str, Secret],
        own: OwnSecrets,
        find_issuer: Callable[[], Issuer | None],
    ) -> None:
        super().__init__(http, secrets=secrets, own=own)
        self._find_issuer = find_issuer

    async def verify(
        self, text: str, issuers: tuple[Issuer, ...], *, now: float, is_assertion: bool = False
    ) -> JSONObject:
        """Verify a token as ``TokenVerifier.verify``. Only the development issuer may vouch for its own tokens."""
        if not is_assertion and is_for_trials(issuer=parse_token(text).claims.get("iss")):
            found = self._find_issuer()
            issuers = (found,) if found else ()
        return await super().verify(text, issuers, now=now, is_assertion=is_assertion)
