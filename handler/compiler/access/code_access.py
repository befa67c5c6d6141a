"""The access rules of toolkits in Python: their conditions, or a default for toolkits without one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from handler.bundle.identity import Access
from handler.compiler.access.policies import FALSE, Rule, condition_mask
from handler.compiler.compile_context import CompileContext
from handler.compiler.conditions import ConditionTable
from handler.compiler.config.code import KitUse
from handler.compiler.config.upstream_auth import is_by_token
from handler.compiler.problems import Place, Problems
from handler.compiler.source.yaml_section import Section
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
        """The mask of a toolkit without a condition. Callers whom policies alone let in need a credential."""
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
        policies=bool(config.access.sections("policies")),
        anonymous=anonymous,
        by_policies_alone=anonymous and context.is_guarded_as_stepzen and "anonymous" not in config.access,
        by_token=is_by_token(config.upstream.auth),
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
        problems.add(
            section.place("condition"),
            "it asks for $variables, which only operations have",
            code="variables-in-condition",
        )
    return mask


def asks_of_variables(predicate: Any) -> bool:
    """Tell if any part of a predicate asks for a variable."""
    match predicate:
        case dict():
            return "variables" in predicate or any(map(asks_of_variables, predicate.values()))
        case list():
            return any(map(asks_of_variables, predicate))
        case _:
            return False
