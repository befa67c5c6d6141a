"""Texts that try to become markup or scripts, in every place that a schema, an answer or a claim has."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.support.api import Api, Asked, Reply, running_api
from tests.support.endpoints import write_endpoint

ELEMENT = '<img data-hostile src=/hostile-image onerror="canary(1)">'
"""Markup that becomes an element with an attribute of its own, a request, and a script, if it is read as markup."""

PAYLOADS: Mapping[str, str] = {
    "image": f"'\">{ELEMENT}",
    "script": "<script data-hostile>canary(2)</script>",
    "ends": "</script></style></textarea></title></svg></option><b data-hostile>",
    "comment": "<!-- <b data-hostile> --> ]]><![CDATA[",
    "svg": "<svg data-hostile onload=canary(3)><a data-hostile href=javascript:canary(4)>x</a></svg>",
    "url": "javascript:canary(5)",
    "link": "[go](javascript:canary(6)) ![x](http://hostile.example/x.png) https://hostile.example/y",
    "template": "${canary(7)} {{constructor.constructor('canary(8)')()}} <%= canary(9) %> `",
    "entities": "&lt;b data-hostile&gt;&amp;&#60;b&#62;",
    "turned": "\u202eturned\u202c \u2066x\u2069 \u200f \u05d0\u05d1",
}
ALL = " ".join(PAYLOADS.values())
LONG = "<b data-hostile>" + "long" * 2_500


def hostile(place: str) -> str:
    """All of them, with the name of the place so that a test finds it on the screen."""
    return f"at-{place} {ALL}"


def _graphql(text: str) -> str:
    """Write a string of GraphQL on one line."""
    return json.dumps(text)


SDL = f"""\
{_graphql(hostile("schema"))}
schema
  @tool(name: "ask_hostile", title: {_graphql(hostile("graphql-title"))},
    description: {_graphql(hostile("graphql-description") + " {graphql_tool}")},
    category: {_graphql("at-category <b data-hostile>")},
    graphql: [{{expose: true, types: "Query", fields: ".*"}}]) {{ query: Query mutation: Mutation }}
{_graphql(hostile("query-type"))}
type Query {{
  {_graphql(hostile("field"))}
  text({_graphql(hostile("argument"))} word: String = {_graphql(hostile("default"))},
    pick: Pick, by: By, odd: Odd): Thing
    @deprecated(reason: {_graphql(hostile("deprecated"))})
  things: [Thing!]!
  fails: String
  long: String
}}
type Mutation {{ set(word: String): String }}
{_graphql(hostile("enum"))}
enum Pick {{ {_graphql(hostile("enum-value"))} ONE TWO }}
input By {{ {_graphql(hostile("input-field"))} name: String = {_graphql(hostile("input-default"))}, pick: Pick = ONE }}
{_graphql(hostile("type"))}
type Thing {{ {_graphql(hostile("type-field"))} name: String  pick: Pick  any: Odd }}
scalar Odd @specifiedBy(url: {_graphql("javascript:canary(10)//at-specified")})
"""
OPERATIONS = f"""\
{_graphql(hostile("tool-description"))}
query Text({_graphql(hostile("variable"))} $word: String = {_graphql(hostile("variable-default"))},
  $pick: Pick, $by: By, $odd: Odd)
@mcpTool(name: "text", title: {_graphql(hostile("tool-title"))}, category: {_graphql("at-category <b data-hostile>")},
  meta: {{odd: {_graphql(hostile("meta"))}}})
{{ text(word: $word, pick: $pick, by: $by, odd: $odd) {{ name pick any }} }}
{_graphql(LONG)}
query Things @mcpTool(name: "things", title: "Things") {{ things {{ name pick any }} }}
"Fails."
query Fails @mcpTool(name: "fails", title: "Fails") {{ fails }}
"A long line."
query Long @mcpTool(name: "long", title: "Long") {{ long }}
"Sets a word."
mutation Set($word: String) @mcpTool(name: "set", title: {_graphql(hostile("asked-title"))}, confirm: required)
{{ set(word: $word) }}
"""

CLAIMS_FILE = "<img data-hostile src=x onerror=canary(11)>'\"&.json".replace("/", "")
CLAIMS: Mapping[str, Any] = {"sub": hostile("subject"), "roles": [ELEMENT], "<b data-hostile>": ELEMENT}


def answer(asked: Asked) -> Reply:
    """Answer as an API that was taken over: markup in each text, name and message, NUL and half characters."""
    query = asked.json["query"]
    raw = f"{hostile('answer')} \u0000 \ud800 end"
    thing = {
        "name": raw,
        "pick": "ONE",
        "any": {ELEMENT: raw, "__proto__": {"x": 1}, "constructor": raw, "url": "javascript:canary(12)"},
    }
    if "fails" in query:
        error = {"message": hostile("error"), "path": ["fails", ELEMENT], "extensions": {"code": ELEMENT, ELEMENT: raw}}
        return Reply({"data": {"fails": None}, "errors": [error]})
    data = {"text": thing, "things": [thing, {**thing, "name": ELEMENT}], "long": LONG, "set": raw}
    return Reply({"data": {name: value for name, value in data.items() if f"{name}" in query}})


@contextmanager
def hostile_endpoint(folder: Path) -> Iterator[tuple[Path, Api]]:
    """The endpoint shop/hostile, and its API."""
    with running_api(answer) as api:
        files = {
            "index.graphql": SDL,
            "operations/hostile.graphql": OPERATIONS,
            "config.yaml": f'upstream: {{url: "{api.url}"}}\n'
            "access:\n  anonymous: allow\n  policies:\n"
            "    - {type: Query, policyDefault: {condition: true}}\n"
            f"    - {{type: Mutation, rules: [{{name: {json.dumps(hostile('rule'))}, "
            "condition: '?$jwt', fields: [set]}]}\n",
        }
        endpoint = write_endpoint(folder, files, name="shop/hostile")
        (endpoint / CLAIMS_FILE).write_text(json.dumps(CLAIMS), encoding="utf-8")
        yield endpoint, api


MARKERS = (
    "graphql-title",
    "graphql-description",
    "tool-title",
    "tool-description",
    "variable",
    "variable-default",
    "enum-value",
    "input-field",
    "input-default",
    "answer",
    "error",
    "asked-title",
)
"""Places whose text an author has to see somewhere on the page."""
