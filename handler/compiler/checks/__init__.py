"""The checks of an endpoint without errors. Each is one rule of one form, and only warns."""

from __future__ import annotations

from handler.compiler.checks import (
    admission,
    bypasses,
    client_rules,
    exposure,
    ignored_input,
    misleading_text,
)
from handler.compiler.checks.finding import Check

CHECKS: tuple[Check, ...] = (
    bypasses.policy_bypass,
    bypasses.variable_walk,
    bypasses.consent_bypass,
    admission.uncallable_tool,
    admission.unmet_required_auth,
    admission.unmet_tenant_claim,
    admission.open_toolkit,
    admission.closed_toolkit,
    admission.unused_exception,
    exposure.same_name_exposure,
    exposure.count_exposure,
    exposure.similar_name_exposure,
    exposure.mutation_data_exposure,
    exposure.opaque_value,
    exposure.lookup_by_id,
    misleading_text.invisible_text,
    misleading_text.prompt_markup,
    ignored_input.unread_file,
    ignored_input.unread_description,
    ignored_input.unknown_parameter,
    ignored_input.template_variable,
    ignored_input.unexplained_enum,
    client_rules.long_description,
    client_rules.large_tool,
    client_rules.missing_cursor,
    ignored_input.old_import,
)
"""The order in which an author should read the warnings: access first, then ignored input, then sizes."""

CLIENT_CHECKS: tuple[Check, ...] = (
    client_rules.unportable_name,
    client_rules.reads_and_writes,
    client_rules.untyped_parameter,
    client_rules.untitled_tool,
    client_rules.undescribed_tool,
    client_rules.too_many_tools,
    client_rules.long_tool_list,
)
"""Reasons for clients and models to leave a tool out or refuse the whole list. `stile dev` does not print these."""
