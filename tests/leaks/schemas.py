"""Random schemas of the kinds that APIs have, in which much can be asked, filtered, sorted and looked up by name.

A schema is made together with what its inputs mean, so that an API can be run of it (``api.py``) and nobody has to
guess from a name what it asks for. Each description is a text that stands nowhere else.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from random import Random

NOUNS = {
    "salary": "Int",
    "rating": "Int!",
    "taxId": "String",
    "nickname": "String!",
    "salaryCode": "String",
    "badge": "Stamp",
    "grade": "Grade",
    "tags": "[String!]",
    "vatID": "Int",
    "SSN": "String",
    "bonus": "Int",
    "virus": "String",
    "diagnosis": "String",
}
"""Fields that hold values; one name has one type, so that implementers fit their interfaces."""

PLURALS = {"salary": "salaries", "bonus": "bonuses", "virus": "viruses", "diagnosis": "diagnoses", "tags": "tags"}
"""Others end in an ``s``."""

OBJECTS = ("Person", "Team", "Parcel", "Letter")
INTERFACES = ("Named", "Paid")
LINKS = {
    "boss": "Person",
    "members": "[Person!]!",
    "lead": "Team",
    "stock": "[Parcel!]",
    "holder": "Named",
    "finds": "[Found!]!",
    "pay": "Money",
    "membersPage": "PersonConnection!",
}
FORMS = {
    "gt": ("{}Gt", "{}_gt", "min{}", "{}GT", "{}GreaterThan"),
    "lt": ("{}Lt", "{}_lt", "max{}", "{}LT", "{}LessThan"),
    "eq": ("{}", "{}Eq", "by{}", "{}_eq", "{}EQ", "{}EqualFold"),
    "has": ("{}Contains", "{}_contains", "{}ContainsFold"),
    "in": ("{}In", "{}_in", "{}s", "by{}s", "{}sIn"),
}
"""How APIs name a question about a field: ``{}`` is its name, cased as the form needs it, ``{}s`` its plural."""

LEAVES = ("Int", "Float", "String", "Boolean", "ID", "Stamp", "Grade")


@dataclass(frozen=True, slots=True)
class Input:
    """An argument, input field or enum value. ``op`` says what it does with ``noun``, of the row or of its ``link``.

    Besides those of ``FORMS`` there are ``where``, ``and``, ``not``, ``nested`` (a filter for the rows of ``link``),
    ``order``, ``order_by``, ``sort`` (of an enum value), ``first`` and, for what the API makes nothing of, ``none``.
    """

    type: str
    op: str = "none"
    noun: str = ""
    link: str = ""
    default: str = ""


@dataclass(frozen=True, slots=True)
class Field:
    type: str
    inputs: Mapping[str, Input] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Type:
    """``kind`` is ``object``, ``interface``, ``union``, ``input``, ``enum`` or ``scalar``."""

    kind: str
    fields: Mapping[str, Field] = field(default_factory=dict)
    above: tuple[str, ...] = ()  # interfaces, or the members of a union
    inputs: Mapping[str, Input] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Schema:
    """Types by name, the names of the root types, and the arguments of directives for requests.

    A directive chooses rows as the arguments of a field do: of one field, or of every field of an operation.
    """

    types: Mapping[str, Type]
    query: str
    mutation: str
    directives: Mapping[str, Mapping[str, Input]] = field(default_factory=dict)

    def possible(self, name: str) -> tuple[str, ...]:
        """The object types that a value of a type can have; none for leaves."""
        type_ = self.types.get(name, Type(kind="scalar"))
        match type_.kind:
            case "object":
                return (name,)
            case "union":
                return type_.above
            case "interface":
                return tuple(each for each in self.types if self._is_object_below(each, name))
            case _:
                return ()

    def _is_object_below(self, name: str, interface: str) -> bool:
        return self.types[name].kind == "object" and interface in self.types[name].above

    @property
    def roots(self) -> tuple[str, str]:
        return self.query, self.mutation

    def inputs(self) -> Iterator[tuple[str, Input]]:
        """Coordinate and meaning of every argument, input field and enum value."""
        for name, type_ in self.types.items():
            yield from ((f"{name}.{each}", value) for each, value in type_.inputs.items())
            for each, made in type_.fields.items():
                yield from ((f"{name}.{each}({argument}:)", value) for argument, value in made.inputs.items())
        for name, inputs in self.directives.items():
            yield from ((f"@{name}({argument}:)", value) for argument, value in inputs.items())

    def fields(self) -> Iterator[tuple[str, Field]]:
        """Coordinate and definition of every field of an object type or interface."""
        for name, type_ in self.types.items():
            yield from ((f"{name}.{each}", made) for each, made in type_.fields.items())


def named(type_: str) -> str:
    """The name in a type: ``Person`` of ``[Person!]!``."""
    return type_.strip("[]!")


def upper(name: str) -> str:
    """``TAX_ID`` of ``taxId``."""
    return re.sub("(?<=[a-z])(?=[A-Z])", "_", name).upper()


def random_schema(random: Random) -> Schema:
    """Objects behind interfaces and a union, with filters, orders, connections, lookups and mutations."""
    filters = {name: f"{name}Filter" for name in (*OBJECTS, "Found")}
    plain = {name: _own_fields(random) for name in (*INTERFACES, *OBJECTS)}
    above = {name: tuple(each for each in INTERFACES if random.random() < 0.5) for name in OBJECTS}
    named_too: tuple[str, ...] = ()
    if random.random() < 0.3:  # whatever is paid is named
        named_too = ("Named",)
        plain["Paid"] = {**plain["Paid"], **plain["Named"]}
        above = {name: INTERFACES if "Paid" in interfaces else interfaces for name, interfaces in above.items()}
    types = {name: Type(kind="interface", fields=plain[name]) for name in INTERFACES}
    types["Paid"] = Type(kind="interface", fields=plain["Paid"], above=named_too)
    for name in OBJECTS:
        inherited = {each: made for one in above[name] for each, made in plain[one].items()}
        types[name] = Type(kind="object", fields={**plain[name], **inherited}, above=above[name])
    types["Found"] = Type(kind="union", above=tuple(sorted(random.sample(OBJECTS, 2))))
    types["Money"] = Type(kind="object", fields={"amount": Field("Int"), "currency": Field("String")})
    types |= _connection("Person", random) | {"PersonTouched": Type(kind="object", fields={"affected": Field("Int!")})}
    types |= {"Stamp": Type(kind="scalar"), "Grade": _enum("A", "B", "C")}
    types["Direction"] = _enum("ASC", "DESC")
    for name, filter_ in filters.items():
        types |= _inputs_about(name, filter_, types, random)
    types["PersonInput"] = Type(kind="input", inputs={"nickname": Input("String"), "salary": Input("Int")})
    types = {name: _with_arguments(type_, random) for name, type_ in types.items()}
    query, mutation = random.choice([("Query", "Mutation"), ("Query", "Mutation"), ("Root", "Writes")])
    types[query] = Type(kind="object", fields=_query_fields(random))
    types[mutation] = Type(kind="object", fields=_mutation_fields(random))
    types["PersonPayload"] = Type(kind="object", fields={"person": Field("Person"), "note": Field("String")})
    return Schema(types, query, mutation, _directives(random))


def _own_fields(random: Random) -> dict[str, Field]:
    nouns = random.sample(list(NOUNS), random.randint(1, 3))
    links = random.sample(list(LINKS), random.randint(0, 2))
    found = {"id": Field("ID!")} | {noun: Field(NOUNS[noun]) for noun in nouns}
    if random.random() < 0.2:
        found["flaky"] = Field("Int")
    return found | {link: Field(LINKS[link]) for link in links}


def _connection(name: str, random: Random) -> dict[str, Type]:
    """A page. Some have a sum of what their rows have, by the same name."""
    whole = {"nodes": Field(f"[{name}!]"), "edges": Field(f"[{name}Edge!]!"), "totalCount": Field("Int!")}
    whole |= {noun: Field("Int") for noun in random.sample(["salary", "bonus", "vatID"], random.choice([0, 0, 1]))}
    return {
        f"{name}Connection": Type(kind="object", fields=whole),
        f"{name}Edge": Type(kind="object", fields={"node": Field(f"{name}!"), "cursor": Field("String!")}),
    }


def _enum(*values: str) -> Type:
    return Type(kind="enum", inputs={value: Input("") for value in values})


def _inputs_about(name: str, filter_: str, types: Mapping[str, Type], random: Random) -> dict[str, Type]:
    """A filter, an order and an object that orders, for lists of a type."""
    possible = types[name].above if name == "Found" else (name,)
    fields = {each: made for one in possible for each, made in types[one].fields.items() if each != "flaky"}
    below = {each for made in fields.values() for each in types.get(named(made.type), Type(kind="scalar")).fields}
    known = [noun for noun in (*NOUNS, "amount", "id") if noun in fields or noun in below]
    asked = random.sample(known, min(len(known), 4))
    inputs = dict(_question(noun, random) for noun in asked)
    for link in [link for link in fields if link in LINKS]:
        inputs |= _questions_about_link(link, types, random)
    inputs |= {"and": Input(f"[{filter_}!]", "and"), "not": Input(filter_, "not")}
    links = [link for link in fields if link in LINKS]
    sorts = {upper(noun): Input("", "sort", noun) for noun in (*asked, *links)}
    values = {f"{value}_{way}": made for value, made in sorts.items() for way in ("ASC", "DESC")}
    order, field_ = f"{name}Order", f"{name}OrderField"
    by = {"field": Input(f"{field_}!", "field"), "direction": Input("Direction!", "direction", default="ASC")}
    return {
        filter_: Type(kind="input", inputs=inputs),
        order: Type(kind="enum", inputs={"UNSORTED": Input(""), **values}),
        field_: Type(kind="enum", inputs={"UNSORTED": Input(""), **sorts}),
        f"{name}OrderBy": Type(kind="input", inputs=by),
    }


def _question(noun: str, random: Random, *, link: str = "") -> tuple[str, Input]:
    type_ = named(NOUNS.get(noun, {"amount": "Int", "id": "ID"}.get(noun, "String")))
    ops = {"Int": ("gt", "lt", "eq", "in"), "String": ("gt", "eq", "has", "in"), "Stamp": ("lt", "eq")}
    op = random.choice(ops.get(type_, ("eq",)))
    form = random.choice(FORMS[op])
    name = link + noun[0].upper() + noun[1:] if link else noun
    return _formed(form, name, noun), Input(f"[{type_}!]" if op == "in" else type_, op, noun, link)


def _formed(form: str, name: str, noun: str) -> str:
    if "{}s" in form:
        plural = PLURALS.get(noun, f"{noun}s")
        form, name = form.replace("{}s", "{}"), name[: -len(noun)] + _cased(plural, name[-len(noun) :])
    if "_" in form:
        return form.format(upper(name).lower())
    return form.format(name if form.startswith("{") else name[0].upper() + name[1:])


def _cased(word: str, like: str) -> str:
    return like[0] + word[1:]


def _questions_about_link(link: str, types: Mapping[str, Type], random: Random) -> dict[str, Input]:
    """A nested filter, a name that goes through the link, and one for the link itself, by which it is ranked."""
    target = named(LINKS[link])
    found: dict[str, Input] = {}
    if target in OBJECTS and random.random() < 0.5:
        found[link] = Input(f"{target}Filter", "nested", link=link)
    nouns = [noun for noun in types[target].fields if noun in (*NOUNS, "amount")]
    if nouns and random.random() < 0.7:
        found |= [_question(random.choice(nouns), random, link=link)]
    if random.random() < 0.4:
        found[random.choice([f"{link}Gt", f"{link}_gt"])] = Input("Int", "gt", link)
    return found


def _with_arguments(type_: Type, random: Random) -> Type:
    """The same with arguments on lists: one set for each name, so that implementers fit their interfaces."""
    fields = {name: Field(made.type, _arguments_of(name, made)) for name, made in type_.fields.items()}
    return Type(kind=type_.kind, fields=fields, above=type_.above, inputs=type_.inputs)


def _arguments_of(name: str, made: Field) -> Mapping[str, Input]:
    match name:
        case "members" | "membersPage":
            return {"where": Input("PersonFilter", "where"), "minSalary": Input("Int", "gt", "salary")}
        case "stock":
            return {"orderBy": Input("[ParcelOrder!]", "order"), "tax_id": Input("String", "eq", "taxId")}
        case "finds":
            return {"where": Input("FoundFilter", "where"), "first": Input("Int", "first", default="9")}
        case _:
            return made.inputs


def _query_fields(random: Random) -> dict[str, Field]:
    fields = {"motto": Field("String"), "node": Field("Named", {"id": Input("ID!", "eq", "id")})}
    for name in OBJECTS:
        order = random.choice([Input(f"{name}OrderBy", "order_by"), Input(f"[{name}Order!]", "order")])
        inputs = {"where": Input(f"{name}Filter", "where"), "orderBy": order, "first": Input("Int", "first")}
        inputs |= [_question(random.choice(list(NOUNS)), random)]
        fields[f"{name.lower()}s"] = Field(f"[{name}!]!", inputs)
        fields[name.lower()] = Field(name, {"id": Input("ID!", "eq", "id")})
        noun = random.choice(["taxId", "nickname", "virus", "SSN", "vatID"])
        looked_up = Input(named(NOUNS[noun]), "eq", noun)
        fields[f"{name.lower()}By"] = Field(name, {random.choice([noun, f"by_{upper(noun).lower()}"]): looked_up})
    default = random.choice(["", "UNSORTED", "ID_ASC"])
    order = Input("PersonOrder", "order", default=default if default != "ID_ASC" else "")
    asked = dict([_question(random.choice(list(NOUNS)), random)])
    paged = {"where": Input("PersonFilter", "where"), "orderBy": order, **asked}
    fields["personsPage"] = Field("PersonConnection!", paged)
    where, first = Input("FoundFilter", "where"), Input("Int", "first", default="20")
    fields["search"] = Field("[Found!]!", {"where": where, "orderBy": Input("FoundOrder", "order"), "first": first})
    fields["payees"] = Field("[Paid!]", dict([_question(random.choice(list(NOUNS)), random)]))
    fields["nameds"] = Field("[Named!]", {"where": Input("PersonFilter", "where")})
    return fields


def _mutation_fields(random: Random) -> dict[str, Field]:
    """Some only take data, and some choose rows."""
    where, order = Input("PersonFilter", "where"), Input("PersonOrder", "order")
    noun = random.choice(["salary", "rating", "bonus", "vatID"])
    chosen = {_formed(random.choice(FORMS["gt"]), noun, noun): Input("Int", "gt", noun)}
    return {
        "touchPersons": Field("PersonTouched!", {"where": where, **chosen}),
        "promotePersons": Field("[Person!]!", {"where": where, "orderBy": order, "first": Input("Int", "first")}),
        "createPerson": Field("PersonPayload!", {"input": Input("PersonInput!")}),
        "sendLetter": Field("Letter", {"id": Input("ID!"), "salary": Input("Int")}),
    }


def _directives(random: Random) -> dict[str, Mapping[str, Input]]:
    """Directives whose arguments name fields, some by types that fields share; half of the schemas have none."""
    shared = {
        "where": Input("PersonFilter", "where"),
        "orderBy": Input("[PersonOrder!]", "order"),
        "grade": Input("Grade", "eq", "grade"),
        "sort": Input("FoundOrderBy", "order_by"),
    }
    found: dict[str, Mapping[str, Input]] = {}
    for name in random.choice([[], [], ["chosen"], ["chosen", "ranked"]]):
        asked = dict(_question(noun, random) for noun in random.sample([*NOUNS, "amount"], 2))
        found[name] = {each: shared[each] for each in random.sample(list(shared), 2)} | asked
    return found


def marker(coordinate: str) -> str:
    """The description of a coordinate: ``about-Person-members-where`` of ``Person.members(where:)``."""
    return "about-" + re.sub(r"\W+", "-", coordinate).strip("-")


def print_types(schema: Schema) -> str:
    """The SDL of all types and directives. The ``schema`` definition is its author's, who writes tools into it."""
    parts = [_printed_directive(name, inputs) for name, inputs in schema.directives.items()]
    return "\n\n".join([*parts, *(_printed(name, type_) for name, type_ in schema.types.items())]) + "\n"


def _printed_directive(name: str, inputs: Mapping[str, Input]) -> str:
    arguments = "\n".join(f"  {_printed_input(f'@{name}({each}:)', each, value)}" for each, value in inputs.items())
    return f"directive @{name}(\n{arguments}\n) on QUERY | MUTATION | FIELD"


def _printed(name: str, type_: Type) -> str:
    head = f'"{marker(name)}"\n'
    match type_.kind:
        case "scalar":
            return f"{head}scalar {name}"
        case "union":
            return f"{head}union {name} = {' | '.join(type_.above)}"
        case "enum" | "input":
            lines = [_printed_input(f"{name}.{each}", each, value) for each, value in type_.inputs.items()]
        case _:
            lines = [_printed_field(f"{name}.{each}", each, made) for each, made in type_.fields.items()]
    implements = f" implements {' & '.join(type_.above)}" if type_.above else ""
    keyword = "type" if type_.kind == "object" else type_.kind
    return f"{head}{keyword} {name}{implements} {{\n" + "\n".join(f"  {line}" for line in lines) + "\n}"


def _printed_input(coordinate: str, name: str, value: Input) -> str:
    type_ = f": {value.type}" if value.type else ""
    return f'"{marker(coordinate)}" {name}{type_}' + (f" = {value.default}" if value.default else "")


def _printed_field(coordinate: str, name: str, made: Field) -> str:
    inputs = [_printed_input(f"{coordinate}({each}:)", each, value) for each, value in made.inputs.items()]
    arguments = f"({', '.join(inputs)})" if inputs else ""
    return f'"{marker(coordinate)}" {name}{arguments}: {made.type}'
