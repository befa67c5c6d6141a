"""The checks of an endpoint without errors. Each is one rule of one form, and only warns."""

from __future__ import annotations

from handler.compiler.checks.consent_bypass import consent_bypass
from handler.compiler.checks.count_exposure import count_exposure
from handler.compiler.checks.finding import Check
from handler.compiler.checks.input_exposure import mutation_data_exposure, similar_name_exposure
from handler.compiler.checks.list_size import long_tool_list, too_many_tools
from handler.compiler.checks.lookup_by_id import lookup_by_id
from handler.compiler.checks.misleading_text import invisible_characters, prompt_markup
from handler.compiler.checks.missing_text import undescribed_tool, untitled_tool
from handler.compiler.checks.old_import import old_import
from handler.compiler.checks.opaque_value import opaque_value
from handler.compiler.checks.policy_bypass import policy_bypass
from handler.compiler.checks.reads_and_writes import reads_and_writes
from handler.compiler.checks.same_name_exposure import same_name_exposure
from handler.compiler.checks.template_variable import template_variable
from handler.compiler.checks.tool_size import large_tool, long_description, missing_cursor
from handler.compiler.checks.toolkit_access import closed_toolkit, open_toolkit
from handler.compiler.checks.uncallable_tool import uncallable_tool
from handler.compiler.checks.unexplained_enum import unexplained_enum
from handler.compiler.checks.unknown_parameter import unknown_parameter
from handler.compiler.checks.unmet_required_auth import unmet_required_auth
from handler.compiler.checks.unmet_tenant_claim import unmet_tenant_claim
from handler.compiler.checks.unportable_name import unportable_name
from handler.compiler.checks.unread_description import unread_description
from handler.compiler.checks.unread_file import unread_file
from handler.compiler.checks.untyped_parameter import untyped_parameter
from handler.compiler.checks.unused_exception import unused_exception
from handler.compiler.checks.variable_walk import variable_walk

CHECKS: tuple[Check, ...] = (
    policy_bypass,
    variable_walk,
    consent_bypass,
    uncallable_tool,
    unmet_required_auth,
    unmet_tenant_claim,
    open_toolkit,
    closed_toolkit,
    unused_exception,
    same_name_exposure,
    count_exposure,
    similar_name_exposure,
    mutation_data_exposure,
    opaque_value,
    lookup_by_id,
    invisible_characters,
    prompt_markup,
    unread_file,
    unread_description,
    unknown_parameter,
    template_variable,
    unexplained_enum,
    long_description,
    large_tool,
    missing_cursor,
    old_import,
)
"""The order in which an author should read the warnings: access first, then ignored input, then sizes."""

CLIENT_CHECKS: tuple[Check, ...] = (
    unportable_name,
    reads_and_writes,
    untyped_parameter,
    untitled_tool,
    undescribed_tool,
    too_many_tools,
    long_tool_list,
)
"""Reasons for clients and models to leave a tool out or refuse the whole list. `stile dev` does not print these."""
