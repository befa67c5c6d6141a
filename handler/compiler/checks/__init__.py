"""The checks of an endpoint without errors. Each is one rule of one form, and only warns."""

from __future__ import annotations

from handler.compiler.checks.admission import (
    closed_toolkit,
    open_toolkit,
    uncallable_tool,
    unmet_required_auth,
    unmet_tenant_claim,
    unused_exception,
)
from handler.compiler.checks.bypasses import consent_bypass, policy_bypass, variable_walk
from handler.compiler.checks.client_rules import (
    reads_and_writes,
    undescribed_tool,
    unportable_name,
    untitled_tool,
    untyped_parameter,
)
from handler.compiler.checks.exposure import (
    count_exposure,
    lookup_by_id,
    mutation_data_exposure,
    opaque_value,
    same_name_exposure,
    similar_name_exposure,
)
from handler.compiler.checks.finding import Check
from handler.compiler.checks.ignored_input import (
    old_import,
    template_variable,
    unexplained_enum,
    unknown_parameter,
    unread_description,
    unread_file,
)
from handler.compiler.checks.large_entries import (
    large_tool,
    long_description,
    long_tool_list,
    missing_cursor,
    too_many_tools,
)
from handler.compiler.checks.misleading_text import invisible_characters, prompt_markup

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
