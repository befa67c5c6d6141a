"""Mistakes that show when a command asks an API on loopback."""

from __future__ import annotations

from collections.abc import Callable

from tests.first_use.in_files import Make
from tests.first_use.judging import Mistake
from tests.first_use.second.on_command_lines import without_usage
from tests.first_use.workshop import ENDPOINT, Workshop
from tests.support.api import Asked, Reply, running_api
from tests.support.authority import Authority
from tests.support.raw_http import answer, answering, running_server

API = r"http://127\.0\.0\.1:\d+/graphql"
UNAUTHORIZED = Reply({"errors": [{"message": "Unauthorized", "extensions": {"code": "UNAUTHENTICATED"}}]})
SLASH = Reply(
    b"RuntimeError at /graphql\nYou called this URL via POST, but the URL doesn't end in a slash and you have "
    b"APPEND_SLASH set. Django can't redirect to the slash URL while maintaining POST data.\n",
    500,
    {"content-type": "text/plain; charset=utf-8"},
)
PEM = "-----BEGIN KEY-----\nMIIBOgIBAAJBAKj34GkxFhD90vcNLYLIn\n-----END KEY-----"


def _called(reply: Callable[[Asked], Reply], *, auth: str = "", env: str = "") -> Make:
    def make(shop: Workshop) -> str:
        with running_api(reply) as api:
            shop.ask(f"{api.url}\n  auth: {auth}" if auth else api.url)
            shop.write(".env", env)
            return shop.stile("call", "endpoints", "news")

    return make


def _read_without_slash(shop: Workshop) -> str:
    missing = Reply({"detail": "Not Found"}, 404)
    with running_api(lambda asked: SLASH if asked.path == "/staff/graphql" else missing) as api:
        url = api.url.replace("/graphql", "/staff/graphql")
        printed = shop.stile("init", "corp/pay", "--from", url, "--access", "keys")
        return printed.replace(api.url.removesuffix("/graphql"), "ORIGIN")


def _tls_to_plain(shop: Workshop) -> str:
    with running_api() as api:
        shop.ask(api.url.replace("http:", "https:"))
        return shop.stile("call", "endpoints", "news")


def _plain_to_tls(shop: Workshop) -> str:
    with running_server(answering(answer(b"{}")), tls=Authority(shop.folder).server_context) as api:
        shop.ask(f"http://127.0.0.1:{api.port}/graphql")
        return shop.stile("call", "endpoints", "news")


WITH_APIS = (
    Mistake(
        number=44,
        title="the URL of Django's API without its last slash",
        make=_read_without_slash,
        place=r"ORIGIN/staff/graphql",
        cause=r"end in a slash|(last|trailing|final) slash",
        remedy=r"ORIGIN/staff/graphql/|(add|with) (a|the|its) (trailing |final |last )?slash",
    ),
    Mistake(
        number=45,
        title="the URL of the API where pull takes a folder",
        make=lambda shop: without_usage(shop.stile("pull", "https://api.corp.example/graphql")),
        place=r"argument FOLDER\b|https://api\.corp\.example/graphql",
        cause=r"there is no such folder|is (a|the) URL",
        remedy=r"--from https://api\.corp\.example/graphql|--from URL",
    ),
    Mistake(
        number=46,
        title="https for an API without TLS",
        make=_tls_to_plain,
        place=r"https://127\.0\.0\.1:\d+/graphql",
        cause=r"(speaks|is|answers?( in)?) (plain )?HTTP\b|without TLS|no TLS|not (speak )?TLS",
        remedy=r"http://",
    ),
    Mistake(
        number=47,
        title="http for an API with TLS",
        make=_plain_to_tls,
        place=API,
        cause=r"\bTLS\b|\bHTTPS\b",
        remedy=r"https://",
    ),
    Mistake(
        number=48,
        title="no credential for an API that says so in GraphQL",
        make=_called(lambda _: UNAUTHORIZED),
        place=API,
        cause=r"Unauthorized|UNAUTHENTICATED",
        remedy=r"upstream\.auth",
    ),
    Mistake(
        number=49,
        title="the scheme of a token in the secret, too",
        make=_called(
            lambda _: Reply({"message": "invalid token"}, 401),
            auth="{bearer: secret:TOKEN}",
            env="STILE_SECRET_TOKEN=Bearer abc.def.ghi\n",
        ),
        place=r"upstream\.auth|secret:TOKEN|STILE_SECRET_TOKEN",
        cause=r"begins with .?Bearer|Bearer Bearer|Bearer twice",
        remedy=r"without .?Bearer|leave .?Bearer|remove .?Bearer",
    ),
    Mistake(
        number=50,
        title="a secret of several lines in .env",
        make=_called(
            lambda _: Reply({"data": {"announcements": []}}),
            auth="{bearer: secret:TOKEN}",
            env=f'STILE_SECRET_TOKEN="{PEM}"\n',
        ),
        place=rf"{ENDPOINT}/\.env:1\b",
        cause=r"several lines|one line|never closed|not closed|does not end|lacks its (closing )?quote",
        remedy=r"one line|\\n|environment",
    ),
    Mistake(
        number=51,
        title="the whole name of the variable in a reference to a secret",
        make=_called(lambda _: Reply(), auth='{bearer: "secret:STILE_SECRET_TOKEN"}', env="STILE_SECRET_TOKEN=abc\n"),
        place=r"upstream\.auth",
        cause=r"secret:STILE_SECRET_TOKEN|STILE_SECRET_STILE_SECRET_TOKEN",
        remedy=r"secret:TOKEN\b",
    ),
    Mistake(
        number=52,
        title="a colon in .env",
        make=_called(lambda _: Reply(), auth="{bearer: secret:TOKEN}", env="STILE_SECRET_TOKEN: abc\n"),
        place=rf"{ENDPOINT}/\.env:1\b",
        cause=r"STILE_SECRET_TOKEN: |colon|no =|lacks =|without (a |an )?=",
        remedy=r"NAME=|STILE_SECRET_TOKEN=|expected =",
    ),
)  # fmt: skip
