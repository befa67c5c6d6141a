"""GraphQL comments as descriptions."""

from __future__ import annotations

import re
from collections.abc import Iterator

from graphql import Node, Token, TokenKind

NOT_ABOUT_IT = re.compile(r"\s*(?:import\b|eslint-|prettier-|Copyright\b|SPDX-|TODO\b|FIXME\b)")
"""Lines for other tools or for the maintainers of the file, not for models."""


def comment_above(node: Node) -> str:
    """Return the text of the ``#`` lines directly above a node; empty string if there are none.

    An empty line ends the comment. A comment behind code on its line does not count.
    """
    if node.loc is None:
        return ""
    lines = reversed([token.value or "" for token in _comments_above(node.loc.start_token)])
    return "\n".join(line.strip() for line in lines if not NOT_ABOUT_IT.match(line)).strip()


def _comments_above(token: Token) -> Iterator[Token]:
    """Yield the comment lines above a token, nearest first."""
    above = token.prev
    while above and above.kind is TokenKind.COMMENT and above.line == token.line - 1 and _begins_its_line(above):
        yield above
        token, above = above, above.prev


def _begins_its_line(token: Token) -> bool:
    return token.prev is None or token.prev.line != token.line
