"""The access of callers without a credential or scopes, and the fields that policies leave open to everybody."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from graphql import GraphQLSchema

from handler.bundle.identity import Access
from handler.compiler.access.policies import INTROSPECTION
from handler.compiler.compile_context import CompileContext
from handler.compiler.conditions import ConditionTable
from handler.policy.evaluation import OPEN, Evaluation, Mask, union_of
from handler.text.sentences import some


def read_access(context: CompileContext, *, opened: Sequence[str]) -> Access:
    """Read ``access.anonymous`` and ``access.scopes``: the treatment of callers without a credential, or a scope.

    By default callers without a credential are challenged if ``identity`` has credentials or there are no policies.
    Exception: ``opened`` fields, which StepZen would leave open to these callers, let them in if ``identity`` is
    StepZen's own, with a warning. Keys of Stile beside them challenge, with a warning, too.

    Source: StepZen, "Policies for Access Control of GraphQL Fields": policies hold for requests without a token too.
    """
    access = context.config.access
    access.expect()
    asked = any(section.keys() for section in context.config.identity)
    lets_in = context.is_guarded_as_stepzen
    default = "challenge" if (asked and not (opened and lets_in)) or "policies" not in access else "allow"
    if asked and opened and "policies" in access and "anonymous" not in access:
        ends, said = ("challenge", "may") if lets_in else ("allow", "get 401, and in StepZen they may")
        context.problems.warn(
            access.key_place("policies"),
            f"callers without a credential {said} use {some(opened)}{', as in StepZen' * lets_in}; "
            f"access.anonymous: {ends} ends that",
            code="open-to-anonymous" if lets_in else "closed-to-anonymous",
            about=opened,
        )
    scopes = access.section("scopes")
    scopes.expect()
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
    masks = {shown: OPEN.union(*(union_of(each, keys) for each in guards)) for shown, keys in names}
    return [shown for shown, mask in masks.items() if anonymous.may_ever_meet(mask)]
