"""Random endpoints whose input types are many, wide, and lead to each other."""

from __future__ import annotations

from random import Random

SCALARS = ("Int", "Float", "String", "Boolean", "ID", "DateTime", "JSON")
MODIFIERS = ("{}", "{}", "{}", "[{}!]", "[{}]", "{}!", "[{}!]!")

CONFIG = """\
access:
  anonymous: allow
  policies: [{{type: Query, policyDefault: {{condition: true}}}}]
limits: {{max_schema_bytes: {max_bytes}, recursion: {recursion}}}
"""


def random_files(random: Random) -> dict[str, str]:
    """Return the files of an endpoint with one operation that is a tool twice: flat, and with nested variables."""
    names = [f"Filter{number}" for number in range(random.choice([1, 3, 10, 40]))]
    enums = [f"Order{number}" for number in range(random.choice([0, 2, 5]))]
    types = [_input(name, names, enums, random) for name in names]
    types += [
        f"{_described(random)} enum {name} {{ {' '.join(_values(name, random.choice([2, 40])))} }}" for name in enums
    ]
    variables = {f"v{number}": _type(names, enums, random, required=True) for number in range(random.randint(1, 4))}
    arguments = ", ".join(f"{_described(random)} {name}: {type_}" for name, type_ in variables.items())
    declared = ", ".join(f"${name}: {type_}" for name, type_ in variables.items())
    used = ", ".join(f"{name}: ${name}" for name in variables)
    nested = 'extend schema @tool(name: "nested", prescribed: "O")'
    root = f"scalar DateTime scalar JSON type Query {{ a({arguments}): Int }}"
    return {
        "index.graphql": "\n".join([nested, root, *types]),
        "operations/o.graphql": f"query O({declared}) @mcpTool {{ a({used}) }}",
    }


def _input(name: str, names: list[str], enums: list[str], random: Random) -> str:
    is_one_of = random.random() < 0.1
    count = random.choice([1, 3, 8, 25])
    fields = [_field(f"f{place}", names, enums, random, nullable=is_one_of) for place in range(1, count)]
    fields = ["f0: Int", *fields]  # it ends the values of a type that takes exactly one
    return f"{_described(random)} input {name} {'@oneOf' if is_one_of else ''} {{ {' '.join(fields)} }}"


def _field(name: str, names: list[str], enums: list[str], random: Random, *, nullable: bool) -> str:
    # No type requires an input object, else there might be no value that ends.
    type_ = _type(names, enums, random, required=False)
    default = "" if nullable or type_ != "Int" or random.random() < 0.7 else " = 5"
    return f"{_described(random)} {name}: {type_.removesuffix('!') if nullable else type_}{default}"


def _type(names: list[str], enums: list[str], random: Random, *, required: bool) -> str:
    name = random.choice([random.choice(names), random.choice([*SCALARS, *enums])])
    type_ = random.choice(MODIFIERS).format(name)
    return type_.removesuffix("!") if name in names and not required else type_


def _values(name: str, count: int) -> list[str]:
    return [f"{name.upper()}_{number}" for number in range(count)]


def _described(random: Random) -> str:
    return random.choice(["", '"what it is about, in a few words"', f'"{"long " * 60}"'])
