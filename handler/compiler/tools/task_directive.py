"""Tasks: ``@mcpTask`` on a mutation that starts a job at the API, and the tool that asks for the job's status.

Source: the extension ``io.modelcontextprotocol/tasks`` of MCP (SEP-2663).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from graphql import (
    DirectiveNode,
    GraphQLEnumType,
    GraphQLNamedType,
    GraphQLSchema,
    get_named_type,
    get_nullable_type,
    get_operation_ast,
    is_abstract_type,
    is_list_type,
)

from handler.bundle.tools import PrescribedTool, Task
from handler.cold.records import replaced
from handler.compiler.api_context import ApiContext
from handler.compiler.json_schemas.output_schema import Part, Selections, either
from handler.compiler.operations.author_operations import AuthorOperation, McpTool, Operations
from handler.compiler.schema.directives import read_arguments, value_of_argument
from handler.compiler.schema.tool_options import NO_OPTIONS
from handler.compiler.tools.declaration import CompiledTool, ToolDeclaration
from handler.compiler.tools.persisted import Demands, persisted_of
from handler.compiler.tools.prescribed import mcp_tool
from handler.policy.evaluation import OPEN
from handler.strict_json import JSONObject
from handler.text.sentences import did_you_mean

MAX_TTL_S = 604_800
MAX_WAIT_S = 20
"""A call is answered within 28 s, the mutation and the last query included."""

OUTCOMES = ("completed", "failed", "cancelled")

ARGUMENTS: JSONObject = {
    "type": "object",
    "properties": {"taskId": {"type": "string", "description": "The taskId of the answer that started the job."}},
    "required": ["taskId"],
    "additionalProperties": False,
}


def with_tasks(context: ApiContext, tools: Sequence[CompiledTool], *, operations: Operations) -> list[CompiledTool]:
    """Return the tools. One whose operation has ``@mcpTask`` has the task, and its status tool behind it."""
    result: list[CompiledTool] = []
    for each in tools:
        operation = each.operation
        node = operation.task if operation and operation.kind == "mutation" else None
        values = read_arguments(node, context.problems) if node else None
        starter = _Starter(context, operations, each, operation, node, values or {})
        result += starter.tools() if values else [each]
    names = {each.operation.name for each in tools if each.operation}
    for operation in operations.valid:
        if operation.task and operation.name not in names:
            sentence = f'@mcpTask: "{operation.name}" is not a tool: expected @mcpTool on it, too'
            context.problems.add(operation.task, sentence, code="invalid-task")
    return result


@dataclass(frozen=True)
class _Starter:
    """A tool with a mutation that has ``@mcpTask``, which has ``values`` as arguments."""

    context: ApiContext
    operations: Operations
    compiled: CompiledTool
    mutation: AuthorOperation | Any
    node: DirectiveNode | Any
    values: JSONObject

    def tools(self) -> list[CompiledTool]:
        """Return the tool with its task, and the status tool; the tool as it is after reporting faults."""
        poll, cancel = self._operation("poll", "query"), self._operation("cancel", "mutation")
        if poll is None or (cancel is None and self.values.get("cancel") is not None):
            return [self.compiled]
        faults = [*self._faults(poll, cancel)]
        for argument, sentence in faults:
            at = value_of_argument(self.node, argument)
            self.context.problems.add(at, f"@mcpTask: {argument}: {sentence}", code="invalid-task")
        return [self.compiled] if faults else self._made(poll, cancel)

    def _operation(self, argument: str, kind: str) -> AuthorOperation | None:
        """Return the operation that an argument names; ``None`` if it names none, or after reporting a fault."""
        name: Any = self.values.get(argument)
        by_name = {each.name: each for each in self.operations.valid if each.kind == kind}
        is_known = name is None or name in by_name or name in self.operations.refused
        if self.operations.complete and not is_known:
            hint = did_you_mean(name, by_name) or f": expected the name of a {kind} in a file of operations"
            at, sentence = value_of_argument(self.node, argument), f'there is no {kind} "{name}"{hint}'
            self.context.problems.add(at, f"@mcpTask: {argument}: {sentence}", code="unknown-operation")
        return by_name.get(name)

    def _faults(self, poll: AuthorOperation, cancel: AuthorOperation | None) -> Iterator[tuple[str, str]]:
        """Yield the arguments with a fault, each with a sentence."""
        values, schema = self.values, self.context.schema
        for name, least, most in (("every", 1, 3_600), ("ttl", values["every"], MAX_TTL_S), ("wait", 0, MAX_WAIT_S)):
            if not least <= values[name] <= most:
                yield name, f"expected {least:,} to {most:,} seconds"
        if not values["completed"]:
            yield "completed", "expected the statuses of a job that has ended well"
        type_ = _leaves(poll, schema).get(values["status"])
        statuses = [status for _, status in self._statuses()]
        for outcome, status in self._statuses():
            if statuses.count(status) > 1:
                yield outcome, f'"{status}" is named twice'
            if isinstance(type_, GraphQLEnumType) and status not in type_.values:
                yield outcome, f'"{status}" is not a value of {type_}{did_you_mean(status, type_.values)}'
        variables = [node for each in (poll, cancel) if each for node in each.filled_by_model]
        names = [node.variable.name.value for node in variables]
        needed = {node.variable.name.value for node in variables if not node.default_value}
        sources = values["variables"] if isinstance(values["variables"], dict) else {}
        if not sources or not needed <= sources.keys() <= {*names}:
            filled = ", ".join(f"${name}" for name in dict.fromkeys(names)) or "a variable of the query"
            yield "variables", f'expected an object with a path for {filled}, such as {{id: "startExport.job.id"}}'
        paths = [("variables", self.mutation, path) for path in sources.values()]
        if values.get("initialStatus") is not None:
            paths.append(("initialStatus", self.mutation, values["initialStatus"]))
        for argument, operation, path in (*paths, ("status", poll, values["status"])):
            leaves = _leaves(operation, schema)
            if not isinstance(path, str) or path not in leaves:
                hint = did_you_mean(str(path), leaves) or ": expected response keys, through no list, to a value"
                yield argument, f'"{path}" is not a path in the answer of "{operation.name}"{hint}'

    def _statuses(self) -> Iterator[tuple[str, str]]:
        return ((outcome, status) for outcome in OUTCOMES for status in self.values[outcome])

    def _made(self, poll: AuthorOperation, cancel: AuthorOperation | None) -> list[CompiledTool]:
        """Return the tool with its task and the output schema of both answers, and the status tool."""
        values, asking = self.values, self._status_tool(poll)
        tool: PrescribedTool | Any = self.compiled.tool
        task = Task(
            status_tool=asking.tool.name,
            variables=values["variables"],
            status=values["status"],
            initial_status=values.get("initialStatus") or "",
            outcomes={status: outcome for outcome, status in self._statuses()},
            every_s=values["every"],
            ttl_s=values["ttl"],
            wait_s=values["wait"],
            cancel=persisted_of(self.context, cancel, demands=Demands()) if cancel else None,
            required=values["required"],
        )
        entry = {**tool.entry}
        polling: PrescribedTool | Any = asking.tool
        output, other = entry.pop("outputSchema", None), polling.entry.get("outputSchema")
        # Callers of the tool read the names of the query's fields there.
        if output and other and polling.mask <= tool.mask:
            entry["outputSchema"] = either(output, other)
        return [replace(self.compiled, tool=replaced(tool, task=task, entry=entry)), asking]

    def _status_tool(self, poll: AuthorOperation) -> CompiledTool:
        """Return the tool that asks for the status of a job, for clients without tasks."""
        starter: PrescribedTool | Any = self.compiled.tool
        declaration: ToolDeclaration | Any = self.compiled.declaration
        name, options = starter.name, declaration.options
        hidden = options.hidden or self.values["required"] or self.values["statusTool"] == "hidden"
        declared = McpTool(
            name=f"{name}_status",
            description=f"Return the result of a job that {name} has started, or the fact that the job still goes on.",
            options=replace(
                NO_OPTIONS,
                title=f"{options.title}: status" if options.title else "",
                hidden=hidden,
                pinned=options.pinned and not hidden,
                scopes=options.scopes,
                condition=options.condition,
                limits=options.limits,
                output=options.output,
                output_schema=options.output_schema,
                continues=False,
            ),
        )
        made = mcp_tool(self.context, poll, declared=declared, starter=self.compiled.key)
        tool: PrescribedTool | Any = made.tool
        entry = {**tool.entry, "inputSchema": ARGUMENTS}
        # Lists and reports have the tool for callers who may start jobs; the server judges values of variables, too.
        mask = tool.mask | self.context.conditions.without_variables(starter.mask)
        changed = replaced(tool, entry=entry, arguments=ARGUMENTS, mask=mask, conditions=OPEN, polls=name)
        return replace(made, at=self.node, tool=changed, long_enums={})


def _leaves(operation: AuthorOperation, schema: GraphQLSchema) -> dict[str, GraphQLNamedType | None]:
    """Return the paths of an operation's values outside of lists, each with the type, ``None`` if unknown."""
    node: Any = get_operation_ast(operation.document)
    leaves: dict[str, GraphQLNamedType | None] = {}
    selections = Selections(operation.document, schema)

    def visit(type_: GraphQLNamedType | Any, parts: Sequence[Part], before: str) -> None:
        below = {}  # objects that look alike once: types within types multiply
        for each in (type_, *(schema.get_possible_types(type_) if is_abstract_type(type_) else ())):
            for key, selected in selections.collect(each, parts).items():
                named = get_named_type(selected.type) if selected.type else None
                if selected.type and is_list_type(get_nullable_type(selected.type)):
                    continue
                if not selected.below:
                    leaves[f"{before}{key}"] = named
                elif named:
                    below[key, selected.likeness()] = named, selected.parts(), f"{before}{key}."
        for place in below.values():
            visit(*place)

    visit(schema.get_root_type(node.operation), [Part(node.selection_set)], "")
    return leaves
