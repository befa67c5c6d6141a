from __future__ import annotations

import re
import shutil
import signal
import threading
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import pytest

from handler.bundle.stored import bundle_key, index_key, read_bundle
from handler.http.client import HttpClient
from handler.storage.location import open_storage
from tests.commands.running import FILES, Stile, change, ran, ran_on_terminal, started
from tests.support.endpoints import write_endpoint
from tests.support.moto import Moto
from tests.support.raw_http import Peer, answer, running_server

NOT_THERE = answer(status="404 Not Found")
TWO_TOOLS = {**FILES, "operations/b.graphql": 'query B @mcpTool(name: "b") { b }\n'}


def write_many(folder: Path, count: int = 20) -> list[str]:
    names = [f"api/e{number:02}" for number in range(1, count + 1)]
    for name in names:
        write_endpoint(folder, FILES, name=name)
    return names


def bundles_in(folder: Path) -> list[str]:
    return sorted(path.parent.relative_to(folder).as_posix() for path in folder.glob("*/*/bundle.*.json"))


class TestWhatChanged:
    def test_a_first_publication_is_new_with_all_its_tools(self, workplace: Path, stile: Stile) -> None:
        write_endpoint(workplace / "endpoints", TWO_TOOLS)

        done = stile("publish", "endpoints", "--create", "out")

        assert (done.code, done.err) == (0, "")
        assert done.out.splitlines() == ["api/things: new  +a  +b", "1 endpoint in out"]
        assert bundles_in(workplace / "out") == ["api/things"]

    def test_the_same_again_is_unchanged_and_not_written(self, workplace: Path, stile: Stile) -> None:
        write_endpoint(workplace / "endpoints", FILES)
        stile("publish", "endpoints", "--create", "out")
        bundle = workplace / "out" / bundle_key("api/things")
        before = bundle.stat()

        assert stile("publish", "endpoints", "--create", "out").out.splitlines()[0] == "api/things: unchanged"

        assert bundle.stat().st_ino == before.st_ino

    def test_force_writes_what_has_not_changed(self, workplace: Path, stile: Stile) -> None:
        write_endpoint(workplace / "endpoints", FILES)
        stile("publish", "endpoints", "--create", "out")
        bundle, index = bundle_key("api/things"), next((workplace / "out").glob("api/things/.index/*"))
        before = [(workplace / "out" / bundle).stat().st_ino, index.stat().st_ino]

        done = stile("publish", "endpoints", "--create", "out", "--force")

        assert done.out.splitlines()[0] == "api/things: unchanged"
        assert {*before}.isdisjoint([(workplace / "out" / bundle).stat().st_ino, index.stat().st_ino])

    def test_added_removed_and_changed_tools_are_named(self, workplace: Path, stile: Stile) -> None:
        endpoint = write_endpoint(workplace / "endpoints", TWO_TOOLS)
        stile("publish", "endpoints", "--create", "out")
        (endpoint / "operations" / "b.graphql").unlink()
        change(endpoint / "operations" / "a.graphql", "{ a }", "{ b }")
        (endpoint / "operations" / "c.graphql").write_text('query C @mcpTool(name: "c") { a }', encoding="utf-8")

        assert stile("publish", "endpoints", "--create", "out").out.splitlines()[0] == "api/things: changed  +c  -b  ~a"

    def test_changes_of_prompts_resources_and_instructions_are_named(self, workplace: Path, stile: Stile) -> None:
        files = {**FILES, "prompts/p.md": "One.", "prompts/q.md": "One.", "resources/r.md": "One."}
        endpoint = write_endpoint(workplace / "endpoints", files)
        stile("publish", "endpoints", "--create", "out")
        change(endpoint / "prompts" / "p.md", "One", "Two")
        change(endpoint / "resources" / "r.md", "One", "Two")
        (endpoint / "prompts" / "q.md").unlink()
        with (endpoint / "config.yaml").open("a", encoding="utf-8") as config:
            config.write("instructions: Ask.\n")

        assert stile("publish", "endpoints", "--create", "out").out.splitlines()[0] == (
            "api/things: changed  +instructions  -prompt q  ~prompt p  ~resource stile://api/things/resources/r.md"
        )

    def test_identity_and_a_tool_named_server_are_two_parts(self, workplace: Path, stile: Stile) -> None:
        files = {**FILES, "operations/a.graphql": 'query A @mcpTool(name: "server", title: "A") { a }'}
        endpoint = write_endpoint(workplace / "endpoints", files)
        with (endpoint / "config.yaml").open("a", encoding="utf-8") as config:
            config.write("server: {title: One}\n")

        first = stile("publish", "endpoints", "--create", "out").out
        change(endpoint / "operations" / "a.graphql", 'title: "A"', 'title: "B"')
        second = stile("publish", "endpoints", "--create", "out").out
        change(endpoint / "config.yaml", "One", "Two")
        third = stile("publish", "endpoints", "--create", "out").out

        assert [each.splitlines()[0] for each in (first, second, third)] == [
            "api/things: new  +server  +server identity",
            "api/things: changed  ~server",
            "api/things: changed  ~server identity",
        ]

    def test_a_change_of_what_runs_behind_the_same_listing_is_a_change_of_the_tool(
        self, workplace: Path, stile: Stile
    ) -> None:
        endpoint = write_endpoint(workplace / "endpoints", FILES)
        change(endpoint / "operations" / "a.graphql", "{ a }", "{ x: a }")
        stile("publish", "endpoints", "--create", "out")
        change(endpoint / "operations" / "a.graphql", "{ x: a }", "{ x: __typename }")

        assert stile("publish", "endpoints", "--create", "out").out.splitlines()[0] == "api/things: changed  ~a"

    def test_a_change_of_the_configuration_alone_changes_no_tool(self, workplace: Path, stile: Stile) -> None:
        endpoint = write_endpoint(workplace / "endpoints", FILES)
        stile("publish", "endpoints", "--create", "out")
        change(endpoint / "config.yaml", "things.example", "others.example")

        assert stile("publish", "endpoints", "--create", "out").out.splitlines()[0] == "api/things: changed"

    def test_a_stored_bundle_that_cannot_be_read_is_replaced(self, workplace: Path, stile: Stile) -> None:
        write_endpoint(workplace / "endpoints", FILES)
        stile("publish", "endpoints", "--create", "out")
        bundle = workplace / "out" / bundle_key("api/things")
        bundle.write_bytes(b"{")

        assert stile("publish", "endpoints", "--create", "out").out.splitlines()[0] == "api/things: changed  +a"
        assert read_bundle(bundle.read_bytes(), endpoint="api/things").tools


# StepZen: "endpoint_folder - the folder of the endpoint, set at deploy time", as in `stepzen deploy folder/name`.
class TestNameOnTheCommandLine:
    @pytest.mark.parametrize("config", [None, '{"endpoint": "api/things"}', '{"endpoint": "things"}', "{}"])
    def test_it_stands_for_what_files_and_path_say(self, workplace: Path, stile: Stile, config: str | None) -> None:
        files = {name: text for name, text in FILES.items() if not name.startswith("operations")}
        project = files if config is None else {**files, "stepzen.config.json": config}
        write_endpoint(workplace, project, name="My Projects/1.simple")

        done = stile("publish", "My Projects/1.simple", "--create", "out", "--endpoint", "dev/spacex")

        assert (done.code, done.err) == (0, "")
        assert done.out.splitlines() == ["dev/spacex: new  +dev-spacex", "1 endpoint in out"]
        assert bundles_in(workplace / "out") == ["dev/spacex"]

    def test_other_mistakes_of_the_config_are_told(self, workplace: Path, stile: Stile) -> None:
        write_endpoint(workplace, {**FILES, "stepzen.config.json": '{"endpoint": 1, "root": "../x"}'})

        done = stile("publish", ".", "--create", "out", "--endpoint", "dev/spacex")

        assert done.err.splitlines()[0].endswith(
            '"root": expected a folder below this one, such as "src" [invalid-project-file]'
        )

    @pytest.mark.parametrize("command", ["publish", "build", "check", "manifest", "call", "explain", "dev"])
    def test_it_is_of_one_endpoint(self, workplace: Path, stile: Stile, command: str) -> None:
        write_many(workplace / "endpoints", 5)
        rest = {"publish": ["out"], "call": ["a"], "manifest": ["--format", "apollo"]}.get(command, [])

        done = stile(command, "endpoints", *rest, "--endpoint", "dev/spacex")

        assert (done.code, done.out) == (2, "")
        assert done.err.splitlines()[-1] == (
            f"stile {command}: error: argument --endpoint: endpoints has 5 endpoints (endpoints/api/e01, "
            "endpoints/api/e02, endpoints/api/e03 and 2 more); name the folder of one"
        )
        assert not (workplace / "out").exists()

    @pytest.mark.parametrize(
        "name", ["", "spacex", "dev/", "/spacex", "dev/space/x", "dev/1x", "_dev/x", "dev/x\n", "dev/../x", "dev/é"]
    )
    def test_what_no_endpoint_can_be_called_is_refused(self, workplace: Path, stile: Stile, name: str) -> None:
        write_endpoint(workplace, FILES)

        done = stile("publish", ".", "--create", "out", f"--endpoint={name}")

        assert (done.code, done.out) == (2, "")
        assert "expected folder/name, each a letter and then letters, digits, _ or -" in done.err
        assert not (workplace / "out").exists()

    def test_it_is_given_once(self, workplace: Path, stile: Stile) -> None:
        write_endpoint(workplace, FILES)

        done = stile("publish", ".", "--create", "out", "--endpoint", "dev/a", "--endpoint", "dev/b")

        assert done.code == 2
        assert done.err.splitlines()[-1] == "stile publish: error: argument --endpoint: it is given twice"

    def test_every_command_knows_it(self, workplace: Path, stile: Stile) -> None:
        write_endpoint(workplace, FILES)

        assert stile("check", ".", "--endpoint", "dev/spacex").out.startswith("dev/spacex\n")
        assert stile("build", ".", "--endpoint", "dev/spacex").out.startswith("dev/spacex: new")
        assert stile("explain", ".", "--endpoint", "dev/spacex").out.startswith("dev/spacex, for")
        assert stile("manifest", ".", "--format", "relay", "--endpoint", "dev/spacex").code == 0

    def test_folder_that_can_be_no_name_is_told_of_it(self, workplace: Path, stile: Stile) -> None:
        write_endpoint(workplace, FILES, name="api/1.simple")

        assert "--endpoint gives the folder another one" in stile("check", "api/1.simple").out


class TestNothingIsPublished:
    def test_where_one_of_twenty_has_a_mistake(self, workplace: Path, stile: Stile) -> None:
        write_many(workplace / "endpoints")
        change(workplace / "endpoints" / "api" / "e07" / "operations" / "a.graphql", "{ a }", "{ totl }")

        done = stile("publish", "endpoints", "--create", "out")

        assert (done.code, done.out) == (1, "")
        problem, end = done.err.splitlines()
        assert problem.startswith("endpoints/api/e07/operations/a.graphql:1:")
        assert end == "Nothing was published."
        assert not (workplace / "out").exists()

    def test_where_one_has_no_upstream(self, workplace: Path, stile: Stile) -> None:
        write_many(workplace / "endpoints", 2)
        write_endpoint(workplace / "endpoints", {**FILES, "config.yaml": ""}, name="api/lost")

        done = stile("publish", "endpoints", "--create", "out")

        assert (done.code, done.out) == (1, "")
        assert done.err.splitlines() == [
            "api/lost: config.yaml names no upstream.url, so its tools have no API to ask",
            "Nothing was published.",
        ]
        assert not (workplace / "out").exists()

    @pytest.mark.parametrize("destination", ["s3:/bucket/prefix", "gs://bucket", "https://bucket.example.com/x", ""])
    def test_where_the_destination_is_neither_a_folder_nor_a_bucket(
        self, workplace: Path, stile: Stile, destination: str
    ) -> None:
        write_endpoint(workplace / "endpoints", FILES)

        done = stile("publish", "endpoints", destination)

        assert (done.code, done.out) == (2, "")
        assert f'"{destination}": expected s3://bucket/prefix, or a folder' in done.err
        assert [path.name for path in workplace.iterdir()] == ["endpoints"]

    def test_where_the_destination_is_a_file(self, workplace: Path, stile: Stile) -> None:
        write_endpoint(workplace / "endpoints", FILES)
        (workplace / "out").touch()

        done = stile("publish", "endpoints", "--create", "out")

        assert (done.code, done.out) == (2, "")
        assert done.err == "out is a file; expected s3://bucket/prefix, or a folder\n"


class TestTwentyEndpoints:
    def test_a_pipe_gets_one_line_each(self, workplace: Path) -> None:
        names = write_many(workplace / "endpoints")

        done = ran("publish", "endpoints", "--create", "out")

        assert (done.code, done.err) == (0, "")
        assert done.out.splitlines() == [*(f"{name}: new  +a" for name in names), "20 endpoints in out"]

    def test_ctrl_c_says_what_is_stored_what_is_not_and_what_nobody_knows(self, workplace: Path) -> None:
        write_many(workplace, 3)

        asked = threading.Event()

        def script(peer: Peer) -> None:
            while request := peer.read_request():
                if request.startswith(b"PUT") and b"/e02/" in request:
                    asked.set()
                    peer.wait()
                listing = b"<ListBucketResult><Name>bucket</Name><IsTruncated>false</IsTruncated></ListBucketResult>"
                digest = re.search(rb"x-amz-checksum-sha256: (\S+)", request, re.IGNORECASE)
                found = answer(listing) if b"list-type=" in request else NOT_THERE
                done = answer(ETag='"1"', x_amz_checksum_sha256=digest[1].decode() if digest else "")
                answers = {b"PUT": done, b"HEA": NOT_THERE, b"GET": found}
                peer.send(answers.get(request[:3], answer(status="403 Forbidden")))

        with running_server(script) as bucket:
            environ = {"AWS_ENDPOINT_URL": bucket.url, "AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b"}
            process = started("publish", ".", "s3://bucket/prefix", environ=environ)
            assert process.stdout
            lines = [process.stdout.readline() for _ in range(3)]
            assert asked.wait(60)
            process.send_signal(signal.SIGINT)
            _, errors = process.communicate(timeout=120)

        assert lines == [f"api/e0{number}: new  +a\n" for number in (1, 2, 3)]
        assert process.returncode == 1
        interrupted, stored, unknown = errors.splitlines()
        assert interrupted == "Interrupted."
        assert "api/e02" not in stored
        assert unknown.startswith("Stored or not, without an answer: ")
        assert "api/e02" in unknown

    def test_ctrl_c_before_anything_is_stored_says_so(self, workplace: Path) -> None:
        write_many(workplace, 2)
        asked = threading.Event()

        def script(peer: Peer) -> None:
            peer.read_request()
            asked.set()
            peer.wait()

        with running_server(script) as bucket:
            environ = {"AWS_ENDPOINT_URL": bucket.url, "AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b"}
            process = started("publish", ".", "s3://bucket/prefix", environ=environ)
            assert asked.wait(60)
            process.send_signal(signal.SIGINT)
            _, errors = process.communicate(timeout=120)

        assert (process.returncode, errors) == (130, "Nothing was published.\n")

    def test_endpoints_that_prune_cannot_withdraw_are_named_beside_the_others(
        self, workplace: Path, stile: Stile
    ) -> None:
        write_many(workplace / "endpoints", 3)
        stile("publish", "endpoints", "--create", "out")
        for name in ("e02", "e03"):
            shutil.rmtree(workplace / "endpoints" / "api" / name)
        history = workplace / "out" / ".history" / "api" / "e02"
        shutil.rmtree(history)
        history.touch()  # an obstacle

        done = stile("publish", "endpoints", "out", "--prune", "--allow-breaking")

        assert done.code == 1
        failure, stored, withdrawn, left = done.err.splitlines()
        assert failure.startswith("api/e02 is not withdrawn: ")
        assert (stored, withdrawn) == ("Stored: nothing.", "Withdrawn: api/e03.")
        assert left == "Not known to be withdrawn: api/e02. Run the command again."
        assert bundles_in(workplace / "out") == ["api/e01", "api/e02"]

    def test_a_terminal_sees_a_bar_and_keeps_only_the_lines(self, workplace: Path) -> None:
        names = write_many(workplace / "endpoints")

        code, shown = ran_on_terminal("publish", "endpoints", "--create", "out")

        assert code == 0
        assert "Compiling" in shown
        assert "Storing" in shown
        assert "━" in shown
        for name in names:
            assert re.search(rf"{name}: new  \+a\r?\n", shown), name
        assert bundles_in(workplace / "out") == names

    def test_a_folder_that_fails_midway_is_completed_by_a_second_run(self, workplace: Path, stile: Stile) -> None:
        write_many(workplace / "endpoints", 4)
        (workplace / "out" / "api").mkdir(parents=True)
        obstacle = workplace / "out" / "api" / "e03"
        obstacle.touch()

        done = stile("publish", "endpoints", "--create", "out")

        assert done.code == 1
        assert done.out.splitlines() == [f"api/e0{number}: new  +a" for number in (1, 2, 3, 4)]
        failure, stored, left = done.err.splitlines()
        assert failure.startswith("out/api/e03/")
        assert stored.removeprefix("Stored: ").removesuffix(".").split(", ") == bundles_in(workplace / "out")
        assert left.startswith("Not stored (unchanged): api/e03")

        obstacle.unlink()
        again = stile("publish", "endpoints", "--create", "out")

        assert again.code == 0
        assert "api/e03: new  +a" in again.out.splitlines()
        assert bundles_in(workplace / "out") == [f"api/e0{number}" for number in (1, 2, 3, 4)]


class TestS3:
    BUCKET = "commands"

    @pytest.fixture
    def prefix(self, moto: Moto, request: pytest.FixtureRequest) -> str:
        moto.add_bucket(self.BUCKET)
        return str(request.node.name).replace("_", "-")[:60]

    def publisher(self, moto: Moto, name: str, *more: Mapping[str, object]) -> dict[str, str]:
        return moto.add_user(
            name,
            {"Action": ["s3:GetObject", "s3:PutObject"], "Resource": f"arn:aws:s3:::{self.BUCKET}/*"},
            {"Action": "s3:ListBucket", "Resource": f"arn:aws:s3:::{self.BUCKET}"},
            *more,
        )

    def become(self, monkeypatch: pytest.MonkeyPatch, environ: Mapping[str, str]) -> None:
        for name, value in environ.items():
            monkeypatch.setenv(name, value)

    def test_bundles_and_their_indexes_are_stored(
        self, workplace: Path, stile: Stile, moto: Moto, prefix: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        write_endpoint(workplace, FILES)
        environ = self.publisher(moto, prefix)
        self.become(monkeypatch, environ)

        done = stile("publish", ".", f"s3://{self.BUCKET}/{prefix}/")

        assert (done.code, done.err) == (0, "")
        assert done.out.splitlines()[:2] == ["api/things: new  +a", f"1 endpoint in s3://{self.BUCKET}/{prefix}"]
        assert stile("publish", ".", f"s3://{self.BUCKET}/{prefix}").out.startswith("api/things: unchanged\n")
        http = HttpClient()
        storage = open_storage(f"s3://{self.BUCKET}/{prefix}", http=http, environ=environ)
        stored = storage.read(bundle_key("api/things"))
        assert stored
        assert storage.read(index_key("api/things", read_bundle(stored.body, endpoint="api/things").index))
        http.close()

    def test_each_endpoint_is_one_put_after_its_index(
        self, workplace: Path, stile: Stile, moto: Moto, prefix: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The publisher may write indexes only, so the bundle's PUT fails: the index is there by then."""
        write_endpoint(workplace, FILES)
        resource = f"arn:aws:s3:::{self.BUCKET}/{prefix}/api/things/bundle*"
        bundles = {"Action": "s3:PutObject", "Effect": "Deny", "Resource": resource}
        self.become(monkeypatch, self.publisher(moto, prefix, bundles))

        done = stile("publish", ".", f"s3://{self.BUCKET}/{prefix}")

        assert done.code == 1
        assert [key.split("/")[1:-1] for key in self.versions(moto, prefix)] == [["api", "things", ".index"]]

    def test_schema_that_has_not_changed_is_sent_once(
        self, workplace: Path, stile: Stile, moto: Moto, prefix: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        write_many(workplace, 3)
        self.keep_versions(moto)
        self.become(monkeypatch, self.publisher(moto, prefix))

        assert stile("publish", ".", f"s3://{self.BUCKET}/{prefix}").code == 0
        write_endpoint(workplace, TWO_TOOLS, name="api/e02")
        assert stile("publish", ".", f"s3://{self.BUCKET}/{prefix}", "--allow-open").code == 0

        assert [count for key, count in self.versions(moto, prefix).items() if "/.index/" in key] == [1, 1, 1]

    def test_forced_schema_is_sent_again_once(
        self, workplace: Path, stile: Stile, moto: Moto, prefix: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        write_many(workplace, 3)
        self.keep_versions(moto)
        self.become(monkeypatch, self.publisher(moto, prefix))
        for _ in range(2):
            assert stile("publish", ".", f"s3://{self.BUCKET}/{prefix}", "--force").code == 0

        assert [count for key, count in self.versions(moto, prefix).items() if "/.index/" in key] == [2, 2, 2]

    def test_an_access_that_fails_midway_is_completed_by_a_second_run(
        self, workplace: Path, stile: Stile, moto: Moto, prefix: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        write_many(workplace, 4)
        location = f"s3://{self.BUCKET}/{prefix}"
        third = {
            "Action": "s3:PutObject",
            "Effect": "Deny",
            "Resource": f"arn:aws:s3:::{self.BUCKET}/{prefix}/api/e03/bundle*",
        }
        self.become(monkeypatch, self.publisher(moto, f"{prefix}-limited", third))

        done = stile("publish", ".", location)

        assert done.code == 1
        failure, stored, left = done.err.splitlines()
        assert failure.startswith(f"{location}: access denied: check that the role has s3:PutObject and s3:GetObject")
        assert stored.startswith("Stored: api/e0")
        assert left.startswith("Not stored (unchanged): api/e03")

        self.become(monkeypatch, self.publisher(moto, f"{prefix}-full"))
        again = stile("publish", ".", location)

        assert (again.code, again.err) == (0, "")
        assert "api/e03: new  +a" in again.out.splitlines()

    def test_endpoint_that_the_folder_lacks_is_named_and_withdrawn_with_prune(
        self, workplace: Path, stile: Stile, moto: Moto, prefix: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        write_many(workplace, 2)
        self.keep_versions(moto)
        removal = {"Action": "s3:DeleteObject", "Resource": f"arn:aws:s3:::{self.BUCKET}/*"}
        self.become(monkeypatch, self.publisher(moto, prefix, removal))
        location = f"s3://{self.BUCKET}/{prefix}"
        stile("publish", ".", location)
        shutil.rmtree(workplace / "api" / "e01")
        listing = {"Effect": "Deny", "Action": "s3:ListBucket", "Resource": f"arn:aws:s3:::{self.BUCKET}"}
        self.become(monkeypatch, self.publisher(moto, f"{prefix}-blind", listing))
        blind = stile("publish", ".", location, "--prune")
        self.become(monkeypatch, self.publisher(moto, f"{prefix}-again", removal))

        needed = f"s3:ListBucket on arn:aws:s3:::{self.BUCKET}"
        assert blind.err.splitlines() == [
            f"{location}: access denied: check that the role has {needed}",
            "Nothing was published.",
        ]
        named = stile("publish", ".", location)
        refused = stile("publish", ".", location, "--prune")
        done = stile("publish", ".", location, "--prune", "--allow-breaking")

        assert "Published, and not in .: api/e01; --prune withdraws what the folder does not have" in named.out
        assert (refused.code, named.code, done.code) == (1, 0, 0)
        assert "Breaking for callers: api/e01. --allow-breaking publishes it." in refused.err
        assert "Withdrawn: api/e01" in done.out
        assert self.keys(moto, f"{prefix}/api") == ["api"]
        assert self.versions(moto, prefix)[f"{prefix}/{bundle_key('api/e01')}"] == 1

    def test_a_bucket_that_is_not_there_is_one_sentence(
        self, workplace: Path, stile: Stile, moto: Moto, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        write_endpoint(workplace, FILES)
        self.become(monkeypatch, moto.environ())

        with moto.unchecked():
            done = stile("publish", ".", "s3://nobodys-bucket/x")

        assert done.code == 1
        assert done.err.splitlines()[0] == (
            "s3://nobodys-bucket/x: there is no bucket nobodys-bucket: check the location, or deploy the bucket first"
        )
        assert done.err.splitlines()[1] == "Nothing was published."

    def keep_versions(self, moto: Moto) -> None:
        with moto.unchecked():
            kept = {"Status": "Enabled"}
            moto.client("s3").put_bucket_versioning(Bucket=self.BUCKET, VersioningConfiguration=kept)

    def versions(self, moto: Moto, prefix: str) -> dict[str, int]:
        """How often each object was put."""
        with moto.unchecked():
            listed = moto.client("s3").list_object_versions(Bucket=self.BUCKET, Prefix=f"{prefix}/")
        return dict(Counter(str(version["Key"]) for version in listed["Versions"]))

    def keys(self, moto: Moto, prefix: str) -> list[str]:
        """The folders right below the prefix."""
        with moto.unchecked():
            listed = moto.client("s3").list_objects_v2(Bucket=self.BUCKET, Prefix=f"{prefix}/")
        return sorted({str(entry["Key"]).split("/")[1] for entry in listed.get("Contents", [])})


class TestBreakingChanges:
    @pytest.fixture
    def endpoint(self, workplace: Path, stile: Stile) -> Path:
        """Two tools are published, and one of them is then removed."""
        endpoint = write_endpoint(workplace / "endpoints", TWO_TOOLS)
        stile("publish", "endpoints", "--create", "out")
        (endpoint / "operations" / "b.graphql").unlink()
        return endpoint

    @pytest.mark.usefixtures("endpoint")
    def test_it_is_refused_where_nobody_can_be_asked(self, workplace: Path, stile: Stile) -> None:
        bundle = workplace / "out" / bundle_key("api/things")
        before = bundle.read_bytes()

        done = stile("publish", "endpoints", "out")

        assert done.code == 1
        assert done.err.splitlines() == [
            "Breaking for callers: api/things. --allow-breaking publishes it.",
            "Nothing was published.",
        ]
        assert done.out.splitlines()[0] == "api/things: changed  -b"
        assert "  breaking: tool b is gone [tool-removed]" in done.out.splitlines()
        assert bundle.read_bytes() == before

    @pytest.mark.usefixtures("endpoint")
    def test_it_is_published_if_it_is_allowed(self, stile: Stile) -> None:
        assert stile("publish", "endpoints", "out", "--allow-breaking").code == 0
        assert stile("publish", "endpoints", "out").out.startswith("api/things: unchanged\n")

    @pytest.mark.usefixtures("endpoint")
    def test_a_dry_run_stores_nothing_and_says_it(self, workplace: Path, stile: Stile) -> None:
        files = {path: path.read_bytes() for path in (workplace / "out").rglob("*") if path.is_file()}

        done = stile("publish", "endpoints", "out", "--dry-run")

        assert done.code == 0
        assert done.out.splitlines()[-1] == (
            "Nothing was published, because of --dry-run. Breaking for callers: api/things."
        )
        assert {path: path.read_bytes() for path in (workplace / "out").rglob("*") if path.is_file()} == files

    @pytest.mark.parametrize(("answer", "code"), [("yes", 0), ("no", 1), ("", 1)])
    @pytest.mark.usefixtures("endpoint")
    def test_a_terminal_is_asked(self, answer: str, code: int) -> None:
        ended, shown = ran_on_terminal("publish", "endpoints", "out", typed=f"{answer}\n")

        assert "Publish? (yes, no; default no)" in shown
        assert ended == code

    @pytest.mark.parametrize("name", ["endpoints/api/things", "endpoints --endpoint api/things"])
    @pytest.mark.usefixtures("endpoint")
    def test_prune_needs_all_endpoints(self, stile: Stile, name: str) -> None:
        done = stile("publish", *name.split(), "out", "--prune")

        assert done.code == 2
        assert done.err.startswith("--prune compares all endpoints")


def test_dry_run_into_a_folder_that_is_to_be_made_makes_none(workplace: Path, stile: Stile) -> None:
    write_endpoint(workplace / "endpoints", FILES)

    done = stile("publish", "endpoints", "out", "--create", "--dry-run")

    assert (done.code, done.out.splitlines()[0]) == (0, "api/things: new  +a")
    assert not (workplace / "out").exists()


class TestBuild:
    def test_it_writes_below_dot_stile(self, workplace: Path, stile: Stile) -> None:
        write_endpoint(workplace, FILES)

        done = stile("build", ".")

        assert (done.code, done.err) == (0, "")
        assert done.out.splitlines() == ["api/things: new  +a", "1 endpoint in .stile/bundles"]
        assert bundles_in(workplace / ".stile" / "bundles") == ["api/things"]

    def test_it_writes_where_it_is_told_and_what_publish_would(self, workplace: Path, stile: Stile) -> None:
        write_endpoint(workplace, FILES)

        stile("build", ".", "--out", "built")
        stile("publish", ".", "--create", "published")

        published = {path.relative_to("published") for path in Path("published").rglob("*") if path.is_file()}
        files = {path.relative_to("built") for path in Path("built").rglob("*") if path.is_file()}
        assert files == {path for path in published if path.parts[0] != ".history"}
        assert len(files) == 2
        assert all((Path("built") / file).read_bytes() == (Path("published") / file).read_bytes() for file in files)

    def test_a_mistake_builds_nothing(self, workplace: Path, stile: Stile) -> None:
        write_endpoint(workplace, FILES, name="api/good")
        write_endpoint(workplace, {**FILES, "config.yaml": "upstrem: {}"}, name="api/wrong")

        done = stile("build", ".")

        assert (done.code, done.out) == (1, "")
        assert done.err.splitlines()[-1] == "Nothing was built."
        assert not (workplace / ".stile").exists()

    def test_an_endpoint_without_upstream_can_be_built(self, workplace: Path, stile: Stile) -> None:
        write_endpoint(workplace, {**FILES, "config.yaml": ""})

        assert stile("build", ".").code == 0


def test_the_published_folder_is_one_that_storage_opens(workplace: Path, stile: Stile) -> None:
    write_endpoint(workplace, FILES)
    stile("publish", ".", "--create", "out")

    http = HttpClient()
    assert open_storage("out", http=http, environ={}).read(bundle_key("api/things"))
    http.close()


@pytest.mark.parametrize(
    ("destination", "meant"),
    [("my-bucket/x", "did you mean s3://my-bucket/x? "), ("../Else_where", ""), ("./out", "")],
)
def test_folder_that_does_not_exist_is_refused_unless_it_is_to_be_made(
    workplace: Path, stile: Stile, destination: str, meant: str
) -> None:
    write_endpoint(workplace / "endpoints", FILES)

    done = stile("publish", "endpoints", destination)

    assert (done.code, done.out) == (2, "")
    assert done.err == f"{destination}: there is no such folder; {meant}--create makes the folder\n"
    assert not (workplace / destination).exists()
    assert stile("publish", "endpoints", destination, "--create").code == 0
    assert stile("publish", "endpoints", destination).code == 0


@pytest.mark.parametrize("create", [[], ["--create"], ["--dry-run"]])
@pytest.mark.parametrize("destination", ["bundles.txt", "./bundles.txt"])
def test_file_is_no_destination_and_stays_as_it_is(
    workplace: Path, stile: Stile, destination: str, create: list[str]
) -> None:
    write_endpoint(workplace / "endpoints", FILES)
    (workplace / "bundles.txt").write_text("mine", encoding="utf-8")

    done = stile("publish", "endpoints", destination, *create)

    assert (done.code, done.out) == (2, "")
    assert done.err == f"{destination} is a file; expected s3://bucket/prefix, or a folder\n"
    assert (workplace / "bundles.txt").read_text(encoding="utf-8") == "mine"


@pytest.mark.parametrize("arguments", [["published"], ["rollback"], ["remove"], ["gc"], ["diff", "."]])
def test_other_commands_say_too_that_a_destination_is_a_file(
    workplace: Path, stile: Stile, arguments: list[str]
) -> None:
    write_endpoint(workplace, FILES)
    (workplace / "bundles.txt").write_text("mine", encoding="utf-8")
    place = "bundles.txt/api/things" if arguments[0] in ("rollback", "remove") else "bundles.txt"

    done = stile(*arguments, place, *(["--yes"] if arguments[0] in ("rollback", "remove") else []))

    assert done.code != 0
    assert "file" in done.err
    assert "no such folder" not in done.err


def test_build_does_not_write_to_a_bucket(workplace: Path, stile: Stile) -> None:
    write_endpoint(workplace, FILES)

    done = stile("build", ".", "--out", "s3://bucket/x")

    assert done.code == 2
    assert done.err.endswith("s3://bucket/x: expected a folder; `stile publish` stores bundles in S3\n")
