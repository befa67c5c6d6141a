"""Find the types that the words of an input's name may stand for."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from graphql import GraphQLInterfaceType, GraphQLNamedType, GraphQLSchema, GraphQLUnionType, get_named_type

from handler.compiler.access.name_matching import Mention, Word, is_operator, joined, spellings
from handler.compiler.access.rows import members_of_abstract, rows_on
from handler.compiler.schema.visibility import fields_of

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
