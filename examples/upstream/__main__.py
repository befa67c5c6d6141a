"""A small shop's GraphQL API, to try things on: ``python -m examples.upstream --port 8001``."""

import argparse
import sys
from pathlib import Path

import uvicorn
from starlette.types import ASGIApp

from examples.upstream.app import build_app
from examples.upstream.database import create_database
from examples.upstream.log import RequestLog
from examples.upstream.schema import schema


def main() -> None:
    options = parse_options()
    if options.print_schema:
        sys.stdout.write(schema.as_str() + "\n")
        return
    create_database(options.database)
    app: ASGIApp = build_app(options.database)
    if options.log:
        app = RequestLog(app, options.log)
    uvicorn.run(app, host=options.host, port=options.port, ws="none", log_level="warning")


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m examples.upstream", description=__doc__)
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default: %(default)s)")
    parser.add_argument("--port", type=int, default=8001, help="port to listen on (default: %(default)s)")
    parser.add_argument(
        "--database",
        type=Path,
        default=Path(".stile/demo.sqlite"),
        help="SQLite file, made when missing (default: %(default)s)",
    )
    parser.add_argument("--log", type=Path, help="file to append every request to, one JSON object a line")
    parser.add_argument("--print-schema", action="store_true", help="print the schema and stop")
    return parser.parse_args()


if __name__ == "__main__":
    main()
