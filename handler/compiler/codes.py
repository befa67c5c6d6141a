"""The stable codes of diagnostics, each with a meaning and a remedy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from handler.compiler.error_codes import ERRORS


@dataclass(frozen=True, slots=True, kw_only=True)
class Code:
    """One kind of diagnostic."""

    meaning: str
    remedy: str
    is_warning: bool  # ``checks.ignore`` can silence it


WARNINGS: Mapping[str, tuple[str, str]] = {
    "closed-to-anonymous": (
        "Policies of a StepZen project open something to callers without a credential, and identity shuts these out.",
        "Set access.anonymous to allow or challenge.",
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
    "key-in-url": (
        "upstream.url has a key in its query string, which is stored in the bundle.",
        "Use upstream.auth, or ignore the warning with a reason if the API takes its key nowhere else.",
    ),
    "left-out-operation": (
        "An operation is not a tool, although tools in config.yaml makes tools of operations.",
        "Change the operation or tools as the message says, or ignore the warning with a reason.",
    ),
    "literal-secret": (
        "config.yaml holds a secret itself, so the endpoint cannot be published.",
        "Write env:NAME, secret:NAME or ssm:NAME.",
    ),
    "missing-root-type": (
        "The schema definition names a root type that does not exist.",
        "Define the type, or remove its name.",
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
    "old-key": (
        "A key of config.yaml has an old name, which this version still reads.",
        "Rename the key, as the message says.",
    ),
    "open-to-anonymous": (
        "Policies let callers without a credential use something, as in StepZen.",
        "Set access.anonymous to allow or challenge.",
    ),
    "overridden-pattern": (
        "A later pattern exposes fields that an earlier pattern hides; the last match wins.",
        "Change the order, or the patterns.",
    ),
    "repeated-member": (
        "A member appears twice, with the same type; the first one counts.",
        "Remove one of them.",
    ),
    "schema-fault": (
        "The schema breaks a rule of GraphQL; its operations work all the same.",
        "Correct the schema, if it is yours.",
    ),
    "token-passthrough": (
        "Callers' tokens are passed on to the API, which can use them for whatever their owners can.",
        "Use token_exchange.",
    ),
    "uncallable-operation": (
        "An operation has no name and is not persisted, so nothing can call it.",
        "Name the operation.",
    ),
    "unkept-document": (
        "An operation asks for __schema or __type, so it is not kept as a persisted document.",
        "Send it as a query.",
    ),
    "unknown-slicing-argument": (
        "@listSize names an argument that its field does not have.",
        "Correct the name.",
    ),
    "unmatched-pattern": (
        "A pattern that exposes, or an alternative in it, matches nothing; or a type in a pattern has no such field.",
        "Correct or remove the pattern or alternative.",
    ),
    "unnamed-root-type": (
        "A type has the usual name of a root type, and the schema definition does not name it.",
        "Name it there, as in mutation: Mutation, or give the type another name.",
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
    "unusable-skill-tool": (
        "A skill names a tool that some of its readers may not use.",
        "Give skills the condition of the tool in config.yaml, or say in the skill who has the tool.",
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
    "visibility-without-files": (
        "@sdl(visibility:) has no files to judge.",
        "Add files, or remove visibility.",
    ),
    "weak-secret": (
        "An HS256 secret is short enough to be guessed from one token.",
        "Use at least 32 random bytes.",
    ),
}
"""Code -> meaning and remedy of the warnings that are not checks: readers and compilers of the files report them."""

CODES: dict[str, Code] = {
    code: Code(meaning=meaning, remedy=remedy, is_warning=table is WARNINGS)
    for table in (ERRORS, WARNINGS)
    for code, (meaning, remedy) in table.items()
}
"""All codes. Each check adds its own: the table is whole when ``handler.compiler.checks`` is imported."""
