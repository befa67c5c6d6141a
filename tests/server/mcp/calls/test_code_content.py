"""Prompts and resources in Python, through the function."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from handler.bundle.model import Bundle
from handler.compiler.compile import Compiled
from handler.policy.evaluation import HIDDEN
from tests.support.codes import rpc_error
from tests.support.endpoints import PUBLIC, compiled
from tests.support.function import Answer, Context, Function, running_function
from tests.support.kits import MODULES, TOOLS, with_kit

SDL = "type Query { a: Int }\ntype Mutation { b: Int }\n"


@pytest.fixture
def endpoint(tmp_path: Path) -> Compiled:
    return with_kit(compiled(tmp_path, {"index.graphql": SDL, "config.yaml": PUBLIC}), TOOLS)


@pytest.fixture
def function(endpoint: Compiled) -> Iterator[Function]:
    with serving(endpoint) as running:
        yield running


def serving(endpoint: Compiled, modules: tuple[str, ...] = MODULES) -> Any:
    return running_function(endpoint, code_modules=modules)


def changed(endpoint: Compiled, **changes: Any) -> Compiled:
    """The endpoint, whose prompts and resources in Python are said to be something else."""
    bundle: Bundle = endpoint.bundle
    prompts = tuple(replace(each, **changes) for each in bundle.prompts)
    resources = tuple(replace(each, **changes) for each in bundle.resources)
    return replace(endpoint, bundle=replace(bundle, prompts=prompts, resources=resources))


def get(function: Function, prompt: str, /, **arguments: Any) -> Answer:
    return function.request("prompts/get", {"name": prompt, "arguments": arguments})


def read(function: Function, uri: str) -> Answer:
    return function.request("resources/read", {"uri": uri})


def test_prompt_is_written_by_its_function(function: Function) -> None:
    assert get(function, "greeting", name="Ada").result == {
        "description": "Greet somebody.",
        "messages": [{"role": "user", "content": {"type": "text", "text": "Greet Ada"}}],
    }
    line = function.lines[-1]
    assert (line["prompt"], line["decision"], line["outcome"]) == ("greeting", "allowed", "ok")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "arguments of prompt greeting: missing name"),
        ({"name": 7}, "arguments of prompt greeting: expected an object of texts"),
    ],
)
def test_arguments_of_a_prompt_that_do_not_fit_are_refused(function: Function, arguments: Any, message: str) -> None:
    assert get(function, "greeting", **arguments).json["error"] == rpc_error(-32602, message, "invalid-params")


def test_resources_are_read_by_their_functions(function: Function) -> None:
    intro, page = read(function, "acme://intro").result, read(function, "acme://pages/7").result

    assert intro["contents"] == [{"uri": "acme://intro", "mimeType": "text/plain", "text": "Welcome"}]
    assert page["contents"] == [{"uri": "acme://pages/7", "mimeType": "text/plain", "text": "Page 7"}]
    assert function.lines[-1]["resource"] == "acme://pages/{page}"


@pytest.mark.lambda_alone
@pytest.mark.parametrize(
    ("ask", "sentence"),
    [
        (lambda function: get(function, "broken"), "Prompt broken failed"),
        (lambda function: read(function, "acme://pages/none"), "Resource acme://pages/{page} failed"),
    ],
    ids=["prompt", "resource"],
)
def test_function_that_fails_is_an_error_that_tells_nothing_and_the_log_has_the_reason(
    function: Function, caplog: pytest.LogCaptureFixture, ask: Any, sentence: str
) -> None:
    answer = ask(function)

    assert answer.json["error"] == rpc_error(-32603, sentence, "code-failed")
    assert b"/home/author" not in answer.body
    assert f"{sentence} in request {Context.aws_request_id}" in caplog.text
    assert "boom at /home/author" in caplog.text


def test_what_changed_since_it_was_published_says_so_and_does_not_run(endpoint: Compiled) -> None:
    with serving(changed(endpoint, digest="0" * 64)) as function:
        for answer, what in (
            (get(function, "greeting", name="Ada"), "Prompt greeting"),
            (read(function, "acme://intro"), "Resource acme://intro"),
        ):
            sentence = f"{what} changed since it was published: its maintainer has to publish it again."
            assert answer.json["error"] == rpc_error(-32603, sentence, "code-changed")
            assert function.lines[-1]["outcome"] == "rejected"


def test_module_that_may_not_be_imported_fails_what_is_in_it(
    endpoint: Compiled, caplog: pytest.LogCaptureFixture
) -> None:
    with serving(endpoint, modules=()) as function:
        assert get(function, "greeting", name="Ada").json["error"]["message"] == "Prompt greeting failed"
        assert read(function, "acme://intro").json["error"]["message"] == "Resource acme://intro failed"
        assert "is not among STILE_CODE_MODULES" in caplog.text
        assert len(function.request("prompts/list").result["prompts"]) == 3


def test_what_is_not_for_the_caller_is_unknown(endpoint: Compiled) -> None:
    with serving(changed(endpoint, mask=HIDDEN)) as function:
        hidden, missing = get(function, "greeting", name="Ada"), get(function, "nothing")
        assert hidden.json["error"]["message"].replace("greeting", "nothing") == missing.json["error"]["message"]
        unread, unknown = read(function, "acme://intro"), read(function, "acme://other")
        assert unread.json["error"]["code"] == unknown.json["error"]["code"]


def test_hidden_ones_are_not_listed_and_work(endpoint: Compiled) -> None:
    bundle = endpoint.bundle
    prompts = tuple(replace(each, hidden=True) for each in bundle.prompts)  # type: ignore[arg-type] # all are CodePrompts
    with serving(replace(endpoint, bundle=replace(bundle, prompts=prompts))) as function:
        assert function.request("prompts/list").result["prompts"] == []
        assert "result" in get(function, "greeting", name="Ada").json
