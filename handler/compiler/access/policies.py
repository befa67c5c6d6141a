"""Read ``access``: the masks of ``policies``, ``hide`` and ``show``, and the access of callers without a credential.

A condition of a tool or toolkit is evaluated where policies are. It joins the mask of a tool that runs one operation,
and guards the root types of a tool whose requests a model writes: the views of other callers are empty.

Source: IBM API Connect for GraphQL, "Using field policies".
"""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from graphql import GraphQLSchema, StringValueNode

from handler.bundle.identity import Access
from handler.compiler.access.predicate_parser import parse_predicate
from handler.compiler.compile_context import CompileContext
from handler.compiler.conditions import ConditionTable
from handler.compiler.config.config import KitUse
from handler.compiler.problems import Place, Problems, node_location, offset_in_literal, place_in
from handler.compiler.schema.coordinates import resolve, root_or_type, rule_for_other_kind, with_members
from handler.compiler.schema.directives import value_of_argument
from handler.compiler.schema.tool_options import AuthorOptions
from handler.compiler.schema.visibility import FEDERATION_FIELDS, FieldsType, types_with_fields
from handler.compiler.source.yaml_section import Section
from handler.errors.authoring import UnknownCoordinate
from handler.graph.index import SchemaIndex
from handler.policy.evaluation import HIDDEN, KNOWN, OPEN, OWN_TOKEN, Evaluation, Mask, union_of
from handler.policy.predicates import Predicate
from handler.strict_json import objects_in
from handler.text.sentences import did_you_mean, some

FALSE: Predicate = {"literal": False}

INTROSPECTION = ("__schema", "__type")
"""Fields of the query type for policies, although schemas do not define them."""

META_FIELDS = (*INTROSPECTION, "__typename", *FEDERATION_FIELDS)
"""Fields that policies of StepZen projects may name even if they do not exist."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A mask on coordinates, with its reason for the author. A default rule is for coordinates that no other names."""

    mask: Mask
    coordinates: tuple[str, ...]
    text: str
    place: Place | None  # ``None``: the absence of an entry decides
    default: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Policies:
    """The masks of an endpoint's policies by coordinate, before ``access/propagation.py`` spreads them."""

    rules: tuple[Rule, ...]
    guards: dict[str, Mask]
    shown: Mapping[str, Place]  # inputs that may name a guarded field -> where access.show says so
    graphql_guards: dict[str, Mask]  # of the endpoint's own GraphQL: introspection, Federation's fields


def read_policies(context: CompileContext, schema: GraphQLSchema) -> Policies:
    """Read the masks of ``access.policies`` and ``access.hide``, and the exceptions of ``access.show``.

    A rule's condition guards the fields that the rule names; ``policyDefault`` guards the type's other fields. Without
    a ``policyDefault`` these are denied. A root type without a policy is denied, any other type without one is open.
    So an endpoint without an ``access`` section denies every root field. Policies treat ``__schema`` and ``__type`` as
    fields of the query type. Federation's fields, which expose all of the API, are hidden unless a rule names them.
    """
    reader = _PolicyReader(context, schema)
    rules, hidden = reader.policy_rules(), reader.hidden()
    guards = _masks([*rules, *hidden])
    graphql_guards = _graphql_guards(guards, schema, rules)
    shown = reader.shown(_masks(hidden))
    return Policies(rules=(*rules, *hidden), guards=guards, shown=shown, graphql_guards=graphql_guards)


class _PolicyReader:
    """Reader of ``access`` for one schema."""

    def __init__(self, context: CompileContext, schema: GraphQLSchema) -> None:
        self._access = context.config.access
        self._conditions = context.conditions
        self._problems = context.problems
        self._schema = schema

    def policy_rules(self) -> list[Rule]:
        """Read the rules of ``access.policies``, and those of root types without a policy."""
        rules_so_far: list[Rule] = []
        type_names: set[str] = set()
        for policy in self._access.sections("policies"):
            type_ = self._policy_type(policy)
            rules = self._rules_of(policy, type_)
            if type_ and type_.name in type_names:
                sentence = f'a second policy for "{policy.text("type")}": give it one, with all rules'
                self._problems.add(policy.place("type"), sentence, code="duplicate-policy")
            elif type_:
                type_names.add(type_.name)
                rules_so_far += rules
        for root in (self._schema.query_type, self._schema.mutation_type):
            if root and root.name not in type_names:
                text = f"no policy for {root.name}: nobody may use its fields"
                fields = tuple(_coordinates_of(root, self._schema))
                mask = self._conditions.mask(FALSE)
                rules_so_far.append(Rule(mask=mask, coordinates=fields, text=text, place=None, default=True))
        return rules_so_far

    def _policy_type(self, policy: Section) -> FieldsType | None:
        name = policy.text("type")
        type_ = root_or_type(self._schema, name)
        if isinstance(type_, FieldsType):
            if cause := self._problems.warned("unnamed-root-type", [name]):
                self._problems.warn(policy.place("type"), f"no request reaches it{cause}", code="unnamed-root-type")
            return type_
        if name:
            names = [type_.name for type_ in types_with_fields(self._schema)]
            other_kind = rule_for_other_kind(self._schema, name)
            remedy = f"; {other_kind}" if other_kind else did_you_mean(name, names)
            sentence = f'the schema has no type "{name}" with fields{remedy}'
            self._problems.add(policy.place("type"), sentence, code="unknown-type")
        else:
            policy.refuse("type", "the name of a type")
        return None

    def _rules_of(self, policy: Section, type_: FieldsType | None) -> list[Rule]:
        """Read the rules of one policy and its default. Without a type (reported before), check the rest of it."""
        coordinates = _coordinates_of(type_, self._schema) if type_ else []
        field_names: set[str] = set()
        rules: list[Rule] = []
        for section in policy.sections("rules"):
            mask = condition_mask(section, self._conditions, self._problems)
            fields = self._fields_of(section, type_, known=coordinates, named=field_names) if type_ else []
            field_names.update(fields)
            rules.append(_rule(section, mask, fields))
        default = policy.section("policyDefault")
        rest = [each for each in coordinates if each not in field_names]
        if default:
            mask = condition_mask(default, self._conditions, self._problems)
            return [*rules, _rule(default, mask, rest, prefix="policyDefault: ", default=True)]
        text = "no rule names it, and the policy has no policyDefault: nobody may use it"
        denied = self._conditions.mask(FALSE)
        return [*rules, Rule(mask=denied, coordinates=tuple(rest), text=text, place=policy.place("type"), default=True)]

    def _fields_of(
        self, rule: Section, type_: FieldsType, *, known: Container[str], named: Container[str]
    ) -> list[str]:
        """Return the coordinates that a rule names. ``named`` has those of earlier rules."""
        fields: list[str] = []
        if not rule.has_items("fields"):
            rule.refuse("fields", "the names of the fields that the condition guards")
        for name, place in rule.texts("fields"):
            coordinate = f"{type_.name}.{name}"
            if coordinate in named or coordinate in fields:
                sentence = f'field "{name}" appears in two rules: combine their conditions with &&'
                self._problems.add(place, sentence, code="duplicate-rule")
            elif coordinate in known:
                fields.append(coordinate)
            elif name not in META_FIELDS:
                sentence = f'type "{type_.name}" has no field "{name}"{did_you_mean(name, type_.fields)}'
                self._problems.add(place, sentence, code="unknown-field")
        return fields

    def hidden(self) -> list[Rule]:
        """Read the rules of ``access.hide``, which unrestricted callers heed too. A type's name includes its fields."""
        return [
            Rule(
                mask=HIDDEN,
                coordinates=tuple(sorted(with_members(self._schema, [coordinate]))),
                text=f'access.hide "{coordinate}"',
                place=place,
            )
            for coordinate, place in self._coordinates("hide")
        ]

    def shown(self, hidden: Container[str]) -> dict[str, Place]:
        """Read the inputs of ``access.show``, each with its place."""
        places: dict[str, Place] = {}
        for coordinate, place in self._coordinates("show"):
            field, _, argument = coordinate.partition("(")
            type_ = self._schema.get_type(field.partition(".")[0])
            direct = [each for each in (coordinate, field, getattr(type_, "name", "")) if each in hidden]
            if direct:
                sentence = (
                    f"access.hide hides {direct[0]} itself: access.show only excepts inputs that name a hidden field"
                )
                self._problems.add(place, f'access.show "{coordinate}": {sentence}', code="hidden-itself")
            elif not argument and ("." not in coordinate or isinstance(type_, FieldsType)):
                sentence = "expected an input field, an argument or an enum value that names a hidden field"
                self._problems.add(place, f'access.show "{coordinate}": {sentence}', code="not-an-input")
            else:
                places[coordinate] = place
        return places

    def _coordinates(self, key: str) -> Iterator[tuple[str, Place]]:
        for text, place in self._access.texts(key):
            try:
                yield resolve(self._schema, text), place
            except UnknownCoordinate as exc:
                self._problems.add(place, f'access.{key} "{text:.80}": {exc}', code="unknown-coordinate")


def _masks(rules: Iterable[Rule]) -> dict[str, Mask]:
    """Map each coordinate to the union of its rules' masks."""
    masks: dict[str, Mask] = {}
    for rule in rules:
        for coordinate in rule.coordinates:
            masks[coordinate] = masks.get(coordinate, OPEN) | rule.mask
    return masks


def _coordinates_of(type_: FieldsType, schema: GraphQLSchema) -> list[str]:
    """List the coordinates of a type that a policy guards."""
    introspection = INTROSPECTION if type_ is schema.query_type else ()
    return [f"{type_.name}.{name}" for name in (*type_.fields, *introspection)]


def _graphql_guards(guards: dict[str, Mask], schema: GraphQLSchema, rules: Iterable[Rule]) -> dict[str, Mask]:
    """Move the guards of the endpoint's own GraphQL out of ``guards``, which keeps the fields of the schema."""
    root = schema.query_type
    if root is None:
        return {}
    ruled = {coordinate for rule in rules if not rule.default for coordinate in rule.coordinates}
    federation = [f"{root.name}.{name}" for name in FEDERATION_FIELDS if name in root.fields]
    masks = {name: guards.pop(f"{root.name}.{name}", OPEN) for name in INTROSPECTION}
    masks |= {coordinate: HIDDEN for coordinate in federation if coordinate not in ruled}
    return {coordinate: mask for coordinate, mask in sorted(masks.items()) if mask}


def refuse_exceptions(policies: Policies, hidden: Mapping[str, str], problems: Problems) -> None:
    """Report coordinates that ``access.show`` cannot restore. ``hidden``: coordinate -> the directive that hides it."""
    for coordinate, place in policies.shown.items():
        if coordinate in hidden:
            sentence = f"{hidden[coordinate]} hides it itself: access.show only excepts inputs that name a hidden field"
            problems.add(place, f'access.show "{coordinate}": {sentence}', code="hidden-itself")


def _rule(
    section: Section, mask: Mask, coordinates: Collection[str], *, prefix: str = "", default: bool = False
) -> Rule:
    text, place = f"{prefix}{' '.join(section.text('condition').split())}", section.place("condition")
    return Rule(mask=mask, coordinates=tuple(coordinates), text=text, place=place, default=default)


def condition_mask(section: Section, conditions: ConditionTable, problems: Problems) -> Mask:
    """Return the mask of a condition; an invalid one is never met. A message does not show a variable's value."""
    own_problems = Problems() if section.is_variable("condition") else problems
    text = section.text("condition")
    predicate = parse_predicate(text, lambda offset: section.place_in("condition", offset), own_problems)
    if predicate is None and own_problems is not problems:
        section.refuse("condition", 'a condition, such as $jwt.role:String == "admin"')
    return conditions.mask(predicate or FALSE)


def read_access(context: CompileContext, *, opened: Sequence[str]) -> Access:
    """Read ``access.anonymous`` and ``access.scopes``: the treatment of callers without a credential, or a scope.

    By default callers without a credential are challenged if ``identity`` has credentials or there are no policies.
    Exception: ``opened`` fields, which StepZen would leave open to these callers, let them in if ``identity`` is
    StepZen's own, with a warning. Keys of Stile beside them challenge, with a warning, too.

    Source: StepZen, "Policies for Access Control of GraphQL Fields": policies hold for requests without a token too.
    """
    access = context.config.access
    has_identity = any(context.config.identity)
    lets_in = context.is_guarded_as_stepzen
    default = "challenge" if (has_identity and not (opened and lets_in)) or "policies" not in access else "allow"
    if has_identity and opened and "policies" in access and "anonymous" not in access:
        ends, verb = ("challenge", "may") if lets_in else ("allow", "get 401, and in StepZen they may")
        sentence = (
            f"callers without a credential {verb} use {some(opened)}{', as in StepZen' * lets_in}; "
            f"access.anonymous: {ends} ends that"
        )
        at = access.key_place("policies")
        context.problems.warn(
            at, sentence, code="open-to-anonymous" if lets_in else "closed-to-anonymous", about=opened
        )
    scopes = access.section("scopes")
    return Access(
        anonymous=access.choice("anonymous", default=default),
        listed=scopes.choice("list"),
        advertises_scopes=scopes.boolean("advertise"),
    )


def opened_by_policies(
    schema: GraphQLSchema, guards: Sequence[Mapping[str, Mask]], conditions: ConditionTable, *, introspection: bool
) -> list[str]:
    """Return the root fields that a caller without claims may use for at least some values of variables."""
    anonymous = Evaluation(conditions, claims=None)
    roots = [root for root in (schema.query_type, schema.mutation_type) if root]
    names: list[tuple[str, tuple[str, ...]]]
    names = [(f"{root.name}.{name}", (root.name, f"{root.name}.{name}")) for root in roots for name in root.fields]
    if introspection and schema.query_type:
        names += [(f"{schema.query_type.name}.{name}", (name,)) for name in INTROSPECTION]
    masks = {coordinate: OPEN.union(*(union_of(each, keys) for each in guards)) for coordinate, keys in names}
    return [coordinate for coordinate, mask in masks.items() if anonymous.may_ever_meet(mask)]


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessDefaults:
    """The facts that decide the access to a toolkit without a condition."""

    conditions: ConditionTable
    policies: bool  # the endpoint has ``access.policies``
    anonymous: bool  # callers without a credential get in
    by_policies_alone: bool  # they get in only because policies open something, as in StepZen
    by_token: bool  # the API is asked with the caller's token, or with one got for it

    @property
    def unsaid(self) -> Mask:
        """The mask of a toolkit without a condition. Callers that policies alone let in need a credential."""
        if not self.policies:
            return self.conditions.mask(FALSE)
        return self.conditions.mask(KNOWN) if self.by_policies_alone else OPEN

    def known(self) -> Mask:
        """Return the mask that ``requires_auth`` stands for."""
        return self.conditions.mask(OWN_TOKEN if self.by_token else KNOWN)


def access_defaults(context: CompileContext, access: Access) -> AccessDefaults:
    """Return the access to toolkits and files without a condition, by the rest of the configuration."""
    config, anonymous = context.config, access.anonymous == "allow"
    return AccessDefaults(
        conditions=context.conditions,
        policies=config.access.has_items("policies"),
        anonymous=anonymous,
        by_policies_alone=anonymous and context.is_guarded_as_stepzen and "anonymous" not in config.access,
        by_token=config.upstream.auth.OF_CALLER,
    )


def rule_of(kit: KitUse, grounds: AccessDefaults, problems: Problems) -> Rule:
    """Return the rule of a toolkit. Without policies nobody may use anything, toolkits included."""
    if "condition" not in kit.section:
        why = "callers need a credential" if grounds.policies else "there are no access.policies: nobody may use it"
        text = f"{kit.use} has no condition, and {why}"
        return Rule(mask=grounds.unsaid, coordinates=(kit.use,), text=text, place=kit.at, default=True)
    mask = own_mask(kit.section, grounds.conditions, problems)
    return _rule(kit.section, mask, [kit.use], prefix=f"condition of {kit.use}: ")


def required_auth_rule(tool: str, at: Place, grounds: AccessDefaults) -> Rule:
    """Return the rule of a tool with ``requires_auth``. Its coordinate is ``tool`` and the tool's name."""
    text = "requires_auth asks for a caller with " + ("a token" if grounds.by_token else "a credential")
    return Rule(mask=grounds.known(), coordinates=(f"tool {tool}",), text=text, place=at)


def own_mask(section: Section, conditions: ConditionTable, problems: Problems) -> Mask:
    """Return the mask of a ``condition`` outside operations, which cannot use variables."""
    mask = condition_mask(section, conditions, problems)
    if any(asks_of_variables(conditions[number]) for number in mask):
        sentence = "it asks for $variables, which only operations have"
        problems.add(section.place("condition"), sentence, code="variables-in-condition")
    return mask


def asks_of_variables(predicate: Any) -> bool:
    """Return whether any part of a predicate asks for a variable."""
    return any("variables" in each for each in objects_in(predicate))


def tool_rule(name: str, options: AuthorOptions, conditions: ConditionTable, problems: Problems) -> Rule | None:
    """Return the rule of a tool with a condition, ``None`` for a tool without one. Its coordinate is ``tool NAME``.

    An invalid condition is reported, and is never met.
    """
    if options.node is None or options.condition is None:
        return None
    value = value_of_argument(options.node, "condition")

    def place(offset: int) -> Place:
        if not isinstance(value, StringValueNode) or value.block or value.loc is None:
            return node_location(value)  # the beginning of a block string
        source, start = value.loc.source, value.loc.start + 1
        return place_in(source, offset_in_literal(source.body, start, offset))

    predicate = parse_predicate(options.condition, place, problems)
    mask = conditions.mask(predicate or FALSE)
    if any(asks_of_variables(conditions[number]) for number in mask):
        sentence = (
            f'the condition of "{name}" asks for $variables, which have no values when tools are listed: expected '
            "$jwt only, or a rule of access.policies"
        )
        problems.add(node_location(value), sentence, code="variables-in-condition")
    text = f"condition of {name}: {' '.join(options.condition.split())}"
    return Rule(mask=mask, coordinates=(f"tool {name}",), text=text, place=node_location(value))


def guarded_roots(guards: Mapping[str, Mask], rule: Rule | None, index: SchemaIndex) -> dict[str, Mask]:
    """Return a GraphQL tool's guards with the mask of its rule on every root type."""
    if rule is None or rule.mask == OPEN:
        return dict(guards)
    roots = {root: guards.get(root, OPEN) | rule.mask for root in index.roots.values()}
    return dict(sorted({**guards, **roots}.items()))
