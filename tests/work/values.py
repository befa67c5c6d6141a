"""Values that cost: arguments of tools of every kind, variables of documents, and bodies that are hardly JSON."""

from __future__ import annotations

import hashlib
from typing import Any

from tests.work.documents import call, sent
from tests.work.endpoint import OPERATIONS
from tests.work.genomes import Case, Family, Gene, Genome, json_of

ATOMS: tuple[Any, ...] = ({}, 1, "SHADE_1_OF_ADDRESS", {"account": "x"}, 1.5, None)
MISFITS: tuple[Any, ...] = (1.5, {"account": 1}, "SHADE", [], True, "x")
ESCAPES = ("\\u0041", "\\ud83d\\ude00", "\\n", "\\ud800", "\\\\", "\\/")
LETTERS = ("x", "é", "😀", "\u2028", " ", "<")
TEXTS = ("x", " ", "é", "AB-1", "a\n", "\u0000")

DIFFERING: tuple[dict[str, Any], ...] = ({"name": 0}, {"and": []}, {"account": ""}, {"size": 1}, {"tags": []}, {"x": 1})

TARGETS: tuple[tuple[str, str], ...] = (
    *(("everything", name) for name in ("where", "colors", "ids", "matrix", "json")),
    *(("search", "text"), ("search", "colors"), ("add", "input")),
    *(("numbers", "values"), ("distinct", "values"), ("patterned", "codes"), ("parts", "part"), ("parts", "more")),
    *(("either", "value"), ("anything", "value"), ("catalog", "query"), ("nothing", "x"), ("ask", "query")),
)
"""A tool and its argument that gets the value."""

DOCUMENT_ID = f"sha256:{hashlib.sha256(OPERATIONS.encode()).hexdigest()}"
VARIABLES = (
    "query Q0($v: WideFilter) { everything(where: $v) { __typename } }",
    "query Q0($v: [Color!]) { everything(colors: $v) { __typename } }",
    "query Q0($v: [[Int]]) { everything(matrix: $v) { __typename } }",
    "query Q0($v: JSON) { everything(json: $v) { __typename } }",
    "query Q0($v: AccountFilter) { accounts(where: $v) { total } }",
    "mutation Q0($v: AccountInput!) { addAccount(input: $v) { id } }",
)

KINDS = (
    "target",
    "items",
    "items and a misfit",
    "members",
    "levels",
    "letters",
    "digits",
    "objects that differ",
    "wrapper",
)


def value_of(genome: Genome) -> Any:
    """The value that the genes make, each of what the one before it has made."""
    value: Any = None
    for gene in genome:
        value = _grown(value, gene)
    return value


def _grown(value: Any, gene: Gene) -> Any:
    count = min(gene.count, 500_000)
    atom = ATOMS[gene.variant] if value is None else value
    match gene.kind:
        case "items":
            return [atom] * (count if value is None else min(count, 2_000))
        case "items and a misfit":
            return [*[ATOMS[gene.variant]] * count, MISFITS[gene.variant]]
        case "members":
            names = ("accountX{}", "and", "name", "account", "x{}", "\u00e9{}")[gene.variant]
            return {names.format(number): value or "x" for number in range(min(count, 100_000))}
        case "levels":
            return _nested(value, levels=min(count, 200), variant=gene.variant)
        case "letters":
            return TEXTS[gene.variant] * count
        case "digits":
            return int("9" * min(count, 4_000)) if gene.variant < 3 else float("0." + "9" * min(count, 300))
        case "objects that differ":
            return [{**DIFFERING[gene.variant], "n": number} for number in range(min(count, 60_000))]
        case "wrapper":
            return {"name": "x", ("where", "values", "name", "parts", "input", "and")[gene.variant]: value}
    return value


def _nested(value: Any, *, levels: int, variant: int) -> Any:
    for _ in range(levels):
        objects = {"and": [value or {}]}, {"not": value or {}}, {"parts": [value or {"name": "x"}]}
        value = [value or 1] if variant % 4 == 3 else objects[variant % 4]
    return value


def _argument_case(genome: Genome) -> Case:
    target = next((gene for gene in genome if gene.kind == "target"), Gene("target"))
    tool, argument = TARGETS[(target.count * 6 + target.variant) % len(TARGETS)]
    return call(tool, {argument: value_of(genome)})


def _variable_case(genome: Genome) -> Case:
    target = next((gene for gene in genome if gene.kind == "target"), Gene("target"))
    variables = {"v": value_of(genome)}
    if target.count % 3 == 0:
        names = ("where", "colors", "ids", "matrix", "json", "where")
        given = {names[target.variant]: variables["v"]}
        graphql = {"documentId": DOCUMENT_ID, "operationName": "Everything", "variables": given}
        return Case(path="/api/things/graphql", body=json_of(graphql))
    return sent(VARIABLES[target.variant], target.count, variables)


JSON_KINDS = ("brackets", "members", "digits", "escapes", "spaces", "same members", "text", "method")


def _body_case(genome: Genome) -> Case:
    """A body whose JSON is odd, as params of a call or as all of the body."""
    inside = ",".join(_odd(gene) for gene in genome if gene.kind != "method") or "1"
    method = next((gene for gene in genome if gene.kind == "method"), Gene("method"))
    names = ("tools/call", "tools/list", "ping", "initialize", "resources/read", "x" * min(method.count, 900_000))
    head = f'{{"jsonrpc":"2.0","id":1,"method":"{names[method.variant]}","params":'
    return Case(
        body=(f'{head}{{"name":"anything","arguments":{{"value":[{inside}]}}}}}}').encode(errors="surrogatepass")
    )


def _odd(gene: Gene) -> str:
    count = gene.count
    match gene.kind:
        case "brackets":
            return ("[" * count + "]" * count, "[" * count, '{"a":' * count + "1" + "}" * count)[gene.variant % 3]
        case "members":
            return "{" + ",".join(f'"a{number}":{number}' for number in range(count)) + "}"
        case "same members":
            return "{" + ",".join(['"a":[]'] * count) + "}"
        case "digits":
            return ("9" * count, f"0.{'9' * count}", f"1e{'9' * min(count, 50)}", f"-{'1' * count}.5e5")[
                gene.variant % 4
            ]
        case "escapes":
            return '"' + ESCAPES[gene.variant] * count + '"'
        case "spaces":
            return " \n\t"[gene.variant % 3] * count + "1"
        case _:
            return '"' + LETTERS[gene.variant] * count + '"'


ARGUMENTS = Family("arguments", KINDS, _argument_case)
VARIABLE_VALUES = Family("variables", KINDS, _variable_case)
BODIES = Family("bodies", JSON_KINDS, _body_case)
