from __future__ import annotations

import shutil

from tests.corpora.compact import TIKTOKEN, tokens
from tests.support.require import requires


def test_tokens_are_counted_by_a_real_tokenizer() -> None:
    requires("node", shutil.which("node") and TIKTOKEN.is_dir(), "`make clients` installs js-tiktoken with npm")

    assert tokens(["", "hello", "hello world", '{"a":1}']) == [0, 1, 2, 5]
