"""Tools that run one operation of the author: ``@tool(prescribed:)`` and ``@mcpTool``."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from graphql import (
    DirectiveNode,
    GraphQLEnumType,
    GraphQLInputObjectType,
    GraphQLList,
    GraphQLNonNull,
    Node,
    ObjectValueNode,
    is_composite_type,
)

from handler.bundle.operations import Operation
from handler.bundle.tools import MAX_CONSENT_CHARS, PrescribedTool
from handler.compiler.access.code_access import tool_rule
from handler.compiler.access.policies import Rule
from handler.compiler.api_context import ApiContext
from handler.compiler.json_schemas.defaults import fits, json_of
from handler.compiler.json_schemas.descriptions import (
    expand,
    operation_description,
    variable_descriptions,
)
from handler.compiler.json_schemas.input_schema import advertised_schema, bound_schema, enforced_schema
from handler.compiler.json_schemas.inputs import Inputs
from handler.compiler.json_schemas.output_schema import output_schema
from handler.compiler.json_schemas.planned_answer import planned_answer
from handler.compiler.operations.author_operations import AuthorOperation, McpTool, Operations
from handler.compiler.operations.used_coordinates import asked_of_the_schema, coordinates_used
from handler.compiler.problems import Problems
from handler.compiler.schema.directives import ToolDirective, items_of, value_of_argument
from handler.compiler.schema.tool_options import RESULT, AuthorOptions
from handler.compiler.tools.bindings import coordinates_bound, read_bindings
from handler.compiler.tools.declaration import CompiledTool, ToolDeclaration, directive_declaration
from handler.compiler.tools.persisted import sent
from handler.compiler.tools.uploads import judge_files
from handler.graph.tool_entry import default_annotations
from handler.json_schema.shortening import size_of
from handler.policy.evaluation import OPEN, Mask, hidden_from_everybody, union_of
from handler.strict_json import JSONObject
from handler.text.sentences import did_you_mean


def prescribed_tool(context: ApiContext, directive: ToolDirective, *, operations: Operations) -> CompiledTool | None:
    """Compile one ``@tool(prescribed:)``; ``None`` after reporting an error."""
    operation = _persisted_operation(directive, operations, problems=context.problems)
    if operation is None:
        return None
    declaration = directive_declaration(directive, name_variables=context.name_variables)
    return _OperationTool(context=context, operation=operation, declaration=declaration, flat=False).compile()


def mcp_tool(context: ApiContext, operation: AuthorOperation, *, declared: McpTool) -> CompiledTool:
    """Compile an operation with ``@mcpTool``."""
    declaration = ToolDeclaration(
        at=operation.node,
        name=expand(declared.name or operation.name, context.name_variables),
        description=declared.description,
        descriptions={},
        options=declared.options,
    )
    return _OperationTool(context=context, operation=operation, declaration=declaration, flat=True).compile()


def _persisted_operation(
    directive: ToolDirective, operations: Operations, *, problems: Problems
) -> AuthorOperation | None:
    name = directive.prescribed or ""
    found = {operation.name: operation for operation in operations.valid}
    operation = found.get(name)
    if operation is None:
        if operations.complete and name not in operations.refused:
            hint = did_you_mean(name, [*found, *operations.refused]) or (
                ": expected its name in a file of @sdl(executables: [{document, persist: true}])"
            )
            problems.add(
                value_of_argument(directive.node, "prescribed"),
                f'@tool "{directive.name}": the operation "{name}" does not exist{hint}',
                code="unknown-operation",
            )
        return None
    if not operation.persisted:
        why = "is not persisted: set persist: true"
        problems.add(
            directive.node, f'@tool "{directive.name}": the operation "{name}" {why}', code="unpersisted-operation"
        )
        return None
    return operation


@dataclass(frozen=True, kw_only=True)
class _OperationTool:
    """An operation of the author that is declared as a tool. ``flat``: the variables are the tool's arguments."""

    context: ApiContext
    operation: AuthorOperation
    declaration: ToolDeclaration
    flat: bool

    def compile(self) -> CompiledTool:
        """Return the tool, after reporting what does not fit its operation."""
        self._refuse_options()
        self._refuse_schema_query()
        self._judge_files()
        operation = sent(self.operation, self.context.schema)
        self._refuse_long_consent(operation)
        return CompiledTool(
            at=self.declaration.at,
            tool=self._tool(operation),
            uses=self._needed,
            runs=f"{self.operation.kind} {self.operation.name}",
            types=sum(is_composite_type(self.context.schema.get_type(coordinate)) for coordinate in self._used),
            reads=self.operation.kind == "query",
            writes=self.operation.kind == "mutation",
            described=bool(self._description),
            operation=self.operation,
            declaration=self.declaration,
            rule=self._rule,
            view=self.declaration.options.view,
            shortened_from=self._shortened_from,
        )

    @cached_property
    def _used(self) -> Mapping[str, Node]:
        return coordinates_used(self.operation.document, self.context.schema)

    @cached_property
    def _needed(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys([*self._used, *coordinates_bound(self.operation, self.context.schema)]))

    @cached_property
    def _mask(self) -> Mask:
        return union_of(self.context.guards, self._needed) | (self._rule.mask if self._rule else OPEN)

    @cached_property
    def _rule(self) -> Rule | None:
        declaration, context = self.declaration, self.context
        return tool_rule(declaration.name, declaration.options, context.conditions, context.problems)

    @cached_property
    def _options(self) -> AuthorOptions:
        """The author's options, with an argument for cursors if answers can be continued."""
        options, operation = self.declaration.options, self.operation
        if operation.kind != "query":
            return options
        taken = operation.variables if self.flat else ()
        return options.continuing(default=self.context.endpoint.config.continues, taken=taken)

    @cached_property
    def _inputs(self) -> Inputs:
        context = self.context
        return Inputs(self.operation, context.schema, context.guards, mask=self._mask, left_out=context.types_of_files)

    @cached_property
    def _description(self) -> str:
        given, values = self.declaration.description, self._description_variables
        return operation_description(self.operation, self.context.schema, given=given, values=values)

    @property
    def _description_variables(self) -> dict[str, str]:
        return self.context.description_variables | {"schema_sdl": ""}

    def _tool(self, operation: Operation) -> PrescribedTool:
        context, options = self.context, self._options
        arguments = context.shared(enforced_schema(self._inputs, scalars=context.scalars, flat=self.flat))
        return PrescribedTool(
            name=self.declaration.name,
            entry=options.listed(self._entry(), limits=context.limits),
            arguments=options.completed(arguments),
            flat=self.flat,
            mask=self._mask,
            conditions=context.conditions_in(arguments),
            operation=operation,
            bindings=read_bindings(self.operation, context.schema, context.problems),
            bound=context.shared(bound_schema(self._inputs, scalars=context.scalars)),
            options=options.served(output="both"),
            plan=planned_answer(operation.text, context.schema, settable=self.operation.variables),
        )

    def _entry(self) -> JSONObject:
        """Return the tool's entry of ``tools/list``."""
        context, operation, declaration = self.context, self.operation, self.declaration
        texts = variable_descriptions(
            operation, context.schema, given=declaration.descriptions, values=self._description_variables
        )
        schema = self._with_examples(
            advertised_schema(self._inputs, scalars=context.scalars, descriptions=texts, flat=self.flat)
        )
        return {
            "name": declaration.name,
            "description": self._description or f"Runs the GraphQL {operation.kind} {operation.name}.",
            "inputSchema": context.shared(schema),
            **self._output_schema(),
            "annotations": default_annotations(writes=operation.kind == "mutation"),
        }

    def _with_examples(self, schema: JSONObject) -> JSONObject:
        """Add the author's examples to the advertised schema of the arguments."""
        options = self.declaration.options
        if not options.examples or options.node is None:
            return schema
        enforced = enforced_schema(self._inputs, scalars=self.context.scalars, flat=self.flat)
        reader = ExampleReader(
            operation=self.operation,
            inputs=self._inputs,
            advertised=schema if self.flat else schema["properties"]["variables"],
            enforced=enforced if self.flat else enforced["properties"]["variables"],
            definitions=(schema.get("$defs", {}), enforced.get("$defs", {})),
            problems=self.context.problems,
        )
        variables = reader.with_examples(options.node, options.examples)
        return variables if self.flat else {**schema, "properties": {"variables": variables}}

    def _output_schema(self) -> JSONObject:
        limits, options = self.context.endpoint.config.schemas, self.declaration.options
        if not options.wants_output_schema(limits.output):
            return {}
        if self._shortened_from:
            return {"outputSchema": self._made_output_schema(limits.max_output_schema_bytes)}
        return {"outputSchema": self._whole_output_schema}

    @cached_property
    def _shortened_from(self) -> dict[str, int]:
        """The bytes of the output schema if it were whole; empty if it is."""
        limits, options = self.context.endpoint.config.schemas, self.declaration.options
        if options.output == "text" or not options.wants_output_schema(limits.output):
            return {}
        size = size_of(self._whole_output_schema)
        return {"outputSchema": size} if 0 < limits.max_output_schema_bytes < size else {}

    @cached_property
    def _whole_output_schema(self) -> JSONObject:
        return self._made_output_schema(0)

    def _made_output_schema(self, max_bytes: int) -> JSONObject:
        document, context = self.operation.document, self.context
        return output_schema(document, context.schema, context.guards, mask=self._mask, max_bytes=max_bytes)

    def _refuse_schema_query(self) -> None:
        asked = asked_of_the_schema(self.operation.document)
        if asked:
            self.context.problems.add(
                self.declaration.at,
                f'"{self.declaration.name}" asks the API for {asked}, which reveals hidden types',
                code="schema-query",
            )

    def _judge_files(self) -> None:
        """Report variables that need a file."""
        context = self.context
        if context.types_of_files:
            variables = {node.variable.name.value: node for node in self.operation.node.variable_definitions or ()}
            taken = {name: (node, self._inputs.types[name]) for name, node in variables.items()}
            hidden = hidden_from_everybody(context.guards)
            judge_files(taken, context.types_of_files, context.problems, hidden=hidden)

    def _refuse_long_consent(self, operation: Operation) -> None:
        declaration = self.declaration
        if declaration.options.confirm and len(operation.text) > MAX_CONSENT_CHARS:
            size = f"{len(operation.text):,} characters: a user can be asked about {MAX_CONSENT_CHARS:,} at most"
            self.context.problems.add(
                declaration.options.node or declaration.at,
                f'"{declaration.name}" says confirm, and its operation has {size}',
                code="long-consent",
            )

    def _refuse_options(self) -> None:
        operation, declaration, problems = self.operation, self.declaration, self.context.problems
        at, name = declaration.options.node or declaration.at, declaration.name
        if declaration.options.limits.keys() - {RESULT}:
            problems.add(
                at,
                f'"{name}" runs one operation: limits but {RESULT} are for tools whose requests a model writes',
                code="limits-of-an-operation",
            )
        if declaration.options.confirm == "advisory" and self.flat and "confirm" in operation.variables:
            problems.add(
                at,
                f'"{name}" has a variable "confirm", a name that confirm takes for its own argument: rename it',
                code="reserved-variable",
            )
        if declaration.options.continues and operation.kind == "mutation":
            problems.add(at, f'"{name}" sends a mutation: limits.continue is for queries', code="not-a-query")
        if declaration.options.annotations.get("readOnlyHint") and operation.kind == "mutation":
            problems.add(at, f'"{name}" sends a mutation and says readOnlyHint: true', code="not-read-only")


MAX_EXAMPLES = 5
MAX_EXAMPLE_BYTES = 1_000
"""A model reads the list of tools at every turn."""


@dataclass(frozen=True, kw_only=True)
class ExampleReader:
    """Reader of the examples of one tool. ``advertised`` and ``enforced`` are the schemas of its variables."""

    operation: AuthorOperation
    inputs: Inputs
    advertised: JSONObject
    enforced: JSONObject
    definitions: tuple[JSONObject, JSONObject]  # of both schemas
    problems: Problems

    def with_examples(self, node: DirectiveNode, examples: Sequence[Any]) -> JSONObject:
        """Return the advertised schema of the variables with the examples that fit, after reporting the others."""
        if len(examples) > MAX_EXAMPLES:
            self._refuse(node, f"{len(examples)} are given: expected at most {MAX_EXAMPLES}")
        found: dict[str, list[Any]] = {}
        for at, example in zip(items_of(node, "examples"), examples, strict=False):
            for name, value in self._fitting(at, example).items():
                texts = {json.dumps(each) for each in found.setdefault(name, [])}  # true is not 1
                if json.dumps(value) not in texts:
                    found[name].append(value)
        properties = self.advertised["properties"]
        filled = {name: {**properties[name], "examples": values} for name, values in found.items()}
        return {**self.advertised, "properties": {**properties, **filled}}

    def _fitting(self, at: Node, example: Any) -> JSONObject:
        if isinstance(at, ObjectValueNode):  # literals are those of the types: 5 may be an ID
            types = self.inputs.types
            example = {each.name.value: json_of(each.value, types.get(each.name.value)) for each in at.fields}
        faults = list(self._faults(example))
        for fault in faults:
            self._refuse(at, fault)
        return {} if faults else dict(example)

    def _refuse(self, at: Node, sentence: str) -> None:
        self.problems.add(at, f"examples: {sentence}", code="invalid-example")

    def _faults(self, example: Any) -> Iterator[str]:
        """Yield the faults of one example. No sentence shows a value."""
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
        bound = {node.variable.name.value for node in self.operation.bound}
        known = self.advertised["properties"]
        yield from (f"${name} is required" for name in self.enforced.get("required", ()) if name not in example)
        for name, value in example.items():
            if name in bound:
                yield f"${name} is bound: its value never comes from a call"
            elif name not in known:
                yield f"there is no variable ${name}{did_you_mean(name, list(known))}"
            else:
                yield from self._faults_of(name, value)

    def _faults_of(self, name: str, value: Any) -> Iterator[str]:
        type_ = self.inputs.types[name]
        schemas = zip((self.advertised, self.enforced), self.definitions, strict=True)
        if not all(fits(value, {**whole["properties"][name], "$defs": below}) for whole, below in schemas):
            yield f"the value of ${name} does not fit its type {type_}"
        for coordinate in dict.fromkeys(_members_in(value, type_)):
            owner, _, member = coordinate.partition(".")
            if member in self._guarded(owner):
                yield f"${name} uses {coordinate}, which some callers of the tool may not know"

    def _guarded(self, owner: str) -> Mapping[str, Any]:
        types = {type_.name: type_ for type_ in self.inputs.defined}
        return self.inputs.guards(types[owner]) if owner in types else {}


def _members_in(value: Any, type_: Any) -> Iterator[str]:
    """Yield the coordinates of the input fields and enum values in a JSON value."""
    match type_:
        case GraphQLNonNull():
            yield from _members_in(value, type_.of_type)
        case GraphQLList():
            for item in value if isinstance(value, list) else [value]:
                yield from _members_in(item, type_.of_type)
        case GraphQLInputObjectType() if isinstance(value, dict):
            for name, below in value.items():
                if name in type_.fields:
                    yield f"{type_.name}.{name}"
                    yield from _members_in(below, type_.fields[name].type)
        case GraphQLEnumType() if isinstance(value, str):
            yield f"{type_.name}.{value}"
