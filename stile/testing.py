"""A client that tests tools in Python in memory, without a server."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from handler.code_tools.boundary import LOG, shorten_traceback
from handler.code_tools.content import run_prompt, run_resource
from handler.code_tools.context import Context, GraphQL
from handler.code_tools.dispatch import call_tool, list_section, unknown
from handler.code_tools.return_values import InputRequired, ToolCall
from handler.code_tools.toolkit import Toolkit
from handler.strict_json import JSONObject
from handler.text.sentences import did_you_mean


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to a call: ``json`` is the ``CallToolResult``."""

    json: JSONObject

    @property
    def text(self) -> str:
        """The text blocks, one per line."""
        return "\n".join(block["text"] for block in self.json["content"] if block["type"] == "text")

    @property
    def data(self) -> Any:
        """The structured content, or ``None`` if it is missing."""
        return self.json.get("structuredContent")

    @property
    def is_error(self) -> bool:
        """True if the call failed."""
        return bool(self.json.get("isError"))


class TestClient:
    """A client of a toolkit.

    ``graphql`` stands in for the endpoint's API: it takes a document and variables, and returns ``data``.
    ``operation`` stands in for the endpoint's operations: it takes a name and variables. ``claims`` are the caller's
    claims; ``scope`` among them, a text with spaces, gives the caller's scopes. ``context`` sets further fields of
    ``Context``, such as ``provider_token`` or ``log_level``.
    """

    __test__ = False  # pytest would collect the class by its name

    def __init__(
        self,
        kit: Toolkit,
        *,
        claims: Mapping[str, Any] | None = None,
        graphql: GraphQL | None = None,
        operation: GraphQL | None = None,
        headers: Mapping[str, str] | None = None,
        **context: Any,
    ) -> None:
        own = [*Context.__dataclass_fields__, "claims", "graphql", "operation"]
        if unknown := next((name for name in context if name not in own), None):
            raise TypeError(f"TestClient has no option {unknown}{did_you_mean(unknown, own)}")
        self._kit = kit
        self._context = {
            "auth": claims,
            "scopes": frozenset(str((claims or {}).get("scope", "")).split()),
            "headers": {name.lower(): value for name, value in (headers or {}).items()},
            **({"ask_graphql": graphql} if graphql else {}),
            **({"ask_operation": operation} if operation else {}),
            **context,
        }
        self.notifications: list[JSONObject] = []
        """The notifications that tools sent while they ran: progress and log messages."""

    def list_tools(self) -> list[JSONObject]:
        """Return the ``tools/list`` entries."""
        return self._list("tools")

    def list_prompts(self) -> list[JSONObject]:
        """Return the ``prompts/list`` entries."""
        return self._list("prompts")

    def list_resources(self) -> list[JSONObject]:
        """Return the ``resources/list`` entries."""
        return self._list("resources")

    def list_resource_templates(self) -> list[JSONObject]:
        """Return the ``resources/templates/list`` entries."""
        return self._list("resource_templates")

    def call(self, name: str, /, **arguments: Any) -> Answer:
        """Call a tool.

        Raises:
            McpError: the answer is a JSON-RPC error.
            InsufficientScope: the answer asks for a token with more scopes.
            AssertionError: the tool asks its user first, or returns a call of another tool; use ``ask``.
        """
        answer = self.ask(name, arguments)
        assert isinstance(answer, Answer), f"{name} asks first, or calls another tool: {answer}"  # noqa: S101 - as tests do
        return answer

    def ask(
        self,
        name: str,
        arguments: Any = None,
        *,
        answers: Mapping[str, Any] | None = None,
        to: InputRequired | None = None,
    ) -> Answer | InputRequired | ToolCall:
        """Call a tool that may ask its user first. To go on, pass the ``answers`` and the ``InputRequired`` as ``to``.

        Raises:
            McpError: the answer is a JSON-RPC error.
            InsufficientScope: the answer asks for a token with more scopes.
        """
        ctx = self.context(input_responses=answers or {}, request_state=to.state if to else None)
        LOG.addFilter(shorten_traceback)
        try:
            value = asyncio.run(call_tool(self._kit, name, {} if arguments is None else arguments, ctx))
        finally:
            LOG.removeFilter(shorten_traceback)
        return Answer(value) if isinstance(value, dict) else value

    def get_prompt(self, name: str, /, **arguments: str) -> JSONObject:
        """Return a prompt's ``GetPromptResult``.

        Raises:
            McpError: the answer is a JSON-RPC error.
        """
        prompt = next((each for each in self._kit.prompts if each.name == name), None)
        if prompt is None:
            raise unknown("prompt", name)
        return _certain(asyncio.run(run_prompt(prompt, arguments, self.context())))

    def read_resource(self, uri: str) -> JSONObject:
        """Return a resource's ``ReadResourceResult``. A resource of this URI wins over templates, and the first wins.

        Raises:
            McpError: the answer is a JSON-RPC error.
        """
        ordered = sorted(self._kit.resources, key=lambda each: each.is_template)
        resource = next((each for each in ordered if each.values_in(uri) is not None), None)
        if resource is None:
            raise unknown("resource", uri, member="uri")
        return _certain(asyncio.run(run_resource(resource, uri, self.context())))

    def context(self, **more: Any) -> Context:
        """Return the context of one call."""
        return Context(**{"notify": self.notifications.append, **self._context, **more})

    def _list(self, section: str) -> list[JSONObject]:
        return asyncio.run(list_section(self._kit, section, self.context()))


def _certain(value: JSONObject | InputRequired) -> JSONObject:
    assert not isinstance(value, InputRequired), f"it asks first: {value}"  # noqa: S101 - as tests do
    return value
