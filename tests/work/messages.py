"""Messages and headers that cost: every method, batches of them, tokens, and the headers that are parsed."""

from __future__ import annotations

import base64
import json
from typing import Any

from graphql import get_introspection_query

from tests.support.issuers import signed_with_secret
from tests.work.documents import call, document_of
from tests.work.endpoint import SECRETS
from tests.work.genomes import Case, Family, Gene, Genome, json_of

SCHEMA = "stile://api/things/schema.graphql"
REVIEW = {"type": "ref/prompt", "name": "review"}
UNKNOWN = document_of((Gene("unknown fields", 40, 1), Gene("line breaks", 300)))

METHODS = ("lists", "reads", "completions", "prompts", "calls", "greetings")
TEXTS = ("x", "\u0130", " ", "shade", "%20", "{")


def _message(gene: Gene) -> tuple[str, dict[str, Any]]:
    """One message. Its text is as long as the gene counts."""
    text = TEXTS[gene.variant] * min(gene.count, 900_000)
    match gene.kind:
        case "lists":
            names = (
                "tools/list",
                "resources/list",
                "resources/templates/list",
                "prompts/list",
                "server/discover",
                "ping",
            )
            return names[gene.variant], {}
        case "reads":
            uris = (SCHEMA, SCHEMA.replace("schema", "tools/ask"), SCHEMA + text, f"stile://{text}", text, "")
            return "resources/read", {"uri": uris[gene.variant]}
        case "completions":
            return "completion/complete", {"ref": REVIEW, "argument": {"name": "shade", "value": text}}
        case "prompts":
            return "prompts/get", {"name": "review", "arguments": {"text": "{{shade}}" + text, "shade": text[:1000]}}
        case "calls":
            queries = (
                UNKNOWN,
                get_introspection_query(),
                "{ __typename }",
                text,
                "{" + text,
                '{ __type(name: "Query") { name fields { name } } }',
            )
            return "tools/call", {"name": "ask", "arguments": {"query": queries[gene.variant]}}
        case _:
            return "initialize", {
                "protocolVersion": text,
                "capabilities": {},
                "clientInfo": {"name": text, "version": ""},
            }


def _message_case(genome: Genome) -> Case:
    """The messages of all genes; those beside ``batch`` are repeated as often as it counts."""
    sent = [_message(gene) for gene in genome if gene.kind != "batch"] or [("ping", {})]
    times = next((gene.count for gene in genome if gene.kind == "batch"), 0)
    written = [
        {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        for number, (method, params) in enumerate(sent * max(times % 25, 1))
    ]
    body = written if times else written[0]
    headers = {"mcp-protocol-version": "2025-03-26" if times else "2025-11-25"}
    return Case(headers=headers, body=json_of(body))


NAMES = ("accept", "authorization", "origin", "traceparent", "tracestate", "baggage", "cookie", "x-api-key", "mcp-name")
CHARACTERS = (",", "a/b;q=0.1, ", "=", ". ", "a=b;c=d,", '/*\\"')


def _header_case(genome: Genome) -> Case:
    headers: dict[str, str] = {}
    query: list[str] = []
    for gene in genome:
        count = min(gene.count, 10_000)
        match gene.kind:
            case "parameters":
                query += [
                    f"{CHARACTERS[gene.variant][:1]}{number}={gene.variant}" for number in range(min(count, 3_000))
                ]
            case "claims" | "token header":
                headers["authorization"] = f"Bearer {_token(gene)}"
            case "letters":
                headers[NAMES[gene.count % len(NAMES)]] = "Bearer " + "aA-._~+/9"[gene.variant] * count
            case _:
                headers[NAMES[gene.count % len(NAMES)]] = CHARACTERS[gene.variant] * (count // 4)
    if query:
        return Case(verb="GET", path="/api/things/graphql", query_string="&".join(query), headers=headers)
    return Case(headers=headers, body=call("ask", {"query": "{ __typename }"}).body)


def _token(gene: Gene) -> str:
    count = min(gene.count, 5_000)
    odd = (
        {"groups": ["a"] * count},
        {"groups": "x " * count},
        {f"c{n}": n for n in range(count)},
        {"n": 10 ** min(count, 4_000)},
    )
    claims = {"iss": "https://login.example/", "aud": "https://api.example/work", "exp": 4e9, **odd[gene.variant % 4]}
    if gene.kind == "claims":
        return signed_with_secret(claims, header={"alg": "HS256"}, secret=SECRETS["LOGIN"].encode())
    head = base64.urlsafe_b64encode(json.dumps({"alg": "HS256", "kid": "k" * count}).encode()).decode().rstrip("=")
    return f"{head}.{head}.{'A' * 43}"


MESSAGES = Family("messages", (*METHODS, "batch"), _message_case)
HEADERS = Family("headers", ("separators", "letters", "claims", "token header", "parameters"), _header_case)
