"""Mistakes in schemas, operations and index.graphql, and where their files stand, as `stile check` tells them."""

from __future__ import annotations

from tests.first_use.in_files import Make, edit
from tests.first_use.judging import Mistake, Token
from tests.first_use.workshop import ENDPOINT, NEWS, Workshop

TEMPLATE = 'import { gql } from "@apollo/client";\n\nexport const ME = gql`\n  query Me { me { id } }\n`;\n'
ME = 'query Me @mcpTool(name: "me", title: "Me") { me { id } }\n'
PATTERNS = '"me|employee|announcements"'
VISIBLE = """graphql: [
      {expose: true, types: "Query", fields: "me|employee|announcements"}
      {expose: false, types: "Employee", fields: "salary|payslips"}
    ]"""


def _operation(text: str, *, file: str = "operations/me.graphql") -> Make:
    def make(shop: Workshop) -> str:
        shop.write(file, text)
        return shop.stile("check", "endpoints")

    return make


def _linked(target: str) -> Make:
    def make(shop: Workshop) -> str:
        shop.write("/shared/me.graphql", ME)
        (shop.endpoint / "operations/me.graphql").symlink_to(target)
        return shop.stile("check", "endpoints")

    return make


def _renamed(old: str, new: str) -> Make:
    def make(shop: Workshop) -> str:
        shop.rename(old, new)
        return shop.stile("check", "endpoints")

    return make


def _downloaded_page(shop: Workshop) -> str:
    shop.write("schema.graphql", "<!DOCTYPE html>\n<html><title>Sign in</title></html>\n")
    return shop.stile("check", "endpoints")


IN_DOCUMENTS = (
    Mistake(
        number=14,
        title="a link to an operation that is gone",
        make=_linked("gone.graphql"),
        place=f"{ENDPOINT}/operations/me.graphql:1:1: ",
        cause=r"\blink",
        remedy=r"gone\.graphql|remove (it|the link)|repair",
    ),
    Mistake(
        number=15,
        title="confirm: true",
        make=edit("operations/news.graphql", 'title: "News"', 'title: "News", confirm: true'),
        place=Token("operations/news.graphql", "true"),
        cause=r"\bconfirm\b.*\btrue\b",
        remedy=r"\brequired\b.*\badvisory\b|\badvisory\b.*\brequired\b",
    ),
    Mistake(
        number=16,
        title="a JavaScript file with gql as an operation",
        make=_operation(TEMPLATE),
        place=f"{ENDPOINT}/operations/me.graphql:1:1: ",
        cause=r"JavaScript|TypeScript|import",
        remedy=r"GraphQL alone|only (the )?GraphQL|text (between|inside) (the )?`|backticks",
    ),
    Mistake(
        number=17,
        title="quotes of a word processor",
        make=_operation(ME.replace('"Me"', "\N{LEFT DOUBLE QUOTATION MARK}Me\N{RIGHT DOUBLE QUOTATION MARK}")),
        place=Token("operations/me.graphql", "\N{LEFT DOUBLE QUOTATION MARK}Me"),
        cause="\N{LEFT DOUBLE QUOTATION MARK}|quotation mark|curly|typographic",
        remedy=r'write "|straight|double quote|expected "|did you mean "',
    ),
    Mistake(
        number=18,
        title="a variable of a condition as the name of a claim",
        make=edit("operations/my_pay.graphql", '"employee_id"', '"$jwt.employee_id"'),
        place=Token("operations/my_pay.graphql", '"$jwt.employee_id"'),
        cause=r"\$jwt\.employee_id",
        remedy=r"(write|mean|expected) (claim: )?\"?employee_id\b",
    ),
    Mistake(
        number=19,
        title="an operation beside the folder operations",
        make=_operation(ME, file="me.graphql"),
        place=rf"{ENDPOINT}/me\.graphql",
        cause=r"not read|ignored|is in no|belongs to no",
        remedy=r"operations/",
    ),
    Mistake(
        number=20,
        title="a folder queries in place of operations",
        make=_renamed("operations", "queries"),
        place=rf"{ENDPOINT}/queries\b",
        cause=r"queries.*(not read|ignored)",
        remedy=r"\boperations\b/?.*(call|rename|name)|(call|rename|name).*\boperations\b",
    ),
    Mistake(
        number=21,
        title="the API's own directive, which its schema does not declare",
        make=edit("schema.graphql", "salary: Int", "salary: Int @auth(requires: HR)"),
        place=Token("schema.graphql", "@auth"),
        cause=r"'@auth'|@auth\b",
        remedy=r"directive @auth|[Dd]eclare",
    ),
    Mistake(
        number=22,
        title="single quotes in an operation",
        make=_operation(ME.replace('"me"', "'me'")),
        place=Token("operations/me.graphql", "'me'"),
        cause="single quote",
        remedy=r'double quote \("\)',
    ),
    Mistake(
        number=23,
        title="a variable without its dollar sign",
        make=_operation(NEWS.replace("query News", "query OldNews(year: Int)").replace('"news"', '"old_news"')),
        place=Token("operations/me.graphql", "year"),
        cause=r"'year'",
        remedy=r"Expected '\$'|\$year",
    ),
)  # fmt: skip


def _uncalled(shop: Workshop) -> str:
    shop.write(
        "operations/plain.graphql",
        NEWS.replace('@mcpTool(name: "news", title: "News") ', "")
        .replace("News", "Plain", 1)
        .replace("query News", "query Plain"),
    )
    return shop.stile("call", "endpoints", "Plain")
