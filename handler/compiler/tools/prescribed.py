"""Tools that run one operation of the author: ``@tool(prescribed:)`` and ``@mcpTool``."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from graphql import (
    DirectiveNode,
    Node,
    ObjectValueNode,
    is_composite_type,
)

from handler.answers.plan import write_plan
from handler.bundle.short_list import outer_levels
from handler.bundle.tools import MAX_CONSENT_CHARS, PrescribedTool
from handler.cold.records import replaced
from handler.compiler.access.policies import tool_rule
from handler.compiler.api_context import ApiContext
from handler.compiler.json_schemas.defaults import coordinates_in, fits, json_of
from handler.compiler.json_schemas.descriptions import (
    MAX_ENUM_CHARS,
    enum_text,
    fill_template,
    operation_description,
    selections_description,
    variable_descriptions,
)
from handler.compiler.json_schemas.input_schema import (
    Inputs,
    SharedDefinitions,
    advertised_schema,
    bound_schema,
    enforced_schema,
)
from handler.compiler.json_schemas.output_schema import output_schema
from handler.compiler.operations.author_operations import AuthorOperation, McpTool, Operations
from handler.compiler.operations.kept_operations import KeptTool
from handler.compiler.operations.sources import unread_with
from handler.compiler.operations.used_coordinates import coordinates_used
from handler.compiler.problems import At, Problems, where
from handler.compiler.schema.directives import ToolDirective, argument_items, value_of_argument
from handler.compiler.schema.tool_options import RESULT, AuthorOptions
from handler.compiler.tools.declaration import CompiledTool, ToolDeclaration, directive_declaration
from handler.compiler.tools.persisted import sent
from handler.compiler.tools.variables import coordinates_bound, judge_files, read_bindings
from handler.graph.documents.answer_plan import plan_of_document
from handler.graph.tool_entry import default_annotations
from handler.json_schema.shortening import schema_bytes
from handler.policy.evaluation import OPEN, Mask, union_of
from handler.strict_json import JSONObject
from handler.text.sentences import did_you_mean

MAX_EXAMPLES = 5
MAX_EXAMPLE_BYTES = 1_000
"""A model reads the list of tools at every turn."""


def prescribed_tool(context: ApiContext, directive: ToolDirective, *, operations: Operations) -> CompiledTool | None:
    """Compile one ``@tool(prescribed:)``; ``None`` after reporting an error."""
    problems, name = context.problems, directive.prescribed or ""
    by_name = {operation.name: operation for operation in operations.valid}
    operation = by_name.get(name)
    if operation is None:
        if operations.complete and name not in operations.refused:
            hint = did_you_mean(name, [*by_name, *operations.refused]) or (
                ": expected its name in a file of @sdl(executables: [{document, persist: true}])"
            )
            at: At = value_of_argument(directive.node, "prescribed")
            sentence = f'@tool "{directive.name}": the operation "{name}" does not exist{hint}'
            if unread := unread_with(name, context.endpoint):
                at, sentence = (
                    unread[0],
                    f'it is not read, and has the operation of @tool "{directive.name}": {unread[1]}',
                )
            problems.add(at, sentence, code="unknown-operation")
        return None
    if not operation.persisted:
        sentence = f'@tool "{directive.name}": the operation "{name}" is not persisted: set persist: true'
        problems.add(directive.node, sentence, code="unpersisted-operation")
        return None
    declaration = directive_declaration(directive, name_variables=context.name_variables)
    return _operation_tool(context, operation, declaration, flat=False)


def mcp_tool(context: ApiContext, operation: AuthorOperation, *, declared: McpTool, starter: str = "") -> CompiledTool:
    """Compile an operation with ``@mcpTool``. ``starter``: the key of the tool whose jobs it asks about."""
    declaration = ToolDeclaration(
        at=operation.node,
        name=fill_template(declared.name or operation.name, context.name_variables),
        description=declared.description,
        descriptions={},
        options=declared.options,
    )
    return _operation_tool(context, operation, declaration, flat=True, starter=starter)


def _operation_tool(
    context: ApiContext, operation: AuthorOperation, declaration: ToolDeclaration, *, flat: bool, starter: str = ""
) -> CompiledTool:
    """Compile an operation that is declared as a tool. ``flat``: the variables are the tool's arguments."""
    rule = tool_rule(declaration.name, declaration.options, context.conditions, context.problems)
    own_mask, at = rule.mask if rule else OPEN, where(declaration.at)
    place = at.file, at.line, at.column
    key = context.kept.key_of("tool", operation.key, operation.name, flat, place, sorted(own_mask), starter)
    make = partial(_made_tool, context, operation, declaration, flat=flat, own_mask=own_mask)
    made = context.kept.use_or_make(key, KeptTool, make, restore=partial(_restored, context.definitions))
    return CompiledTool(
        at=declaration.at,
        tool=made.tool,
        uses=made.uses,
        runs=f"{operation.kind} {operation.name}",
        types=made.types,
        reads=operation.kind == "query",
        writes=operation.kind == "mutation",
        described=made.described,
        operation=operation,
        declaration=declaration,
        rule=rule,
        view=declaration.options.view,
        shortened_from=made.shortened_from,
        long_enums=made.long_enums,
        key=key,
    )


def _made_tool(
    context: ApiContext, operation: AuthorOperation, declaration: ToolDeclaration, *, flat: bool, own_mask: Mask
) -> KeptTool:
    """Compile an operation. ``own_mask`` is that of the tool's condition."""
    schema, scalars, options = context.schema, context.scalars, declaration.options
    _refuse_misfits(context, operation, declaration, flat=flat)
    coordinates = coordinates_used(operation.document, schema)
    needed = tuple(dict.fromkeys([*coordinates, *coordinates_bound(operation, schema)]))
    mask = union_of(context.guards, needed) | own_mask
    inputs = Inputs(operation, schema, context.guards, mask=mask, left_out=context.types_of_files)
    judge_files(context, operation, inputs.types)

    values = context.description_variables | {"schema_sdl": ""}
    description = operation_description(operation, schema, given=declaration.description, values=values)
    texts = variable_descriptions(operation, schema, given=declaration.descriptions, values=values)
    advertised = advertised_schema(inputs, scalars=scalars, descriptions=texts, flat=flat)
    enforced = enforced_schema(inputs, scalars=scalars, flat=flat)
    if options.examples and options.node:
        reader = _ExampleReader(
            inputs=inputs,
            advertised=advertised if flat else advertised["properties"]["variables"],
            enforced=enforced if flat else enforced["properties"]["variables"],
            definitions=(advertised.get("$defs", {}), enforced.get("$defs", {})),
            problems=context.problems,
        )
        variables = reader.with_examples(options.node, options.examples)
        advertised = variables if flat else {**advertised, "properties": {"variables": variables}}
    output, shortened_from = _output_schema(context, operation, options, mask=mask)
    entry = {
        "name": declaration.name,
        "description": description or selections_description(operation),
        "inputSchema": context.definitions.shared(advertised),
        **output,
        "annotations": default_annotations(writes=operation.kind == "mutation"),
    }

    if operation.kind == "query":
        continues = context.endpoint.config.continues
        options = options.continuing(default=continues, taken=operation.variables if flat else ())
    arguments = context.definitions.shared(enforced)
    enum_sizes = {type_.name: len(enum_text(inputs.values(type_))) for type_ in inputs.enums()}
    tool = PrescribedTool(
        name=declaration.name,
        entry=options.listed(entry, limits=context.limits),
        arguments=options.completed(arguments),
        flat=flat,
        mask=mask,
        conditions=context.guarded.conditions_in(arguments),
        operation=sent(operation, schema),
        bindings=read_bindings(operation, schema, context.problems),
        bound=context.definitions.shared(bound_schema(inputs, scalars=scalars)),
        options=options.served(output="both"),
        plan=write_plan(
            plan_of_document(
                operation.document,
                context.whole_view,
                settable=inputs.visible,
                is_hidden=lambda place: context.guards.get(place, OPEN) - mask,  # the plan is the same for all callers
            )
        ),
    )
    return KeptTool(
        tool=tool,
        uses=needed,
        types=sum(is_composite_type(schema.get_type(coordinate)) for coordinate in coordinates),
        described=bool(description),
        shortened_from=shortened_from,
        long_enums={name: size for name, size in enum_sizes.items() if size > MAX_ENUM_CHARS},
    )


def _restored(definitions: SharedDefinitions, made: KeptTool) -> KeptTool:
    """Return a tool that was kept with the definitions that its schemas share with those of other tools."""
    tool = made.tool
    entry = {**tool.entry, "inputSchema": definitions.shared(tool.entry["inputSchema"])}
    arguments, bound = definitions.shared(tool.arguments), definitions.shared(tool.bound)
    return replaced(made, tool=replaced(tool, entry=entry, arguments=arguments, bound=bound))


def _refuse_misfits(
    context: ApiContext, operation: AuthorOperation, declaration: ToolDeclaration, *, flat: bool
) -> None:
    """Report options and fields that a tool with this operation cannot have."""
    options, problems, name = declaration.options, context.problems, declaration.name
    at = options.node or declaration.at
    if options.limits.keys() - {RESULT}:
        sentence = f'"{name}" runs one operation: limits but {RESULT} are for tools whose requests a model writes'
        problems.add(at, sentence, code="limits-of-an-operation")
    if options.confirm == "advisory" and flat and "confirm" in operation.variables:
        sentence = f'"{name}" has a variable "confirm", a name that confirm takes for its own argument: rename it'
        problems.add(at, sentence, code="reserved-variable")
    if options.continues and operation.kind == "mutation":
        problems.add(at, f'"{name}" sends a mutation: limits.continue is for queries', code="not-a-query")
    if options.annotations.get("readOnlyHint") and operation.kind == "mutation":
        problems.add(at, f'"{name}" sends a mutation and says readOnlyHint: true', code="not-read-only")
    if options.confirm and len(operation.text) > MAX_CONSENT_CHARS:
        size = f"{len(operation.text):,} characters: a user can be asked about {MAX_CONSENT_CHARS:,} at most"
        problems.add(at, f'"{name}" says confirm, and its operation has {size}', code="long-consent")
    if operation.asks:
        sentence = f'"{name}" asks the API for {operation.asks}, which reveals hidden types'
        problems.add(declaration.at, sentence, code="schema-query")


def _output_schema(
    context: ApiContext, operation: AuthorOperation, options: AuthorOptions, *, mask: Mask
) -> tuple[JSONObject, dict[str, int]]:
    """Return the output schema of the tool's entry, if wanted, and its bytes if it were whole; empty if it is."""
    limits = context.endpoint.config.schemas
    if not options.wants_output_schema(limits.output):
        return {}, {}
    whole = output_schema(operation.document, context.schema, context.guards, mask=mask)
    max_bytes = limits.max_output_schema_bytes
    size = schema_bytes(whole) if max_bytes > 0 and options.output != "text" else 0
    if size <= max_bytes:
        return {"outputSchema": whole}, {}
    return {"outputSchema": outer_levels(whole, max_bytes)}, {"outputSchema": size}


@dataclass(frozen=True, kw_only=True)
class _ExampleReader:
    """Reader of the examples of one tool. ``advertised`` and ``enforced`` are the schemas of its variables.

    An example is a call, whose values become ``examples`` of the variables in the input schema.
    """

    inputs: Inputs
    advertised: JSONObject
    enforced: JSONObject
    definitions: tuple[JSONObject, JSONObject]  # of both schemas
    problems: Problems

    def with_examples(self, node: DirectiveNode, examples: Sequence[Any]) -> JSONObject:
        """Return the advertised schema of the variables with the examples that fit, after reporting the others."""
        if len(examples) > MAX_EXAMPLES:
            self._refuse(node, f"{len(examples)} are given: expected at most {MAX_EXAMPLES}")
        values: dict[str, dict[str, Any]] = {}  # variable -> JSON -> value: true is not 1
        for at, literal in zip(argument_items(node, "examples"), examples, strict=False):
            example, nodes = literal, dict[str, Node]()
            if isinstance(at, ObjectValueNode):  # literals are those of the types: 5 may be an ID
                nodes = {each.name.value: each.value for each in at.fields}
                example = {name: json_of(node, self.inputs.types.get(name)) for name, node in nodes.items()}
            faults = list(self._faults(example, nodes))
            for fault in faults:
                self._refuse(at, fault)
            for name, value in example.items() if not faults else ():
                values.setdefault(name, {}).setdefault(json.dumps(value), value)
        properties = self.advertised["properties"]
        filled = {name: {**properties[name], "examples": list(each.values())} for name, each in values.items()}
        return {**self.advertised, "properties": {**properties, **filled}}

    def _refuse(self, at: Node, sentence: str) -> None:
        self.problems.add(at, f"examples: {sentence}", code="invalid-example")

    def _faults(self, example: Any, nodes: Mapping[str, Node]) -> Iterator[str]:
        """Yield the faults of one example, whose values are written as ``nodes``. No sentence shows a value."""
        if not isinstance(example, dict):
            yield "expected an object of variables and their values"
            return
        try:
            size = len(json.dumps(example, ensure_ascii=False, allow_nan=False).encode())
        except (TypeError, ValueError):
            yield "a value cannot be written as JSON"
            return
        if size > MAX_EXAMPLE_BYTES:
            yield f"it has {size:,} bytes: expected at most {MAX_EXAMPLE_BYTES:,}"
        bound = {node.variable.name.value for node in self.inputs.bound}
        names = self.advertised["properties"]
        yield from (f"${name} is required" for name in self.enforced.get("required", ()) if name not in example)
        for name, value in example.items():
            if name in bound:
                yield f"${name} is bound: its value never comes from a call"
            elif name not in names:
                yield f"there is no variable ${name}{did_you_mean(name, list(names))}"
            else:
                yield from self._faults_of_value(name, value, nodes[name])

    def _faults_of_value(self, name: str, value: Any, node: Node) -> Iterator[str]:
        type_ = self.inputs.types[name]
        schemas = zip((self.advertised, self.enforced), self.definitions, strict=True)
        if not all(fits(value, {**whole["properties"][name], "$defs": below}) for whole, below in schemas):
            yield f"the value of ${name} does not fit its type {type_}"
        defined = {each.name: each for each in self.inputs.defined}
        for coordinate in dict.fromkeys(coordinates_in(node, type_)):
            owner, _, member = coordinate.partition(".")
            if owner in defined and member in self.inputs.guards(defined[owner]):
                yield f"${name} uses {coordinate}, which some callers of the tool may not know"
