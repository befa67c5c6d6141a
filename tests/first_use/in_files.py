"""Mistakes in the files of an endpoint, as `stile check` tells them."""

from __future__ import annotations

from collections.abc import Callable

from tests.first_use.judging import Mistake, Token
from tests.first_use.workshop import ENDPOINT, NEWS, Workshop

Make = Callable[[Workshop], str]


def edit(name: str, old: str, new: str) -> Make:
    def make(shop: Workshop) -> str:
        shop.change(name, old, new)
        return shop.stile("check", "endpoints")

    return make


def _duplicate_tool(shop: Workshop) -> str:
    shop.write("operations/old_news.graphql", NEWS.replace("query News", "query OldNews"))
    return shop.stile("check", "endpoints")


def _removed_field(shop: Workshop) -> str:
    shop.change("schema.graphql", "  fullName: String!\n", "")
    return shop.stile("check", "endpoints")


def _unquoted(shop: Workshop) -> str:
    shop.change("config.yaml", '        condition: "?$jwt"\n    - type', "        {condition: ?$jwt}\n    - type")
    return shop.stile("check", "endpoints")


def _unnamed_operation(shop: Workshop) -> str:
    shop.write("operations/unnamed.graphql", "{ announcements { headline } }\n")
    return shop.stile("check", "endpoints")


def _other_name(shop: Workshop) -> str:
    shop.rename("config.yaml", "config.yml")
    return shop.stile("check", "endpoints")


def _wrong_folder(shop: Workshop) -> str:
    shop.rename("/endpoints/corp/staff", "/endpoints/corp/H R")
    return shop.stile("check", "endpoints")


def _introspection(shop: Workshop) -> str:
    shop.write("schema.graphql", '{"__schema": {"queryType": {"name": "Query"}, "types": []}}\n')
    return shop.stile("check", "endpoints")


def _without_url(shop: Workshop) -> str:
    shop.change("config.yaml", "upstream:\n  url: https://api.corp.example/graphql\n", "")
    return shop.stile("check", "endpoints")


IN_FILES = (
    Mistake(
        number=1,
        title="a misspelt directive, @tol",
        make=edit("index.graphql", '@tool(name: "card"', '@tol(name: "card"'),
        place=Token("index.graphql", "@tol("),
        cause=r"@tol\b",
        remedy=r"did you mean @tool\?",
    ),
    Mistake(
        number=2,
        title="a misspelt argument of @tool",
        make=edit("index.graphql", 'title: "Questions', 'titel: "Questions'),
        place=Token("index.graphql", "titel:"),
        cause=r'@tool has no argument "titel"',
        remedy=r"did you mean title\?",
    ),
    Mistake(
        number=3,
        title="a misspelt member of limits in @tool",
        make=edit("index.graphql", 'title: "Questions', 'limits: {max_depht: 3}, title: "Questions'),
        place=Token("index.graphql", "max_depht"),
        cause="max_depht",
        remedy=r"[Dd]id you mean '?max_depth\b",
    ),
    Mistake(
        number=4,
        title="a pattern with a parenthesis that is never closed",
        make=edit("index.graphql", "me|employee|announcements", "me|(employee|manager|offices|holidays|news"),
        place=(Token("index.graphql", '"me|(employee'), Token("index.graphql", "{expose: true")),
        cause=r'me\|\(employee\|manager\|offices\|holidays\|news"',
        remedy=r"missing \)|add \)|write \\\(",
    ),
    Mistake(
        number=5,
        title="patterns that expose no field of a root type",
        make=edit("index.graphql", "me|employee|announcements", "mee|emploee"),
        place=(Token("index.graphql", '"mee|emploee"'), Token("index.graphql", "{expose: true")),
        cause=r"\bmee\b|\bemploee\b",
        remedy=r"did you mean (me|employee)\b",
    ),
    Mistake(
        number=6,
        title="one alternative of a pattern that exposes is misspelt",
        make=edit("index.graphql", "me|employee|announcements", "me|employee|anouncements"),
        place=(Token("index.graphql", '"me|employee|anouncements"'), Token("index.graphql", "{expose: true")),
        cause=r"\banouncements\b",
        remedy=r"did you mean announcements\b",
    ),
    Mistake(
        number=7,
        title="one alternative of a pattern that hides is misspelt",
        make=edit("index.graphql", "salary|payslips", "salery|payslips"),
        place=(Token("index.graphql", '"salery|payslips"'), Token("index.graphql", "{expose: false")),
        cause=r"\bsalery\b",
        remedy=r"did you mean salary\b",
    ),
    Mistake(
        number=8,
        title="the type of a pattern that hides is misspelt",
        make=edit("index.graphql", '"Employee", fields', '"Employe", fields'),
        place=(Token("index.graphql", '"Employe"'), Token("index.graphql", "{expose: false")),
        cause=r"\bEmploye\b",
        remedy=r"did you mean Employee\b",
    ),
    Mistake(
        number=9,
        title="a misspelt coordinate in access.hide",
        make=edit("config.yaml", "  anonymous: challenge", "  anonymous: challenge\n  hide: [Employee.salery]"),
        place=Token("config.yaml", "Employee.salery"),
        cause=r'"salery"',
        remedy=r"did you mean salary\?",
    ),
    Mistake(
        number=10,
        title="@sdl(files:) names a file that does not exist",
        make=edit("index.graphql", '"schema.graphql"', '"shcema.graphql"'),
        place=Token("index.graphql", '"shcema.graphql"'),
        cause=r'"shcema.graphql" does not exist',
        remedy=r"did you mean schema\.graphql\?",
    ),
    Mistake(
        number=11,
        title="a tab in YAML",
        make=edit("config.yaml", "  url: https", "\turl: https"),
        place=Token("config.yaml", "\turl"),
        cause=r"\btab\b",
        remedy=r"indent with spaces",
    ),
    Mistake(
        number=12,
        title="a condition without quotes",
        make=_unquoted,
        place=Token("config.yaml", "?$jwt}"),
        cause=r"\?\$jwt",
        remedy=r'needs quotes, as in "\?\$jwt"',
    ),
    Mistake(
        number=13,
        title="a misspelt section of config.yaml",
        make=edit("config.yaml", "upstream:", "upsteam:"),
        place=Token("config.yaml", "upsteam"),
        cause='unknown key "upsteam"',
        remedy=r"did you mean upstream\?",
    ),
    Mistake(
        number=14,
        title="a misspelt key of upstream",
        make=edit("config.yaml", "/graphql\n", "/graphql\n  timeout: 5\n"),
        place=Token("config.yaml", "timeout: 5"),
        cause='unknown key "upstream.timeout"',
        remedy=r"did you mean timeout_s\?",
    ),
    Mistake(
        number=15,
        title="the schema lost a field that an operation asks for",
        make=_removed_field,
        place=Token("operations/employee_card.graphql", "fullName manager"),
        cause="Cannot query field 'fullName' on type 'Employee'",
        remedy="'Employee' has id, salary, manager",
    ),
    Mistake(
        number=16,
        title="two tools of one name",
        make=_duplicate_tool,
        place=Token("operations/old_news.graphql", '"news", title'),
        cause='"news"',
        remedy=r"also defined at operations/news\.graphql:2:27: rename",
    ),
    Mistake(
        number=17,
        title="prescribed: names an operation that does not exist",
        make=edit("index.graphql", '"EmployeeCard"', '"EmployeCard"'),
        place=Token("index.graphql", '"EmployeCard"'),
        cause=r'"EmployeCard"',
        remedy=r"did you mean EmployeeCard\?",
    ),
    Mistake(
        number=18,
        title="a claim in a condition without its type",
        make=edit("config.yaml", "$jwt.roles:String has", "$jwt.roles has"),
        place=Token("config.yaml", '$jwt.roles has'),
        cause=r'"\$jwt\.roles" has no type',
        remedy=":Int, :Float, :Boolean or :String",
    ),
    Mistake(
        number=19,
        title="an operator that conditions do not have",
        make=edit("config.yaml", 'String has "manager"', 'String contains "manager"'),
        place=Token("config.yaml", 'contains "manager"'),
        cause='"contains"',
        remedy=r"expected one of .*\bhas\b",
    ),
    Mistake(
        number=20,
        title="a policy on a type that does not exist",
        make=edit("config.yaml", "type: Employee", "type: Employe"),
        place=Token("config.yaml", "Employe\n"),
        cause=r'"Employe"',
        remedy=r"did you mean Employee\?",
    ),
    Mistake(
        number=21,
        title="the URL of the API without its scheme",
        make=edit("config.yaml", "https://api.corp.example", "api.corp.example"),
        place=Token("config.yaml", "api.corp.example/graphql"),
        cause=r"such as https://",
        remedy=r"expected the http\(s\) URL",
    ),
    Mistake(
        number=22,
        title="the name of a tool with a space",
        make=edit("index.graphql", '"staff-query"', '"staff query!"'),
        place=Token("index.graphql", '"staff query!"'),
        cause="staff query!",
        remedy=r"expected 1 to 128 letters, digits, _, - or \.",
    ),
    Mistake(
        number=23,
        title="a constant of @mcpBind that does not fit its variable",
        make=edit("operations/my_pay.graphql", 'claim: "employee_id"', "value: {a: 1}"),
        place=Token("operations/my_pay.graphql", "{a: 1}"),
        cause=r"\{a: 1\}|\{ a: 1 \}",
        remedy=r"\$employee is ID!.*expected .*\bID\b",
    ),
    Mistake(
        number=24,
        title="an operation without a name",
        make=_unnamed_operation,
        place=f"{ENDPOINT}/operations/unnamed.graphql:1:1: ",
        cause="an operation without a name",
        remedy="name it",
    ),
    Mistake(
        number=26,
        title="the configuration is called config.yml",
        make=_other_name,
        place=r"config\.yml",
        cause=r"config\.yml.*(not read|ignored)",
        remedy=r"config\.yaml",
    ),
    Mistake(
        number=27,
        title="upstream.url is missing",
        make=_without_url,
        place=r"config\.yaml:1:1: ",
        cause=r"upstream\.url",
        remedy=r"expected|write|add",
    ),
    Mistake(
        number=28,
        title="an endpoint folder with a space in its name",
        make=_wrong_folder,
        place="endpoints/corp/H R",
        cause=r"corp/H R.* not an endpoint name",
        remedy=r"expected folder/name, each a letter and then letters, digits, _ or -",
    ),
    Mistake(
        number=29,
        title="the JSON of an introspection as the schema",
        make=_introspection,
        place=Token("schema.graphql", '{"__schema"'),
        cause="introspection",
        remedy=r"stile init .*--from",
    ),
    Mistake(
        number=40,
        title="a secret of 5 bytes for HS256",
        make=edit("config.yaml", "env:CORP", "abcde"),
        place=Token("config.yaml", "abcde"),
        cause="less than 32 bytes",
        remedy="expected env:NAME, for 32 random bytes or more",
    ),
)  # fmt: skip
