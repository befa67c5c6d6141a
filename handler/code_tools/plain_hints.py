"""Function signatures as plain types. A hint that is not wholly understood is a ``Doubt``, and pydantic reads it.

The schemas are pydantic's, byte for byte: a caller compares their digest with the bundle's before it uses them
(``loading.py``). pydantic judges each value in doubt.
"""

from __future__ import annotations

import collections.abc
import copy
import dataclasses
import inspect
import math
import re
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from enum import Enum, EnumMeta, Flag
from types import FunctionType, NoneType
from typing import Any

from handler.code_tools.boundary import AuthorFailed, authors_code
from handler.code_tools.field import is_field, options_of
from handler.code_tools.plain_types import (
    MAX_EXACT,
    SCALARS,
    Doubt,
    PlainClass,
    PlainMember,
    PlainType,
    any_json,
    bounded,
    choice_type,
    dataclass_of,
    fits_json,
    list_type,
    nullable,
    number_type,
    object_of,
    positions,
    require,
    scalar,
    scalar_union,
    table,
    typed_dict,
)
from handler.code_tools.signature import NO_DEFAULT, Parameter, alternatives
from handler.code_tools.source_location import SourceLocation
from handler.code_tools.type_schemas import FIELD, ArgumentsModel, ValueType, arguments_schema, tidy_schema
from handler.json_schema.fast_path import REFERENCE
from handler.json_schema.input_types import references_in
from handler.strict_json import JSONObject


class PlainArguments(ArgumentsModel):
    """The parameters of a function as plain types.

    Raises:
        Doubt: a parameter is not plain.
    """

    def __init__(self, parameters: Sequence[Parameter], place: SourceLocation) -> None:
        super().__init__(parameters, place)
        reader = HintReader()
        self.members = reader.members(parameters)
        """The plain types, whose ``cast`` never asks pydantic."""
        self._definitions = reader.definitions()

    def schema(self) -> JSONObject:
        return arguments_schema(_schema_of(self.members.schema, self._definitions), self.declared())

    def cast(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        try:
            values: dict[str, Any] = self.members.cast(arguments)
        except (Doubt, RecursionError):
            return super().cast(arguments)
        return values

    def declared(self) -> dict[str, Parameter]:
        return {each.name: each for each in self._parameters}


class PlainValue(ValueType):
    """The type of a return value as a plain type.

    Raises:
        Doubt: the type is not plain.
    """

    def __init__(self, hint: Any, label: str, place: SourceLocation) -> None:
        super().__init__(hint, label, place)
        reader = HintReader()
        self.type = reader.read(hint)
        """The plain type, whose ``dump`` never asks pydantic."""
        root = self.type.schema
        require(len(root) == 1 or "$ref" not in root)  # pydantic lists such a class in two ways
        self._definitions = reader.definitions()

    def schema(self, _mode: str) -> JSONObject:
        """Return the schema, which is the same for values that are received or sent."""
        root, definitions = self.type.schema, self._definitions
        reference = root.get("$ref", "")
        if reference and reference not in references_in(definitions):  # a class that does not hold itself
            name = reference.removeprefix(REFERENCE)
            definitions = {each: schema for each, schema in definitions.items() if each != name}
            root = self._definitions[name]
        return tidy_schema(_schema_of(root, definitions))

    def to_json(self, value: Any) -> Any:
        try:
            return self.type.dump(value)
        except (Doubt, RecursionError):
            return super().to_json(value)


def _schema_of(root: JSONObject, definitions: JSONObject) -> JSONObject:
    schema: JSONObject = _sorted({**root, **({"$defs": definitions} if definitions else {})})
    return schema


def _sorted(schema: Any, above: str = "") -> Any:
    """Sort members as pydantic does: by name, but those of ``properties`` and ``default`` in the author's order."""
    match schema:
        case dict():
            names = schema if above in ("properties", "default") else sorted(schema)
            return {name: _sorted(schema[name], name) for name in names}
        case list():
            return [_sorted(each, above) for each in schema]
    return schema


BARE: Mapping[Any, PlainType] = {
    Any: any_json(),
    float: number_type(),
    **{kind: scalar(kind) for kind in SCALARS},
    None: scalar(NoneType),
    list: list_type(list, any_json()),
    dict: table(any_json()),
}

LIMITS = {"gt": "exclusiveMinimum", "ge": "minimum", "lt": "exclusiveMaximum", "le": "maximum"}
LENGTHS: Mapping[Any, Mapping[str, str]] = {
    str: {"min_length": "minLength", "max_length": "maxLength", "pattern": "pattern"},
    list: {"min_length": "minItems", "max_length": "maxItems"},
    dict: {"min_length": "minProperties", "max_length": "maxProperties"},
    int: {**LIMITS, "multiple_of": "multipleOf"},
    float: LIMITS,
}
"""The options of fields by the kind of their values, each with its keyword in JSON Schema."""

HOOKS = ("__pydantic", "__get_pydantic", "__get_validators__")
"""The beginnings of the names by which a class changes its treatment by pydantic."""

NOT_PLAIN = ("__post_init__", "__new__", "__getattribute__", "__orig_bases__")
"""Names of a dataclass by which its instances are more than the values of their fields."""

TEXTS = ("title", "description", "examples")
DEFAULTS = ("default", "default_factory")
FACTORIES = (list, dict, set, tuple, str, int, float, bool)


class HintReader:
    """A reader of hints that share definitions of classes."""

    def __init__(self) -> None:
        self._classes: dict[str, PlainClass] = {}

    def read(self, hint: Any) -> PlainType:
        """Return the plain type of a hint.

        Raises:
            Doubt: pydantic has to read the hint.
        """
        try:
            bare = BARE.get(hint)
        except TypeError as exc:  # a hint that is not hashable
            raise Doubt from exc
        if bare is not None:
            return bare
        if isinstance(hint, type):
            return self._of_class(hint)
        form, parts = typing.get_origin(hint), typing.get_args(hint)
        match form:
            case typing.Annotated:
                return self._annotated(hint, {})
            case typing.Literal:
                return _enumeration({each: each for each in parts}, parts)
            case typing.Union | types.UnionType:
                return self._union(alternatives(hint))
            case builtins if builtins in (list, set) and len(parts) == 1:
                return list_type(form, self.read(parts[0]))
            case collections.abc.Sequence if len(parts) == 1:
                return list_type(list, self.read(parts[0]))
            case builtins if builtins is tuple and len(parts) == 2 and parts[1] is Ellipsis:
                return list_type(tuple, self.read(parts[0]))
            case builtins if builtins is tuple and parts and Ellipsis not in parts:
                return positions([self.read(each) for each in parts])
            case builtins if builtins is dict and len(parts) == 2 and parts[0] is str:
                return table(self.read(parts[1]))
        raise Doubt

    def definitions(self) -> JSONObject:
        """Return the schemas of the classes that were read, by their names."""
        return {name: each.definition() for name, each in self._classes.items()}

    def members(self, parameters: Sequence[Parameter]) -> PlainType:
        """Return the parameters of a function as members of its arguments."""
        members = []
        for each in parameters:
            default = {} if each.default is NO_DEFAULT else {"default": each.default}
            members.append(
                self._member(each.name, each.hint, options_of(each.default) if is_field(each.default) else default)
            )
        return object_of(members)

    def _union(self, parts: Sequence[Any]) -> PlainType:
        kinds = [each for each in parts if each is not NoneType]
        if len(kinds) == 1 and len(parts) == 2 and parts[1] is NoneType:
            return nullable(self.read(kinds[0]))
        scalars = [each for each in map(self.read, parts) if each.kind in (*SCALARS, float)]
        require(len(scalars) == len(parts) and NoneType not in parts[:-1])
        return scalar_union(scalars)

    def _annotated(self, hint: Any, options: Mapping[str, Any]) -> PlainType:
        """Read a hint with its fields, and the options that an assigned field has."""
        for each in getattr(hint, "__metadata__", ()):
            beside = options_of(each)
            require((beside is not None or type(each) is str) and options.keys().isdisjoint(beside or ()))
            options = {**options, **(beside or {})}
        require(options.keys().isdisjoint(DEFAULTS))
        inner = hint.__origin__ if typing.get_origin(hint) is typing.Annotated else hint
        return self._bounded(self.read(inner), options) if options else self.read(inner)

    def _bounded(self, inner: PlainType, options: Mapping[str, Any]) -> PlainType:
        texts = {name: value for name, value in options.items() if name in TEXTS}
        require(fits_json(texts))
        bounds = {name: value for name, value in options.items() if name not in TEXTS}
        if bounds and inner.inner:
            return bounded(nullable(self._bounded(inner.inner, bounds)), texts)
        keywords = LENGTHS.get(inner.kind, {})
        require(all(name in keywords and _is_limit(value, name, inner.kind) for name, value in bounds.items()))
        return bounded(inner, {**{keywords[name]: value for name, value in bounds.items()}, **texts})

    def _of_class(self, cls: type) -> PlainType:
        require(not any(name.startswith(HOOKS) for base in cls.__mro__ for name in vars(base)))
        if cls.__name__ in self._classes:
            require(self._classes[cls.__name__].cls is cls)  # pydantic distinguishes definitions of one name
            return self._classes[cls.__name__].type
        plain = self._classes[cls.__name__] = PlainClass(cls)
        if isinstance(cls, EnumMeta):
            require(type(cls) is EnumMeta and not issubclass(cls, Flag))
            values = {member.value: member for member in typing.cast("type[Enum]", cls)}
            plain.inner = _enumeration(values, [*values], is_enum=True)
            return plain.type
        is_dataclass = "__dataclass_fields__" in vars(cls)
        require(is_dataclass or typing.is_typeddict(cls))
        require(
            "<locals>" not in cls.__qualname__ and not vars(cls).get("__parameters__")
        )  # pydantic finds these names
        try:
            with authors_code():  # a hint in quotes may run any code
                hints = typing.get_type_hints(cls, include_extras=True)
        except AuthorFailed as exc:
            raise Doubt from exc
        plain.inner = self._of_dataclass(cls, hints) if is_dataclass else self._of_dict(cls, hints)
        return plain.type

    def _of_dataclass(self, cls: Any, hints: Mapping[str, Any]) -> PlainType:
        fields = sorted(dataclasses.fields(cls), key=lambda each: bool(each.kw_only))
        others = cls.__dataclass_fields__.keys() - {each.name for each in fields}
        require(is_plain_class(cls) and not any(isinstance(hints[name], dataclasses.InitVar) for name in others))
        members = []
        for each in fields:
            static = inspect.getattr_static(cls, each.name, each.default)
            is_default = static is each.default or isinstance(static, types.MemberDescriptorType)
            require(each.init and is_default and not each.metadata and not is_field(each.default))
            defaults = {"default": each.default, "default_factory": each.default_factory}
            options = {name: value for name, value in defaults.items() if value is not dataclasses.MISSING}
            members.append(self._member(each.name, hints[each.name], options))
        return dataclass_of(cls, members)

    def _of_dict(self, cls: Any, hints: Mapping[str, Any]) -> PlainType:
        require(not getattr(cls, "__closed__", None) and cls.__bases__ == (dict,))
        members = []
        for name, hint in hints.items():
            mark = typing.get_origin(hint)
            bare = typing.get_args(hint)[0] if mark in (typing.Required, typing.NotRequired) else hint
            is_required = name in cls.__required_keys__ if bare is hint else mark is typing.Required
            member = self._member(name, bare, {})
            absent = PlainMember(name=name, type=member.type, default=lambda: None, listed={})
            members.append(member if is_required else absent)
        return typed_dict(members)

    def _member(self, name: str, hint: Any, options: Mapping[str, Any] | None) -> PlainMember:
        if options is None or name.startswith(("_", FIELD)):
            raise Doubt
        kind = self._annotated(hint, {key: value for key, value in options.items() if key not in DEFAULTS})
        if "default_factory" in options:
            return PlainMember(name=name, type=kind, default=_factory(options["default_factory"]), listed={})
        default = options.get("default", ...)
        if default is ...:
            return PlainMember(name=name, type=kind, listed={})
        plain = default.value if isinstance(default, Enum) else default
        require(fits_json(plain))
        make = (lambda: copy.deepcopy(default)) if isinstance(plain, list | dict) else lambda: default
        return PlainMember(name=name, type=kind, default=make, listed={"default": plain})


def _enumeration(values: Mapping[Any, Any], listed: Sequence[Any], *, is_enum: bool = False) -> PlainType:
    kinds = {type(each) for each in listed}
    require(kinds in ({str}, {int}) and len(values) == len(listed))
    form = {"const": listed[0]} if len(listed) == 1 and not is_enum else {"enum": [*listed]}
    return choice_type(values, {**form, "type": SCALARS[kinds.pop()]})


def is_plain_class(cls: type) -> bool:
    """Return whether instances of a dataclass are made of nothing but the values of their fields."""
    bases = cls.__mro__[:-1]
    return (
        type(cls) is type
        and all("__dataclass_fields__" in vars(base) for base in bases)
        and not any(name in vars(base) for base in bases for name in NOT_PLAIN)
        and not any(type(each).__module__.startswith("pydantic") for base in bases for each in vars(base).values())
    )


def _is_limit(value: Any, name: str, kind: Any) -> bool:
    """Return whether a bound means for sure the same to pydantic."""
    if name == "pattern":
        return not re.search(r"\\[DWbB]|\[\^[^\]]*\\[dw]|&&|~~", value)  # to pydantic, digits are Unicode's
    if kind is float:
        return type(value) in (int, float) and math.isfinite(value) and abs(value) <= MAX_EXACT
    return type(value) is int and (kind is int or value >= 0) and (name != "multiple_of" or value > 0)


def _factory(make: Any) -> Callable[[], Any]:
    """Return the maker of a default that takes nothing; pydantic gives others the values of earlier fields."""
    if make not in FACTORIES:
        require(isinstance(make, FunctionType) and not inspect.iscoroutinefunction(make))
        code = make.__code__
        takes_any = code.co_flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS)
        require(not (takes_any or code.co_argcount or code.co_kwonlyargcount))
    return make  # type: ignore[no-any-return] # a class, or a function
