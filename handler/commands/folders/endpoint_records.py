"""Records of the endpoints that a command has compiled: an endpoint whose files are the same is not compiled again."""

from __future__ import annotations

import argparse
import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from handler.commands.folders.endpoints import Outcome, Record
from handler.commands.folders.user_secret import CACHE, user_cache
from handler.compiler.schema.schema_cache import key_of
from handler.compiler.source.files import NEVER_ENTERED, QUESTIONS, TESTS

UNRECORDED = frozenset({*NEVER_ENTERED, ".git", *TESTS, QUESTIONS})
"""The names in a folder whose endpoint has no record: of other tools' files, and of trials, which go by the clock."""

MAX_BYTES = 32_000_000
ENTRY_BYTES = 10_000
"""The limit of a folder whose endpoint has a record, and the bytes that each entry counts in addition."""


class EndpointRecords:
    """One command's records of the endpoints in a folder, in the user's cache.

    A record counts while the digest of the variables and of all files below the folder of its endpoint is the same.
    The options, the current folder and the code of Stile are in the key. An endpoint with tools in Python has no
    record, because its modules may read anything.
    """

    def __init__(self, command: str, options: argparse.Namespace, environ: Mapping[str, str]) -> None:
        self.cache = user_cache(options.folder, environ)
        given = [options.stage, options.endpoint, getattr(options, "allow_http", [])]
        self._key = key_of(command, str(options.folder), str(Path.cwd()), *given)
        # Not in the key, which names a file: variables may be secrets.
        variables = sorted(each for each in environ.items() if each[0].startswith(("STEPZEN_", "STILE_")))
        self._variables = json.dumps(variables).encode()
        self._former: dict[str, list[Any]] = json.loads(self.cache.find(self._key) or b"{}")
        self._digests: dict[Path, tuple[str, bytes]] = {}

    def find(self, folder: Path) -> Record | None:
        """Return the record of an endpoint; ``None`` if there is none, or if the endpoint has changed."""
        self._digests[folder] = self._digest(folder)
        digest, record = self._former.get(folder.as_posix(), (None, None))
        return record if digest == self._digests[folder][0] else None

    def keep(self, endpoints: Iterable[tuple[Outcome, Record]]) -> None:
        """Keep the records of endpoints without problems, except of those that changed while they were compiled."""
        current = {}
        for outcome, record in endpoints:
            folder, before = outcome.folder, self._digests[outcome.folder]
            is_code = outcome.compiled and outcome.compiled.bundle.code
            may_be_kept = before[0] and not outcome.problems and not is_code
            if outcome.record or (may_be_kept and before == self._digest(folder)):
                current[folder.as_posix()] = [before[0], record]
        if current != self._former:
            self.cache.keep(self._key, json.dumps(current).encode())

    def _digest(self, folder: Path) -> tuple[str, bytes]:
        """Return the digest of an endpoint, empty if it has no record, and that of its times of changes."""
        digest, left, folders = hashlib.sha256(self._variables), MAX_BYTES, [os.path.realpath(folder)]
        times = hashlib.sha256()
        try:
            for entry in (entry for each in folders for entry in sorted(os.scandir(each), key=lambda each: each.name)):
                if entry.path.endswith(f"{os.sep}{CACHE}"):
                    continue
                status = entry.stat(follow_symlinks=False)
                left -= ENTRY_BYTES + status.st_size
                if entry.name != CACHE.parent.name:  # the first record may make this folder
                    digest.update(os.fsencode(entry.path) + b"\0")
                    times.update(b"%d %d %d\0" % (status.st_ino, status.st_mtime_ns, status.st_ctime_ns))
                is_folder = entry.is_dir(follow_symlinks=False)
                if left < 0 or entry.name in UNRECORDED or not (is_folder or entry.is_file(follow_symlinks=False)):
                    return "", b""
                if is_folder:
                    folders.append(entry.path)
                else:
                    body = Path(entry.path).read_bytes()
                    digest.update(b"%d\0%b" % (len(body), body))
        except OSError:
            return "", b""
        return digest.hexdigest(), times.digest()
