"""Random schemas in which inputs name fields, and what hiding some coordinates should hide with them.

The oracle is slow and says the rules as they are: it asks of every pair of coordinates whether one takes the other.
It shares no code with the product.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from random import Random
from typing import Any

from graphql import (
    GraphQLEnumType,
    GraphQLInputObjectType,
    GraphQLInterfaceType,
    GraphQLObjectType,
    GraphQLSchema,
    get_named_type,
    is_required_argument,
    is_required_input_field,
    print_ast,
)

NOUNS = ("salary", "taxId", "name", "age", "salaryCode")
FORMS = {
    "salary": ("salary", "salaryGt", "min_salary", "unsalaried", "t0Salary", "toT1SalaryLt", "i0_salary"),
    "taxId": ("tax_id", "taxIdIn", "byTaxId", "tax", "byT2TaxId", "toT0_taxId"),
    "salaryCode": ("salaryCode", "salary_code_in"),
    "name": ("nameContains", "name", "surname"),
    "age": ("ageLt", "page", "age"),
}
VALUES = ("SALARY_ASC", "TAX_ID", "NAME_DESC", "BY_AGE", "NONE", "PAGE")
COMPOSITES = ("T0", "T1", "T2", "I0")
FILTERS = ("F0", "F1")


def random_sdl(random: Random) -> str:
    """Three types and an interface that lead to each other, asked with two filters and an order."""
    shared = random.sample(NOUNS, 2)
    parts = [f"interface I0 {{ {' '.join(f'{noun}: Int' for noun in shared)} }}"]
    for name in ("T0", "T1", "T2"):
        implements = random.random() < 0.5
        nouns = {*random.sample(NOUNS, 2), *(shared if implements else ())}
        links = [f"to{name}: {random.choice(COMPOSITES)}"] if random.random() < 0.4 else []
        fields = " ".join([*(f"{noun}: Int" for noun in sorted(nouns)), *links])
        parts.append(f"type {name}{' implements I0' if implements else ''} {{ {fields} }}")
    queries = [f"q{n}{_arguments(random)}: [{random.choice(COMPOSITES)}!]" for n in range(4)]
    parts += [f"type Query {{ {' '.join(queries)} }}", f"type Mutation {{ m{_arguments(random)}: T0 }}"]
    parts += [_filter(name, random) for name in FILTERS]
    values = {"NONE", *random.sample(VALUES, 3)}
    return "\n".join([*parts, f"enum O0 {{ {' '.join(sorted(values))} SALARY }}"])


def _arguments(random: Random) -> str:
    forms = [form for noun in random.sample(NOUNS, 1) for form in random.sample(FORMS[noun], 1)]
    types = ["F0", "F1", "O0", "Int", "Int!", "[O0!] = [NONE, SALARY]", "O0! = SALARY", "F0!", "F1 = {order: SALARY}"]
    chosen = [f"{form}: {random.choice(types)}" for form in forms]
    return f"(where: {random.choice(types)}, {', '.join(chosen)})"


def _filter(name: str, random: Random) -> str:
    forms = {random.choice(FORMS[noun]) for noun in random.sample(NOUNS, 2)}
    fields = [f"{form}: {random.choice(['Int', 'Int', 'Int!'])}" for form in sorted(forms)]
    deeper = [f"deeper: {random.choice(['F1', 'F1!', '[F0]'])}"] if name == "F0" else []
    return f"input {name} {{ {' '.join([*fields, *deeper])} order: O0 {random.choice(['', '= SALARY'])} }}"


def coordinates_in_reach(schema: GraphQLSchema) -> set[str]:
    """Every coordinate of a schema but for types."""
    return {coordinate for coordinate, _ in _all(schema)}


def expected_of_patterns(schema: GraphQLSchema, patterns: Sequence[tuple[str, str, bool]]) -> set[str]:
    """The fields that (types, fields, expose) hide by themselves; the last match wins."""
    found = set()
    for coordinate, value in _all(schema):
        owner, _, name = coordinate.partition(".")
        if hasattr(value, "args"):
            exposed = owner not in ("Query", "Mutation")
            for types, fields, expose in patterns:
                if re.fullmatch(types, owner) and re.fullmatch(fields, name):
                    exposed = expose
            found |= set() if exposed else {coordinate}
    return found


def expected_gone(schema: GraphQLSchema, own: set[str], shown: set[str]) -> set[str]:
    """What rules 1 to 3 make of ``own``, which may have types in it; types that have nothing left are in the result."""
    down = own | {
        coordinate
        for coordinate, _ in _all(schema)
        for interface in getattr(schema.type_map[coordinate.partition(".")[0]], "interfaces", ())
        if f"{interface.name}.{coordinate.partition('.')[2]}" in own
    }
    unreadable = _closed(schema, down, upwards=False)
    named = {each for each in _naming(schema, unreadable) if each not in shown}
    return _closed(schema, unreadable | named, upwards=True)


def _closed(schema: GraphQLSchema, gone: set[str], *, upwards: bool) -> set[str]:
    """With everything that cannot be used any more."""
    while True:
        more = {each for each in _everything(schema) if _needs_any(schema, each, gone, upwards=upwards)}
        if more <= gone:
            return gone
        gone = gone | more


def _all(schema: GraphQLSchema) -> Iterator[tuple[str, Any]]:
    for type_ in schema.type_map.values():
        if type_.name.startswith("__"):
            continue
        match type_:
            case GraphQLObjectType() | GraphQLInterfaceType():
                for name, field in type_.fields.items():
                    yield f"{type_.name}.{name}", field
                    yield from ((f"{type_.name}.{name}({arg}:)", value) for arg, value in field.args.items())
            case GraphQLInputObjectType():
                yield from ((f"{type_.name}.{name}", value) for name, value in type_.fields.items())
            case GraphQLEnumType():
                yield from ((f"{type_.name}.{name}", value) for name, value in type_.values.items())


def _everything(schema: GraphQLSchema) -> list[str]:
    defaults = [
        f"{each}=" for each, value in _all(schema) if getattr(getattr(value, "ast_node", None), "default_value", None)
    ]
    types = [name for name in schema.type_map if not name.startswith("__")]
    return [*coordinates_in_reach(schema), *defaults, *types]


def _spelled(name: str) -> str:
    """``_tax_id_`` of ``taxId``, ``tax_id`` and ``TAX_ID``."""
    snake = name if name.isupper() else "".join(f"_{each}" if each.isupper() else each for each in name)
    return f"_{snake.lower()}_"


def _naming(schema: GraphQLSchema, hidden: set[str]) -> Iterator[str]:
    secrets = [each.split(".") for each in hidden if re.fullmatch(r"(T\d|I0)\.\w+", each)]
    for asked, answer, mode in _asked(schema):
        last = asked.removesuffix(":)").replace("(", ".").split(".")[-1]
        for name in {name for _, name in secrets if _spelled(name) in _spelled(last)}:
            guarded = {type_ for type_, same in secrets if same == name}
            if _asks(schema, last, name, guarded, (answer, mode)):
                yield asked


def _asked(schema: GraphQLSchema) -> Iterator[tuple[str, str, str]]:
    """Every input below a root field's arguments, what is returned for it, and how it stands to that.

    It chooses rows by themselves (``near``), perhaps by what they lead to (``far``), or is a mutation's ``data``.
    """
    for owner in ("Query", "Mutation"):
        for name, field in _fields(schema, owner).items():
            answer = f"{owner}:{get_named_type(field.type).name}"
            for argument, value in field.args.items():
                taken = get_named_type(value.type).name
                chooses = owner == "Query" or argument == "where" or _is_order(schema, taken)
                yield f"{owner}.{name}({argument}:)", answer, "near" if chooses else "data"
                below = "near" if argument == "where" else "far" if chooses else "data"
                yield from ((asked, answer, mode) for asked, mode in _taken(schema, taken, below, set()))


def _asks(schema: GraphQLSchema, last: str, name: str, guarded: set[str], asked: tuple[str, str]) -> bool:
    (owner, answer), mode = asked[0].split(":"), asked[1]
    beside = set(_spelled(last).replace(_spelled(name), "_").split("_")) - {""}
    compares = bool(beside & {"gt", "lt", "in", "min", "contains", "asc", "desc"})
    if mode == "data" and not compares:
        return False
    returned = _met(schema, answer, set())
    others = _others(schema, last, name, guarded)
    if not guarded & returned:
        shown = any(name in _fields(schema, each) for each in returned.intersection(COMPOSITES))
        return owner == "Mutation" and not others and not shown
    alone = beside <= {"gt", "lt", "in", "contains", "asc", "desc", "by"}
    looked_up = owner == "Query" or (not compares and last not in ("where", "deeper"))
    own = all(name in _fields(schema, each) for each in _possible(schema, {answer}))
    own = own and not guarded & _possible(schema, {answer})
    if mode == "near" and alone and looked_up and own:
        return False
    return not others & returned


def _is_order(schema: GraphQLSchema, name: str) -> bool:
    return name == "O0" and any(value.endswith(("ASC", "DESC")) for value in schema.type_map[name].values)  # type: ignore[attr-defined]


def _others(schema: GraphQLSchema, last: str, name: str, guarded: set[str]) -> set[str]:
    """The types whose field an input's name is of, by the words in front or because the field's is longer."""
    before = _spelled(last).split(_spelled(name))[0]
    link = re.fullmatch(r".*_(to_t\d)", before)
    owner = re.fullmatch(r".*_([ti]\d)", before)
    linked = _linked(schema, link[1].replace("_t", "T")) if link else set()
    owning = _possible(schema, {owner[1].upper()}) if owner else set()
    if any(name in _fields(schema, each) for each in (linked | owning) & guarded):
        return set()  # one thing that the words may mean is enough
    owners = {each for each in owning if name in _fields(schema, each)}
    if owners or not (name == "salary" and "_salary_code_" in _spelled(last)):
        return owners  # "to" is a word for what is done, which makes no other name
    return {each for each in COMPOSITES if "salaryCode" in _fields(schema, each)}


def _linked(schema: GraphQLSchema, link: str) -> set[str]:
    answers = {
        get_named_type(_fields(schema, each)[link].type).name for each in COMPOSITES if link in _fields(schema, each)
    }
    return _possible(schema, answers)


def _possible(schema: GraphQLSchema, names: set[str]) -> set[str]:
    implement = {each for each in COMPOSITES if [i.name for i in schema.type_map[each].interfaces]}  # type: ignore[attr-defined]
    return names | (implement if "I0" in names else set())


def _fields(schema: GraphQLSchema, name: str) -> Any:
    return schema.type_map[name].fields  # type: ignore[attr-defined]


def _met(schema: GraphQLSchema, name: str, seen: set[str]) -> set[str]:
    if name not in seen:
        seen.add(name)
        type_: Any = schema.type_map[name]
        for field in getattr(type_, "fields", {}).values():
            _met(schema, get_named_type(field.type).name, seen)
        for other in schema.type_map.values():
            if type_ in getattr(other, "interfaces", ()):
                _met(schema, other.name, seen)
    return seen


def _taken(schema: GraphQLSchema, name: str, mode: str, seen: set[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """The inputs of a type, and how they stand to what is returned."""
    type_: Any = schema.type_map[name]
    members = [*getattr(type_, "fields", ()), *getattr(type_, "values", ())]
    for member in members if (name, mode) not in seen else ():
        yield f"{name}.{member}", mode
        if isinstance(type_, GraphQLInputObjectType):
            below = get_named_type(type_.fields[member].type).name
            chooses = mode != "data" or _is_order(schema, below)
            yield from _taken(schema, below, "far" if chooses else "data", {*seen, (name, mode)})


def _needs_any(schema: GraphQLSchema, coordinate: str, gone: set[str], *, upwards: bool) -> bool:
    owner, _, member = coordinate.partition(".")
    if not member:
        return owner not in ("Query", "Mutation") and _has_nothing_left(schema, owner, gone)
    if upwards and owner == "I0":
        below = [t.name for t in schema.type_map.values() if "I0" in [i.name for i in getattr(t, "interfaces", ())]]
        if any(f"{name}.{member}" in gone for name in below):
            return True
    value = dict(_all(schema))[coordinate.removesuffix("=")]
    if coordinate.endswith("="):
        text = print_ast(value.ast_node.default_value)
        names = [word for word in ("SALARY", "NONE") if word in text]
        named = {get_named_type(value.type).name, "O0", *(f"O0.{word}" for word in names)}
        return not named.isdisjoint(gone) or ("order:" in text and "F1.order" in gone)
    if not hasattr(value, "type"):
        return False  # of an enum
    if get_named_type(value.type).name in gone:
        return True
    if hasattr(value, "args"):
        taken = {f"{coordinate}({name}:)": argument for name, argument in value.args.items()}
        return any(each in gone and (is_required_argument(taken[each]) or f"{each}=" in gone) for each in taken)
    return False


def _has_nothing_left(schema: GraphQLSchema, name: str, gone: set[str]) -> bool:
    type_: Any = schema.type_map[name]
    members = [*getattr(type_, "fields", ()), *getattr(type_, "values", ())]
    required = isinstance(type_, GraphQLInputObjectType) and any(
        (is_required_input_field(value) or f"{name}.{member}=" in gone) and f"{name}.{member}" in gone
        for member, value in type_.fields.items()
    )
    return required or bool(members and all(f"{name}.{member}" in gone for member in members))
