"""Who may use a toolkit in Python: its condition, or what holds where its author says none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from handler.compiler.access.conditions import Conditions
from handler.compiler.access.policies import FALSE, Rule, condition_mask
from handler.compiler.config.code import KitUse
from handler.compiler.problems import Place, Problems
from handler.compiler.source.yaml_section import Section
from handler.policy.evaluation import KNOWN, OPEN, OWN_TOKEN, Mask


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessDefaults:
    """What decides who may use a kit of which its author says no condition."""

    conditions: Conditions
    policies: bool  # whether there are any
    anonymous: bool  # whether callers without a credential get in
    by_policies_alone: bool  # whether they get in only because policies open something, as in StepZen
    by_token: bool  # whether the API is asked with a token of the caller, or with one got for it

    @property
    def unsaid(self) -> Mask:
        """The mask of what says no condition. What lets callers in without a credential must be said of it."""
        if not self.policies:
            return self.conditions.mask(FALSE)
        return self.conditions.mask(KNOWN) if self.by_policies_alone else OPEN

    def known(self) -> Mask:
        """The mask of what ``requires_auth`` asks for."""
        return self.conditions.mask(OWN_TOKEN if self.by_token else KNOWN)


def rule_of(kit: KitUse, grounds: AccessDefaults, problems: Problems) -> Rule:
    """Who may use a kit. Without policies nobody may use anything, and a kit is no exception."""
    if "condition" not in kit.section:
        why = "callers need a credential" if grounds.policies else "there are no access.policies: nobody may use it"
        text = f"{kit.use} has no condition, and {why}"
        return Rule(mask=grounds.unsaid, coordinates=(kit.use,), text=text, place=kit.at, default=True)
    mask = own_mask(kit.section, grounds.conditions, problems)
    at = kit.section.place("condition")
    text = f"condition of {kit.use}: {' '.join(kit.section.text('condition').split())}"
    return Rule(mask=mask, coordinates=(kit.use,), text=text, place=at)


def required_auth_rule(tool: str, at: Place, grounds: AccessDefaults) -> Rule:
    """Who may call a tool with ``requires_auth``. Its coordinate is the tool's name."""
    text = "requires_auth asks for a caller with " + ("a token" if grounds.by_token else "a credential")
    return Rule(mask=grounds.known(), coordinates=(f"tool {tool}",), text=text, place=at)


def own_mask(section: Section, conditions: Conditions, problems: Problems) -> Mask:
    """The mask of a ``condition`` of something that is no operation, and has no variables."""
    mask = condition_mask(section, conditions, problems)
    if any(_asks_of_variables(conditions[number]) for number in mask):
        problems.add(
            section.place("condition"),
            "it asks for $variables, which only operations have",
            code="variables-in-condition",
        )
    return mask


def _asks_of_variables(predicate: Any) -> bool:
    match predicate:
        case dict():
            return "variables" in predicate or any(map(_asks_of_variables, predicate.values()))
        case list():
            return any(map(_asks_of_variables, predicate))
        case _:
            return False
