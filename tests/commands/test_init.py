from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from handler.commands.command_line import DISTRIBUTION
from handler.compiler.compile import compile_endpoint
from handler.compiler.source.files import SCHEMA_FILE
from tests.commands.apis import SHOP, running_shop
from tests.commands.running import Stile, interrupt, ran, started
from tests.conftest import ROOT
from tests.support.upstream import Upstream

URL = "https://api.example.com/graphql"


def write_shop(folder: Path) -> str:
    (folder / "shop.graphql").write_text(SHOP, encoding="utf-8")
    return "shop.graphql"


def tree(folder: Path) -> dict[str, str]:
    """Every file below a folder, hidden ones included."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8", errors="replace") for path in files}


def test_folder_of_an_api_is_checked_without_a_word(workplace: Path, stile: Stile) -> None:
    with running_shop() as api:
        made = stile("init", "shop/products", "--from", api.url, "--access", "open")
        checked = stile("check", "--strict", "shop")

    assert (made.code, made.err) == (0, "")
    assert (checked.code, checked.err) == (0, "")
    assert "warning" not in checked.out
    assert sorted(tree(workplace / "shop" / "products")) == [
        ".editor/config.schema.json",
        ".editor/directives.graphql",
        ".gitignore",
        "config.yaml",
        "graphql.config.yml",
        "index.graphql",
        "operations/get_product.graphql",
        "operations/list_orders.graphql",
        "operations/list_products.graphql",
        "schema.graphql",
    ]
    first = (workplace / "shop" / "products" / SCHEMA_FILE).read_text(encoding="utf-8").splitlines()[0]
    assert first == f"# From {api.url}"
    assert yaml.safe_load((workplace / "shop/products/config.yaml").read_text(encoding="utf-8")) == {
        "upstream": {"url": api.url},
        "access": {
            "anonymous": "allow",
            "policies": [
                {"type": "Query", "policyDefault": {"condition": True}},
                {"type": "Mutation", "policyDefault": {"condition": False}},
            ],
        },
    }


def test_folder_is_served_at_once(workplace: Path) -> None:
    with running_shop() as api:
        assert ran("init", "shop/products", "--from", api.url).code == 0
        process = started("dev", "shop", "--port", "0")
        assert process.stdout
        printed = ""
        for line in process.stdout:
            printed += line
            if line.startswith("Serving;"):
                break
        interrupt(process)
        process.communicate()

    assert "/shop/products/mcp: 3 tools: get_product, list_orders, list_products" in printed


def test_text_says_what_was_made_and_what_comes_next(workplace: Path, stile: Stile) -> None:
    made = stile("init", "shop/products", "--from", write_shop(workplace), "--url", URL)

    assert made.out.splitlines()[0] == "shop/products: 12 types of shop.graphql, access: keys"
    assert "  shop/products/operations/list_products.graphql" in made.out
    for step in ("stile dev shop/products", "stile call shop/products list_products", "stile key NAME"):
        assert f"  {step}\n" in made.out


def test_program_gets_one_document(workplace: Path, stile: Stile) -> None:
    made = stile("init", "shop/products", "--from", write_shop(workplace), "--url", URL, "--json")

    assert json.loads(made.out) == {
        "endpoint": "shop/products",
        "folder": "shop/products",
        "source": "shop.graphql",
        "url": URL,
        "access": "keys",
        "secret": None,
        "types": 12,
        "files": [
            "schema.graphql",
            "index.graphql",
            "config.yaml",
            ".gitignore",
            "operations/list_products.graphql",
            "operations/get_product.graphql",
            "operations/list_orders.graphql",
            ".editor/config.schema.json",
            ".editor/directives.graphql",
            "graphql.config.yml",
        ],
        "tools": ["list_products", "get_product", "list_orders"],
        "ignored": [],
    }


def test_own_definitions_extend_the_schema_from_beside_it(workplace: Path, stile: Stile) -> None:
    stile("init", "shop/products", "--from", write_shop(workplace), "--url", URL, "--access", "open")
    folder = workplace / "shop" / "products"
    index = folder / "index.graphql"
    index.write_text(index.read_text("utf-8") + "extend type Product { inStock: Boolean }\n", encoding="utf-8")
    (folder / "operations" / "stock.graphql").write_text("query Stock { product(id: 1) { inStock } }", encoding="utf-8")

    assert compile_endpoint(folder).warnings == ()


@pytest.mark.parametrize("access", ["open", "keys", "identity"])
def test_each_access_compiles_as_it_says(workplace: Path, stile: Stile, access: str) -> None:
    issuer = ["--issuer", "https://id.example.com", "--jwks", "https://id.example.com/keys", "--audience", "shop"]
    more = issuer if access == "identity" else []

    made = stile("init", "shop/products", "--from", write_shop(workplace), "--url", URL, "--access", access, *more)

    bundle = compile_endpoint(workplace / "shop" / "products").bundle
    assert made.code == 0
    assert bundle.access.anonymous == ("allow" if access == "open" else "challenge")
    assert [each.audiences for each in bundle.identity.issuers] == ([("shop",)] if access == "identity" else [])
    assert stile("check", "--strict", "shop").code == 0


def test_without_a_terminal_only_holders_of_keys_get_in(workplace: Path, stile: Stile) -> None:
    stile("init", "shop/products", "--from", write_shop(workplace), "--url", URL)

    assert compile_endpoint(workplace / "shop" / "products").bundle.access.anonymous == "challenge"


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ((), "--from is missing"),
        (("--from", "shop.graphql"), "--url names the API"),
        (("--from", "shop.graphql", "--url", "shop.graphql"), "expected the http(s) URL"),
        (("--from", "ftp://a.example"), "expected the http(s) URL"),
        (("--from", "https://:secret@a.example/graphql"), "are not sent"),
        (("--from", "https://a.example:99999/graphql"), "expected the http(s) URL"),
        (("--from", "."), "expected the http(s) URL"),
        (("--from", "shop.graphql", "--url", f"{URL}?key=secret"), "a query string is written nowhere"),
        (("--from", "shop.graphql", "--url", URL, "--access", "identity"), "needs --issuer, --jwks, --audience"),
        (("--from", "shop.graphql", "--url", URL, "--issuer", "a"), "only --access identity"),
        (("--from", URL, "--timeout", "0"), "expected seconds"),
        (("--from", URL, "--timeout", "soon"), "expected seconds"),
    ],
)
def test_options_that_do_not_say_it_all_are_a_wrong_use(
    workplace: Path, stile: Stile, words: tuple[str, ...], sentence: str
) -> None:
    write_shop(workplace)

    done = stile("init", "shop/products", *words)

    assert done.code == 2
    assert sentence in done.err
    assert "secret" not in done.err
    assert not (workplace / "shop").exists()


@pytest.mark.parametrize("name", ["shop/my products", "shop/1", "/products", "shop/.hidden", "shöp/a"])
def test_name_that_no_endpoint_has_is_refused(workplace: Path, stile: Stile, name: str) -> None:
    done = stile("init", name, "--from", write_shop(workplace), "--url", URL)

    assert done.code == 2
    assert "is not an endpoint name: expected folder/name" in done.err


def test_one_word_is_named_after_the_current_folder(workplace: Path, stile: Stile) -> None:
    done = stile("init", "products", "--from", write_shop(workplace), "--url", URL)

    assert done.out.startswith("workplace/products: ")


@pytest.mark.parametrize("there", ["file", "folder", "endpoint", "link"])
def test_nothing_is_overwritten(workplace: Path, stile: Stile, there: str) -> None:
    target = workplace / "shop" / "products"
    target.parent.mkdir()
    if there == "file":
        target.write_text("mine", encoding="utf-8")
    elif there == "link":
        target.symlink_to("nowhere")
    else:
        target.mkdir()
    if there == "endpoint":
        (target / "index.graphql").write_text("type Query { a: Int }", encoding="utf-8")
    before = tree(workplace)

    done = stile("init", "shop/products", "--from", URL)

    assert (done.code, done.out) == (1, "")
    remedy = "`stile pull` renews its schema" if there == "endpoint" else "Name a folder that is to be made"
    assert done.err == f"shop/products exists already: nothing was written. {remedy}\n"
    assert tree(workplace) == before


def test_endpoint_is_not_made_inside_another(workplace: Path, stile: Stile) -> None:
    source = write_shop(workplace)
    stile("init", "shop/products", "--from", source, "--url", URL)

    done = stile("init", "shop/products/inner", "--from", source, "--url", URL)

    assert done.code == 1
    assert "is an endpoint folder itself" in done.err


def test_folder_that_cannot_be_written_is_said(workplace: Path, stile: Stile) -> None:
    (workplace / "shop").write_text("a file", encoding="utf-8")

    done = stile("init", "shop/products", "--from", write_shop(workplace), "--url", URL)

    assert done.code == 1
    assert done.err.startswith("shop/products: ")


def test_settings_of_an_issuer_that_are_not_valid_are_those_of_the_configuration(workplace: Path, stile: Stile) -> None:
    given = ["--access", "identity", "--issuer", "x", "--jwks", "not a URL", "--audience", "a"]

    done = stile("init", "shop/products", "--from", write_shop(workplace), "--url", URL, *given)

    assert done.code == 1
    assert done.err.startswith("config.yaml: ")
    assert tree(workplace).keys() == {"shop.graphql"}


def test_on_a_terminal_it_asks(workplace: Path) -> None:
    source = write_shop(workplace)
    terminal, inner = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "handler", "init", "shop/products"],
        env={**os.environ, "PYTHONPATH": str(ROOT), "TERM": "dumb"},
        stdin=inner,
        stderr=inner,
        stdout=subprocess.PIPE,
        text=True,
    )
    os.close(inner)
    os.write(terminal, f"ftp://no.example\nnowhere.graphql\n{source}\n{URL}\neverybody\nopen\n".encode())
    out, _ = process.communicate(timeout=120)
    os.close(terminal)

    assert process.returncode == 0
    assert out.startswith("shop/products: 12 types of shop.graphql, access: open")


def test_demo_api_of_strawberry_answers_its_first_tools(workplace: Path, stile: Stile, upstream: Upstream) -> None:
    made = stile("init", "shop/customers", "--from", upstream.url, "--json")
    tools = json.loads(made.out)["tools"]
    listed = json.loads(stile("call", "shop", "list_customers", "first=1").out)

    assert tools == ["list_customers", "get_customer", "list_employees"]
    (edge,) = listed["data"]["customers"]["edges"]
    found = stile("call", "shop", "get_customer", f"email={edge['node']['email']}")
    assert edge["node"]["name"] in found.out
    assert "salary" not in "".join(tree(workplace / "shop" / "customers" / "operations").values())
    assert stile("check", "--strict", "shop").code == 0
    assert stile("pull", "shop").out.endswith("has not changed\n")


BY_UVX = {"UV": "/bin/uv"}


@pytest.mark.parametrize(
    ("program", "prefix", "environ", "name"),
    [
        (f"/cache/bin/{DISTRIBUTION}", "cache/a", BY_UVX, f"uvx --from {ROOT.as_uri()} {DISTRIBUTION}"),
        ("/cache/bin/stile", "cache/a", BY_UVX, f"uvx --from {ROOT.as_uri()} {DISTRIBUTION}"),
        ("/cache/bin/stile", "cache/a", BY_UVX | {"UV_RUN_RECURSION_DEPTH": "1"}, "stile"),
        ("/venv/bin/stile", "venv", BY_UVX, "stile"),  # of an agent that uvx started
        (f"/venv/bin/{DISTRIBUTION}", "venv", {}, DISTRIBUTION),
        ("/venv/bin/stile", "venv", {}, "stile"),
    ],
)
def test_proposed_commands_begin_as_the_one_that_ran(
    tmp_path: Path, program: str, prefix: str, environ: dict[str, str], name: str
) -> None:
    """The package of this environment comes from this folder, where `uvx` finds it again."""
    (tmp_path / "shop.graphql").write_text(SHOP, encoding="utf-8")
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / "CACHEDIR.TAG").touch()
    place = f"sys.argv[0], sys.prefix = {program!r}, {str(tmp_path / prefix)!r}"
    code = f"import sys; {place}; from handler.__main__ import main; sys.exit(main())"
    source = ("--from", "shop.graphql", "--url", "http://127.0.0.1:9/graphql", "--access", "open")
    variables = {each: value for each, value in os.environ.items() if not each.startswith("UV")}

    def ran(*words: str) -> str:
        done = subprocess.run(
            [sys.executable, "-c", code, *words],
            cwd=tmp_path,
            env=variables | {"PYTHONPATH": str(ROOT)} | environ,
            capture_output=True,
            text=True,
            check=False,
        )
        return done.stdout + done.stderr

    made, checked, wrong, shown = (
        ran("init", "shop/products", *source),
        ran("check", "shop"),
        ran("chek"),
        ran("--help"),
    )

    assert f"\n\nNext:\n  {name} dev shop/products\n" in made
    assert f"\n`{name} publish` will refuse upstream.url" in checked
    assert f"usage: {name} [-h]" in wrong
    assert f"  {name} dev shop\n" in shown
