from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from handler.bundle.model import Bundle
from handler.bundle.tools import Limits
from handler.bundle.upstream import NoAuth, Upstream
from handler.compiler.compile import compile_endpoint
from handler.errors.authoring import CompileError
from tests.support.diagnostics import Reported, reported_by
from tests.support.endpoints import compiled, doubted, reported, write_endpoint

QUERY = "type Query { a: Int }"
NOTHING: Any = {"claim_headers": {}, "forward_headers": (), "documents": "text", "auth": NoAuth()}
"""What ``upstream`` has where nothing is said."""


def bundle_with(folder: Path, config: str) -> Bundle:
    return compiled(folder, {"index.graphql": QUERY, "config.yaml": config}).bundle


def refused(folder: Path, config: str) -> list[Reported]:
    return reported(folder, {"index.graphql": QUERY, "config.yaml": config})


def staged(folder: Path, **files: str) -> Path:
    """An endpoint folder with ``config.yaml`` and ``config.prod.yaml``."""
    named = {f"config{'' if name == 'base' else '.' + name}.yaml": text for name, text in files.items()}
    return write_endpoint(folder, {"index.graphql": QUERY, **named})


def test_endpoint_without_config_gets_the_defaults(tmp_path: Path) -> None:
    bundle = compiled(tmp_path, {"index.graphql": QUERY}).bundle

    assert bundle.upstream == Upstream(url="", timeout_s=10, max_bytes=5_000_000, headers={}, **NOTHING)
    assert bundle.limits == Limits(
        max_tokens=5_000, max_depth=12, max_fields=200, max_aliases=20, max_cost=5_000, max_values=10_000
    )


@pytest.mark.parametrize("config", ["", "# nothing\n", "upstream:\nlimits: ~\naccess: null\n"])
def test_config_that_says_nothing_is_as_good_as_none(tmp_path: Path, config: str) -> None:
    assert bundle_with(tmp_path, config).limits.max_depth == 12


def test_upstream_and_limits_are_read(tmp_path: Path) -> None:
    bundle = bundle_with(
        tmp_path,
        """
upstream:
  url: https://api.example.com/graphql?tenant=a
  timeout_s: 2.5
  max_bytes: 10000
  headers: {X-Client: stile, accept-language: "de, en"}
limits: {max_tokens: 100, max_depth: 3, max_fields: 7, max_aliases: 0, max_cost: 1, max_values: 2}
""",
    )

    assert bundle.upstream == Upstream(
        url="https://api.example.com/graphql?tenant=a",
        timeout_s=2.5,
        max_bytes=10_000,
        headers={"x-client": "stile", "accept-language": "de, en"},
        **NOTHING,
    )
    assert bundle.limits == Limits(max_tokens=100, max_depth=3, max_fields=7, max_aliases=0, max_cost=1, max_values=2)


def test_values_are_texts_that_take_their_kind_from_what_is_asked_for(tmp_path: Path) -> None:
    bundle = bundle_with(tmp_path, 'upstream: {timeout_s: "3", headers: {x-version: 010, x-flag: yes}}')

    assert bundle.upstream.timeout_s == 3
    assert bundle.upstream.headers == {"x-version": "010", "x-flag": "yes"}


def test_unknown_key_names_the_valid_ones(tmp_path: Path) -> None:
    (problem,) = reported(tmp_path, {"index.graphql": QUERY, "config.yaml": "upstream:\n  ulr: https://a.b/\n"})

    assert problem == 'config.yaml:2:3 unknown-key: "upstream.ulr" & did you mean url?'


def test_unknown_keys_are_reported_at_every_level(tmp_path: Path) -> None:
    config = """\
port: 8000
limits: {depth: 3}
access:
  anonimous: allow
  policies:
    - type: Query
      rule: []
      policyDefault: {when: true}
identity:
  api_keys:
    - {name: a, sha256: AAAA, claim: {}}
"""
    lines = refused(tmp_path, config.replace("AAAA", "a" * 64))

    assert lines == [
        'config.yaml:1:1 unknown-key: "port"',
        'config.yaml:2:10 unknown-key: "limits.depth" & did you mean max_depth?',
        'config.yaml:4:3 unknown-key: "access.anonimous" & did you mean anonymous?',
        'config.yaml:7:7 unknown-key: "access.policies[0].rule" & did you mean rules?',
        "config.yaml:8:22 invalid-condition",
        'config.yaml:8:23 unknown-key: "access.policies[0].policyDefault.when"',
        'config.yaml:11:91 unknown-key: "identity.api_keys[0].claim" & did you mean claims?',
    ]


@pytest.mark.parametrize(
    ("config", "line"),
    [
        ("- upstream", "config.yaml:1:1 invalid-value"),
        ("just a text", "config.yaml:1:1 invalid-value"),
        ("upstream: [a]", 'config.yaml:1:11 invalid-value: "upstream"'),
        (
            "upstream: https://a.b/",
            'config.yaml:1:11 invalid-value: "upstream"',
        ),
        ("upstream: {url: {a: b}}", 'config.yaml:1:17 invalid-value: "upstream.url"'),
        ("upstream: {headers: {a: [b]}}", 'config.yaml:1:25 invalid-value: "upstream.headers.a"'),
        (
            "upstream: {timeout_s: soon}",
            'config.yaml:1:23 invalid-value: "upstream.timeout_s" & 0.1 to 900',
        ),
        (
            "upstream: {timeout_s: nan}",
            'config.yaml:1:23 invalid-value: "upstream.timeout_s" & 0.1 to 900',
        ),
        (
            "upstream: {max_bytes: 5}",
            'config.yaml:1:23 invalid-value: "upstream.max_bytes" & 1000 to 50000000',
        ),
        ("limits: {max_depth: 0}", "config.yaml:1:21 invalid-value: \"limits.max_depth\" & 1 to 50 & '0'"),
        ("limits: {max_depth: 1.5}", "config.yaml:1:21 invalid-value: \"limits.max_depth\" & '1.5'"),
        ("default_tool: no", "config.yaml:1:15 invalid-value: \"default_tool\" & 'no'"),
        (
            "access: {anonymous: maybe}",
            "config.yaml:1:21 invalid-value: \"access.anonymous\" & 'maybe'",
        ),
        ("access: {policies: [Query]}", 'config.yaml:1:21 invalid-value: "access.policies[0]"'),
    ],
)
def test_value_of_the_wrong_kind_is_reported(tmp_path: Path, config: str, line: str) -> None:
    assert refused(tmp_path, config) == [line]


@pytest.mark.parametrize(
    ("config", "line"),
    [
        (
            "access:\n\tanonymous: allow",
            "config.yaml:2:1 invalid-yaml: tab & spaces",
        ),
        ("access: {", "config.yaml:1:10 invalid-yaml"),
        ("access:\n  a: \0", "config.yaml:2:6 invalid-yaml: U+0000"),
        ('access: "\\U00110000"', "config.yaml invalid-yaml: \\U & U+10FFFF"),
        ('access: "\\UFFFFFFFF"', "config.yaml invalid-yaml: \\U & U+10FFFF"),
        ("access: *unknown", "config.yaml:1:9 invalid-yaml: begins with *"),
        ("access: {}\n---\naccess: {}", "config.yaml:2:1 invalid-yaml"),
        ("? [a, b]\n: c", "config.yaml:1:3 invalid-yaml"),
        ("? &a [*a]\n: c", "config.yaml:1:3 invalid-yaml"),
        ("access: &a {policies: [*a]}", "config.yaml:1:9 invalid-yaml"),
        ('upstream: {headers: {x: "\\uD800"}}', "config.yaml:1:25 invalid-yaml"),
        ("access: " + "[" * 3_000, "config.yaml invalid-yaml"),
    ],
)
def test_what_is_no_yaml_is_reported(tmp_path: Path, config: str, line: str) -> None:
    assert refused(tmp_path, config) == [line]


def test_keys_that_stand_twice_are_reported_wherever_they_are(tmp_path: Path) -> None:
    config = """\
default_tool: true
limits:
  max_depth: 3
  max_depth: 4
default_tool: false
access:
  policies:
    - {type: Query, type: Query, policyDefault: {condition: true}}
"""

    assert refused(tmp_path, config) == [
        'config.yaml:4:3 duplicate-key: "max_depth"',
        'config.yaml:5:1 duplicate-key: "default_tool"',
        'config.yaml:8:21 duplicate-key: "type"',
    ]


def test_anchors_and_aliases_are_read(tmp_path: Path) -> None:
    config = """\
access:
  policies:
    - {type: Query, policyDefault: &open {condition: true}}
    - {type: Mutation, policyDefault: *open}
"""
    files = {"index.graphql": QUERY + " type Mutation { b: Int }", "config.yaml": config}

    assert compiled(tmp_path, files).bundle.guards == {}


def test_aliases_that_would_grow_without_end_cost_nothing(tmp_path: Path) -> None:
    layers = [f"l{n}: &l{n} [{', '.join([f'*l{n - 1}'] * 9)}]" for n in range(1, 30)]
    config = "l0: &l0 [lol]\n" + "\n".join(layers)

    lines = refused(tmp_path, config)

    assert len(lines) == 30
    assert lines[0] == 'config.yaml:1:1 unknown-key: "l0"'


def test_tags_of_other_programs_do_nothing(tmp_path: Path) -> None:
    config = 'upstream: {url: !!python/object/apply:os.system ["touch /tmp/never"]}'

    assert refused(tmp_path, config) == ['config.yaml:1:17 invalid-value: "upstream.url"']


@pytest.mark.parametrize(
    "url",
    [
        "http://localhost:8000/graphql",
        "https://api.example.com",
        "HTTPS://api.example.com/graphql?a=b",
        "http://[::1]:8000/",
    ],
)
def test_http_url_is_taken_as_it_stands(tmp_path: Path, url: str) -> None:
    assert bundle_with(tmp_path, f"upstream: {{url: '{url}'}}").upstream.url == url


@pytest.mark.parametrize(
    "url",
    [
        "api.example.com/graphql",
        "ftp://api.example.com/",
        "//api.example.com/",
        "https://",
        "https:///graphql",
        "https://api.example.com:99999/",
        "https://api.example.com:0/",
        "http://[::1/",
        "https://api example.com/",
        "https://api.example.com/a b",
        "https://exämple.com/",
        "file:///etc/passwd",
    ],
)
def test_other_url_is_reported(tmp_path: Path, url: str) -> None:
    assert refused(tmp_path, f"upstream:\n  url: '{url}'") == ['config.yaml:2:8 invalid-value: "upstream.url"']


def test_url_with_a_line_break_is_reported(tmp_path: Path) -> None:
    assert refused(tmp_path, 'upstream: {url: "https://a.b/\\nx"}') == [
        'config.yaml:1:17 invalid-value: "upstream.url"'
    ]


@pytest.mark.parametrize(
    "name",
    [
        "HOST",
        "Content-Length",
        "Transfer-Encoding",
        "connection",
        "Forwarded",
        "X-Forwarded-For",
        "x-amz-date",
        "X_Forwarded_For",
        "Proxy-Authorization",
        "proxy-connection",
    ],
)
def test_header_that_belongs_to_the_connection_is_refused(tmp_path: Path, name: str) -> None:
    assert refused(tmp_path, f"upstream:\n  headers:\n    x-client: stile\n    {name}: x\n") == [
        f'config.yaml:4:{len(name) + 7} invalid-header: upstream.headers "{name}"'
    ]


@pytest.mark.parametrize("name", ["Authorization", "cookie", "X-API-Key", "x_api_key"])
def test_header_that_is_a_credential_is_refused_with_its_place(tmp_path: Path, name: str) -> None:
    assert refused(tmp_path, f"upstream: {{headers: {{{name}: x}}}}") == [
        f'config.yaml:1:{len(name) + 24} invalid-header: upstream.headers "{name}" & upstream.auth'
    ]


@pytest.mark.parametrize(
    ("header", "parts"),
    [
        ("x y: a", "upstream.headers & header name"),
        ("größe: a", "upstream.headers & header name"),
        ('"": a', "upstream.headers & header name"),
        ('x: "a\\nb: c"', '"x" & ASCII'),
        ("x: größe", '"x" & ASCII'),
        ("x: 'claim:'", '"x" & a path such as org.id'),
        ("x: claim:größe", '"x" & ASCII'),
        ("x: secret:K", '"x" & secret:NAME & upstream.auth'),
    ],
)
def test_header_that_cannot_be_sent_is_reported(tmp_path: Path, header: str, parts: str) -> None:
    column = header.index(": ") + 7

    assert refused(tmp_path, f"upstream:\n  headers:\n    {header}\n") == [
        f"config.yaml:3:{column} invalid-header: {parts}"
    ]


def test_header_that_stands_twice_in_other_letters_is_reported(tmp_path: Path) -> None:
    assert refused(tmp_path, "upstream: {headers: {x-a: 1, X-A: 2}}") == [
        'config.yaml:1:35 invalid-header: "X-A" & twice'
    ]


def test_stage_is_laid_over_the_config(tmp_path: Path) -> None:
    folder = staged(
        tmp_path,
        base="upstream: {url: 'http://a.b/', timeout_s: 3, headers: {x-a: '1', x-b: '2'}}\nlimits: {max_depth: 4}",
        prod="upstream:\n  url: https://api.example.com/\n  headers: {x-b: '3'}\n",
    )

    bundle = compile_endpoint(folder, stage="prod").bundle

    assert bundle.upstream == Upstream(
        url="https://api.example.com/",
        timeout_s=3,
        max_bytes=5_000_000,
        headers={"x-a": "1", "x-b": "3"},
        **NOTHING,
    )
    assert bundle.limits.max_depth == 4
    assert compile_endpoint(folder).bundle.upstream.url == "http://a.b/"


def test_list_of_a_stage_takes_the_place_of_the_other(tmp_path: Path) -> None:
    folder = staged(
        tmp_path,
        base="access: {policies: [{type: Query, policyDefault: {condition: true}}]}",
        prod="access: {policies: []}",
    )

    assert compile_endpoint(folder).bundle.guards == {}
    assert list(compile_endpoint(folder, stage="prod").bundle.guards) == ["Query.a"]


def test_stage_without_a_config_to_lay_it_over_is_enough(tmp_path: Path) -> None:
    folder = staged(tmp_path, prod="limits: {max_depth: 4}")

    assert compile_endpoint(folder, stage="prod").bundle.limits.max_depth == 4


def test_problem_of_a_stage_is_reported_in_its_file(tmp_path: Path) -> None:
    folder = staged(
        tmp_path,
        base="upstream:\n  url: nowhere\nlimits:\n  max_depth: 99\n  max_depth: 99\n",
        prod="# the real one\n\nupstream:\n  url: https:/a.b\nspeed: 3\nspeed: 4\n",
    )

    with pytest.raises(CompileError) as caught:
        compile_endpoint(folder, stage="prod")

    assert reported_by(caught.value) == [
        'config.prod.yaml:4:8 invalid-value: "upstream.url"',
        'config.prod.yaml:6:1 duplicate-key: "speed"',
        'config.prod.yaml:6:1 unknown-key: "speed"',
        'config.yaml:5:3 duplicate-key: "max_depth"',
        "config.yaml:5:14 invalid-value: \"limits.max_depth\" & 1 to 50 & '99'",
    ]


def test_stage_that_does_not_exist_is_reported(tmp_path: Path) -> None:
    folder = staged(tmp_path, base="limits: {max_depth: 4}")

    with pytest.raises(CompileError) as caught:
        compile_endpoint(folder, stage="prod")

    assert reported_by(caught.value) == ['config.prod.yaml unreadable-file: "prod"']


@pytest.mark.parametrize(
    ("stage", "remedy"),
    [("prd", "the stages here are dev, prod; did you mean prod?"), ("zz", "the stages here are dev, prod")],
)
def test_misspelt_stage_is_told_the_stages_that_exist(tmp_path: Path, stage: str, remedy: str) -> None:
    folder = staged(tmp_path, base="limits: {max_depth: 4}", prod="limits: {max_depth: 5}")
    (folder / "config.dev.yaml").touch()

    with pytest.raises(CompileError) as caught:
        compile_endpoint(folder, stage=stage)

    (problem,) = caught.value.problems
    assert problem.file == f"config.{stage}.yaml"
    assert problem.sentence == f'the file of the stage "{stage}" does not exist: {remedy}'


@pytest.mark.parametrize("name", ["config.prod.yml", "config-prod.yaml", "config_prod.yml"])
def test_misnamed_file_of_the_stage_is_told_by_its_name(tmp_path: Path, name: str) -> None:
    folder = staged(tmp_path, base="limits: {max_depth: 4}")
    (folder / name).touch()

    with pytest.raises(CompileError) as caught:
        compile_endpoint(folder, stage="prod")

    (problem,) = caught.value.problems
    assert problem.sentence == f'the file of the stage "prod" does not exist: rename {name} to config.prod.yaml'


def test_stage_that_is_laid_over_a_circle_is_reported(tmp_path: Path) -> None:
    folder = staged(tmp_path, base="access: &a {access: *a}", prod="access: &a {access: *a}")

    with pytest.raises(CompileError) as caught:
        compile_endpoint(folder, stage="prod")

    assert reported_by(caught.value) == ["config.prod.yaml:1:9 invalid-yaml", "config.yaml:1:9 invalid-yaml"]


def doubts(folder: Path, config: str) -> list[Reported]:
    """The warnings about a config, without the default tool's."""
    lines = doubted(folder, {"index.graphql": QUERY, "config.yaml": config})
    return [line for line in lines if not line.startswith("index.graphql")]


def test_what_stepzen_says_about_backends_is_ignored_with_a_warning(tmp_path: Path) -> None:
    config = """\
configurationset:
  - configuration: {name: db, uri: STEPZEN_NOT_SET}
ruleset:
  - {query: a, disabled: true}
"""

    assert doubts(tmp_path, config) == [
        'config.yaml:1:1 ignored-section: "configurationset"',
        'config.yaml:3:1 ignored-section: "ruleset"',
    ]


def test_identity_is_read_below_deployment_too(tmp_path: Path) -> None:
    bundle = bundle_with(
        tmp_path, f"deployment: {{identity: {{api_keys: [{{name: a, sha256: {'a' * 64}}}]}}}}\naccess: {{policies: []}}"
    )

    assert [key.name for key in bundle.identity.api_keys] == ["a"]
    assert bundle.access.anonymous == "challenge"


def test_identity_in_two_places_is_reported(tmp_path: Path) -> None:
    assert refused(tmp_path, "identity: {}\ndeployment:\n  identity: {}\n") == ["config.yaml:3:3 duplicate-identity"]


def test_unknown_key_below_deployment_is_reported(tmp_path: Path) -> None:
    assert refused(tmp_path, "deployment:\n  identiy: {}\n") == [
        'config.yaml:2:3 unknown-key: "deployment.identiy" & did you mean identity?'
    ]


def test_url_with_credentials_is_reported_without_showing_them(tmp_path: Path) -> None:
    assert refused(tmp_path, "upstream: {url: 'https://user:secret@api.example.com/'}") == [
        'config.yaml:1:17 credentials-in-url: "upstream.url"'
    ]


@pytest.mark.parametrize(("timeout_s", "doubts"), [(28, 0), (29, 1)])
def test_deadline_after_the_answer_is_doubted(tmp_path: Path, timeout_s: int, doubts: int) -> None:
    files = {"index.graphql": QUERY, "config.yaml": f"default_tool: false\nupstream: {{timeout_s: {timeout_s}}}"}

    assert doubted(tmp_path, files) == ['config.yaml:2:23 ineffective-timeout: "upstream.timeout_s" & 28'] * doubts


@pytest.mark.parametrize(
    ("config", "remedy"),
    [
        ("access:\n  policies:\n    - type: Query\n    rules: []", "4:5 invalid-yaml: indent it as far as an entry"),
        ("access:\n  hide: Query.a\n  - x", "3:3 invalid-yaml: indent it below its key"),
        ("access:\n    anonymous: allow\n  hide: []", "3:3 invalid-yaml: no line above has this indentation"),
        ("access:\n  anonymous: allow\n    hide: []", "3:9 invalid-yaml: and keys equal indentation"),
    ],
)
def test_line_at_the_wrong_level_is_reported_with_the_remedy(tmp_path: Path, config: str, remedy: str) -> None:
    assert refused(tmp_path, config) == [f"config.yaml:{remedy}"]


@pytest.mark.parametrize(
    ("config", "line"),
    [
        ('upstream: {url: "${API_URL}"}', "1:17 unset-variable: ${API_URL} & config.STAGE.yaml"),
        ('upstream: {headers: {x-a: "${A_1}"}}', "1:27 unset-variable: ${A_1}"),
        ('identity: {issuer: "${ISSUER}", jwksendpoint: "https://a.b/"}', "1:20 unset-variable: ${ISSUER}"),
        ('identity: {audience: ["${AUD}"], jwksendpoint: "https://a.b/"}', "1:23 unset-variable: ${AUD}"),
    ],
)
def test_variable_of_a_shell_is_not_taken_for_a_value(tmp_path: Path, config: str, line: str) -> None:
    assert refused(tmp_path, config) == [f"config.yaml:{line}"]


def test_text_around_a_variable_of_a_shell_is_not_shown(tmp_path: Path) -> None:
    lines = refused(tmp_path, "upstream: {url: 'https://a.b/', auth: {bearer: 'abc${TOKEN}def'}}")

    assert lines == [
        "config.yaml:1:48 invalid-secret-reference: secret:NAME",
        "config.yaml:1:48 unset-variable: ${NAME} & secret:NAME",
    ]
    assert not any(part in line for part in ("abc", "TOKEN}", "def") for line in lines)


def test_text_outside_of_api_and_callers_may_have_a_variable_of_a_shell(tmp_path: Path) -> None:
    assert bundle_with(tmp_path, "instructions: 'Say ${NAME}.'").instructions == "Say ${NAME}."


@pytest.mark.parametrize(
    ("config", "path"),
    [
        ("policies: []", "access.policies"),
        ("url: https://a.b/", "upstream.url"),
        ("api_keys: []", "identity.api_keys"),
        ("oauth_proxy: {}", "identity.oauth_proxy"),
    ],
)
def test_key_at_the_top_of_the_file_is_reported_with_its_section(tmp_path: Path, config: str, path: str) -> None:
    assert refused(tmp_path, config) == [f"config.yaml:1:1 unknown-key: it belongs below, as {path}"]


def test_key_below_its_section_is_reported_with_the_deeper_one(tmp_path: Path) -> None:
    assert refused(tmp_path, "identity: {redirect_uris: []}") == [
        "config.yaml:1:12 unknown-key: it belongs below, as oauth_proxy.redirect_uris"
    ]


@pytest.mark.parametrize(
    ("config", "line"),
    [
        (
            "access: {policies: {Query: {policyDefault: {condition: true}}}}",
            '1:20 invalid-value: "access.policies" & a list & - type: Query',
        ),
        ("access: {policies: {type: Query, rules: {a: {condition: true}}}}", "1:41 invalid-value: a list"),
        ("identity: {api_keys: {ci: {sha256: x}}}", "1:22 invalid-value: a list & - name: NAME"),
    ],
)
def test_entries_by_their_names_are_reported_as_a_list(tmp_path: Path, config: str, line: str) -> None:
    assert refused(tmp_path, config) == [f"config.yaml:{line}"]
