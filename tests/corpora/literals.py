"""The GraphQL that stands in JavaScript's template literals and in Python's strings."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

BEGINNING = r"(?:query|mutation|subscription)\s*\w*\s*[({@]|fragment\s+\w+\s+on\s"
"""How a document begins. The words alone also begin English sentences."""

TEMPLATE = re.compile(rf"(?<!\\)`(?=(?:\s|\#[^\n]*\n|\$\{{[^}}]*\}})*(?:{BEGINNING}))")
"""The backtick before a document, which comments (``#graphql``) and interpolated fragments may lead."""

STRING = re.compile(rf"\s*(?:{BEGINNING})")


@dataclass(frozen=True, slots=True, kw_only=True)
class Literal:
    """A GraphQL text of a program, and the function or constant it stands in, where that is known."""

    text: str
    place: str = ""


def graphql_in_javascript(source: str) -> Iterator[Literal]:
    """The template literals that hold GraphQL, without what is put into them (``${…}``)."""
    end = 0
    while found := TEMPLATE.search(source, end):
        text, end = _template(source, found.end())
        yield Literal(text=text)


def graphql_in_python(source: str) -> Iterator[Literal]:
    """The string literals that hold GraphQL, each with its function or, outside of functions, its constant."""
    return _strings(ast.parse(source), "")


def _template(source: str, start: int) -> tuple[str, int]:
    """The literal from behind its first backtick, and where it is over."""
    kept, at = [], start
    while source[at] != "`":
        if source.startswith("${", at):
            at = _behind_interpolation(source, at + 2)
        else:
            end = at + (2 if source[at] == "\\" else 1)
            kept.append(source[at:end])
            at = end
    return "".join(kept), at + 1


def _behind_interpolation(source: str, at: int) -> int:
    depth = 1
    while depth:
        match source[at]:
            case "`":
                _, at = _template(source, at + 1)
                continue
            case "{":
                depth += 1
            case "}":
                depth -= 1
        at += 1
    return at


def _strings(node: ast.AST, place: str) -> Iterator[Literal]:
    for child in ast.iter_child_nodes(node):
        match child:
            case ast.Constant(value=str() as text) if STRING.match(text):
                yield Literal(text=text, place=place)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield from _strings(child, name)
            case ast.Assign(targets=[ast.Name(id=name)]):
                yield from _strings(child, place or name)
            case _:
                yield from _strings(child, place)
