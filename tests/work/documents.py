"""GraphQL documents that cost: parts of every sort, by each way that a document can come."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from urllib.parse import urlencode

from tests.work.genomes import Case, Family, Gene, Genome, json_of
from tests.work.schema import names

TYPES = names()
ROOM = 1_000_000
SEPARATORS = ("\n", "\r\n", " ", ",", "#\n", "# " + "x" * 60 + "\n")
LETTERS = ("x", "externalRepository", "SHADE_", "_", "é", "\\u0041")


@dataclass
class _Document:
    """The parts of a document, as genes add to them."""

    fields: list[str] = field(default_factory=list)
    variables: list[str] = field(default_factory=list)
    definitions: list[str] = field(default_factory=list)
    separator: str = " "
    repeated: int = 1
    wrapped: int = 0
    operations: int = 1

    def text(self) -> str:
        """The text. What stands between all parts, and operations that repeat all of it, are cut to what may arrive."""
        parts = len(self.fields) + len(self.variables) + len(self.definitions) + self.operations
        between = self.separator * min(self.repeated, ROOM // (parts * len(self.separator)) or 1)
        selection = between.join(self.fields) or "__typename"
        body = "{ self " * self.wrapped + "{ " + selection + " }" + " }" * self.wrapped
        variables = f"({between.join(self.variables)})" if self.variables else ""
        times = min(self.operations, ROOM // (len(variables) + len(body)) or 1)
        heads = [f"query Q{number}{variables} {body}" for number in range(times)]
        return between.join([*heads, *self.definitions])


def _unknown(document: _Document, gene: Gene) -> None:
    near = TYPES[gene.variant * 60]
    name = ("x", near[:1].lower() + near[1:-1], "a" * 90, "shade", near + "s", "x" * 500)[gene.variant]
    document.fields += [f"{name}{number}" for number in range(gene.count)]


def _known(document: _Document, gene: Gene) -> None:
    """Fields that there are, from one to as many as there are."""
    for number in range(gene.count):
        name = TYPES[number % len(TYPES)]
        field = f"a{number}: {name[:1].lower()}{name[1:]}"
        document.fields.append(
            (
                f"{field}(id: {number}) {{ id }}",
                f"{field}s(first: 1) {{ edges {{ node {{ id name }} }} }}",
                "__typename",
                f"{field}",
                f"a: {field.partition(': ')[2]}(id: {number}) {{ id }}",
                f"{field}(id: 1, x: 2) {{ nothing }}",
            )[gene.variant]
        )


def _colours(document: _Document, gene: Gene) -> None:
    right = [f"SHADE_{number % 600}_OF_{('ACCOUNT', 'ADDRESS')[number % 2]}" for number in range(gene.count)]
    values = (right, [f"{each}X" for each in right], ["SHADE"] * gene.count, ['"SHADE_1"'] * gene.count)
    document.fields.append(f"everything(colors: [{' '.join(values[gene.variant % 4])}]) {{ __typename }}")


def _filter(document: _Document, gene: Gene) -> None:
    wide = " ".join(f"externalAccount{number}: 1" for number in range(gene.count))
    value = (
        "{and: " * gene.count + "[]" + "}" * gene.count,
        f"{{{wide}}}",
        "{and: [" + "{}" * gene.count + "]}",
        "{not: " * gene.count + "{x: 1}" + "}" * gene.count,
        "{and: [" + "{account: 1}" * gene.count + "]}",
        "{" + 'account: "x" ' * gene.count + "}",
    )[gene.variant]
    document.fields.append(f"everything(where: {value}) {{ __typename }}")


def _literal(document: _Document, gene: Gene) -> None:
    value = (
        "[" * gene.count + "]" * gene.count,
        "[" + "1 " * gene.count + "]",
        "9" * gene.count,
        "0." + "9" * gene.count,
        "{" + " ".join(f"a{number}: 1" for number in range(gene.count)) + "}",
        "[" + "[1 2 3] " * gene.count + "]",
    )[gene.variant]
    argument = ("json", "matrix", "ids")[gene.count % 3]
    document.fields.append(f"everything({argument}: {value}) {{ __typename }}")


def _string(document: _Document, gene: Gene) -> None:
    text = (
        f'"{"x" * gene.count}"',
        '"' + "\\u00e9" * gene.count + '"',
        '"""' + "\n" * gene.count + '"""',
        '"""' + "  x\n" * gene.count + '"""',
        '"' + "\\n" * gene.count + '"',
        '"""' + ' \\""" ' * gene.count + '"""',
    )[gene.variant]
    document.fields.append(f"search(text: {text}) {{ __typename }}")


def _directives(document: _Document, gene: Gene) -> None:
    directives = (
        "@skip(if: false) " * gene.count,
        " ".join(f"@a{number}" for number in range(gene.count)),
        "@include(if: $v0) " * gene.count,
        "@skip(x: 1) " * gene.count,
        "@skip " * gene.count,
        "@deprecated(reason: 1) " * gene.count,
    )[gene.variant]
    document.fields.append(f"__typename {directives}")


def _nested(document: _Document, gene: Gene) -> None:
    if gene.variant < 2:
        document.wrapped = min(document.wrapped + gene.count, 5_000)
    else:
        step = ("account", "... on Node", "node(id: 1)", "x")[gene.variant % 4]
        document.fields.append(f"node(id: 1) {{ {f'{step} {{ ' * gene.count}id{' }' * gene.count} }}")


def _fragments(document: _Document, gene: Gene) -> None:
    count = gene.count
    made = {
        0: [f"fragment F{n} on Query {{ ...F{n + 1} }}" for n in range(count)]
        + [f"fragment F{count} on Query {{ x }}"],
        1: [f"fragment F{n} on Query {{ ...F{n + 1} ...F{n + 1} }}" for n in range(count)]
        + [f"fragment F{count} on Query {{ __typename }}"],
        2: [f"fragment F{n} on Nothing{n} {{ a }}" for n in range(count)],
        3: ["fragment F0 on Query { a }"] * count,
        4: [f"fragment F0 on Query {{ {' '.join(f'a{n}: __typename' for n in range(count))} }}"],
        5: [f"fragment F{n} on Query {{ self {{ ...F{(n + 1) % count} }} }}" for n in range(count)],
    }[gene.variant]
    document.definitions += made
    document.fields += ["...F0"] * (1 + gene.count % 50)


def _inline(document: _Document, gene: Gene) -> None:
    parts = [
        (f"... on {TYPES[n % 400]} {{ id }}", f"... on {TYPES[n % 400]}X {{ id }}", "... { id }", "... on Found { x }")[
            gene.variant % 4
        ]
        for n in range(gene.count)
    ]
    around = ("node(id: 1)", "everything")[gene.variant // 3]
    document.fields.append(f"{around} {{ {' '.join(parts)} }}")


def _variables(document: _Document, gene: Gene) -> None:
    type_ = ("Int", "WideFilter = {}", "Nothing", "[Color!] = [X]", "[[Int!]!]!", "AccountFilter = {and: [{x: 1}]}")
    document.variables += [f"$v{number}: {type_[gene.variant]}" for number in range(gene.count)]
    if gene.variant % 2:
        document.fields.append(f"everything(json: [{' '.join(f'$v{n}' for n in range(gene.count))}]) {{ __typename }}")


def _operations(document: _Document, gene: Gene) -> None:
    document.operations = max(document.operations, gene.count)


def _arguments(document: _Document, gene: Gene) -> None:
    given = [
        ("id: 1", f"x{n}: 1", "id: $v0", f"id{n}: 1", f"iid{n}: {{a: 1}}", "id: [1]")[gene.variant]
        for n in range(gene.count)
    ]
    document.fields.append(f"node({' '.join(given)}) {{ id }}")


def _overlapping(document: _Document, gene: Gene) -> None:
    part = (
        "self { self { __typename } }",
        "a: self { b: self { c: __typename } }",
        "node(id: 1) { id parent { id } }",
        "node(id: 1) { ... on Account { a: id } ... on Charge { a: name } }",
        "self { ...F0 }",
        "x: __typename",
    )[gene.variant]
    document.fields += [part] * gene.count


def _breaks(document: _Document, gene: Gene) -> None:
    document.separator, document.repeated = SEPARATORS[gene.variant], gene.count


def _comments(document: _Document, gene: Gene) -> None:
    document.definitions.append(SEPARATORS[gene.variant] * gene.count)


def _long_names(document: _Document, gene: Gene) -> None:
    name = LETTERS[gene.variant] * gene.count
    document.fields.append((name, f"{name}: __typename", f"...{name}", f"node({name}: 1) {{ id }}")[gene.count % 4])


PARTS: Mapping[str, Callable[[_Document, Gene], None]] = {
    "unknown fields": _unknown,
    "known fields": _known,
    "enum values": _colours,
    "filters": _filter,
    "literals": _literal,
    "strings": _string,
    "directives": _directives,
    "levels": _nested,
    "fragments": _fragments,
    "inline fragments": _inline,
    "variables": _variables,
    "operations": _operations,
    "arguments": _arguments,
    "fields that overlap": _overlapping,
    "line breaks": _breaks,
    "comments": _comments,
    "letters in a name": _long_names,
}


def document_of(genome: Genome) -> str:
    """The text that a genome stands for; genes that are no part of a document do nothing."""
    document = _Document()
    for gene in genome:
        if gene.kind in PARTS:
            PARTS[gene.kind](document, gene)
    return document.text()


def sent(text: str, way: int, variables: object = None) -> Case:
    """A document by one of the ways that there are."""
    given = {} if variables is None else {"variables": variables}
    graphql = {"query": text, "operationName": "Q0" if "Q0" in text else None, **given}
    arguments = {key: value for key, value in graphql.items() if value is not None}
    match way % 6:
        case 0 | 1:
            return call("ask", arguments)
        case 2:
            return Case(path="/api/things/graphql", body=_json(graphql))
        case 3:
            return Case(path="/api/things/tools/ask/graphql", body=_json(graphql))
        case 4:
            written = {
                **arguments,
                **({"variables": json_of(variables, ensure_ascii=True).decode()} if given else {}),
            }
            return Case(verb="GET", path="/api/things/graphql", query_string=urlencode(written))
        case _:
            return call("pass_on", {key: value for key, value in arguments.items() if key != "operationName"})


def call(tool: str, arguments: object, **more: object) -> Case:
    """A call of a tool."""
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}
    return Case(body=_json(message | more))


def _json(value: object) -> bytes:
    return json_of(value, separators=(",", ":"))


def _document_case(genome: Genome) -> Case:
    way = next((gene.variant for gene in genome if gene.kind == "way"), 0)
    return sent(document_of(genome), way)


QUESTIONS = (
    "name",
    "kind name description",
    "fields { name description args { name description defaultValue type { ...T } } type { ...T } }",
    "inputFields { name description type { ...T } } enumValues { name description } possibleTypes { name }",
    "fields { type { fields { type { fields { name } } } } }",
    "possibleTypes { possibleTypes { name } interfaces { possibleTypes { fields { name args { name } } } } }",
)
WRAPPED = "fragment T on __Type { kind name ofType { kind name ofType { kind name ofType { kind name } } } }"


LISTS = (
    "fields",
    "enumValues(includeDeprecated: true)",
    "possibleTypes",
    "interfaces",
    "inputFields",
    "fields(includeDeprecated: true)",
)
WIDE = ("Query", "Anything", "Color", "WideFilter", "Node", "Mutation")
LEFT_OUT = "name @skip(if: true)", "name @include(if: false)", "name @skip(if: false) @include(if: false)"
MAX_AGAIN = 240
"""Aliases of one selection, of which some more are refused as they are counted."""


def _again(gene: Gene) -> str:
    """One selection by many aliases, which makes many objects and little text if its fields are left out."""
    each, left_out = LISTS[gene.variant], LEFT_OUT[gene.count % len(LEFT_OUT)]
    below = {
        "aliases, left out": f"{each} {{ {left_out} }}",
        "aliases of arguments, left out": f"fields {{ args {{ {left_out} }} }}",
        "aliases of types, left out": f"fields {{ type {{ {each} {{ {left_out} }} }} }}",
        "aliases of types": f"fields {{ type {{ {each} {{ name }} }} }}",
    }[gene.kind]
    return " ".join(f"d{number}: {below}" for number in range(min(gene.count, MAX_AGAIN)))


AGAIN = ("aliases, left out", "aliases of arguments, left out", "aliases of types, left out", "aliases of types")


def _introspection_case(genome: Genome) -> Case:
    named = next((gene for gene in genome if gene.kind == "by name"), None)
    selection = " ".join(_question(gene, named) for gene in genome)
    way = next((gene.variant for gene in genome if gene.kind == "way"), 0)
    return sent(f"query Q0 {{ {selection} }} {WRAPPED if '...T' in selection else ''}", way)


def _question(gene: Gene, named: Gene | None) -> str:
    """The fields of introspection that a gene stands for; those of ``AGAIN`` below types by name if a gene says so."""
    count, question, wide = min(gene.count, 10_000), QUESTIONS[gene.variant], WIDE[gene.variant]
    match gene.kind:
        case "types":
            return f"__schema {{ types {{ {question} }} }}"
        case "fields again":
            again = " ".join(f"a{number}: name" for number in range(count))
            return f"__schema {{ types {{ fields {{ {again} }} {question} }} }}"
        case "named types":
            return " ".join(f'b{n}: __type(name: "{TYPES[n % 400]}") {{ {question} }}' for n in range(count))
        case "levels":
            return f"__schema {{ types {{ {'fields { type { ' * count}name{' } }' * count} }} }}"
        case "wide types":
            return " ".join(f'c{n}: __type(name: "{wide}") {{ {QUESTIONS[n % 6]} }}' for n in range(count))
        case "way" | "by name":
            return ""
    if named is None:
        return f"__schema {{ types {{ {_again(gene)} }} }}"
    wide = WIDE[named.variant]
    return " ".join(f'e{n}: __type(name: "{wide}") {{ {_again(gene)} }}' for n in range(named.count % 20))


DOCUMENTS = Family("documents", (*PARTS, "way", "unknown fields", "line breaks"), _document_case)
INTROSPECTION = Family(
    "introspection",
    ("types", "fields again", "named types", "levels", "wide types", "way", "by name", *AGAIN),
    _introspection_case,
)
WITHOUT_LIMITS = Family(
    "documents without limits",
    ("known fields", "fields that overlap", "line breaks"),
    lambda genome: call("wide", {"query": document_of(genome)}),
)
"""What the search must find: the tool takes documents that are larger than they may be by default."""
