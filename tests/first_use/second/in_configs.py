"""Mistakes in config.yaml and its neighbours, as `stile check` tells them."""

from __future__ import annotations

from tests.first_use.in_files import Make, edit
from tests.first_use.judging import Mistake, Token
from tests.first_use.workshop import Workshop

AUTH = "/graphql\n  auth: {value}\n"
RULE = "'$jwt.roles:String has \"manager\"'"
DEFAULT = '      policyDefault:\n        condition: "?$jwt"\n    - type'
POLICIES = '    - type: Query\n      policyDefault:\n        condition: "?$jwt"\n    - type: Employee'
API_KEYS = "identity:\n  api_keys: {keys}\n"


def _auth(value: str) -> Make:
    return edit("config.yaml", "/graphql\n", AUTH.format(value=value))


def _api_keys(keys: str) -> Make:
    return edit("config.yaml", "identity:\n", API_KEYS.format(keys=keys))


def _by_name(shop: Workshop) -> str:
    named = POLICIES.replace("    - type: Query", "    Query:").replace("    - type: Employee", "    Employee:")
    shop.change("config.yaml", POLICIES, named)
    return shop.stile("check", "endpoints")


def _discovery(shop: Workshop) -> str:
    shop.change("config.yaml", "  keys:\n    - algorithm: HS256\n      key: env:CORP\n", "  jwksendpoint: DISCOVERY\n")
    shop.change("config.yaml", "DISCOVERY", "https://id.corp.example/.well-known/openid-configuration")
    return shop.stile("check", "endpoints")


def _staged(shop: Workshop) -> str:
    shop.write("config-prod.yaml", "limits:\n  max_depth: 3\n")
    return shop.stile("check", "endpoints", "--stage", "prod")


IN_CONFIGS = (
    Mistake(
        number=1,
        title="the marks of a merge that was not resolved in config.yaml",
        make=edit("config.yaml", "upstream:\n", "<<<<<<< HEAD\nupstream:\n"),
        place=Token("config.yaml", "<<<<<<<"),
        cause=r"<<<<<<<|\bmerge\b|conflict",
        remedy=r"[Rr]esolve|remove|keep one",
    ),
    Mistake(
        number=2,
        title="an environment variable of the shell as the URL of the API",
        make=edit("config.yaml", "https://api.corp.example/graphql", '"${API_URL}"'),
        place=Token("config.yaml", '"${API_URL}"'),
        cause=r"\$\{API_URL\}|variables? of the environment|environment variables?",
        remedy=r"config\.\w+\.yaml|--stage|\bstage\b",
    ),
    Mistake(
        number=3,
        title="the scheme of a token before a reference to a secret",
        make=_auth('{header: authorization, value: "Bearer secret:TOKEN"}'),
        place=Token("config.yaml", '"Bearer secret:TOKEN"'),
        cause=r"Bearer secret:TOKEN|secret:TOKEN (stands|is) (inside|within|part)|begins with Bearer",
        remedy=r"bearer: secret:TOKEN",
    ),
    Mistake(
        number=4,
        title="an environment variable of the shell as the token of the API",
        make=_auth('{bearer: "${TOKEN}"}'),
        place=Token("config.yaml", '"${TOKEN}"'),
        cause=r"\$\{TOKEN\}|environment variables? (is|are) not",
        remedy=r"(secret|env):TOKEN",
    ),
    Mistake(
        number=5,
        title="policies beside access",
        make=edit("config.yaml", "  policies:\n", "policies:\n"),
        place=Token("config.yaml", "policies:\n"),
        cause='unknown key "policies"',
        remedy=r"access\.policies|(below|under|in|to|into|of) `?access\b",
    ),
    Mistake(
        number=6,
        title="policies by the names of their types",
        make=_by_name,
        place=Token("config.yaml", "Query:"),
        cause=r"expected a list|names? of types? as keys?|Query.* is (a|the name of a) type",
        remedy=r"- type: Query|\{type: Query|type: Query",
    ),
    Mistake(
        number=7,
        title="a credential in the words of another server, type and token",
        make=_auth("{type: bearer, token: secret:TOKEN}"),
        place=(Token("config.yaml", "{type: bearer"), Token("config.yaml", "type: bearer")),
        cause=r"upstream\.auth",
        remedy=r"bearer: secret:TOKEN",
    ),
    Mistake(
        number=8,
        title="rules one level too far left",
        make=edit("config.yaml", "      rules:\n", "    rules:\n"),
        place=Token("config.yaml", "rules:"),
        cause=r"[Ii]ndent|level|column",
        remedy=r"[Ii]ndent (it|this|rules)|[Mm]ove|put it|as far as|[Aa]lign",
    ),
    Mistake(
        number=9,
        title="a claim whose name is a URL, without quotes",
        make=edit("config.yaml", RULE, "'$jwt.https://corp.example/roles:String has \"hr\"'"),
        place=(Token("config.yaml", "$jwt.https:"), Token("config.yaml", "//corp.example/roles")),
        cause=r"https://corp\.example/roles|quotes",
        remedy=r'\$jwt\."https://',
    ),
    Mistake(
        number=10,
        title="the discovery document of an issuer as its key set",
        make=_discovery,
        place=Token("config.yaml", "https://id.corp.example/.well-known/openid-configuration"),
        cause=r"openid-configuration|discovery",
        remedy=r"jwks_uri",
    ),
    Mistake(
        number=11,
        title="an API key that has expired",
        make=_api_keys(f'[{{name: ci, sha256: "{"ab" * 32}", expires: 2024-01-31}}]'),
        place=Token("config.yaml", "2024-01-31"),
        cause=r"expired|is in the past|is over",
        remedy=r"stile key\b|remove|later date|new (date|key)",
    ),
    Mistake(
        number=12,
        title="anonymous: true",
        make=edit("config.yaml", "challenge", "true"),
        place=Token("config.yaml", "true"),
        cause=r"\"access\.anonymous\".*'true'",
        remedy=r"expected allow or challenge",
    ),
    Mistake(
        number=13,
        title="the file of a stage under another name",
        make=_staged,
        place=r"config-prod\.yaml",
        cause=r"config-prod\.yaml.*(not read|ignored)|stage \"prod\" does not exist",
        remedy=r"[Rr]ename config-prod\.yaml|config-prod\.yaml .*config\.prod\.yaml",
    ),
)  # fmt: skip
