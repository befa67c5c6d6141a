"""Bytes that a model reads from a question to a valid document, over real operations of real schemas.

``make find-reading`` plays a model that wants to write each operation: it reads the tool's entries in
the list, asks the companions, and is done when the answers have shown every coordinate of the operation. The question
is the operation's name, split into words. The model knows no other words: it describes what answers have named, and
searches with the question. An operation that it cannot write so is counted as not done.
"""

from __future__ import annotations

import argparse
import re
import statistics
import sys
from collections.abc import Generator, Iterator, Sequence, Set
from dataclasses import dataclass
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from graphql import (  # noqa: TID251 - a benchmark reads real operations with it
    ArgumentNode,
    EnumValueNode,
    FieldNode,
    GraphQLSchema,
    NamedTypeNode,
    ObjectFieldNode,
    OperationDefinitionNode,
    TypeInfo,
    TypeInfoVisitor,
    Visitor,
    build_ast_schema,
    get_named_type,
    parse,
    validate,
    visit,
)

from handler.bundle.tools import CompanionTool, GraphQLTool
from handler.compiler.compile import compile_endpoint
from handler.errors.calls import DocumentRefused
from handler.graph.documents.document_check import answer_introspection
from handler.graph.documents.partial_schema import ViewSchemas
from handler.graph.found_sdl import described_text, found_text
from handler.graph.index import read_index
from handler.graph.tool_entry import MAX_SDL_BYTES
from handler.graph.view import BUILT_IN_SCALARS, View, build_view
from handler.list_entries import BYTES_PER_TOKEN
from handler.search.schema_search import SchemaSearch, strong_of
from handler.server.mcp.tools_call import MATCHES, TOKENS
from handler.strict_json import to_json_bytes
from tests.corpora.fetch import CACHE
from tests.graph.shop import WIDE, check
from tests.support.endpoints import PUBLIC

CORPORA = CACHE / "corpora"

RESULT = Path(__file__).parent / "results" / "find-reading.md"

SCHEMAS = {
    "GitHub": ("github", "ghstack"),
    "Shopify": ("shopify-storefront", "shopify-customer-account"),
    "Vendure": ("vendure-admin",),
}
GATES = {"GitHub": (10_500, 0.85), "Shopify": (5_140, 0.85), "Vendure": (3_538, 0.85)}
"""The greatest median in bytes, and the least share of operations whose root fields are in the first answer."""

LEAST_WRITABLE = 0.95

UNASKED = frozenset({"main"})
"""Names of programs that anonymous operations have. They say nothing to ask for."""

OPERATIONS = 60
MAX_BYTES = 65_536
SEARCH_BYTES, DESCRIBE_BYTES = (BYTES_PER_TOKEN * TOKENS[does] for does in ("search", "describe"))
"""The sizes of the companions' answers if a model gives none."""

MORE = 4
"""How many times more a stuck model asks for."""

ABSTRACT = ("interface", "union")
MOST_ASKED = 6
"""Coordinates of one call of the companion that describes."""

WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
BLOCK = re.compile(r"^(?:type|interface|input|enum) (\w+)[^\n]*\n(.*?)^\}", re.MULTILINE | re.DOTALL)
MEMBER = re.compile(r"^  (\w+)(\((.*)\))?", re.MULTILINE)
FIELD_NAME = re.compile(r"\b[A-Z]\w*\.\w+")
REQUEST = re.compile(r"^A request for the first: (.*)\Z", re.MULTILINE)
TYPE_NAME = re.compile(r"\b[A-Z]\w*\b")
ARGUMENT = re.compile(r"(\w+): ")

TYPE = "type { name kind ofType { name kind ofType { name kind ofType { name kind } } } }"
FORMER = f'{{ __type(name: "%s") {{ fields {{ name args {{ name {TYPE} defaultValue }} {TYPE} }} }} }}'
FORMER_INPUT = f'{{ __type(name: "%s") {{ inputFields {{ name {TYPE} }} enumValues {{ name }} }} }}'
FORMER_NAMES_BYTES = MAX_SDL_BYTES // 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """An operation, as the coordinates to know and the question to ask."""

    question: str
    coordinates: frozenset[str]
    roots: frozenset[str]  # the root fields among the coordinates


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """An attempt to write an operation."""

    read: int | None  # bytes; None: not done
    calls: int
    at_once: bool  # the first answer shows the root fields


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.find_reading")
    parser.add_argument("--write", action="store_true", help="write benchmarks/results/find-reading.md")
    options = parser.parse_args()
    rows = [_measured(name, corpora) for name, corpora in SCHEMAS.items()]
    text = _page(rows)
    sys.stdout.write(text)
    if options.write:
        RESULT.write_text(text, encoding="utf-8")
    missed = [row.name for row in rows if not row.is_held]
    if missed:
        sys.stderr.write(f"Above the gates: {', '.join(missed)}\n")
    return 1 if missed else 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """Readings of one schema's operations. ``former``: bytes, ``None``: not done."""

    name: str
    types: int
    entry: int
    found: dict[str, Reading]  # by question
    former: list[int | None]

    @property
    def read(self) -> list[int | None]:
        """Bytes that were read."""
        return [each.read for each in self.found.values()]

    @property
    def at_once(self) -> float:
        """Share of operations whose root fields are in the first answer."""
        return statistics.fmean(each.at_once for each in self.found.values())

    @property
    def is_held(self) -> bool:
        """Return whether the median and both shares are within the gates."""
        most, least = GATES[self.name]
        return _middle(self.read) <= most and self.at_once >= least and _share_of(self.read) >= LEAST_WRITABLE


def _measured(name: str, corpora: Sequence[str]) -> Row:
    found: dict[str, Reading] = {}
    former: list[int | None] = []
    types = entry = 0
    for corpus in corpora:
        model = _Model(corpus)
        types, entry = max(types, len(model.view.members)), max(entry, model.entry_bytes)
        wanted = list(_wanted(corpus, model.schema))
        for each in Random(corpus).sample(wanted, min(len(wanted), OPERATIONS)):
            found[f"{corpus} {len(found)}: {each.question}"] = model.found(each)
            former.append(model.former(each))
    return Row(name=name, types=types, entry=entry, found=found, former=former)


def _wanted(corpus: str, schema: GraphQLSchema) -> Iterator[Wanted]:
    for file in sorted((CORPORA / corpus / "operations").glob("*.graphql")):
        document = parse(file.read_text(encoding="utf-8").replace("@mcpTool", ""))
        (operation,) = (node for node in document.definitions if isinstance(node, OperationDefinitionNode))
        if validate(schema, document):
            continue
        names = _Names(schema)
        visit(document, TypeInfoVisitor(names.info, names))
        words = [word for word in WORD.findall(file.stem) if not word.isdigit()]
        if UNASKED.issuperset(words):
            continue
        root = schema.get_root_type(operation.operation)
        roots = {each for each in names.found if "(" not in each and root and each.startswith(f"{root.name}.")}
        coordinates = frozenset(names.found - BUILT_IN_SCALARS)
        yield Wanted(question=" ".join(words), coordinates=coordinates, roots=frozenset(roots))


class _Names(Visitor):
    """The coordinates that somebody has to know to write a document. ``__typename`` is known."""

    def __init__(self, schema: GraphQLSchema) -> None:
        super().__init__()
        self.info = TypeInfo(schema)
        self.found: set[str] = set()
        self._field = ""

    def enter_field(self, node: FieldNode, *_: object) -> None:
        parent = self.info.get_parent_type()
        self._field = node.name.value  # its arguments come before its selections
        if parent and not self._field.startswith("__"):
            self.found.add(f"{parent.name}.{node.name.value}")

    def enter_argument(self, node: ArgumentNode, *_: object) -> None:
        parent = self.info.get_parent_type()
        if parent and not self._field.startswith("__") and not self.info.get_directive():
            self.found.add(f"{parent.name}.{self._field}({node.name.value}:)")

    def enter_named_type(self, node: NamedTypeNode, *_: object) -> None:
        self.found.add(node.name.value)

    def enter_object_field(self, node: ObjectFieldNode, *_: object) -> None:
        owner = get_named_type(self.info.get_parent_input_type())
        if owner:
            self.found.add(f"{owner.name}.{node.name.value}")

    def enter_enum_value(self, node: EnumValueNode, *_: object) -> None:
        owner = get_named_type(self.info.get_input_type())
        if owner:
            self.found.add(f"{owner.name}.{node.value}")


class _Model:
    """A model with one GraphQL tool over all of a schema, and its companions."""

    def __init__(self, corpus: str) -> None:
        sdl = (CORPORA / corpus / "index.graphql").read_text(encoding="utf-8")
        tool = 'extend schema @tool(name: "ask", graphql: [{expose: true, types: "Query|Mutation", fields: ".*"}])\n'
        self.schema = build_ast_schema(parse(sdl, no_location=True), assume_valid=True, assume_valid_sdl=True)
        config = (
            PUBLIC if self.schema.mutation_type else PUBLIC.replace("    - {type: Mutation", "    # {type: Mutation")
        )
        with TemporaryDirectory() as work:
            folder = Path(work) / "find" / corpus
            folder.mkdir(parents=True)
            (folder / "index.graphql").write_text(tool + sdl, encoding="utf-8")
            (folder / "config.yaml").write_text(config, encoding="utf-8")
            compiled = compile_endpoint(folder)
        tools = compiled.bundle.tools
        (graphql,) = (each for each in tools if isinstance(each, GraphQLTool))
        entries = [graphql.listings[-1].entry, *(each.entry for each in tools if isinstance(each, CompanionTool))]
        self._entries = b"".join(map(to_json_bytes, entries)).decode()
        self.entry_bytes = len(self._entries.encode())
        self.view: View = build_view(read_index(compiled.index, sha256=compiled.bundle.index), ())
        self._search = SchemaSearch(self.view)
        self._schemas = ViewSchemas(self.view)

    def found(self, wanted: Wanted) -> Reading:
        """Read with the companions until all is known, or nothing is left to ask."""
        answers = self._answers(wanted)
        first = next(answers)
        known = set(TYPE_NAME.findall(self._entries)).union(_shown(first), self._asked_in(first))
        read, calls, at_once = self.entry_bytes + len(first.encode()), 1, wanted.roots <= known
        while missing := wanted.coordinates - known:
            answer = answers.send((missing, known))
            read, calls = read + len(answer.encode()), calls + 1
            if not answer or read > MAX_BYTES:
                return Reading(read=None, calls=calls, at_once=at_once)
            known.update(_shown(answer), self._asked_in(answer))
        return Reading(read=read, calls=calls, at_once=at_once)

    def _asked_in(self, answer: str) -> Set[str]:
        """Return the coordinates of the request with which an answer ends."""
        request = REQUEST.search(answer)
        names = _Names(self.schema)
        if request:
            visit(parse(request[1]), TypeInfoVisitor(names.info, names))
        return names.found

    def _answers(self, wanted: Wanted) -> Generator[str, tuple[Set[str], Set[str]]]:
        """Yield an answer for each question of a model; an empty one at the end. Take what is missing and known.

        The model has types described that answers named and whose members it lacks, and fields whose arguments it
        lacks. If that is not enough, it asks for more of these types, for the parts of interfaces and unions that
        answers named, and then searches anew: for more with the same question, and with each word of the question. The
        root types in full are last.
        """
        roots = {name for name in self.view.index.roots.values() if name in self.view.members}
        searches = [(wanted.question, MORE), *((word, 1) for word in wanted.question.split())]
        asked: set[tuple[str, int]] = set()
        missing, known = yield self._searched(wanted.question)
        while True:
            owners = {each.partition(".")[0] for each in missing} & known
            fields = {field for each in missing if (field := each.partition("(")[0]) != each} & known
            abstract = {name for name in known & self.view.members.keys() if self.view.index.kind(name) in ABSTRACT}
            ways = [(owners | fields, 1), (owners - roots, MORE), (abstract, 1), ((), 0), (owners & roots, MORE)]
            for names, times in ways:
                if not times and searches:
                    question, more = searches.pop(0)
                    missing, known = yield self._searched(question, more)
                    break
                if steps := sorted((name, times) for name in names if (name, times) not in asked)[:MOST_ASKED]:
                    asked.update(steps)
                    described = [name for name, _ in steps]
                    missing, known = yield described_text(self.view, described, max_bytes=times * DESCRIBE_BYTES)
                    break
            else:
                missing, known = yield ""

    def _searched(self, question: str, times: int = 1) -> str:
        matches = self._search.search(question, MATCHES)
        found = [(each.coordinate, each.paths) for each in matches]
        return found_text(self.view, found, max_bytes=times * SEARCH_BYTES, strong=strong_of(matches))

    def former(self, wanted: Wanted) -> int | None:
        """Return the bytes that were read as the tool's entry advised before: ``__type`` for each type in turn."""
        roots = self.view.root_fields()
        names = sum(
            min(FORMER_NAMES_BYTES // len(roots), sum(len(name) + 2 for name in each)) for each in roots.values()
        )
        read = 1_100 + names
        for name in sorted({each.partition(".")[0] for each in wanted.coordinates} - BUILT_IN_SCALARS):
            kind = self.view.index.kind(name)
            if kind in ("union", "scalar"):
                continue
            question = FORMER if kind in ("object", "interface") else FORMER_INPUT
            try:
                checked = check(question % name, schemas=self._schemas, limits=WIDE)
                read += len(to_json_bytes(answer_introspection(checked, self._schemas, for_model=True)))
            except DocumentRefused:
                return None
            if read > MAX_BYTES:
                return None
        return read


def _shown(text: str) -> Iterator[str]:
    """Yield the coordinates that an answer shows, and the types that it names."""
    for name, body in BLOCK.findall(text):
        yield name
        for member, _, arguments in MEMBER.findall(body):
            yield f"{name}.{member}"
            yield from (f"{name}.{member}({each}:)" for each in ARGUMENT.findall(arguments))
    yield from FIELD_NAME.findall(text)
    yield from TYPE_NAME.findall(text)


def _page(rows: Sequence[Row]) -> str:
    lines = [
        "# What a model reads from a question to a valid document",
        "",
        "`make find-reading`:",
        "",
        "| schema | types | operations | list entries | median | calls | done | roots at once | by schema | done |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    lines += [
        f"| {row.name} | {row.types:,} | {len(row.found)} | {row.entry:,} | {_median(row.read)} "
        f"| {statistics.median(each.calls for each in row.found.values()):g} | {_share(row.read)} | {row.at_once:.0%} "
        f"| {_median(row.former)} | {_share(row.former)} |"
        for row in rows
    ]
    not_done = [name for row in rows for name, each in row.found.items() if each.read is None]
    lines += ["", f"Not done: {', '.join(not_done) or 'none'}."]
    return "\n".join([*lines, "", *NOTES, ""])


NOTES = (
    "All figures are bytes of UTF-8, and a token is about four of them. The operations are the valid ones of the",
    f"corpora of a schema, at most {OPERATIONS} of each corpus, drawn at random. A model is played:",
    "",
    "- It reads the entries of the GraphQL tool and of its two companions in the list of tools.",
    "- It asks the search companion for the words of the operation's name, and reads the answer.",
    "- It has each type described that an answer named and whose members it still lacks, and each field whose",
    f"  arguments it lacks, at most {MOST_ASKED} in a call. Of a type with members left out it asks for {MORE} times",
    "  as much.",
    "- It has interfaces and unions that answers named described, for the names of their types.",
    f"- If nothing that it knows leads on, it asks its question again for {MORE} times as much, and then searches with",
    "  each word of the question. The root types in full come last. It never uses a word that neither the question",
    "  nor an answer has. Operations that it cannot write so are counted.",
    "- It is done when the answers have shown all fields, arguments, input fields, enum values and named types of the",
    "  operation.",
    "",
    "*Roots at once*: the first answer shows all root fields of the operation. Anonymous operations have the names of",
    "functions; those called `main` are left out, because that says nothing to ask for. A player that also searches",
    "with the words of what it lacks knows too much: of the same answers it read 8,762, 4,945 and 3,539 bytes, where",
    "this one read 12,567, 5,141 and 3,539.",
    "",
    "*By schema* is the advice of the entry without search: up to 4 KB of root fields, and one `__type` for each type",
    "of the operation, with fields and arguments. An answer that is refused for its size ends the attempt.",
    "An operation that is not done within 64 KB counts as infinitely many bytes in the median.",
)


def _median(values: Sequence[int | None]) -> str:
    middle = _middle(values)
    return "above 64 KB" if middle > MAX_BYTES else f"{middle:,}"


def _middle(values: Sequence[int | None]) -> int:
    return int(statistics.median(sys.maxsize if value is None else value for value in values))


def _share(values: Sequence[int | None]) -> str:
    return f"{_share_of(values):.0%}"


def _share_of(values: Sequence[int | None]) -> float:
    return sum(value is not None for value in values) / len(values)


if __name__ == "__main__":
    sys.exit(main())
