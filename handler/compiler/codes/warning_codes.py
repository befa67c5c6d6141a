"""Codes of warnings: an endpoint with warnings can be published."""

from __future__ import annotations

from collections.abc import Mapping

WARNINGS: Mapping[str, tuple[str, str]] = {
    "closed-to-anonymous": (
        "Policies of a StepZen project open something to callers without a credential, and identity shuts these out.",
        "Set access.anonymous to allow or challenge.",
    ),
    "closed-toolkit": (
        "A toolkit has no condition, and the endpoint no policies, so only keys without claims may use it.",
        "Give the toolkit a condition.",
    ),
    "consent-bypass": (
        "A tool asks its user before a mutation that another tool, or /graphql, sends without a question.",
        "Add confirm there too, or hide the mutation there.",
    ),
    "count-exposure": (
        "An input filters by a guarded field; counts of the results reveal the field's values.",
        "Hide the input by access.hide or a policy, or ignore the warning with a reason.",
    ),
    "default-tool": (
        "The endpoint declares no tool, so it gets one that lets models ask for all of Query.",
        "Declare tools, or say default_tool: true or false.",
    ),
    "deprecated": (
        "An operation uses something that the schema calls deprecated.",
        "Use the replacement that the schema recommends.",
    ),
    "description-key": (
        "A description is given as description, where Stile reads value.",
        "Write value.",
    ),
    "foreign-document-id": (
        "A manifest has an id that is not the SHA-256 of its text, and the API gets the SHA-256.",
        "Register the operation with the API by its SHA-256, as stile manifest lists it.",
    ),
    "foreign-setting": (
        "A setting in config.yaml is for Apollo MCP Server or for Cosmo's router, and has no effect here.",
        "Write what the message says instead, and remove the setting.",
    ),
    "ignored-section": (
        "A section of config.yaml is for StepZen, and has no effect here.",
        "Remove it, or keep it for StepZen.",
    ),
    "ineffective-timeout": (
        "upstream.timeout_s is longer than callers wait for.",
        "Shorten it.",
    ),
    "invalid-cost": (
        "A @cost directive has a weight that is not a number, so it is ignored.",
        "Write a number from 0 on.",
    ),
    "invisible-characters": (
        "A text that models read has characters that nobody sees. They can hold instructions.",
        "Remove the characters.",
    ),
    "key-in-url": (
        "upstream.url has a key in its query string, which is stored in the bundle.",
        "Use upstream.auth, or ignore the warning with a reason if the API takes its key nowhere else.",
    ),
    "large-tool": (
        "A tool's entry takes a good part of a model's context.",
        "Shorten descriptions, or take fewer inputs.",
    ),
    "left-out-operation": (
        "An operation is not a tool, although tools in config.yaml makes tools of operations.",
        "Change the operation or tools as the message says, or ignore the warning with a reason.",
    ),
    "literal-secret": (
        "config.yaml holds a secret itself, so the endpoint cannot be published.",
        "Write env:NAME, secret:NAME or ssm:NAME.",
    ),
    "long-description": (
        "A description is longer than clients show to a model.",
        "Shorten it.",
    ),
    "long-tool-list": (
        "All tools together take a good part of a model's context.",
        "Set `catalog: true` in config.yaml, or make several endpoints.",
    ),
    "lookup-by-id": (
        "A root field looks up any object, some of a type that is guarded in part.",
        "Hide the root field, or guard it.",
    ),
    "missing-cursor": (
        "A connection is selected with endCursor and without the cursors of its edges, so it cannot be shortened.",
        "Select edges { cursor }, or set `limits: {continue: true}`.",
    ),
    "missing-root-type": (
        "The schema definition names a root type that does not exist.",
        "Define the type, or remove its name.",
    ),
    "mutation-data-exposure": (
        "A mutation takes data by the name of a guarded field, and an answer may depend on it.",
        "Guard the input, if it reveals the field.",
    ),
    "name-differs-by-case": (
        "Two names of tools differ by case only.",
        "Rename one of them.",
    ),
    "needs-state-key": (
        "A tool asks its user, for which the function needs STILE_STATE_KEY.",
        "Set STILE_STATE_KEY where the function runs, and here for the check.",
    ),
    "no-audience": (
        "An issuer has no audience, so a token for another API is taken too.",
        "Add the audience.",
    ),
    "no-companion": (
        "A GraphQL tool with a large schema lacks a companion, because the name is taken or too long.",
        "Rename the tool, or say find: false.",
    ),
    "no-tool": (
        "There is no tool: files that may declare some are not read, or tools in config.yaml finds no operation.",
        "Move or rename the files, add a named query, or say default_tool: true.",
    ),
    "no-upstream": (
        "config.yaml names no API, so the endpoint cannot be published.",
        "Add upstream.url.",
    ),
    "nullable-condition": (
        "A nullable variable decides on @skip or @include, which GraphQL refuses; null is sent as false.",
        "Make it Boolean!, or give it a default.",
    ),
    "old-import": (
        "A module imports tools in Python from the place where their API was before.",
        "Import from `stile`, as the message says.",
    ),
    "old-key": (
        "A key of config.yaml has an old name, which this version still reads.",
        "Rename the key, as the message says.",
    ),
    "opaque-value": (
        "A field or input holds values of any form, with guarded fields among them perhaps.",
        "Hide it, or describe its values.",
    ),
    "open-to-anonymous": (
        "Policies let callers without a credential use something, as in StepZen.",
        "Set access.anonymous to allow or challenge.",
    ),
    "open-toolkit": (
        "A toolkit has no condition, and callers without a credential may call its tools.",
        "Give the toolkit a condition; true is for whoever gets in.",
    ),
    "overridden-pattern": (
        "A later pattern exposes fields that an earlier pattern hides; the last match wins.",
        "Change the order, or the patterns.",
    ),
    "policy-bypass": (
        "A guarded root field returns a type that is reachable without its guard.",
        "Guard the type itself, or hide the other way.",
    ),
    "prompt-markup": (
        "A text that models read looks like the markup of a conversation.",
        "Reword the text.",
    ),
    "reads-and-writes": (
        "A tool can read and write, so clients ask their user before each call.",
        "Make two tools of it.",
    ),
    "repeated-member": (
        "A member appears twice, with the same type; the first one counts.",
        "Remove one of them.",
    ),
    "same-name-exposure": (
        "A field has the name of a guarded field on another type, and may reveal it.",
        "Guard it too, or ignore the warning with a reason.",
    ),
    "schema-fault": (
        "The schema breaks a rule of GraphQL; its operations work all the same.",
        "Correct the schema, if it is yours.",
    ),
    "similar-name-exposure": (
        "The words of an input begin with the name of a guarded field.",
        "Hide the input, if it asks for the field.",
    ),
    "template-variable": (
        "A description has a template variable that is misspelt, or for GraphQL tools only.",
        "Correct or remove the variable.",
    ),
    "token-passthrough": (
        "Callers' tokens are passed on to the API, which can use them for whatever their owners can.",
        "Use token_exchange.",
    ),
    "too-many-tools": (
        "More tools are listed than many clients take.",
        "Set `catalog: true` in config.yaml, or make several endpoints.",
    ),
    "uncallable-operation": (
        "An operation has no name and is not persisted, so nothing can call it.",
        "Name the operation.",
    ),
    "uncallable-tool": (
        "A tool's operation uses a field that is hidden from everybody.",
        "Take it out of the operation, or show it.",
    ),
    "undescribed-tool": (
        "A tool has no description of its purpose.",
        "Describe the operation.",
    ),
    "unexplained-enum": (
        "The descriptions of an enum's values are too long for a tool's schema.",
        "Shorten them, or name the values in the tool's description.",
    ),
    "unkept-document": (
        "An operation asks for __schema or __type, so it is not kept as a persisted document.",
        "Send it as a query.",
    ),
    "unknown-parameter": (
        "@tool describes a parameter that its tool does not have.",
        "Correct the name.",
    ),
    "unknown-slicing-argument": (
        "@listSize names an argument that its field does not have.",
        "Correct the name.",
    ),
    "unmatched-pattern": (
        "A pattern that exposes, or an alternative in it, matches nothing; or a type in a pattern has no such field.",
        "Correct or remove the pattern or alternative.",
    ),
    "unmet-required-auth": (
        "A tool in Python has requires_auth, and no caller can have the credential.",
        "Add an issuer, or API keys, to identity.",
    ),
    "unmet-tenant-claim": (
        "upstream.url takes the tenant from a claim that no caller has.",
        "Add an issuer, or API keys with the claim, to identity.",
    ),
    "unnamed-root-type": (
        "A type has the usual name of a root type, and the schema definition does not name it.",
        "Name it there, as in mutation: Mutation, or give the type another name.",
    ),
    "unportable-name": (
        "Some clients refuse the name of a tool.",
        "Use 1 to 64 letters, digits, _ or -.",
    ),
    "unread-description": (
        "@mcpToolArg describes a variable that no model fills.",
        "Remove it, or make the operation a tool.",
    ),
    "unread-file": (
        "A file looks as if it declared something, and is not read.",
        "Rename or move it, as the message says.",
    ),
    "unsent-directive": (
        "A directive is for clients that take an answer in parts, so it is not sent.",
        "Remove the directive.",
    ),
    "unsent-variable": (
        "A variable is used only in directives that are not sent, so it is not taken.",
        "Remove the variable.",
    ),
    "unsupported-directive": (
        "A directive of StepZen needs a server that runs it.",
        "Let upstream.url name such a server.",
    ),
    "untitled-tool": (
        "A tool has no title, which some clients show.",
        "Add a title.",
    ),
    "untyped-parameter": (
        "A parameter of a tool has no type, for which some models refuse all tools.",
        "Add a type hint, or a schema that says one.",
    ),
    "unusable-skill-tool": (
        "A skill names a tool that some of its readers may not use.",
        "Give skills the condition of the tool in config.yaml, or say in the skill who has the tool.",
    ),
    "unused-exception": (
        "An entry of access.show has no effect, as nothing hides its coordinate for its name.",
        "Remove it.",
    ),
    "unused-ignore": (
        "An entry of checks.ignore does not silence any warning.",
        "Remove it, or correct its coordinates.",
    ),
    "unused-prompt-argument": (
        "A prompt does not use one of its arguments.",
        "Use or remove it.",
    ),
    "unused-variable": (
        "An operation does not use its variable.",
        "Use or remove it.",
    ),
    "upload-left-out": (
        "An input that takes a file is left out, as no argument can be a file.",
        "Nothing, if callers can do without it.",
    ),
    "variable-walk": (
        "An operation reads a guarded field of an object that the condition's variable does not name.",
        "Take the field out of the operation, or guard it by a condition without $variables.",
    ),
    "visibility-without-files": (
        "@sdl(visibility:) has no files to judge.",
        "Add files, or remove visibility.",
    ),
    "weak-secret": (
        "An HS256 secret is short enough to be guessed from one token.",
        "Use at least 32 random bytes.",
    ),
}
"""Code -> meaning and remedy."""
