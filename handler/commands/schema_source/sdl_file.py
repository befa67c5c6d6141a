"""SDL of an introspection's result or of another's text, fit to be written to a file."""

from __future__ import annotations

from typing import Any

from graphql import GraphQLError, build_client_schema, print_schema

from handler.commands.schema_source.refusal import SourceRefused, quoted
from handler.compiler.source.files import MAX_FILE_BYTES
from handler.text.invisible import invisible_characters
from handler.text.sentences import counted

MAX_TYPES = 20_000
"""Types of a schema: ten times those of the largest that is in use."""

REPLACEMENT = "�"

INCOMPLETE = "the introspection is not complete or not valid"


def sdl_of_introspection(introspection: Any, source: str) -> str:
    """Return the SDL of an introspection's ``{"__schema": …}``.

    Raises:
        SourceRefused: a schema that GraphQL does not allow, or one that is too large.
    """
    types = introspection["__schema"].get("types")
    if isinstance(types, list) and len(types) > MAX_TYPES:
        raise SourceRefused(source, f"the schema has {counted(len(types), 'type')}; {MAX_TYPES:,} are read")
    try:
        _fill(types)
        sdl = print_schema(build_client_schema(introspection, assume_valid=True))
    except RecursionError as exc:
        raise SourceRefused(source, f"{INCOMPLETE}: its types are nested too deeply") from exc
    except (GraphQLError, KeyError, TypeError, ValueError, AttributeError) as exc:
        raise SourceRefused(source, f"{INCOMPLETE}: {_why(exc)}") from exc
    return bounded(printable(f"{sdl}\n"), source)


def _fill(types: Any) -> None:
    """Replace ``null`` by empty lists: some servers have it for types without interfaces, fields without arguments."""
    for type_ in types:
        if type_.get("kind") == "OBJECT" and type_.get("interfaces") is None:
            type_["interfaces"] = []
        for field in type_.get("fields") or ():
            field["args"] = field.get("args") or []


def printable(sdl: str) -> str:
    """Return SDL with line feeds only, and an escape of GraphQL in place of each invisible character.

    In a block string or a comment the escape is visible text; between names it is a syntax error.
    """
    text = sdl.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    pieces: list[str] = []
    end = 0
    for offset, character in invisible_characters(text):
        pieces += [text[end:offset], _escape(character)]
        end = offset + 1
    return "".join([*pieces, text[end:]])


def bounded(sdl: str, source: str) -> str:
    """Return SDL that a file of an endpoint may hold.

    Raises:
        SourceRefused: more bytes than the compiler reads.
    """
    size = len(sdl.encode())
    if size > MAX_FILE_BYTES:
        raise SourceRefused(source, f"the schema has {size:,} bytes of SDL; a file may have {MAX_FILE_BYTES:,}")
    return sdl


def _escape(character: str) -> str:
    """Return the escape of a character. Half of a surrogate pair has none, in GraphQL or in UTF-8."""
    code = ord(character)
    return REPLACEMENT if 0xD800 <= code <= 0xDFFF else f"\\u{{{code:04X}}}"


def _why(failure: Exception) -> str:
    match failure:
        case GraphQLError():
            return quoted(failure.message)
        case KeyError(args=(str() as name, *_)):
            return f"a part of it has no {quoted(name)}"
        case AttributeError():
            return "a part of it is not an object"
        case _:
            # graphql-core quotes the whole value behind its sentence.
            return quoted(str(failure).partition(": {")[0])
