"""Fetch the corpora: an endpoint folder for each, below ``.stile/corpora``.

    python -m tests.corpora.fetch

What is there already, from the same locks and by the same rules, is not fetched again.
"""

from __future__ import annotations

import hashlib
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path

from tests.corpora.documents import file_names
from tests.corpora.downloads import HERE, PYPI_LOCK, ROOT, FetchError
from tests.corpora.sources import SOURCE_OF, SOURCES, Corpus, Source

CACHE = ROOT / ".stile" / "corpora"

MADE_BY = ("documents.py", "downloads.py", "fetch.py", "literals.py", "npm.json", "sources.py")
"""What decides what is fetched, beside the lock for PyPI and the folder ``vendure``."""

STAMP = ".fetched"
"""A file in each endpoint folder that says what it was made from and by."""

CONFIG = """\
upstream: {url: "http://127.0.0.1:9/graphql"}
default_tool: false
access:
  anonymous: allow
  policies:
    - {type: Query, policyDefault: {condition: true}}
    - {type: Mutation, policyDefault: {condition: true}}
"""
"""Nothing is asked and everybody may use everything: it is schemas and operations that are tried."""


def folder_of(corpus: str) -> Path:
    """The endpoint folder of a corpus, whether it is there or not."""
    return CACHE / "corpora" / corpus


def is_fetched(corpus: str) -> bool:
    """Whether a corpus is there, made from today's locks by today's rules."""
    stamp = folder_of(corpus) / STAMP
    return stamp.is_file() and stamp.read_text(encoding="utf-8") == _fingerprint()


def fetch(corpus: str, say: Callable[[str], None] = lambda _: None) -> Path:
    """The endpoint folder of a corpus, fetched if need be with those that come from the same packages.

    Raises:
        FetchError: it cannot be had.
    """
    if not is_fetched(corpus):
        _fetch(SOURCE_OF[corpus], say)
    return folder_of(corpus)


def main() -> int:
    """Fetch everything there is. 1: something could not be had, which was said."""
    missing = 0
    for place, source in enumerate(SOURCES, start=1):
        say = partial(_say, f"[{place}/{len(SOURCES)}]")
        try:
            _fetch_missing(source, say)
        except FetchError as exc:
            missing += 1
            say(f"{', '.join(source.corpora)}: {exc}")
    return 1 if missing else 0


def _fetch_missing(source: Source, say: Callable[[str], None]) -> None:
    if all(is_fetched(corpus) for corpus in source.corpora):
        say(f"{', '.join(source.corpora)}: there already")
    else:
        _fetch(source, say)


def _fetch(source: Source, say: Callable[[str], None]) -> None:
    started = time.monotonic()
    say(f"{', '.join(source.corpora)}: downloading with {'npm' if source.needs == 'node' else 'pip'} …")
    CACHE.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=CACHE, prefix=".work-") as work:
        for corpus in source.read(Path(work)):
            _write(corpus, Path(work) / f"written-{corpus.name}")
            say(f"{corpus.name}: {len(corpus.operations)} operations")
    say(f"took {time.monotonic() - started:.0f} s")


def _write(corpus: Corpus, folder: Path) -> None:
    """Write an endpoint folder, and put it in its place when it is whole."""
    operations = folder / "operations"
    operations.mkdir(parents=True)
    (folder / "index.graphql").write_text(corpus.sdl, encoding="utf-8")
    (folder / "config.yaml").write_text(CONFIG, encoding="utf-8")
    for name, operation in zip(file_names(corpus.operations), corpus.operations, strict=True):
        (operations / name).write_text(operation.as_tool(), encoding="utf-8")
    (folder / STAMP).write_text(_fingerprint(), encoding="utf-8")
    target = folder_of(corpus.name)
    shutil.rmtree(target, ignore_errors=True)
    target.parent.mkdir(parents=True, exist_ok=True)
    folder.rename(target)


@cache
def _fingerprint() -> str:
    """SHA-256 over what decides what is fetched."""
    digest = hashlib.sha256()
    for file in (PYPI_LOCK, *(HERE / name for name in MADE_BY), *sorted((HERE / "vendure").iterdir())):
        digest.update(file.name.encode() + b"\0" + file.read_bytes() + b"\0")
    return digest.hexdigest()


def _say(step: str, text: str) -> None:
    sys.stdout.write(f"{step} {text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
