"""Where in a document something stands, and a caller's own words, for messages to that caller."""

from __future__ import annotations

from graphql import FieldNode, FragmentSpreadNode, GraphQLError, Node, get_location

from handler.errors import Fault

MAX_SENTENCE_CHARS = 500


def fault_at(node: Node, message: str) -> Fault:
    """A fault at the beginning of a node; at no place for one without a location."""
    if node.loc is None:
        return Fault(message)
    at = get_location(node.loc.source, node.loc.start)
    return Fault(message, at.line, at.column)


def name_of(node: Node) -> str:
    """A selection as a caller would find it: its name, or the alias before it."""
    match node:
        case FieldNode(alias=None):
            return shown(node.name.value)
        case FieldNode():
            return shown(f"{node.alias.value}: {node.name.value}" if node.alias else "")
        case FragmentSpreadNode():
            return shown(f"...{node.name.value}")
        case _:
            return "..."


def shown(name: str) -> str:
    """A name in an error: quoted, and not at any length."""
    return f'"{printable(name)}"' if len(name) <= 60 else f'"{printable(name[:60])}…"'


def fault_of(error: GraphQLError, hint: str = "") -> Fault:
    """The words of graphql-core's error and a hint behind them, with the first place that it names."""
    message = "a number has too many digits" if "set_int_max_str_digits" in error.message else error.message
    sentence = f"{printable(message)} {hint}".rstrip()
    at = next(iter(error.locations or ()), None)
    return Fault(sentence, at.line, at.column) if at else Fault(sentence)


def printable(text: str) -> str:
    """A caller's own words: not at any length, and without what UTF-8 cannot encode."""
    encodable = text[:MAX_SENTENCE_CHARS].encode(errors="backslashreplace").decode()
    cut = len(text) > MAX_SENTENCE_CHARS or len(encodable) > MAX_SENTENCE_CHARS
    return encodable[: MAX_SENTENCE_CHARS - 1] + "…" if cut else encodable
