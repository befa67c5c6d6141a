"""Find the inputs that can reveal a guarded field: by their names, and by the types that are returned for them."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cached_property
from itertools import islice
from typing import NamedTuple

from graphql import (
    GraphQLInputObjectType,
    GraphQLInterfaceType,
    GraphQLNamedType,
    GraphQLObjectType,
    GraphQLSchema,
    GraphQLUnionType,
    get_named_type,
    get_nullable_type,
    is_composite_type,
    is_list_type,
)

from handler.compiler.access.input_members import STRUCTURAL, InputMember, ReturnedType, inputs_of, keeps_rows
from handler.compiler.access.name_matching import (
    OPERATORS,
    Mention,
    Word,
    beginnings,
    is_operator,
    joined_spellings,
    mentions,
    spellings,
)
from handler.compiler.schema.name_graph import reachable, turned
from handler.compiler.schema.visibility import FieldsType, schema_fields, types_with_fields

MIN_LETTERS = 3
"""Letters of a field that a longer word may begin with. Shorter matches are chance, unless the rest is an operator."""

STEPS_NEARBY = 3
"""From a payload by an edge to a row, and to what this contains. The step from a page to its rows does not count."""

MIRRORS = re.compile("(_?(input|filter|where|bool_?exp|order_?by|sort))+$", re.IGNORECASE)
"""The end of the name of an input type that is called after a type: ``LabelFilterInput``, ``label_bool_exp``."""


class Questions:
    """The inputs of one schema (arguments, input fields, enum values), and the types that they ask about.

    An input asks about every type that can be reached from the type that its field returns.
    """

    def __init__(self, schema: GraphQLSchema) -> None:
        self._schema = schema
        self._reached: dict[str, set[str]] = {}  # type -> the types that can be reached from it
        self._leading: dict[frozenset[str], frozenset[str]] = {}  # types -> the types that lead to one of them
        self._nearby: dict[str, set[str]] = {}

    def that_name(self, field: str, types: Collection[str]) -> Iterator[str]:
        """Yield the coordinates that name a field of ``types`` and choose rows by it.

        ``repositoryId`` names the ``id`` of a repository only, if a repository can be reached. ``repository(name:)``
        names the repository's own ``name``.
        """
        yield from self._judged(field, types, _Judge.asks)

    def that_write(self, field: str, types: Collection[str]) -> Iterator[str]:
        """Yield the coordinates that name a field of ``types`` and give a mutation its data."""
        yield from self._judged(field, types, _Judge.writes)

    def of_nothing_shown(self, field: str) -> Iterator[str]:
        """Yield the coordinates that name a field, if no type with such a field is returned for them.

        Such an input may filter rows that are only counted, and the schema does not show their type.
        """
        having = self.leading_to(self.meanings.having(field))
        for name in self._that_mention(field):
            for member in self._by_name[name]:
                answers = {each.type for each in member.asked.chosen() if not each.written}
                if answers and answers.isdisjoint(having):
                    yield member.coordinate

    def that_begin_with(self, field: str, types: Collection[str]) -> Iterator[str]:
        """Yield the coordinates about ``types`` with a word that begins with a field's letters and goes on.

        ``salaryband`` may concern a salary or something else: the words do not decide.
        """
        for name in self._names_that_begin_with(field):
            yield from self._asking(self._by_name[name], types)

    def about(self, types: Collection[str]) -> list[str]:
        """List the coordinates of all inputs that ask about one of ``types``."""
        return list(self._asking(self._taken, types))

    def leading_to(self, types: Collection[str]) -> frozenset[str]:
        """Return ``types`` and all types from which a selection gets to one of them."""
        key = frozenset(types)
        if key not in self._leading:
            self._leading[key] = frozenset(reachable(key, self._above))
        return self._leading[key]

    def met(self, type_name: str) -> set[str]:
        """Return the types that a selection gets to from a type."""
        if type_name not in self._reached:
            self._reached[type_name] = reachable([type_name], self._below)
        return self._reached[type_name]

    def nearby(self, type_name: str) -> set[str]:
        """Return the types in a few steps of a selection: the rows of a page or payload, and what these contain."""
        if type_name not in self._nearby:
            types = self._with_rows({type_name})
            for _ in range(STEPS_NEARBY):
                types |= self._with_rows({below for each in types for below in self._below.get(each, ())})
            self._nearby[type_name] = types
        return self._nearby[type_name]

    def _with_rows(self, types: set[str]) -> set[str]:
        """Return types with the rows of those that are pages."""
        return types | {row.name for each in types if (row := rows_on(self._schema.type_map[each]))}

    def around(self, taken: InputMember) -> Iterator[str]:
        """Yield the types of an input's answers, and those that the input types around its own are called after.

        A filter of departments may lead to their employees by inputs in inputs, however many.
        """
        yield from (answer.type for answer in (*taken.asked.chosen(), *taken.asked.data))
        for holder in reachable([taken.coordinate.partition(".")[0]], self._holders):
            if (type_name := MIRRORS.sub("", holder)) in self._schema.type_map:
                yield type_name

    def _asking(self, inputs: Iterable[InputMember], types: Collection[str]) -> Iterator[str]:
        leading = self.leading_to(types)
        asking: dict[int, bool] = {}
        for member in inputs:
            key = id(member.asked)
            if key not in asking:
                asking[key] = any(each.type in leading for each in member.asked.chosen())
            if asking[key]:
                yield member.coordinate

    def _judged(
        self, field: str, types: Collection[str], verdict: Callable[[_Judge, InputMember], bool]
    ) -> Iterator[str]:
        """Yield the coordinates that mention a field if the verdict on some mention is true."""
        for name, fields_mentions in self._that_mention(field).items():
            guarded = Guarded(field, types, self.leading_to(types), self.met)
            others = self.meanings.others
            judges = [_Judge(self, each, others(each, field, types), guarded) for each in fields_mentions]
            decided: dict[tuple[int, bool], bool] = {}  # inputs of one type share what is returned for them
            for member in self._by_name[name]:
                key = id(member.asked), member.leaf
                if key not in decided:
                    decided[key] = any(verdict(judge, member) for judge in judges)
                if decided[key]:
                    yield member.coordinate

    def _that_mention(self, field: str) -> Mapping[str, Collection[Mention]]:
        """Return the names of inputs that have a field's name as whole words -> these mentions."""
        mentions_of: dict[str, dict[Mention, None]] = {}
        for spelling in spellings(field):
            for name, mention in self._mentioned.get(spelling, ()):
                mentions_of.setdefault(name, {})[mention] = None
        return mentions_of

    def _names_that_begin_with(self, field: str) -> Iterator[str]:
        """Yield the names of inputs with a word that begins with a field's letters, but without a mention of it."""
        letters = min(spellings(field), key=len)
        decided = self._that_mention(field)
        for beginning, name in islice(self._beginnings, bisect_left(self._beginnings, (letters, "")), None):
            if not beginning.startswith(letters):
                return
            enough = len(letters) >= MIN_LETTERS or beginning.removeprefix(letters) in OPERATORS
            if enough and name not in decided and not self._mentions_longer(name, letters):
                yield name

    def _mentions_longer(self, name: str, letters: str) -> bool:
        """Return whether a name mentions a field that begins with some letters, such as a field ``namespace``."""
        spellings_in = (spelling for mention in mentions(name) for spelling in joined_spellings(mention.words))
        return any(each.startswith(letters) and each in self.meanings.fields for each in spellings_in)

    @cached_property
    def _taken(self) -> Sequence[InputMember]:
        return list(inputs_of(self._schema))

    @cached_property
    def _by_name(self) -> Mapping[str, Sequence[InputMember]]:
        members: dict[str, list[InputMember]] = {}
        for member in self._taken:
            members.setdefault(member.name, []).append(member)
        return members

    @cached_property
    def _mentioned(self) -> Mapping[str, Sequence[tuple[str, Mention]]]:
        """The spelling of a field -> the names of inputs that mention it."""
        fields = self.meanings.fields
        longest = max(map(len, fields), default=0)
        mentions_by: dict[str, list[tuple[str, Mention]]] = {}
        for name in self._by_name:
            for mention in mentions(name, max_chars=longest) if STRUCTURAL.isdisjoint(spellings(name)) else ():
                for spelling in joined_spellings(mention.words):
                    if spelling in fields:
                        mentions_by.setdefault(spelling, []).append((name, mention))
        return mentions_by

    @cached_property
    def _beginnings(self) -> Sequence[tuple[str, str]]:
        """Sorted pairs: an input's name from the beginning of one of its words on, in small letters, and the name."""
        return sorted({(beginning, name) for name in self._by_name for beginning in beginnings(name)})

    @cached_property
    def meanings(self) -> Meanings:
        """The fields and types of the schema by the spellings of their names."""
        return Meanings(self._schema)

    @cached_property
    def rows(self) -> Rows:
        return Rows(self._schema, self._by_name)

    @cached_property
    def _above(self) -> Mapping[str, set[str]]:
        """Type -> the types that lead to it in one step of a selection."""
        above: dict[str, set[str]] = {}
        for type_, _, field in schema_fields(self._schema):
            above.setdefault(get_named_type(field.type).name, set()).add(type_.name)
        for abstract in self._schema.type_map.values():
            if isinstance(abstract, GraphQLInterfaceType | GraphQLUnionType):
                for member in members_of_abstract(self._schema, abstract):
                    above.setdefault(member.name, set()).add(abstract.name)
        return above

    @cached_property
    def _below(self) -> Mapping[str, set[str]]:
        return turned(self._above)

    @cached_property
    def _holders(self) -> Mapping[str, set[str]]:
        """Input type -> the input types with a field of it."""
        inputs = (each for each in self._schema.type_map.values() if isinstance(each, GraphQLInputObjectType))
        return turned(
            {each.name: {get_named_type(field.type).name for field in each.fields.values()} for each in inputs}
        )


class _Judge:
    """The judge of inputs by one mention of a guarded field in their names."""

    def __init__(self, questions: Questions, mention: Mention, others: Collection[str], guarded: Guarded) -> None:
        self._questions = questions
        self._mention = mention
        self._others = others
        self._guarded = guarded
        self._compares = compares([*mention.before, *mention.after])

    def asks(self, taken: InputMember) -> bool:
        """Return whether an input chooses rows by the field."""
        if self._mirrors_another(taken):
            return False
        if any(self._is_about(answer, taken, near=True) for answer in taken.asked.near):
            return True
        data = taken.asked.data if self._compares or taken.compared else ()
        return any(self._is_about(answer, taken, near=False) for answer in (*taken.asked.far, *data))

    def _mirrors_another(self, taken: InputMember) -> bool:
        """Return whether an input is the field of a type that its own is called after, and no guarded type is near."""
        if not self._questions.rows.mirror_another(taken, self._mention, self._guarded):
            return False
        having = self._questions.leading_to(self._questions.meanings.having(self._guarded.field))
        if any(answer.written and answer.type not in having for answer in taken.asked.chosen()):
            return False  # the count of changed rows, which are perhaps others
        near = map(self._questions.nearby, self._questions.around(taken))
        return all(types.isdisjoint(self._guarded.types) for types in near)

    def writes(self, taken: InputMember) -> bool:
        """Return whether an input only gives a mutation a value of the field's name."""
        data = () if self._compares or taken.compared else taken.asked.data
        return any(self._is_about(answer, taken, near=False) for answer in data)

    def _is_about(self, answer: ReturnedType, taken: InputMember, *, near: bool) -> bool:
        """Return whether an input may mean the field by one of its answers. A query's must lead to a guarded type."""
        if answer.type not in self._guarded.leading:
            if not answer.written or self._others:
                return False
            # A mutation's result that leads to a field of that name is about this field; a mere count is not.
            having = self._questions.meanings.having(self._guarded.field)
            return answer.type not in self._questions.leading_to(having)
        if not self._guarded.met(answer.type).isdisjoint(self._others):
            return False
        return not (near and self._questions.rows.speak_of_own(answer, taken, self._mention, self._guarded))


class Meanings:
    """The fields and types of one schema by the spellings of their names."""

    def __init__(self, schema: GraphQLSchema) -> None:
        self.fields: dict[str, set[str]] = {}  # the spelling of a field -> the types that have it
        self._meant: dict[str, set[str]] = {}  # the spelling of a type, or of a field that returns it -> the type
        possible = {
            type_.name: {type_.name, *(each.name for each in _possible(schema, type_))}
            for type_ in schema.type_map.values()
        }
        for type_ in list(schema.type_map.values()):
            paged = rows_on(type_)  # the name of a page may mean the rows on it
            possible[type_.name] |= possible[paged.name] if paged else set()
        for type_, name, field in schema_fields(schema):
            for spelling in spellings(name):
                self.fields.setdefault(spelling, set()).add(type_.name)
                self._meant.setdefault(spelling, set()).update(possible[get_named_type(field.type).name])
        for name in {type_.name for type_, _, _ in schema_fields(schema)}:
            for spelling in spellings(name):
                self._meant.setdefault(spelling, set()).update(possible[name])

    def having(self, field: str) -> set[str]:
        """Return the types that have a field of this name."""
        return self._of(self.fields, spellings(field))

    def others(self, mention: Mention, field: str, types: Collection[str]) -> set[str]:
        """Return the types that the words around a field name instead of ``types``; empty if they name none.

        The words may name the owner of the field, or be part of a longer field name: ``databaseId`` is not ``id``.
        They may name several types (``toOwner`` a field, ``Owner`` a type). The result is empty if ``types`` has one.
        """
        having = self.having(field)
        others: list[set[str]] = []
        for skipped in range(len(mention.before)):
            words = mention.before[skipped:]
            owners = self._of(self._meant, joined_spellings(words)) & having
            if not owners.isdisjoint(types):
                return set()
            others += [owners] if owners and not any(map(is_operator, words)) else []
        return others[0] if others else self._having_longer(mention)

    def _having_longer(self, mention: Mention) -> set[str]:
        """Return the types that have a field whose name is the mentioned one and words around it."""
        for start in range(len(mention.before) + 1):
            for end in range(len(mention.after), -1, -1):
                before, after = mention.before[start:], mention.after[:end]
                added: Sequence[Word] = (*before, *after)
                if added and not any(map(is_operator, added)):
                    longer = self._of(self.fields, joined_spellings((*before, *mention.words, *after)))
                    if longer:
                        return longer
        return set()

    def _of(self, known: Mapping[str, Collection[str]], found: Collection[str]) -> set[str]:
        return {name for spelling in found for name in known.get(spelling, ())}


_COMPARING = """
above after asc before below between contain contains desc end ends eq equal equals ge greater gt gte ieq ilike in le
less like lower lt lte match matches max maximum min minimum ne neq nin not over prefix range regex start starts suffix
under upper
"""
COMPARING = frozenset(_COMPARING.split())
"""Words in the names of inputs that compare or sort."""

BESIDE_OWN = (COMPARING - {"max", "maximum", "min", "minimum"}) | {"by", "of", "where", "order", "is", "null", "nil"}
"""Words beside a field's name that leave it the row's own. Words of aggregates may be about many rows."""


class Guarded(NamedTuple):
    """A guarded field: its name, the types it is guarded on, the types that lead to these, and any type's reach."""

    field: str
    types: Collection[str]
    leading: frozenset[str]
    met: Callable[[str], AbstractSet[str]]


class Rows:
    """The rows behind the types of one schema."""

    def __init__(self, schema: GraphQLSchema, inputs: Iterable[str]) -> None:
        """``inputs`` are the names of all arguments and input fields."""
        self._schema = schema
        self._keeping = frozenset().union(*(spellings(name) for name in inputs if keeps_rows(name)))
        self._roots = {schema.query_type, schema.mutation_type, schema.subscription_type}
        self._lists = {
            type_.name: [target.name for name, target in links(type_) if _lists(type_, name)]
            for type_ in types_with_fields(schema)
        }
        self._behind: dict[str, tuple[list[FieldsType], bool]] = {}
        self._fields: dict[str, frozenset[str]] = {}
        self._linked_alike: dict[str, bool] = {}

    def speak_of_own(self, answer: ReturnedType, taken: InputMember, mention: Mention, guarded: Guarded) -> bool:
        """Return whether an input that mentions a field means one that all rows of an answer have unguarded.

        Rows of a list or page are compared by their own fields. A single object is looked up by a value: a comparison
        there may be about the rows below it, and so may any input if the object may be a page of other rows.
        """
        around = [*mention.before, *mention.after]
        rows, paged = self._rows(answer.type)
        if not rows or not all(BESIDE_OWN.intersection(word) for word in around):
            return False
        if not (answer.listed or paged or (taken.leaf and not compares(around) and not self._may_hold(rows, guarded))):
            return False
        if "(" not in taken.coordinate and any(self._has_misleading_link(row) for row in rows):
            return False
        return all(row.name not in guarded.types and self._has(row, guarded.field) for row in rows)

    def mirror_another(self, taken: InputMember, mention: Mention, guarded: Guarded) -> bool:
        """Return whether an input's type is called after another type, whose rows have the field unguarded.

        ``LabelInput.name`` is the name of a ``Label``.
        """
        name = taken.coordinate.partition(".")[0]
        type_ = self._schema.type_map.get(MIRRORS.sub("", name))
        if not all(BESIDE_OWN.intersection(word) for word in (*mention.before, *mention.after)):
            return False
        rows = _possible(self._schema, type_) if type_ and type_ not in self._roots and type_.name != name else []
        return bool(rows) and all(row.name not in guarded.types and self._has(row, guarded.field) for row in rows)

    def _may_hold(self, rows: Sequence[FieldsType], guarded: Guarded) -> bool:
        """Return whether some row without an ``id`` has a list below it that leads to a guarded type."""
        below = (type_ for row in rows if "id" not in row.fields for type_ in guarded.met(row.name))
        return not all(guarded.leading.isdisjoint(self._lists.get(type_, ())) for type_ in below)

    def _has(self, row: FieldsType, field: str) -> bool:
        if row.name not in self._fields:
            self._fields[row.name] = frozenset(spelling for name in row.fields for spelling in spellings(name))
        return not self._fields[row.name].isdisjoint(spellings(field))

    def _has_misleading_link(self, row: FieldsType) -> bool:
        """Return whether a link of a row has a name that filters use themselves: ``field`` may lead to another row."""
        if row.name not in self._linked_alike:
            self._linked_alike[row.name] = not all(self._keeping.isdisjoint(spellings(name)) for name, _ in links(row))
        return self._linked_alike[row.name]

    def _rows(self, type_name: str) -> tuple[list[FieldsType], bool]:
        """Return the types of rows, interfaces with their implementers, and true if a page holds them."""
        if type_name not in self._behind:
            type_ = self._schema.type_map[type_name]
            paged = rows_on(type_) if type_ not in self._roots else None
            rows = _possible(self._schema, paged or type_)
            self._behind[type_name] = (rows if self._roots.isdisjoint(rows) else [], paged is not None)
        return self._behind[type_name]


def members_of_abstract(schema: GraphQLSchema, abstract: GraphQLInterfaceType | GraphQLUnionType) -> list[FieldsType]:
    """Return the members of a union, or the objects and interfaces that implement an interface."""
    if isinstance(abstract, GraphQLUnionType):
        return list(abstract.types)
    implementations = schema.get_implementations(abstract)
    return [*implementations.objects, *implementations.interfaces]


def _possible(schema: GraphQLSchema, type_: GraphQLNamedType) -> list[FieldsType]:
    """Return a type with fields, and the members of an abstract one."""
    own = [type_] if isinstance(type_, FieldsType) else []
    if not isinstance(type_, GraphQLInterfaceType | GraphQLUnionType):
        return own
    return [*own, *members_of_abstract(schema, type_)]


def compares(words: Collection[Word]) -> bool:
    """Return whether some word compares or sorts."""
    return any(COMPARING.intersection(word) for word in words)


def rows_on(type_: GraphQLNamedType) -> GraphQLNamedType | None:
    """Return the type of the rows on a page; ``None`` if a type is not a page.

    A page has a list but not an ``id``, and all its links lead to one type, directly or by way of edges. Beside a
    ``pageInfo``, only the links ``edges``, ``nodes`` and ``items`` count.
    """
    if not isinstance(type_, GraphQLObjectType) or "id" in type_.fields:
        return None
    holding = [
        each for each in links(type_) if "pageInfo" not in type_.fields or each[0] in ("edges", "nodes", "items")
    ]
    targets = {row for name, target in holding for row in _behind(type_, name, target)}
    paged = targets.pop() if len(targets) == 1 else None
    return paged if any(_lists(type_, name) for name, _ in links(type_)) else None


def _behind(type_: FieldsType, name: str, target: GraphQLNamedType) -> list[GraphQLNamedType]:
    """Return the target of a page's link: the ``node`` of an edge, or nothing if it ends there, as ``PageInfo``."""
    further = dict(links(target)) if isinstance(target, GraphQLObjectType) else {}
    if "node" in further:
        return list(further.values())
    return [target] if further or _lists(type_, name) or not isinstance(target, GraphQLObjectType) else []


def links(type_: FieldsType) -> list[tuple[str, GraphQLNamedType]]:
    """List the fields of a type that lead to other types, with these types."""
    pairs = ((name, get_named_type(field.type)) for name, field in type_.fields.items())
    return [(name, target) for name, target in pairs if is_composite_type(target)]


def _lists(type_: FieldsType, name: str) -> bool:
    return is_list_type(get_nullable_type(type_.fields[name].type))
