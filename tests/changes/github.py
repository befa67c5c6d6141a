"""``python -m tests.changes.github``: compare two versions of GitHub's schema with 20 rules, and print the seconds.

Ends with 1 above ``MOST_S`` of processor time. Without the corpora of ``make corpora`` nothing is compared.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from graphql import ObjectTypeDefinitionNode, parse

from handler.audience.ways import version_of
from handler.commands.changes.endpoint_changes import compare
from handler.compiler.compile import compile_explained
from tests.corpora.fetch import folder_of
from tests.support.endpoints import write_endpoint

MOST_S = 3.0
RULES = 20
ROOTS = ("Query", "Mutation", "Subscription")

Rule = tuple[str, str, str]
"""A type, its field, and the condition."""


def main() -> int:
    file = folder_of("github") / "index.graphql"
    if not file.exists():
        sys.stdout.write("GitHub's schema is not here: `make corpora` fetches it\n")
        return 0
    schema = file.read_text(encoding="utf-8")
    rules = random_rules(schema, Random("github"))
    fewer = [(*rules[0][:2], "true"), *rules[2:]]
    with TemporaryDirectory() as folder:
        before, after = (
            compile_explained(write_endpoint(Path(folder) / name, files(schema, some), name="api/github"))
            for name, some in (("before", rules), ("after", fewer))
        )
        started = time.process_time()
        made = compare(
            version_of(before[0], provenance=before[1]),
            version_of(after[0], provenance=after[1]),
        )
        taken = time.process_time() - started
    sys.stdout.write(f"{RULES} rules, {len(made.changes)} differences in {taken:.1f} s of at most {MOST_S:g} s\n")
    return 1 if taken > MOST_S or not made.changes else 0


def random_rules(schema: str, random: Random) -> list[Rule]:
    """Rules of fields, each with a claim of its own."""
    types = {
        node.name.value: [field.name.value for field in node.fields or ()]
        for node in parse(schema, no_location=True).definitions
        if isinstance(node, ObjectTypeDefinitionNode) and node.name.value not in ROOTS
    }
    chosen = random.sample(sorted(types), RULES)
    return [
        (name, random.choice(types[name]), f'$jwt.claim{number}:String == "v{number}"')
        for number, name in enumerate(chosen)
    ]


def files(schema: str, rules: list[Rule]) -> dict[str, str]:
    """An endpoint with one tool for all of the schema."""
    allowed = {"condition": True}
    policies: list[object] = [{"type": name, "policyDefault": allowed} for name in ROOTS[:2]]
    policies += [
        {"type": name, "rules": [{"condition": condition, "fields": [field]}], "policyDefault": allowed}
        for name, field, condition in rules
    ]
    identity = {"issuer": "https://id.example", "audience": "api", "jwksendpoint": "https://id.example/keys"}
    config = {
        "upstream": {"url": "https://api.example/graphql"},
        "identity": identity,
        "access": {"anonymous": "allow", "policies": policies},
    }
    tool = '@tool(name: "github", graphql: [{expose: true, types: "Query", fields: ".*"}])'
    return {
        "index.graphql": f"schema {tool} {{ query: Query mutation: Mutation }}\n{schema}",
        "config.yaml": json.dumps(config),
    }


if __name__ == "__main__":
    sys.exit(main())
