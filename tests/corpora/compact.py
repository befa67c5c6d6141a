"""The tokens that a compact form of lists would save, over answers to the operations of public APIs.

python -m tests.corpora.compact    print the median savings; needs `make corpora` and `make clients`, for js-tiktoken

In the compact form, a list of objects without lists and objects is a list of lists: the names, and then the values.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from random import Random
from statistics import median
from typing import Any

from graphql import parse

from tests.answers.cases import CORPORA, corpus
from tests.answers.mocks import Mock
from tests.corpora.downloads import ROOT

ANSWERS_EACH = 1
MAX_BYTES = 20_000
TIKTOKEN = ROOT / ".stile" / "node" / "node_modules" / "js-tiktoken" / "dist"
COUNT = """
const [lite, ranks] = process.argv.slice(1);
const tokens = new (require(lite).Tiktoken)(require(ranks).default ?? require(ranks));
const texts = JSON.parse(require('fs').readFileSync(0, 'utf8'));
console.log(JSON.stringify(texts.map((text) => tokens.encode(text, 'all').length)));
"""


def main() -> None:
    pairs = [(_text(each), _text(compact(each))) for each in answers(seed=1)]
    counts = tokens([text for pair in pairs for text in pair])
    saved = [1 - after / before for before, after in zip(counts[::2], counts[1::2], strict=True)]
    changed = [share for share, (before, after) in zip(saved, pairs, strict=True) if before != after]
    listed = [share for share, (before, _) in zip(saved, pairs, strict=True) if "[" in before]
    for what, shares in (("answers", saved), ("with a list", listed), ("with a list of flat objects", changed)):
        sys.stdout.write(f"{len(shares):5} {what}: {median(shares):.0%} of tokens saved at the median\n")


def answers(*, seed: int) -> Iterator[dict[str, Any]]:
    """Random answers to each query of the corpora, none of them long."""
    random = Random(seed)
    for name in CORPORA:
        source = corpus(name)
        for text, *_ in source.operations:
            for _ in range(ANSWERS_EACH if not text.startswith("mutation") else 0):
                data = Mock(source.schema, random).answer(parse(text))
                if data and len(_text(data)) <= MAX_BYTES:
                    yield {"data": data}


def compact(value: Any) -> Any:
    """A value in the compact form."""
    if isinstance(value, dict):
        return {name: compact(each) for name, each in value.items()}
    if not isinstance(value, list):
        return value
    if len(value) > 1 and all(_is_flat(each) and each.keys() == value[0].keys() for each in value):
        return [[*value[0]], *([*each.values()] for each in value)]
    return [compact(each) for each in value]


def tokens(texts: list[str]) -> list[int]:
    """The lengths of texts in tokens of o200k."""
    files = [str(TIKTOKEN / "lite.cjs"), str(TIKTOKEN / "ranks" / "o200k_base.cjs")]
    done = subprocess.run(
        ["node", "-e", COUNT, *files], input=json.dumps(texts), capture_output=True, text=True, check=True
    )
    found: list[int] = json.loads(done.stdout)
    return found


def _is_flat(value: Any) -> bool:
    return isinstance(value, dict) and not any(isinstance(each, dict | list) for each in value.values())


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


if __name__ == "__main__":
    main()
