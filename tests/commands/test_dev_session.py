from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from handler.bundle.stored import bundle_key, index_key, read_bundle
from handler.commands.local.dev_session import Workbench
from handler.errors.infrastructure import ObjectNotFound
from tests.commands.running import CONFIG, FILES, change
from tests.support.endpoints import write_endpoint
from tests.support.secrecy import SESSION, Output

ADDRESS = "http://127.0.0.1:8000"


class Bench(Workbench):
    """A workbench over the current folder, with what it shows and serves."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        super().__init__(Path(), stage=None, address=ADDRESS)
        self._capsys = capsys

    def shows(self, *changed: str) -> list[str]:
        """The lines printed when these files have changed."""
        self._capsys.readouterr()
        self.refresh([Path(path) for path in changed])
        printed = self._capsys.readouterr()
        SESSION.note(Output.COMMAND, printed.out + printed.err)
        return (printed.out + printed.err).splitlines()

    def tools(self, name: str = "api/things") -> list[str]:
        """The tools of the bundle that is served."""
        stored = self.storage.read(bundle_key(name))
        assert stored
        bundle = read_bundle(stored.body, endpoint=name)
        assert self.storage.read(index_key(bundle.endpoint, bundle.index))
        return [tool.name for tool in bundle.tools]


@pytest.fixture
def endpoint(workplace: Path) -> Path:
    return write_endpoint(workplace, FILES)


@pytest.fixture
def bench(endpoint: Path, capsys: pytest.CaptureFixture[str]) -> Bench:
    return Bench(capsys)


def test_what_compiles_is_served_and_told_with_its_url(bench: Bench) -> None:
    assert bench.shows() == [f"{ADDRESS}/api/things/mcp: 1 tool: a"]
    assert bench.served == {"api/things": f"{ADDRESS}/api/things/mcp"}
    assert bench.tools() == ["a"]


def test_secrets_to_try_an_endpoint_with_stand_beside_its_configuration(bench: Bench) -> None:
    assert bench.find("api/things") is None
    bench.refresh()

    served = bench.find("api/things")
    assert served is not None
    assert served.env_file == Path("api/things/.env")
    assert bench.find("api/others") is None


def test_a_change_of_a_prompt_or_a_resource_is_served(bench: Bench, endpoint: Path) -> None:
    bench.refresh()
    write_endpoint(endpoint.parents[1], {"prompts/p.md": "One.", "resources/a/r.md": "R"})
    bench.shows("api/things/prompts/p.md", "api/things/resources/a/r.md")

    stored = bench.storage.read(bundle_key("api/things"))

    assert stored
    bundle = read_bundle(stored.body, endpoint="api/things")
    assert [prompt.name for prompt in bundle.prompts] == ["p"]
    assert [resource.entry["name"] for resource in bundle.resources] == ["a/r.md"]


def test_warnings_are_shown(workplace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_endpoint(workplace, {"index.graphql": "type Query { a: String }"})

    warning, upstream, told = Bench(capsys).shows()

    assert warning.startswith("api/things/index.graphql:1:1: warning: no tool is declared")
    assert upstream.startswith("api/things: config.yaml names no upstream.url, so its tools have no API to ask")
    assert told.endswith(": 1 tool: api-things")


def test_warnings_that_their_author_has_judged_are_not_shown(
    workplace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    judged = "checks: {ignore: [{code: default-tool, reason: all of Query is for models}]}\n"
    write_endpoint(workplace, {"index.graphql": "type Query { a: String }", "config.yaml": judged})

    upstream, told = Bench(capsys).shows()

    assert "names no upstream.url" in upstream
    assert told.endswith(": 1 tool: api-things")


def test_a_change_that_changes_nothing_is_not_told(bench: Bench, endpoint: Path) -> None:
    bench.refresh()
    (endpoint / "README.md").write_text("x")

    assert bench.shows("api/things/README.md") == []


def test_a_mistake_leaves_the_last_good_version(bench: Bench, endpoint: Path) -> None:
    bench.refresh()
    change(endpoint / "config.yaml", "upstream", "upstrem")

    problem, kept = bench.shows("api/things/config.yaml")

    assert problem.startswith("api/things/config.yaml:1:1: ")
    assert kept == f"{ADDRESS}/api/things/mcp: still the last good version"
    assert bench.tools() == ["a"]


def test_a_mistake_that_is_still_there_is_told_at_each_save_of_its_endpoint_only(bench: Bench, endpoint: Path) -> None:
    write_endpoint(Path(), {**FILES, "config.yaml": "upstrem: {}"}, name="api/wrong")
    bench.refresh()

    assert bench.shows("api/things/README.md") == []
    assert bench.shows("api/wrong/README.md")[-1] == "api/wrong: not served until this is solved"


def test_undoing_a_mistake_is_told_though_the_bundle_is_the_same(bench: Bench, endpoint: Path) -> None:
    bench.refresh()
    change(endpoint / "config.yaml", "upstream", "upstrem")
    bench.refresh([endpoint.relative_to(Path.cwd()) / "config.yaml"])
    (endpoint / "config.yaml").write_text(CONFIG)

    assert bench.shows("api/things/config.yaml") == [f"{ADDRESS}/api/things/mcp: 1 tool: a"]


def test_only_endpoints_below_which_something_changed_are_compiled_again(bench: Bench, endpoint: Path) -> None:
    bench.refresh()
    change(endpoint / "operations" / "a.graphql", '"a"', '"b"')

    assert bench.shows("api/other/index.graphql") == []
    assert bench.tools() == ["a"]
    assert bench.shows("api/things/operations/a.graphql") == [f"{ADDRESS}/api/things/mcp: 1 tool: b"]
    assert bench.tools() == ["b"]


def test_a_renamed_folder_is_served_under_its_new_name_only(bench: Bench, endpoint: Path) -> None:
    bench.refresh()
    endpoint.rename(endpoint.with_name("renamed"))

    assert bench.shows("api/things/index.graphql", "api/renamed/index.graphql") == [
        "api/things: withdrawn",
        f"{ADDRESS}/api/renamed/mcp: 1 tool: a",
    ]
    with pytest.raises(ObjectNotFound):
        bench.tools()


def test_an_endpoint_that_gets_another_name_is_served_under_that_only(bench: Bench, endpoint: Path) -> None:
    bench.refresh()
    (endpoint / "stepzen.config.json").write_text('{"endpoint": "shop/orders"}')
    bench.refresh([Path("api/things/stepzen.config.json")])

    assert list(bench.served) == ["shop/orders"]


def test_a_second_folder_of_the_same_name_does_not_take_over(bench: Bench, endpoint: Path) -> None:
    bench.refresh()
    other = {**FILES, "operations/a.graphql": 'query A @mcpTool(name: "other") { a }'}
    write_endpoint(Path(), {**other, "stepzen.config.json": '{"endpoint": "api/things"}'}, name="z/z")

    problem, told = bench.shows("z/z/index.graphql")

    assert problem == 'z/z/index.graphql:1:1: the endpoint "api/things" is also made by api/things [duplicate-endpoint]'
    assert told == "z/z: not served until this is solved"
    assert bench.tools() == ["a"]

    shutil.rmtree(endpoint)

    assert bench.shows("api/things/index.graphql") == [f"{ADDRESS}/api/things/mcp: 1 tool: other"]
    assert bench.tools() == ["other"]


def test_an_endpoint_that_takes_over_a_name_that_a_broken_one_had_is_served(bench: Bench, endpoint: Path) -> None:
    bench.refresh()
    (endpoint / "operations" / "a.graphql").write_text("{")
    bench.refresh([Path("api/things/operations/a.graphql")])
    other = {**FILES, "operations/a.graphql": 'query A @mcpTool(name: "other") { a }'}
    write_endpoint(Path(), {**other, "stepzen.config.json": '{"endpoint": "api/things"}'}, name="z/z")

    bench.refresh([Path("z/z/index.graphql")])

    assert bench.tools() == ["other"]


def test_name_on_the_command_line_is_of_the_first_endpoint_alone(
    workplace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_endpoint(workplace, FILES, name="api/a")
    bench = Workbench(workplace, stage=None, endpoint="dev/spacex", address="http://x")
    bench.refresh()
    later = write_endpoint(workplace, FILES, name="api/b")
    capsys.readouterr()

    bench.refresh([later / "index.graphql"])

    assert list(bench.served) == ["dev/spacex"]
    assert 'the endpoint "dev/spacex" is also made by' in capsys.readouterr().err
