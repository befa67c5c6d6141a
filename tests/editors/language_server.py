"""A language server over standard input and output, asked as an editor asks it.

Source: Language Server Protocol 3.17, "Base Protocol" and ``textDocument/publishDiagnostics``.
"""

from __future__ import annotations

import json
import queue
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

WAIT_S = 60.0


class LanguageServer:
    """A running server, and the diagnostics that it publishes."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        self._messages: queue.Queue[Mapping[str, Any]] = queue.Queue()
        self._number = 0
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def join(self) -> None:
        """Wait for the end of what an ended server has said."""
        self._reader.join(WAIT_S)

    def start(self, folder: Path) -> None:
        """Open a folder as the workspace."""
        uri = folder.as_uri()
        self.ask(
            "initialize",
            {
                "processId": None,
                "rootUri": uri,
                "rootPath": folder.as_posix(),
                "capabilities": {"textDocument": {"publishDiagnostics": {}, "completion": {"completionItem": {}}}},
                "workspaceFolders": [{"uri": uri, "name": "w"}],
            },
        )
        self._send({"method": "initialized", "params": {}})

    def diagnostics(self, file: Path, language: str) -> list[str]:
        """Open a file; return its diagnostics as ``line:column: message``, counted from 1."""
        uri, text = file.as_uri(), file.read_text(encoding="utf-8")
        document = {"uri": uri, "languageId": language, "version": 1, "text": text}
        self._send({"method": "textDocument/didOpen", "params": {"textDocument": document}})
        found = self._wait(
            lambda each: each.get("method") == "textDocument/publishDiagnostics" and each["params"]["uri"] == uri
        )
        return [_shown(each) for each in found["params"]["diagnostics"]]

    def completions(self, file: Path, *, line: int, character: int) -> list[str]:
        """The labels that are offered at a place, counted from 0, of a file that was opened."""
        position = {"line": line, "character": character}
        found = self.ask("textDocument/completion", {"textDocument": {"uri": file.as_uri()}, "position": position})
        items = found["items"] if isinstance(found, dict) else found or []
        return [item["label"] for item in items]

    def ask(self, method: str, params: Mapping[str, Any]) -> Any:
        """Send a request, and return its result."""
        self._number += 1
        number = self._number
        self._send({"id": number, "method": method, "params": params})
        answer = self._wait(lambda each: each.get("id") == number and "method" not in each)
        assert "result" in answer, answer
        return answer["result"]

    def _wait(self, is_wanted: Any) -> Any:
        deadline = time.monotonic() + WAIT_S
        while True:
            message = self._messages.get(timeout=max(0.1, deadline - time.monotonic()))
            if is_wanted(message):
                return message
            if "id" in message and "method" in message:  # the server asks; it gets the settings of an empty editor
                self._send({"id": message["id"], "result": _answer(message)})

    def _send(self, message: Mapping[str, Any]) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        assert self._process.stdin
        self._process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        self._process.stdin.flush()

    def _read(self) -> None:
        stream = self._process.stdout
        assert stream
        while line := stream.readline():
            if line.lower().startswith(b"content-length:"):
                length = int(line.split(b":")[1])
                while stream.readline().strip():
                    pass
                self._messages.put(json.loads(stream.read(length)))


@contextmanager
def running_server(command: Sequence[str], folder: Path) -> Iterator[LanguageServer]:
    """Run a server whose workspace is a folder."""
    pipe, null = subprocess.PIPE, subprocess.DEVNULL
    with subprocess.Popen(command, cwd=folder, stdin=pipe, stdout=pipe, stderr=null) as process:
        server = LanguageServer(process)
        try:
            server.start(folder)
            yield server
        finally:
            process.kill()
            server.join()


def _answer(message: Mapping[str, Any]) -> Any:
    items = message.get("params", {}).get("items") if message["method"] == "workspace/configuration" else None
    return [{} for _ in items] if items is not None else None


def _shown(diagnostic: Mapping[str, Any]) -> str:
    start = diagnostic["range"]["start"]
    return f"{start['line'] + 1}:{start['character'] + 1}: {diagnostic['message']}"
