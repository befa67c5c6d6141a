"""A toolkit whose tool takes secrets."""

from __future__ import annotations

from pydantic import BaseModel, SecretStr

from stile import Toolkit

kit = Toolkit()


class Login(BaseModel):
    """Who signs in."""

    user: str
    word: SecretStr


@kit.tool
def sealed(word: SecretStr, login: list[Login], apiKey: str) -> str:  # noqa: N803 - a name of clients
    """Take secrets."""
    return "taken"
