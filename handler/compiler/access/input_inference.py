"""Find the inputs that can reveal a guarded field: by their names, and by the types that are returned for them."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice

from graphql import GraphQLInterfaceType, GraphQLNamedType, GraphQLSchema, GraphQLUnionType, get_named_type

from handler.compiler.access.name_matching import (
    OPERATORS,
    Mention,
    Word,
    beginnings,
    is_operator,
    joined,
    mentions,
    spellings,
)
from handler.compiler.access.rows import (
    Guarded,
    InputMember,
    ReturnedType,
    Rows,
    compares,
    inputs_of,
    is_structural,
    members_of_abstract,
    rows_on,
)
from handler.compiler.schema.name_graph import reachable, turned
from handler.compiler.schema.visibility import fields_of

MIN_LETTERS = 3
"""Letters of a field that a longer word may begin with. Shorter matches are chance, unless the rest is an operator."""


class Questions:
    """The inputs of one schema (arguments, input fields, enum values), and the types that they ask about.

    An input asks about every type that can be reached from the type that its field returns.
    """

    def __init__(self, schema: GraphQLSchema) -> None:
        self._schema = schema
        self._reached: dict[str, set[str]] = {}  # type -> the types that can be reached from it
        self._leading: dict[frozenset[str], frozenset[str]] = {}  # types -> the types that lead to one of them

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
        having = self.leading_to(self.having(field))
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

    def having(self, field: str) -> set[str]:
        """Return the types that have a field of this name."""
        return self._meanings.having(field)

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
            judges = [
                _Judge(self, mention, self._meanings.others(mention, field, types), guarded)
                for mention in fields_mentions
            ]
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
        spellings_in = (spelling for mention in mentions(name) for spelling in joined(mention.words))
        return any(each.startswith(letters) and each in self._meanings.fields for each in spellings_in)

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
        fields = self._meanings.fields
        longest = max(map(len, fields), default=0)
        mentions_by: dict[str, list[tuple[str, Mention]]] = {}
        for name in self._by_name:
            for mention in () if is_structural(name) else mentions(name, max_chars=longest):
                for spelling in joined(mention.words):
                    if spelling in fields:
                        mentions_by.setdefault(spelling, []).append((name, mention))
        return mentions_by

    @cached_property
    def _beginnings(self) -> Sequence[tuple[str, str]]:
        """Sorted pairs: an input's name from the beginning of one of its words on, in small letters, and the name."""
        return sorted({(beginning, name) for name in self._by_name for beginning in beginnings(name)})

    @cached_property
    def _meanings(self) -> Meanings:
        return Meanings(self._schema)

    @cached_property
    def rows(self) -> Rows:
        return Rows(self._schema, self._by_name)

    @cached_property
    def _above(self) -> Mapping[str, set[str]]:
        return _types_above(self._schema)

    @cached_property
    def _below(self) -> Mapping[str, set[str]]:
        return turned(self._above)


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
        if any(self._is_about(answer, taken, near=True) for answer in taken.asked.near):
            return True
        if any(self._is_about(answer, taken, near=False) for answer in taken.asked.far):
            return True
        data = taken.asked.data if self._compares or taken.compared else ()
        return any(self._is_about(answer, taken, near=False) for answer in data)

    def writes(self, taken: InputMember) -> bool:
        """Return whether an input only gives a mutation a value of the field's name."""
        data = () if self._compares or taken.compared else taken.asked.data
        return any(self._is_about(answer, taken, near=False) for answer in data)

    def _is_about(self, answer: ReturnedType, taken: InputMember, *, near: bool) -> bool:
        """Return whether an input may mean the field by one of its answers. A query's must lead to a guarded type."""
        if answer.type not in self._guarded.leading:
            return answer.written and not self._others and not self._shows(answer)
        if not self._guarded.met(answer.type).isdisjoint(self._others):
            return False
        return not (near and self._questions.rows.speak_of_own(answer, taken, self._mention, self._guarded))

    def _shows(self, answer: ReturnedType) -> bool:
        """Return whether a mutation's result leads to a field of that name: a mere count does not."""
        return answer.type in self._questions.leading_to(self._questions.having(self._guarded.field))


def _types_above(schema: GraphQLSchema) -> dict[str, set[str]]:
    """Type -> the types that lead to it in one step of a selection."""
    above: dict[str, set[str]] = {}
    for type_, _, field in fields_of(schema):
        above.setdefault(get_named_type(field.type).name, set()).add(type_.name)
    for abstract in schema.type_map.values():
        if isinstance(abstract, GraphQLInterfaceType | GraphQLUnionType):
            for member in members_of_abstract(schema, abstract):
                above.setdefault(member.name, set()).add(abstract.name)
    return above


NONE: frozenset[str] = frozenset()


class Meanings:
    """The fields and types of one schema by the spellings of their names."""

    def __init__(self, schema: GraphQLSchema) -> None:
        self._having: dict[str, set[str]] = {}  # the spelling of a field -> the types that have it
        self._meant: dict[str, set[str]] = {}  # the spelling of a type, or of a field that returns it -> the type
        possible = {type_.name: _possible(schema, type_) for type_ in schema.type_map.values()}
        for type_ in list(schema.type_map.values()):
            paged = rows_on(type_)  # the name of a page may mean the rows on it
            possible[type_.name] |= possible[paged.name] if paged else set()
        for type_, name, field in fields_of(schema):
            for spelling in spellings(name):
                self._having.setdefault(spelling, set()).add(type_.name)
                self._meant.setdefault(spelling, set()).update(possible[get_named_type(field.type).name])
        for name in {type_.name for type_, _, _ in fields_of(schema)}:
            for spelling in spellings(name):
                self._meant.setdefault(spelling, set()).update(possible[name])

    @property
    def fields(self) -> Mapping[str, Collection[str]]:
        """The spelling of a field -> the types that have it."""
        return self._having

    def having(self, field: str) -> set[str]:
        """Return the types that have a field of this name."""
        return self._of(self._having, spellings(field))

    def others(self, mention: Mention, field: str, types: Collection[str]) -> set[str]:
        """Return the types that the words around a field name instead of ``types``; empty if they name none.

        The words may name the owner of the field, or be part of a longer field name: ``databaseId`` is not ``id``.
        They may name several types (``toOwner`` a field, ``Owner`` a type). The result is empty if ``types`` has one.
        """
        having = self.having(field)
        others: list[set[str]] = []
        for skipped in range(len(mention.before)):
            words = mention.before[skipped:]
            owners = self._of(self._meant, joined(words)) & having
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
                    longer = self._of(self._having, joined((*before, *mention.words, *after)))
                    if longer:
                        return longer
        return set()

    def _of(self, known: Mapping[str, Collection[str]], found: Collection[str]) -> set[str]:
        return {name for spelling in found for name in known.get(spelling, ())}


def _possible(schema: GraphQLSchema, type_: GraphQLNamedType) -> set[str]:
    if not isinstance(type_, GraphQLInterfaceType | GraphQLUnionType):
        return {type_.name}
    return {type_.name, *(each.name for each in members_of_abstract(schema, type_))}
