"""The access rules of tools: conditions of toolkits in Python and their default, and conditions of directives.

A condition of a tool is evaluated where policies are. It joins the mask of a tool that runs one operation, and guards
the root types of a tool whose requests a model writes: the views of other callers are empty.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from graphql import StringValueNode

from handler.bundle.identity import Access
from handler.compiler.access.policies import FALSE, Rule, condition_mask
from handler.compiler.access.predicate_parser import parse_predicate
from handler.compiler.compile_context import CompileContext
from handler.compiler.conditions import ConditionTable
from handler.compiler.config.config import KitUse
from handler.compiler.problems import Place, Problems, offset_in_literal, place_in, place_of
from handler.compiler.schema.tool_options import AuthorOptions
from handler.compiler.source.yaml_section import Section
from handler.graph.index import SchemaIndex
from handler.policy.evaluation import KNOWN, OPEN, OWN_TOKEN, Mask


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
    at = kit.section.place("condition")
    text = f"condition of {kit.use}: {' '.join(kit.section.text('condition').split())}"
    return Rule(mask=mask, coordinates=(kit.use,), text=text, place=at)


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
    match predicate:
        case dict():
            return "variables" in predicate or any(map(asks_of_variables, predicate.values()))
        case list():
            return any(map(asks_of_variables, predicate))
        case _:
            return False


def tool_rule(name: str, options: AuthorOptions, conditions: ConditionTable, problems: Problems) -> Rule | None:
    """Return the rule of a tool with a condition, ``None`` for a tool without one. Its coordinate is ``tool NAME``.

    An invalid condition is reported, and is never met.
    """
    arguments = options.node.arguments or () if options.node else ()
    argument = next((argument for argument in arguments if argument.name.value == "condition"), None)
    if argument is None or options.condition is None:
        return None
    value = argument.value

    def place(offset: int) -> Place:
        if not isinstance(value, StringValueNode) or value.block or value.loc is None:
            return place_of(value)  # the beginning of a block string
        source, start = value.loc.source, value.loc.start + 1
        return place_in(source, offset_in_literal(source.body, start, offset))

    predicate = parse_predicate(options.condition, place, problems)
    mask = conditions.mask(predicate or FALSE)
    if any(asks_of_variables(conditions[number]) for number in mask):
        sentence = (
            f'the condition of "{name}" asks for $variables, which have no values when tools are listed: expected '
            "$jwt only, or a rule of access.policies"
        )
        problems.add(place_of(value), sentence, code="variables-in-condition")
    text = f"condition of {name}: {' '.join(options.condition.split())}"
    return Rule(mask=mask, coordinates=(f"tool {name}",), text=text, place=place_of(value))


def guarded_roots(guards: Mapping[str, Mask], rule: Rule | None, index: SchemaIndex) -> dict[str, Mask]:
    """Return a GraphQL tool's guards with the mask of its rule on every root type."""
    if rule is None or rule.mask == OPEN:
        return dict(guards)
    roots = {root: guards.get(root, OPEN) | rule.mask for root in index.roots.values()}
    return dict(sorted({**guards, **roots}.items()))
