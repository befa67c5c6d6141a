"""What the tests of a session keep secret, and whether any of it stands in what the product put out.

The support code says both as it comes by: ``SESSION.keep`` a secret that a test uses, ``SESSION.note`` an output. When
the session ends, ``tests/conftest.py`` asks for the ``verdict``. Each process of a run has a session of its own.
"""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import tempfile
import threading
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from secrets import token_hex
from typing import BinaryIO
from urllib.parse import quote

MIN_CHARS = 12
MIN_DISTINCT_CHARS = 5
"""Less is no secret that anybody would have, and could stand in an output by chance."""

PIECE_CHARS = 64
"""Of a longer secret, beginning and end are looked for: the log cuts its facts, so the whole would be missed."""

CREDENTIAL_HEADERS = frozenset({"authorization", "cookie", "x-api-key", "x-authorization"})
SECRET_VARIABLES = ("AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "STILE_LOG_KEY", "STILE_SECRET_")
"""How the names of environment variables begin that hold secrets."""

GREP = ("grep", "--text", "--byte-offset", "--only-matching", "--fixed-strings", "--file")
IN_BYTES = {**os.environ, "LC_ALL": "C"}


class Output(StrEnum):
    """What is searched, each kind where it is collected."""

    BUNDLE = "a stored bundle"
    INDEX = "a stored schema index"
    FOLDER = "a folder that a command wrote bundles to"
    ANSWER = "an answer of the function"
    LINE = "a line of the log"
    HANDLER_LOG = "the log of the Lambda handler"
    COMMAND = "what a command printed"
    PROCESS = "what a command in its own process printed"
    PROBLEM = "a problem or warning of the compiler"
    ERROR = "the message of an error"
    UPSTREAM = "what reached the demo's API"
    PEER = "what reached a server of a test"
    CAPTURED = "what a test printed"


@dataclass(frozen=True, slots=True)
class Finding:
    """A secret, by its kind, in an output of a test."""

    secret: str
    output: Output
    test: str

    def __str__(self) -> str:
        return f"{self.secret} stands in {self.output}, from {self.test}"


class Secrecy:
    """The secrets and outputs of one session. Outputs lie in a file, so that memory stays flat."""

    def __init__(self) -> None:
        self._kinds: dict[bytes, str] = {}  # what is searched for -> what it is, or whose canary
        self._canaries: dict[str, Output] = {}
        self._file: BinaryIO | None = None
        self._size = 0
        self._begins: list[int] = []  # offsets in the file, and where what begins there came from
        self._sources: list[tuple[Output, str]] = []
        self._noted: set[int] = set()
        self._lock = threading.Lock()  # servers of tests run in threads

    @contextmanager
    def collecting(self) -> Iterator[None]:
        """Collect outputs; before and after nobody is there to search them, and they are let go."""
        with tempfile.TemporaryFile() as file:
            self._file = file
            try:
                yield
            finally:
                with self._lock:
                    self._file = None

    def keep(self, kind: str, secret: str) -> str:
        """Look for this secret, if it is one that could be told from other text; gives it back."""
        for line in secret.splitlines():
            text = line.strip()
            if len(text) >= MIN_CHARS and len(set(text)) >= MIN_DISTINCT_CHARS:
                for form in _forms(text):
                    self._kinds.setdefault(form, kind)
        return secret

    def keep_headers(self, headers: Mapping[str, str]) -> None:
        """Look for the credentials in the headers of a request, without their schemes and names."""
        for name, value in headers.items():
            if name.lower() in CREDENTIAL_HEADERS:
                for part in value.replace(",", " ").replace(";", " ").split():
                    for secret in (part, part.partition("=")[2]):
                        self.keep(f"a credential of the header {name.lower()}", secret)

    def keep_environ(self, environ: Mapping[str, str]) -> None:
        """Look for the secrets in the environment of a process."""
        for name, value in environ.items():
            if name.startswith(SECRET_VARIABLES) and not value.startswith("arn:"):  # where it lies is no secret
                self.keep(f"the variable {name}", value)

    @property
    def keeps_any(self) -> bool:
        """Whether there is anything to look for."""
        return bool(self._kinds)

    def is_kept(self, secret: str) -> bool:
        """Whether this is looked for, which is one line."""
        return {secret[:PIECE_CHARS].encode(), secret[-PIECE_CHARS:].encode()} <= self._kinds.keys()

    def plant(self, output: Output) -> str:
        """A secret that has to be found in outputs of this kind; a name in GraphQL."""
        canary = f"canary_{token_hex(16)}"
        self._canaries[canary] = output
        self._kinds[canary.encode()] = canary
        return canary

    def note(self, output: Output, content: str | bytes) -> None:
        """Search this when the session ends; what was noted before is not kept twice."""
        raw = content.encode(errors="backslashreplace") if isinstance(content, str) else content
        source = (output, _current_test())
        with self._lock:
            if self._file is None or (seen := hash((output, raw))) in self._noted:
                return
            self._noted.add(seen)
            if not self._sources or self._sources[-1] != source:
                self._begins.append(self._size)
                self._sources.append(source)
            self._size += self._file.write(raw + b"\n")

    def note_error(self, error: BaseException) -> None:
        """Search the message of an error of ours, and those of the errors behind it, which a log would show, too."""
        if not type(error).__module__.startswith("handler."):
            return
        behind: BaseException | None = error
        while behind is not None:
            self.note(Output.ERROR, f"{behind} {behind!r}")
            behind = behind.__cause__ or behind.__context__

    def verdict(self) -> list[str]:
        """What is wrong: secrets that were put out, and canaries that were not found. To be asked while collecting.

        Of a secret, the first test that put it out in each kind of output is named.
        """
        found = self._search()
        leaks = {(each.secret, each.output): each for each in reversed(found) if each.secret not in self._canaries}
        seen = {(each.secret, each.output) for each in found}
        lost = [output for canary, output in self._canaries.items() if (canary, output) not in seen]
        return [*map(str, leaks.values()), *(f"the canary in {output} was not found" for output in lost)]

    def _search(self) -> list[Finding]:
        """Each place where a secret stands, in the order of the outputs."""
        if self._file is None or not self._kinds:
            return []
        with self._lock, tempfile.NamedTemporaryFile() as patterns:
            patterns.write(b"\n".join(self._kinds))
            patterns.flush()
            self._file.seek(0)
            done = subprocess.run(
                [*GREP, patterns.name], stdin=self._file, capture_output=True, env=IN_BYTES, check=False
            )
            self._file.seek(0, os.SEEK_END)
        assert done.returncode in (0, 1), done.stderr.decode()
        places = (line.partition(b":") for line in done.stdout.splitlines())
        return [Finding(self._kinds[text], *self._source_at(int(offset))) for offset, _, text in places]

    def _source_at(self, offset: int) -> tuple[Output, str]:
        return self._sources[bisect_right(self._begins, offset) - 1]


def has_grep() -> bool:
    """Whether GNU grep is there: of others, offsets are those of lines, or there are none."""
    found = shutil.which("grep")
    if found is None:
        return False
    return b"GNU grep" in subprocess.run([found, "--version"], capture_output=True, check=False).stdout


def _forms(text: str) -> Iterator[bytes]:
    """How a secret may be written: as it is, in JSON, in a URL, in base64."""
    base64_text = base64.b64encode(text.encode()).decode().rstrip("=")[:-1]  # the last one depends on what follows
    for form in {text, json.dumps(text)[1:-1], json.dumps(text, ensure_ascii=False)[1:-1], quote(text, safe="")}:
        yield from (piece.encode() for piece in (form[:PIECE_CHARS], form[-PIECE_CHARS:]))
    yield base64_text[:PIECE_CHARS].encode()


def _current_test() -> str:
    """The test that runs, by its id; fixtures that several share run in the first one."""
    return os.environ.get("PYTEST_CURRENT_TEST", "no test").rpartition(" (")[0] or "no test"


SESSION = Secrecy()
"""Of this process. Not passed along, because modules of tests have secrets as constants, which no fixture reaches."""
