"""The parameters and the return type of a function as plain types, with the interface of ``type_schemas``.

The schemas are pydantic's, byte for byte: a caller compares their digest with the bundle's before it uses them
(``loading.py``). pydantic judges each value in doubt.
"""

from __future__ import annotations

import collections.abc
import copy
import dataclasses
import functools
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
    Anything,
    Bounded,
    Choice,
    Doubt,
    Enumeration,
    Float,
    Items,
    JsonScalar,
    Nullable,
    PlainMember,
    PlainMembers,
    PlainRecord,
    PlainType,
    Positions,
    ScalarUnion,
    Table,
    is_json,
)
from handler.code_tools.signature import NO_DEFAULT, Parameter, alternatives
from handler.code_tools.source_location import SourceLocation
from handler.code_tools.type_schemas import ArgumentsModel, ValueType, arguments_schema, tidy_schema
from handler.strict_json import JSONObject

REFERENCE = "#/$defs/"

AS_GIVEN = ("properties", "default")
"""The keywords whose members pydantic leaves in the author's order."""


class PlainArguments:
    """The parameters of a function as plain types.

    Raises:
        Doubt: a parameter is not plain.
    """

    def __init__(self, parameters: Sequence[Parameter], place: SourceLocation) -> None:
        reader = HintReader()
        self._parameters = parameters
        self._members = reader.members(parameters)
        self._definitions = reader.definitions()
        self._place = place

    def schema(self) -> JSONObject:
        """Return the JSON Schema of the arguments."""
        schema = _sorted({**self._members.schema(), **_defs(self._definitions)})
        return arguments_schema(schema, self.declared())

    def cast(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Convert arguments to the parameters' types and add defaults; undeclared names are dropped.

        Raises:
            Misfits: a value that its type refuses.
        """
        try:
            return self.cast_plainly(arguments)
        except (Doubt, RecursionError):
            return self._exact.cast(arguments)

    def cast_plainly(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Convert arguments as ``cast`` does, without pydantic.

        Raises:
            Doubt: pydantic may refuse or convert a value.
        """
        return self._members.cast(arguments)

    def declared(self) -> dict[str, Parameter]:
        """Return the parameters by the names of arguments."""
        return {each.name: each for each in self._parameters}

    @functools.cached_property
    def _exact(self) -> ArgumentsModel:
        return ArgumentsModel(self._parameters, self._place)


class PlainValue:
    """The type of a return value as a plain type.

    Raises:
        Doubt: the type is not plain.
    """

    def __init__(self, hint: Any, what: str, place: SourceLocation) -> None:
        reader = HintReader()
        self._plain = reader.read(hint)
        if len(root := self._plain.schema()) > 1 and "$ref" in root:
            raise Doubt  # pydantic lists such a class in two ways
        self._definitions = reader.definitions()
        self._make_exact: Callable[[], ValueType] = functools.partial(ValueType, hint, what, place)

    def schema(self, _mode: str) -> JSONObject:
        """Return the schema, which is the same for values that are received or sent."""
        root, definitions = self._plain.schema(), self._definitions
        name = root.get("$ref", "").removeprefix(REFERENCE)
        if name and not _refers_to(name, definitions):  # a class that does not hold itself
            definitions = {each: schema for each, schema in definitions.items() if each != name}
            root = self._definitions[name]
        return tidy_schema(_sorted({**root, **_defs(definitions)}))

    def cast(self, value: Any) -> Any:
        """Convert JSON to a value of the type.

        Raises:
            Misfits: the type refuses the value.
        """
        return self._exact.cast(value)

    def to_json(self, value: Any) -> Any:
        """Convert a value to JSON. A value of another type is written by its own type, for the schema check to find."""
        try:
            return self.to_json_plainly(value)
        except (Doubt, RecursionError):
            return self._exact.to_json(value)

    def to_json_plainly(self, value: Any) -> Any:
        """Convert a value as ``to_json`` does, without pydantic.

        Raises:
            Doubt: the value is not of the type.
        """
        return self._plain.dump(value)

    @functools.cached_property
    def _exact(self) -> ValueType:
        return self._make_exact()


def _defs(definitions: JSONObject) -> JSONObject:
    return {"$defs": definitions} if definitions else {}


def _refers_to(name: str, schema: Any) -> bool:
    match schema:
        case dict():
            return schema.get("$ref") == f"{REFERENCE}{name}" or any(_refers_to(name, each) for each in schema.values())
        case list():
            return any(_refers_to(name, each) for each in schema)
    return False


def _sorted(schema: Any, above: str = "") -> Any:
    """Sort members as pydantic does."""
    match schema:
        case dict():
            names = schema if above in AS_GIVEN else sorted(schema)
            return {name: _sorted(schema[name], name) for name in names}
        case list():
            return [_sorted(each, above) for each in schema]
    return schema


RENAMED = "stile_argument_"
"""The start of names that the model of a function's arguments gives to parameters."""

BARE: Mapping[Any, Callable[[], PlainType]] = {
    Any: Anything,
    float: Float,
    **{kind: lambda kind=kind: JsonScalar(kind) for kind in JsonScalar.NAMES},  # type: ignore[misc]
    None: lambda: JsonScalar(NoneType),
    list: lambda: Items(list, Anything()),
    dict: lambda: Table(Anything()),
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
"""How the names start by which a class tells pydantic what to make of it."""

NOT_PLAIN = ("__post_init__", "__new__", "__getattribute__", "__orig_bases__")
"""Names of a dataclass by which its instances are more than the values of their fields."""

TEXTS = ("title", "description", "examples")
DEFAULTS = ("default", "default_factory")
FACTORIES = (list, dict, set, tuple, str, int, float, bool)


class HintReader:
    """A reader of hints that share definitions of classes."""

    def __init__(self) -> None:
        self._classes: dict[str, PlainRecord | Enumeration] = {}

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
            return bare()
        if isinstance(hint, type):
            return self._of_class(hint)
        return self._of_form(hint, typing.get_origin(hint), typing.get_args(hint))

    def definitions(self) -> JSONObject:
        """Return the schemas of the classes that were read, by their names."""
        return {name: each.definition() for name, each in self._classes.items()}

    def members(self, parameters: Sequence[Parameter]) -> PlainMembers:
        """Return the parameters of a function as members of its arguments."""
        return PlainMembers([self._member(each.name, each.hint, each.default) for each in parameters])

    def _of_form(self, hint: Any, form: Any, parts: tuple[Any, ...]) -> PlainType:
        match form:
            case typing.Annotated:
                return self._annotated(hint, {})
            case typing.Literal:
                return _choice({each: each for each in parts}, parts)
            case typing.Union | types.UnionType:
                return self._union(alternatives(hint))
            case builtins if builtins in (list, set) and len(parts) == 1:
                return Items(form, self.read(parts[0]))
            case collections.abc.Sequence if len(parts) == 1:
                return Items(list, self.read(parts[0]))
            case builtins if builtins is tuple and len(parts) == 2 and parts[1] is Ellipsis:
                return Items(tuple, self.read(parts[0]))
            case builtins if builtins is tuple and parts and Ellipsis not in parts:
                return Positions([self.read(each) for each in parts])
            case builtins if builtins is dict and len(parts) == 2 and parts[0] is str:
                return Table(self.read(parts[1]))
        raise Doubt

    def _union(self, parts: Sequence[Any]) -> PlainType:
        kinds = [each for each in parts if each is not NoneType]
        if len(kinds) == 1 and len(parts) == 2 and parts[1] is NoneType:
            return Nullable(self.read(kinds[0]))
        scalars = [each for each in map(self.read, parts) if isinstance(each, JsonScalar | Float)]
        if len(scalars) < len(parts) or NoneType in parts[:-1]:
            raise Doubt
        return ScalarUnion(scalars)

    def _annotated(self, hint: Any, said: Mapping[str, Any]) -> PlainType:
        """Read a hint with its fields, and the options that an assigned field has."""
        for each in getattr(hint, "__metadata__", ()):
            options = options_of(each)
            if (options is None and type(each) is not str) or not said.keys().isdisjoint(options or ()):
                raise Doubt
            said = {**said, **(options or {})}
        inner = hint.__origin__ if typing.get_origin(hint) is typing.Annotated else hint
        if not said.keys().isdisjoint(DEFAULTS):
            raise Doubt
        return self._bounded(self.read(inner), said) if said else self.read(inner)

    def _bounded(self, inner: PlainType, said: Mapping[str, Any]) -> PlainType:
        texts = {name: value for name, value in said.items() if name in TEXTS}
        if not is_json(texts):
            raise Doubt
        bounds = {name: value for name, value in said.items() if name not in TEXTS}
        if bounds and isinstance(inner, Nullable):
            return Bounded(Nullable(self._bounded(inner.inner, bounds)), texts)
        kind = getattr(inner, "kind", None)
        keywords = LENGTHS.get(kind, {})
        if not all(name in keywords and _is_limit(value, name, kind) for name, value in bounds.items()):
            raise Doubt
        return Bounded(inner, {**{keywords[name]: value for name, value in bounds.items()}, **texts})

    def _of_class(self, cls: type) -> PlainType:
        if any(name.startswith(HOOKS) for base in cls.__mro__ for name in vars(base)):
            raise Doubt
        known = self._classes.get(cls.__name__)
        if known is None:
            return self._enum(cls) if isinstance(cls, EnumMeta) else self._record(cls)
        if known.cls is not cls:
            raise Doubt  # pydantic tells definitions of one name apart
        return known

    def _enum(self, cls: Any) -> Enumeration:
        values = {each.value: each for each in cls}
        if issubclass(cls, Flag) or type(cls) is not EnumMeta:
            raise Doubt
        choice = _choice(values, [*values], is_enum=True)
        made = self._classes[cls.__name__] = Enumeration(cls, choice, description=_docstring(cls))
        return made

    def _record(self, cls: type) -> PlainRecord:
        is_dataclass = "__dataclass_fields__" in vars(cls)
        if not is_dataclass and not typing.is_typeddict(cls):
            raise Doubt
        if "<locals>" in cls.__qualname__ or vars(cls).get("__parameters__"):
            raise Doubt  # pydantic finds names in functions
        made = self._classes[cls.__name__] = PlainRecord(cls, description=_docstring(cls))
        try:
            with authors_code():  # a hint in quotes may run any code
                hints = typing.get_type_hints(cls, include_extras=True)
        except AuthorFailed as exc:
            raise Doubt from exc
        made.members = PlainMembers(self._of_dataclass(cls, hints) if is_dataclass else self._of_dict(cls, hints))
        return made

    def _of_dataclass(self, cls: Any, hints: Mapping[str, Any]) -> list[PlainMember]:
        fields = sorted(dataclasses.fields(cls), key=lambda each: bool(each.kw_only))
        others = cls.__dataclass_fields__.keys() - {each.name for each in fields}
        if not is_plain_class(cls) or any(isinstance(hints[name], dataclasses.InitVar) for name in others):
            raise Doubt
        return [self._of_field(cls, each, hints[each.name]) for each in fields]

    def _of_field(self, cls: type, field: dataclasses.Field[Any], hint: Any) -> PlainMember:
        default = field.default
        known = inspect.getattr_static(cls, field.name, default)
        if field.metadata or not field.init or is_field(default) or not (known is default or _is_slot(known)):
            raise Doubt
        if field.default_factory is not dataclasses.MISSING:
            return self._made(field.name, hint, {"default_factory": field.default_factory})
        return self._member(field.name, hint, NO_DEFAULT if default is dataclasses.MISSING else default)

    def _of_dict(self, cls: Any, hints: Mapping[str, Any]) -> list[PlainMember]:
        if getattr(cls, "__closed__", None) or cls.__bases__ != (dict,):
            raise Doubt
        members = []
        for name, hint in hints.items():
            mark = typing.get_origin(hint)
            bare = typing.get_args(hint)[0] if mark in (typing.Required, typing.NotRequired) else hint
            is_required = name in cls.__required_keys__ if bare is hint else mark is typing.Required
            made = self._made(name, bare, {})
            members.append(made if is_required else PlainMember(name=name, type=made.type, default=_absent, listed={}))
        return members

    def _member(self, name: str, hint: Any, default: Any) -> PlainMember:
        if is_field(default):
            said = options_of(default)
            if said is None:
                raise Doubt
            return self._made(name, hint, said)
        return self._made(name, hint, {} if default is NO_DEFAULT else {"default": default})

    def _made(self, name: str, hint: Any, said: Mapping[str, Any]) -> PlainMember:
        if name.startswith(("_", RENAMED)):
            raise Doubt
        options = {key: value for key, value in said.items() if key not in DEFAULTS}
        kind = self._annotated(hint, options)
        if "default_factory" in said:
            return PlainMember(name=name, type=kind, default=_factory(said["default_factory"]), listed={})
        if said.get("default", ...) is ...:
            return PlainMember(name=name, type=kind, listed={})
        default = said["default"]
        plain = default.value if isinstance(default, Enum) else default
        if not is_json(plain):
            raise Doubt
        make = (lambda: copy.deepcopy(default)) if isinstance(plain, list | dict) else lambda: default
        return PlainMember(name=name, type=kind, default=make, listed={"default": plain})


def _choice(values: Mapping[Any, Any], listed: Sequence[Any], *, is_enum: bool = False) -> Choice:
    kinds = {type(each) for each in listed}
    if kinds not in ({str}, {int}) or len(values) < len(listed):
        raise Doubt
    form = {"const": listed[0]} if len(listed) == 1 and not is_enum else {"enum": [*listed]}
    return Choice(values, {**form, "type": JsonScalar.NAMES[kinds.pop()]})


def is_plain_class(cls: type) -> bool:
    """Tell if instances of a dataclass are made of nothing but the values of their fields."""
    bases = cls.__mro__[:-1]
    return (
        type(cls) is type
        and all("__dataclass_fields__" in vars(base) for base in bases)
        and not any(name in vars(base) for base in bases for name in NOT_PLAIN)
        and not any(type(each).__module__.startswith("pydantic") for base in bases for each in vars(base).values())
    )


def _is_slot(value: Any) -> bool:
    return isinstance(value, types.MemberDescriptorType)


def _is_limit(value: Any, name: str, kind: Any) -> bool:
    """Tell if a bound means for sure what it means to pydantic."""
    if name == "pattern":
        return not re.search(r"\\[DWbB]|\[\^[^\]]*\\[dw]|&&|~~", value)  # to pydantic, digits are Unicode's
    if kind is float:
        return type(value) in (int, float) and math.isfinite(value) and abs(value) <= MAX_EXACT
    return type(value) is int and (kind is int or value >= 0) and (name != "multiple_of" or value > 0)


def _factory(make: Any) -> Callable[[], Any]:
    """Return the maker of a default that takes nothing; pydantic gives others the values of earlier fields."""
    if make in FACTORIES:
        return make  # type: ignore[no-any-return] # a class
    code = getattr(make, "__code__", None)
    takes = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS
    if not isinstance(make, FunctionType) or code is None or code.co_flags & takes:
        raise Doubt
    if code.co_argcount or code.co_kwonlyargcount or inspect.iscoroutinefunction(make):
        raise Doubt
    return make


def _absent() -> None:
    """Stand for a member of a ``TypedDict`` that may be missing."""


def _docstring(cls: type) -> str:
    """Return the docstring that pydantic lists: not the signature that ``dataclass`` writes."""
    text = cls.__doc__ or ""
    return "" if text.startswith(f"{cls.__name__}(") else inspect.cleandoc(text)
