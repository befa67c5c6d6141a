"""Read ``condition`` of ``@tool`` and ``@mcpTool``: the mask of one tool.

A condition of a tool is evaluated where policies are. It joins the mask of a tool that runs one operation, and guards
the root types of a tool whose requests a model writes: the views of callers who do not meet it are empty.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import islice

from graphql import ArgumentNode, StringValueNode

from handler.compiler.access.code_access import asks_of_variables
from handler.compiler.access.policies import FALSE, Rule
from handler.compiler.access.predicate_parser import parse_predicate
from handler.compiler.conditions import ConditionTable
from handler.compiler.problems import Place, Problems, place_in, place_of
from handler.compiler.schema.tool_options import AuthorOptions
from handler.graph.index import SchemaIndex
from handler.policy.evaluation import OPEN, Mask

CONDITION = "condition"

_CHARACTER = re.compile(r"\\u[dD][89abAB]..\\u[dD][c-fC-F]..|\\u\{[^}]*\}|\\u....|\\.|.", re.DOTALL)


def tool_rule(name: str, options: AuthorOptions, conditions: ConditionTable, problems: Problems) -> Rule | None:
    """Return the rule of a tool with a condition, ``None`` for a tool without one. Its coordinate is ``tool NAME``.

    An invalid condition is reported, and is never met.
    """
    argument = _argument(options)
    if argument is None or options.condition is None:
        return None
    predicate = parse_predicate(options.condition, lambda offset: _place_in(argument, offset), problems)
    mask = conditions.mask(predicate or FALSE)
    if any(asks_of_variables(conditions[number]) for number in mask):
        sentence = (
            f'the condition of "{name}" asks for $variables, which have no values when tools are listed: expected '
            "$jwt only, or a rule of access.policies"
        )
        problems.add(place_of(argument.value), sentence, code="variables-in-condition")
    text = f"condition of {name}: {' '.join(options.condition.split())}"
    return Rule(mask=mask, coordinates=(f"tool {name}",), text=text, place=place_of(argument.value))


def guarded_roots(guards: Mapping[str, Mask], rule: Rule | None, index: SchemaIndex) -> dict[str, Mask]:
    """Return a GraphQL tool's guards with the mask of its rule on every root type."""
    if rule is None or rule.mask == OPEN:
        return dict(guards)
    roots = {root: guards.get(root, OPEN) | rule.mask for root in index.roots.values()}
    return dict(sorted({**guards, **roots}.items()))


def _argument(options: AuthorOptions) -> ArgumentNode | None:
    arguments = options.node.arguments or () if options.node else ()
    return next((argument for argument in arguments if argument.name.value == CONDITION), None)


def _place_in(argument: ArgumentNode, offset: int) -> Place:
    """Return the place of a character of a condition, counted from 0; the beginning of a block string."""
    value = argument.value
    if not isinstance(value, StringValueNode) or value.block or value.loc is None:
        return place_of(value)
    start = value.loc.start + 1  # after the quotation mark
    widths = (len(match[0]) for match in _CHARACTER.finditer(value.loc.source.body, start))
    return place_in(value.loc.source, start + sum(islice(widths, offset)))
