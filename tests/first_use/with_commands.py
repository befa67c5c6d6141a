"""Mistakes on the command line and in tools written in Python, as the commands tell them."""

from __future__ import annotations

import socket
from collections.abc import Callable

from tests.first_use.judging import Mistake, Token
from tests.first_use.workshop import Workshop

TOOLS = '''\
from stile import Toolkit

mcp = Toolkit()


@mcp.tool(title="Double")
def double(number: int) -> int:
    """Double a number."""
    return 2 * number
'''
FASTMCP = '''\
"""Tools."""

from fastmcp import FastMCP

mcp = FastMCP("shop")


@mcp.tool
def double(number: int) -> int:
    """Double a number."""
    return 2 * number
'''
CODE = 'code: ["staff_tools:mcp"]\n'
ALLOWED = {"STILE_CODE_MODULES": "staff_tools"}


def _typed(*words: str) -> Callable[[Workshop], str]:
    return lambda shop: shop.stile(*words)


def _call(shop: Workshop, *words: str) -> str:
    return shop.stile("call", "endpoints", *words)


def _port_taken(shop: Workshop) -> str:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        return shop.stile("dev", "endpoints", "--port", str(port)).replace(str(port), "PORT")


def _claims_without_json(shop: Workshop) -> str:
    shop.write("/claims.json", '{"employee_id": "e5",}\n')
    return _call(shop, "my_pay", "--as", "claims.json", "year=2025")


def _option_between(shop: Workshop) -> str:
    shop.write("/claims.json", '{"employee_id": "e5"}\n')
    return _call(shop, "my_pay", "--as", "claims.json", "year=2025", "--colour", "red")


def _publish_without_region(shop: Workshop) -> str:
    return shop.stile_apart("publish", "endpoints", "s3://staff-bundles/main", AWS_REGION="", AWS_DEFAULT_REGION="")


def _publish_loopback(shop: Workshop) -> str:
    shop.ask("http://127.0.0.1:9300/graphql")
    return shop.stile("publish", "endpoints", "bundles", "--create")


def with_tools(text: str, *, code: str = CODE, **more: str) -> Callable[[Workshop], str]:
    """An endpoint with tools in Python. ``more`` are further modules beside them."""

    def make(shop: Workshop) -> str:
        shop.write("/staff_tools.py", text)
        for name, module in more.items():
            shop.write(f"/{name}.py", module)
        shop.change("config.yaml", "upstream:\n", f"{code}upstream:\n")
        return shop.stile_apart("check", "endpoints", **ALLOWED)

    return make


def _not_allowed(shop: Workshop) -> str:
    shop.write("/staff_tools.py", TOOLS)
    shop.change("config.yaml", "upstream:\n", f"{CODE}upstream:\n")
    return shop.stile_apart("check", "endpoints", STILE_CODE_MODULES="")


def _query(text: str) -> Callable[[Workshop], str]:
    return lambda shop: _call(shop, "staff-query", f"query={text}")


WITH_COMMANDS = (
    Mistake(
        number=25,
        title="a stage without its file",
        make=_typed("check", "endpoints", "--stage", "prod"),
        place=r"corp/staff/config\.prod\.yaml",
        cause="does not exist",
        remedy=r"create it, or leave out --stage",
    ),
    Mistake(
        number=41,
        title="arguments that do not fit the tool",
        make=lambda shop: _call(shop, "my_pay", "year=twenty", "yeer=1", "--as", _claims(shop)),
        place="/year: ",
        cause='got string "twenty"',
        remedy="expected integer(?s:.*)did you mean year",
    ),
    Mistake(
        number=42,
        title="a misspelt tool",
        make=lambda shop: _call(shop, "my_payy", "year=2025"),
        place='"my_payy"',
        cause='There is no tool "my_payy"',
        remedy=r"There are: .*\bmy_pay\b",
    ),
    Mistake(
        number=43,
        title="a file of claims that is not JSON",
        make=_claims_without_json,
        place=r"claims\.json",
        cause=r"not (valid )?JSON|invalid JSON|not a JSON",
        remedy=r"expected .*(JSON|claims)",
    ),
    Mistake(
        number=44,
        title="an option that the command does not have, between the tool and its arguments",
        make=_option_between,
        place="usage: stile call",
        cause="unrecognized arguments: --colour",
        remedy=r"stile call (-h|--help)|\[--as",
    ),
    Mistake(
        number=45,
        title="a port that is taken",
        make=_port_taken,
        place=r"127\.0\.0\.1",
        cause="Port PORT on 127.0.0.1 is in use",
        remedy="--port",
    ),
    Mistake(
        number=46,
        title="publishing to S3 without a region",
        make=_publish_without_region,
        place="AWS_REGION",
        cause="AWS_REGION=''|AWS_REGION is not set|no region",
        remedy=r"expected the region .*~/\.aws/config",
    ),
    Mistake(
        number=47,
        title="publishing to a bucket without s3://",
        make=_typed("publish", "endpoints", "staff-bundles/main"),
        place="staff-bundles/main",
        cause="not a folder|no such folder|does not exist|neither",
        remedy="s3://staff-bundles/main",
    ),
    Mistake(
        number=48,
        title="publishing an endpoint whose API is on this machine",
        make=_publish_loopback,
        place=r"corp/staff: upstream\.url http://127\.0\.0\.1:9300/graphql",
        cause="its address is loopback",
        remedy="expected the https URL",
    ),
    Mistake(
        number=49,
        title="a module that the environment does not allow",
        make=_not_allowed,
        place=Token("config.yaml", '"staff_tools:mcp"'),
        cause="STILE_CODE_MODULES",
        remedy="set STILE_CODE_MODULES=staff_tools",
    ),
    Mistake(
        number=50,
        title="a file for FastMCP as it is",
        make=with_tools(FASTMCP),
        place=Token("/staff_tools.py", "from fastmcp"),
        cause="No module named 'fastmcp'",
        remedy=r"from stile import Toolkit.*docs/from-fastmcp\.md",
    ),
    Mistake(
        number=51,
        title="an attribute that the module does not have",
        make=with_tools(TOOLS, code='code: ["staff_tools:kit"]\n'),
        place=Token("config.yaml", '"staff_tools:kit"'),
        cause="staff_tools has no kit",
        remedy=r"did you mean (staff_tools:)?mcp\?",
    ),
    Mistake(
        number=52,
        title="a stile.py of one's own beside the tools",
        make=with_tools(TOOLS, stile="OWN = True\n"),
        place=r"stile\.py",
        cause=r"stile\.py has the name of a package of Stile",
        remedy=r"rename .*stile\.py",
    ),
    Mistake(
        number=54,
        title="a request for a field that does not exist",
        make=_query("{ employee(id: 1) { fulName } }"),
        place=r"\b1:\d+: ",
        cause="Cannot query field 'fulName' on type 'Employee'",
        remedy=r"Did you mean fullName\?",
    ),
    Mistake(
        number=55,
        title="a request that is nested too deeply",
        make=_query("{ me { manager { manager { manager { fullName } } } } }"),
        place=r'"fullName"|\b1:\d+: ',
        cause=r"more than 4 levels of fields \(max_depth\)",
        remedy="ask for less|expected",
    ),
)


def _claims(shop: Workshop) -> str:
    shop.write("/claims.json", '{"employee_id": "e5"}\n')
    return "claims.json"
