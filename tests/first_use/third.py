"""Mistakes of the third look at first use that the other lists do not have. None of their messages has a fault."""

from __future__ import annotations

from tests.first_use.in_files import Make
from tests.first_use.judging import Mistake, Token
from tests.first_use.second.on_command_lines import without_usage
from tests.first_use.second.with_apis import API
from tests.first_use.serving import serving
from tests.first_use.workshop import ENDPOINT, Workshop
from tests.support.api import Reply, running_api

URL = "https://api.corp.example/graphql"
STAGES = r"config\.STAGE\.yaml"
EXPIRED = Reply({"data": None, "errors": [{"message": "jwt expired"}]})
NO_LIST = Reply({"data": {"announcements": None}, "errors": [{"message": "Signature has expired"}]})


def _checked(name: str, old: str, new: str) -> Make:
    def make(shop: Workshop) -> str:
        shop.change(name, old, new)
        return shop.stile("check", "endpoints")

    return make


def _typed(*words: str) -> Make:
    return lambda shop: without_usage(shop.stile(*words))


def _called(reply: Reply, *, auth: str = "") -> Make:
    def make(shop: Workshop) -> str:
        with running_api(lambda _: reply) as api:
            shop.ask(f"{api.url}\n  auth: {auth}" if auth else api.url)
            shop.write(".env", "STILE_SECRET_TOKEN=abc.def.ghi\n")
            return shop.stile("call", "endpoints", "news")

    return make


def _linked_env(shop: Workshop) -> str:
    shop.ask(f"{URL}\n  auth: {{bearer: secret:TOKEN}}")
    shop.write("/secrets.env", "STILE_SECRET_TOKEN: abc\n")
    (shop.endpoint / ".env").symlink_to(shop.folder / "secrets.env")
    return shop.stile("call", "endpoints", "news")


def _served_stage(shop: Workshop) -> str:
    with serving(shop, "dev", "endpoints", "--stage", "prdo", environ={}) as server:
        pass  # its lines are there at its end
    return "\n".join(server.lines)


def _expired_token(shop: Workshop) -> str:
    return shop.stile_apart("token", "endpoints", "exp=1700000000", STILE_SECRET_CORP="k" * 32)


THIRD = (
    Mistake(
        number=1,
        title="a variable of the shell without braces as the URL of the API",
        make=_checked("config.yaml", URL, "$API_URL"),
        place=Token("config.yaml", "$API_URL"),
        cause="no variable is replaced",
        remedy=STAGES,
    ),
    Mistake(
        number=2,
        title="a variable of the shell as the host of the API",
        make=_checked("config.yaml", URL, "https://$API_HOST/graphql"),
        place=Token("config.yaml", "https://$API_HOST"),
        cause="no variable is replaced",
        remedy=STAGES,
    ),
    Mistake(
        number=3,
        title="a variable of a template as the URL of the API",
        make=_checked("config.yaml", URL, '"{{ api_url }}"'),
        place=Token("config.yaml", '"{{ api_url }}"'),
        cause="no variable is replaced",
        remedy=STAGES,
    ),
    Mistake(
        number=4,
        title="a reference to a secret as the URL of the API",
        make=_checked("config.yaml", URL, "env:API_URL"),
        place=Token("config.yaml", "env:API_URL"),
        cause="no variable is replaced",
        remedy=STAGES,
    ),
    Mistake(
        number=5,
        title="backslashes in the path of a schema",
        make=_checked("index.graphql", '"schema.graphql"', '"sdl\\\\schema.graphql"'),
        place=Token("index.graphql", '"sdl\\\\schema.graphql"'),
        cause="has / between its parts",
        remedy=r"sdl/schema\.graphql",
    ),
    Mistake(
        number=6,
        title="backslashes in the path of a folder",
        make=_typed("check", "endpoints\\corp"),
        place=r"argument FOLDER: endpoints\\corp",
        cause="there is no such folder",
        remedy="did you mean endpoints/corp[?]",
    ),
    Mistake(
        number=7,
        title="bundles in a folder that may not be written to",
        make=_typed("publish", "endpoints", "/proc/corp", "--create"),
        place=r"/proc/corp",
        cause="cannot be made",
        remedy="name a folder that you can write to",
    ),
    Mistake(
        number=8,
        title="an argument of the tool behind one dash",
        make=_typed("call", "endpoints", "card", "-id", "1"),
        place=r"stile call: error: .*-id",
        cause="written without dashes",
        remedy="id=VALUE",
    ),
    Mistake(
        number=9,
        title="an expired token for an API that says so in GraphQL",
        make=_called(EXPIRED, auth="{bearer: secret:TOKEN}"),
        place=API,
        cause=r"jwt expired.*secret:TOKEN, which the API refuses",
        remedy="renew or correct it",
    ),
    Mistake(
        number=10,
        title="no token for an API that then gives no list",
        make=_called(NO_LIST),
        place=API,
        cause="Signature has expired.*no credential was sent",
        remedy=r"upstream\.auth",
    ),
    Mistake(
        number=11,
        title="a link to a file of secrets outside the folder",
        make=_linked_env,
        place=r"upstream\.auth: STILE_SECRET_TOKEN",
        cause=rf"{ENDPOINT}/\.env, which is a link to .*outside the endpoint folder",
        remedy="set it in the environment",
    ),
    Mistake(
        number=12,
        title="the last mark of a merge",
        make=_checked("config.yaml", "limits:\n", ">>>>>>> main\nlimits:\n"),
        place=Token("config.yaml", ">>>>>>> main"),
        cause="merge was not resolved",
        remedy="remove the marks",
    ),
    Mistake(
        number=13,
        title="the expiry of a test token as a claim",
        make=_expired_token,
        place="exp",
        cause="sets exp itself",
        remedy="--for",
    ),
    Mistake(
        number=14,
        title="a stage without its file in dev",
        make=_served_stage,
        place=rf"{ENDPOINT}/config\.prdo\.yaml:1:1",
        cause=r'stage "prdo" does not exist',
        remedy="leave out --stage",
    ),
    Mistake(
        number=15,
        title="a key of a rule in the list below it",
        make=_checked("config.yaml", "          fields: [salary]", "      fields: [salary]"),
        place=Token("config.yaml", "fields: [salary]"),
        cause=r'unknown key "access\.policies\[1\]\.fields"',
        remedy=r"rules\[\]\.fields",
    ),
)  # fmt: skip
