"""``stile manifest``: the operations of endpoints, for an API that runs only those it knows."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from handler.bundle.tools import Operation, PrescribedTool
from handler.commands.command_line import REFUSED
from handler.commands.console import complain, say, show_json
from handler.commands.folders.endpoints import add_folder_arguments, compile_or_complain

EXAMPLES = ("stile manifest endpoints --format apollo --out manifest.json",)
EXIT_CODES = {REFUSED: "an endpoint has problems, or the file was not written"}

FORMATS = ("apollo", "relay")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_folder_arguments(parser)
    parser.add_argument("--format", choices=FORMATS, required=True, help="Apollo's manifest, or Relay's map of texts")
    parser.add_argument("--out", type=Path, metavar="FILE", help="where to write (default: print it)")
    parser.add_argument("--json", action="store_true", help="with --out: print one JSON document")


def run(options: argparse.Namespace) -> int:
    compiled = compile_or_complain(options.folder, stage=options.stage, endpoint=options.endpoint)
    if not compiled:
        complain("No manifest was made.")
        return 1
    by_digest: dict[str, Operation] = {}  # of prescribed tools and persisted documents, each text once
    for bundle in (one.bundle for one in compiled):
        tools = [tool for tool in bundle.tools if isinstance(tool, PrescribedTool)]
        cancels = [tool.task.cancel.operation for tool in tools if tool.task and tool.task.cancel]
        prescribed = [*(tool.operation for tool in tools), *cancels]
        persisted = [each.operation for document in bundle.graphql.documents for each in document.operations]
        by_digest |= {operation.sha256: operation for operation in (*prescribed, *persisted)}
    operations = sorted(by_digest.values(), key=lambda operation: (operation.name, operation.sha256))
    if options.format == "apollo":  # format version 1. Source: Apollo, "Persisted Queries"
        entries = [
            {"id": operation.sha256, "name": operation.name, "type": operation.kind, "body": operation.text}
            for operation in operations
        ]
        manifest: Any = {"format": "apollo-persisted-query-manifest", "version": 1, "operations": entries}
    else:  # ids are documentId of GraphQL over HTTP. Source: Relay, "Persisted Queries"
        manifest = {f"sha256:{operation.sha256}": operation.text for operation in operations}
    if options.out is None:
        show_json(manifest)
        return 0
    try:
        options.out.write_text(json.dumps(manifest, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    except OSError as exc:
        complain(f"{options.out}: {exc.strerror}")
        return 1
    if options.json:
        show_json({"file": options.out.as_posix(), "operations": len(operations)})
    else:
        say(f"{len(operations)} operations in {options.out}")
    return 0
