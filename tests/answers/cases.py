"""Random cases: a document, its output schema as it is advertised, and an answer to it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

from graphql import (
    DocumentNode,
    GraphQLSchema,
    OperationDefinitionNode,
    build_schema,
    get_operation_ast,
    parse,
    validate,
)

from handler.answers.fit import CallForm
from handler.answers.plan import Members, read_plan, write_plan
from handler.compiler.json_schemas.output_schema import output_schema
from handler.graph.documents.answer_plan import plan_of_text
from handler.graph.view import View
from tests.answers.mocks import Mock, errors_for
from tests.corpora.attempts import attempt
from tests.corpora.fetch import fetch
from tests.graph.documents.random_documents import random_document
from tests.support.schemas import view_of

API = (Path(__file__).parent / "api.graphql").read_text(encoding="utf-8")

CORPORA = ("github-named", "shopify-storefront", "shopify-customer-account", "vendure-admin", "dagster-named")


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """An answer, what it may be cut by, and how its tool is called."""

    text: str
    plan: Members
    schema: Mapping[str, Any]
    answer: dict[str, Any]
    form: CallForm
    backward: bool


@dataclass(frozen=True, slots=True)
class Source:
    """A schema with operations of its authors, whose view has everything."""

    schema: GraphQLSchema
    view: View
    operations: Sequence[tuple[str, str, Mapping[str, Any], tuple[str, ...]]]  # text, plan, output schema, variables

    def cases(self, random: Random) -> Iterator[Case]:
        """Cases without end: of an author's operation, or of a random document of a caller."""
        while True:
            made = self._persisted(random) if self.operations and random.random() < 0.6 else self._written(random)
            if made is not None:
                yield made

    def _persisted(self, random: Random) -> Case | None:
        text, plan, schema, _ = random.choice(self.operations)
        backward = "last:" in text and random.random() < 0.5
        return self._case(random, text, parse(text), read_plan(plan), schema, False, backward)

    def _written(self, random: Random) -> Case | None:
        text = random_document(self.schema, random, mistakes=0)
        document = parse(text)
        if validate(self.schema, document):
            return None
        plan = plan_of_text(text, self.view)
        return self._case(random, text, document, plan, output_schema(document, self.schema), True, False)

    def _case(
        self,
        random: Random,
        text: str,
        document: DocumentNode,
        plan: Members,
        schema: Mapping[str, Any],
        writes_text: bool,
        backward: bool,
    ) -> Case | None:
        mock = Mock(self.schema, random)
        data = mock.answer(document, backward=backward)
        if not data:
            return None
        operation = get_operation_ast(document)
        variables = mock.variables(operation, backward=backward) if operation else {}
        if not backward and "last:" in text and not writes_text:
            variables.pop("last", None)
        errors = {"errors": errors_for(data, random)} if random.random() < 0.2 else {}
        form = CallForm(below=("variables",) if writes_text else (), writes_text=writes_text, variables=variables)
        return Case(
            text=text,
            plan=plan,
            schema=schema,
            answer={"data": data, **errors},
            form=form,
            backward=backward or (writes_text and "last:" in text and "first:" not in text),
        )


@cache
def own() -> Source:
    """The schema of this folder, whose lists are paged in many ways."""
    schema = build_schema(API)
    return Source(schema, view_of(API), [_operation(text, schema) for text in OPERATIONS])


@cache
def corpus(name: str) -> Source:
    """A public schema, with the operations that others wrote for it."""
    tried = attempt(fetch(name))
    operations = [
        (tool.operation.text, tool.plan, tool.entry["outputSchema"], tool.operation.variables) for tool in tried.tools
    ]
    parts = tried.schema.to_kwargs()
    parts["directives"] = tuple(each for each in parts["directives"] if each.name not in ("defer", "stream"))
    return Source(GraphQLSchema(**parts), view_of(tried.schema), operations)


def planned_answer(text: str, schema: GraphQLSchema, *, settable: Iterable[str]) -> str:
    """Return the stored plan of an operation's answer, as its tool has it."""
    return write_plan(plan_of_text(text, view_of(schema), settable=settable))


def _operation(text: str, schema: GraphQLSchema) -> tuple[str, str, Mapping[str, Any], tuple[str, ...]]:
    document = parse(text)
    operation = next(node for node in document.definitions if isinstance(node, OperationDefinitionNode))
    variables = tuple(node.variable.name.value for node in operation.variable_definitions or ())
    return text, planned_answer(text, schema, settable=variables), output_schema(document, schema), variables


OPERATIONS = tuple((Path(__file__).parent / "operations.graphql").read_text(encoding="utf-8").split("\n\n"))
