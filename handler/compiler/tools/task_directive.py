"""Tasks: ``@mcpTask`` on a mutation that starts a job at the API, and the tool that asks for the job's status.

Source: the extension ``io.modelcontextprotocol/tasks`` of MCP (SEP-2663).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from graphql import (
    DirectiveNode,
    GraphQLEnumType,
    GraphQLNamedType,
    Node,
    ObjectValueNode,
    get_named_type,
    get_nullable_type,
    is_abstract_type,
    is_list_type,
    type_from_ast,
)

from handler.bundle.tools import PrescribedTool, Task
from handler.cold.records import replaced
from handler.compiler.api_context import ApiContext
from handler.compiler.json_schemas.output_schema import ResponseKey, Selections, root_selection
from handler.compiler.operations.author_operations import AuthorOperation, Operations, is_bound
from handler.compiler.schema.directives import read_arguments, value_of_argument
from handler.compiler.schema.tool_options import NO_OPTIONS, AuthorOptions
from handler.compiler.tools.declaration import CompiledTool, ToolDeclaration
from handler.compiler.tools.persisted import Demands, persisted_of
from handler.compiler.tools.prescribed import operation_tool, tool_output_schema
from handler.policy.evaluation import OPEN, union_of
from handler.strict_json import JSONObject
from handler.text.sentences import did_you_mean, some

MAX_TTL_S = 604_800
MAX_WAIT_S = 20
"""A call is answered within 28 s, the mutation and the last query included."""

STATUSES = ("completed", "failed", "cancelled")

FITTING: Mapping[str, Sequence[str]] = {"ID": ("String", "Int"), "String": ("ID",)}
"""Type of a variable -> other types of fields whose values it takes."""

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
        match each:
            case CompiledTool(
                tool=PrescribedTool() as tool,
                operation=AuthorOperation(task=DirectiveNode() as node) as mutation,
                declaration=ToolDeclaration(options=options),
            ):
                values = read_arguments(node, context.problems)
                starter = _Starter(context, each, tool, mutation, options, node, values or {}, operations)
                result += starter.tools() if values else [each]
            case _:
                result.append(each)
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
    compiled: CompiledTool
    tool: PrescribedTool
    mutation: AuthorOperation
    options: AuthorOptions
    node: DirectiveNode
    values: Mapping[str, Any]
    operations: Operations

    def tools(self) -> list[CompiledTool]:
        """Return the tool with its task, and the status tool; the tool as it is after reporting faults."""
        poll, cancel = self._operation("poll", "query"), self._operation("cancel", "mutation")
        if poll is None or (cancel is None and self.values.get("cancel") is not None):
            return [self.compiled]
        others = [poll, cancel] if cancel else [poll]
        faults = [*self._faults(), *self._status_faults(poll), *self._variable_faults(others)]
        for at, sentence in faults:
            self.context.problems.add(at, f"@mcpTask: {sentence}", code="invalid-task")
        return [self.compiled] if faults else self._made(poll, cancel)

    def _at(self, argument: str) -> Node:
        return value_of_argument(self.node, argument)

    def _operation(self, argument: str, kind: str) -> AuthorOperation | None:
        """Return the operation that an argument names; ``None`` if it names none, or after reporting a fault."""
        name = self.values.get(argument)
        operation = next((each for each in self.operations.valid if each.name == name), None)
        if operation and operation.kind == kind:
            return operation
        if operation:
            sentence = f'@mcpTask: {argument}: "{name}" is a {operation.kind}: expected a {kind}'
            self.context.problems.add(self._at(argument), sentence, code="invalid-task")
        elif name is not None and self.operations.complete and name not in self.operations.refused:
            names = [each.name for each in self.operations.valid if each.kind == kind]
            hint = did_you_mean(name, names) or f": expected the name of a {kind} in a file of operations"
            sentence = f'@mcpTask: {argument}: the operation "{name}" does not exist{hint}'
            self.context.problems.add(self._at(argument), sentence, code="unknown-operation")
        return None

    def _faults(self) -> Iterator[tuple[Node, str]]:
        """Yield the faults of times and statuses by themselves."""
        values = self.values
        times = {"every": (1, 3_600), "ttl": (max(values["every"], 1), MAX_TTL_S), "wait": (0, MAX_WAIT_S)}
        for name, (least, most) in times.items():
            if not least <= values[name] <= most:
                yield self._at(name), f"{name} is {values[name]}: expected {least:,} to {most:,} seconds"
        if not values["completed"]:
            yield self._at("completed"), "completed is empty: expected the statuses of a job that has ended well"
        statuses = [status for name in STATUSES for status in values[name]]
        for twice in sorted({status for status in statuses if statuses.count(status) > 1}):
            yield self._at("completed"), f'the status "{twice}" appears twice in {some(STATUSES)}: expected it once'

    def _status_faults(self, poll: AuthorOperation) -> Iterator[tuple[Node, str]]:
        """Yield the faults of the paths to the status, and of statuses that its type does not have."""
        values = self.values
        type_, fault = self._leaf(poll, values["status"])
        if fault:
            yield self._at("status"), f"status: {fault}"
        if values.get("initialStatus") is not None:
            initial, fault = self._leaf(self.mutation, values["initialStatus"])
            if not fault and type_ and initial and type_.name != initial.name:
                fault = f"it is {initial.name}, and the status is {type_.name}: expected one type"
            if fault:
                yield self._at("initialStatus"), f"initialStatus: {fault}"
        known = ["true", "false"] if type_ and type_.name == "Boolean" else []
        known = list(type_.values) if isinstance(type_, GraphQLEnumType) else known
        for name in STATUSES if known else ():
            for status in values[name]:
                if status not in known:
                    hint = did_you_mean(status, known) or f": expected one of {some(known)}"
                    yield self._at(name), f'{name}: "{status}" is not a value of {type_}{hint}'

    def _variable_faults(self, operations: Sequence[AuthorOperation]) -> Iterator[tuple[Node, str]]:
        """Yield the faults of the variables of the query, and of the mutation that cancels."""
        paths, at = self.values["variables"], self._at("variables")
        if not isinstance(paths, dict) or not paths or not all(isinstance(path, str) for path in paths.values()):
            yield at, 'variables: expected an object of variables and paths, such as {id: "startExport.job.id"}'
            return
        places = {each.name.value: each.value for each in at.fields} if isinstance(at, ObjectValueNode) else {}
        leaves = {name: self._leaf(self.mutation, path) for name, path in paths.items()}
        variables = [(each, node) for each in operations for node in each.node.variable_definitions or ()]
        names = [node.variable.name.value for _, node in variables]
        for name in paths:
            fault = leaves[name][1]
            if name not in names:
                fault = f'"{operations[0].name}" has no variable ${name}{did_you_mean(name, names)}'
            if fault:
                yield places.get(name, at), f"variables: {name}: {fault}"
        for (operation, node), name in zip(variables, names, strict=True):
            type_: Any = type_from_ast(self.context.schema, node.type)
            source, is_list = leaves.get(name, (None, ""))[0], is_list_type(get_nullable_type(type_))
            fitting = (get_named_type(type_).name, *FITTING.get(get_named_type(type_).name, ()))
            variable = f'variables: ${name} of "{operation.name}"'
            if name in paths and is_bound(node):
                yield places.get(name, at), f"{variable} has a path and @mcpBind: expected one source"
            elif name not in paths and not is_bound(node) and not node.default_value:
                yield at, f"{variable} is missing: expected its path in the mutation's answer"
            elif source and (is_list or source.name not in fitting):
                fault = f"{variable} is {type_}, and {paths[name]} is {source}: expected a fitting type"
                yield places.get(name, at), fault

    def _leaf(self, operation: AuthorOperation, path: str) -> tuple[GraphQLNamedType | None, str]:
        """Return the type of the leaf at a path of an operation's answer, ``None`` if unknown, and the path's fault."""
        schema, walked = self.context.schema, ""
        selections, places = Selections(operation.document, schema), [root_selection(operation.document, schema)]
        selected: list[ResponseKey] = []
        for key in path.split("."):
            objects = [
                selections.collect(each, parts)
                for type_, parts in places
                for each in (type_, *(schema.get_possible_types(type_) if is_abstract_type(type_) else ()))
            ]
            selected = [keys[key] for keys in objects if key in keys]
            if not selected:
                names = list(dict.fromkeys(name for keys in objects for name in keys))
                hint = did_you_mean(key, names) or (f": expected one of {some(names)}" if names else "")
                return None, f'"{operation.name}" does not select "{walked}{key}"{hint}'
            walked += f"{key}."
            if any(is_list_type(get_nullable_type(each.type)) for each in selected if each.type):
                return None, f'"{walked[:-1]}" is a list: expected the path of one value'
            places = [(get_named_type(each.type), each.parts()) for each in selected if each.type and each.below]
        if any(each.below for each in selected):
            return None, f'"{path}" is an object: expected the path of a field without a selection'
        return next((get_named_type(each.type) for each in selected if each.type), None), ""

    def _made(self, poll: AuthorOperation, cancel: AuthorOperation | None) -> list[CompiledTool]:
        """Return the tool with its task and the output schema of both answers, and the status tool."""
        values, tool, status_tool = self.values, self.tool, self._status_tool(poll)
        task = Task(
            status_tool=status_tool.tool.name,
            variables=values["variables"],
            status=values["status"],
            initial_status=values.get("initialStatus") or "",
            completed=tuple(values["completed"]),
            failed=tuple(values["failed"]),
            cancelled=tuple(values["cancelled"]),
            every_s=values["every"],
            ttl_s=values["ttl"],
            wait_s=values["wait"],
            cancel=persisted_of(self.context, cancel, demands=Demands()) if cancel else None,
            required=values["required"],
        )
        entry, sizes = {**tool.entry}, self.compiled.shortened_from
        # Callers of the tool read the names of the query's fields there.
        may_read = union_of(self.context.guards, status_tool.uses) <= tool.mask
        if entry.pop("outputSchema", None) and may_read:
            output, more = tool_output_schema(self.context, self.mutation, self.options, mask=tool.mask, other=poll)
            entry, sizes = {**tool.entry, **output}, {**sizes, **more}
        starter = replace(self.compiled, tool=replaced(tool, task=task, entry=entry), shortened_from=sizes)
        return [starter, status_tool]

    def _status_tool(self, poll: AuthorOperation) -> CompiledTool:
        """Return the tool that asks for the status of a job, for clients without tasks."""
        name, options = self.tool.name, self.options
        hidden = options.hidden or self.values["required"] or self.values["statusTool"] == "hidden"
        status_options = replace(
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
        )
        declaration = ToolDeclaration(
            at=self.node,
            name=f"{name}_status",
            description=f"Return the result of a job that {name} has started, or the fact that the job still goes on.",
            descriptions={},
            options=status_options,
        )
        made = operation_tool(self.context, poll, declaration, flat=True, starter=self.compiled.key)
        tool: PrescribedTool | Any = made.tool
        entry = {**tool.entry, "inputSchema": ARGUMENTS}
        # Lists and reports have the tool for callers who may start jobs; the server judges values of variables, too.
        mask = tool.mask | self.context.conditions.without_variables(self.tool.mask)
        changed = replaced(tool, entry=entry, arguments=ARGUMENTS, mask=mask, conditions=OPEN, polls=name)
        return replace(made, tool=changed, long_enums={})
