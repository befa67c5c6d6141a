"""The operations that are compared: on all root fields of the demo's API, and on what else GraphQL's inputs can be."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from graphql import (
    GraphQLField,
    GraphQLNamedType,
    GraphQLObjectType,
    GraphQLSchema,
    build_schema,
    get_named_type,
    is_composite_type,
    is_required_argument,
    print_ast,
)

ROOT = Path(__file__).resolve().parents[2]
DEMO_SDL = ROOT / "examples" / "endpoints" / "api" / "customers" / "schema.graphql"

SELECTION_DEPTH = 2

OWN: dict[str, str] = {
    "enums": '''
type Query {
  """Paints of some colours."""
  paints(
    """The colour to begin with."""
    colour: Colour! = RED
    """Colours to leave out."""
    without: [Colour!]
    """How it shines."""
    finish: Finish
  ): [Paint!]!
}
type Paint { name: String! colour: Colour! }
enum Colour { RED GREEN BLUE }
enum Finish { MATT GLOSS }
''',
    "defaults": '''
type Query {
  """Plans a trip."""
  plan(
    """What it is to be like."""
    trip: TripInput!
    """How many suggestions."""
    first: Int! = 3
    """Where to begin."""
    offset: Int = 0
  ): [String!]
}
"""A trip to plan."""
input TripInput {
  """Where to go."""
  to: String!
  """How many people."""
  people: Int! = 2
  """What to travel by."""
  by: [Vehicle!]! = [TRAIN, BUS]
  """How to stay."""
  stay: StayInput = {nights: 2, quiet: true}
}
"""Where to sleep."""
input StayInput {
  """How many nights."""
  nights: Int! = 1
  """Away from streets."""
  quiet: Boolean = false
}
enum Vehicle { TRAIN BUS BIKE }
''',
    "recursion": '''
type Query {
  """Books that fit a condition."""
  books(
    """What has to hold."""
    where: BookWhere
  ): [String!]!
}
"""Holds if all that is given holds."""
input BookWhere {
  """All of these hold."""
  and: [BookWhere!]
  """This does not hold."""
  not: BookWhere
  """The title is this one."""
  title: String
  """The author fits."""
  author: AuthorWhere
}
"""What has to hold of an author."""
input AuthorWhere {
  """The name is this one."""
  name: String
  """A book of theirs fits."""
  wrote: BookWhere
}
''',
    "oneOf": '''
type Query {
  """The pet that is meant."""
  pet(
    """How to find it."""
    by: PetBy!
  ): String
}
"""One way to find a pet."""
input PetBy @oneOf {
  """By its id."""
  id: ID
  """By its name."""
  name: String
  """By its chip."""
  chip: ChipInput
}
"""A chip under the skin."""
input ChipInput {
  """Who made it."""
  maker: String!
  """Its number."""
  number: Int!
}
''',
    "lists": '''
type Query {
  """The sum of a matrix, for some of its labels."""
  sum(
    """Row by row."""
    rows: [[Int!]!]!
    """Only these."""
    labels: [String]
    """Numbers to add, or gaps."""
    more: [Float]! = [1.5, null]
  ): Int
}
''',
    "nulls": '''
type Query {
  """A page of a list."""
  page(
    """At most so many."""
    first: Int! = 10
    """Not before this."""
    after: String
    """Null for all of them."""
    only: String = null
    """Who asks."""
    viewer: ID!
  ): [String!]
}
''',
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Api:
    """One GraphQL API, and an operation for each of its root fields."""

    name: str
    sdl: str
    schema: GraphQLSchema

    def fields(self) -> Iterator[tuple[str, str, GraphQLField]]:
        """Each root field: ``query`` or ``mutation``, its name, and what it takes."""
        for kind, root in (("query", self.schema.query_type), ("mutation", self.schema.mutation_type)):
            if root:
                yield from ((kind, name, field) for name, field in root.fields.items())


def read_apis() -> list[Api]:
    """The demo's API with eight operations, and six small ones with one each, lest one peer's failure hide more."""
    texts = {"demo": DEMO_SDL.read_text(encoding="utf-8"), **OWN}
    return [Api(name=name, sdl=sdl, schema=build_schema(sdl)) for name, sdl in texts.items()]


def operation_of(kind: str, name: str, field: GraphQLField) -> str:
    """An operation with every argument of a field as a variable, described as the schema describes them."""
    variables, arguments = [], []
    for argument, value in field.args.items():
        assert value.ast_node
        default = f" = {print_ast(value.ast_node.default_value)}" if value.ast_node.default_value else ""
        variables.append(f'"""{value.description}""" ${argument}: {value.type}{default}')
        arguments.append(f"{argument}: ${argument}")
    return (
        f'"""{field.description}"""\n{kind} {name}({" ".join(variables)}) @mcpTool'
        f" {{ {name}({' '.join(arguments)}){_selection(get_named_type(field.type), SELECTION_DEPTH)} }}"
    )


def _selection(type_: GraphQLNamedType, depth: int) -> str:
    if not is_composite_type(type_):
        return ""
    parts = ["__typename"]
    for name, field in (type_.fields if isinstance(type_, GraphQLObjectType) else {}).items():
        below = get_named_type(field.type)
        if not any(map(is_required_argument, field.args.values())) and (depth > 1 or not is_composite_type(below)):
            parts.append(name + _selection(below, depth - 1))
    return f" {{ {' '.join(parts)} }}"
