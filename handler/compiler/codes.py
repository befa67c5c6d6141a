"""The stable codes of diagnostics, each with a meaning and a remedy, and those of differences between two versions."""

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
    "empty-toolkit": (
        "A toolkit has no tools, prompts, resources or skills.",
        "Declare its functions, or remove the entry in code.",
    ),
    "expired-key": (
        "An API key has expired, so its holder is refused.",
        "Make a new key by `stile key NAME`, or remove the entry.",
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
    "merge-mark": (
        "A text has a mark of a merge that was not resolved.",
        "Keep one version of the lines, and remove the marks.",
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
        "A tool asks its user, or starts jobs, for which the function needs STILE_STATE_KEY.",
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
        "There is no tool: files are not read, config.yaml is for another server, or its tools finds no operation.",
        "Move or rename the files, run `stile adopt`, add a named query, or say default_tool: true.",
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
    "undeclared-directive": (
        "The API's own schema (schema.graphql) uses a directive that it does not declare; the directive has no effect.",
        "Declare it in index.graphql as the message says, or ignore the warning with a reason.",
    ),
    "unkept-document": (
        "An operation asks for __schema or __type, so it is not kept as a persisted document.",
        "Send it as a query.",
    ),
    "unknown-context-member": (
        "A tool in Python uses a member that Context does not have, or a package that is not there in its place.",
        "Write what the message names: docs/from-fastmcp.md shows it.",
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


@dataclass(frozen=True, slots=True)
class ChangeCode:
    """A kind of difference.

    ``breaking``: a call, a request or a reader that worked before may fail, or do another thing. ``opens``: somebody
    may reach, use or decide more than before, or requests go elsewhere.
    """

    meaning: str
    breaking: bool = False
    opens: bool = False


CHANGE_CODES: Mapping[str, ChangeCode] = {
    # reach
    "reach-gained": ChangeCode("callers reach a coordinate that they did not reach", opens=True),
    "reach-lost": ChangeCode("callers no longer reach a coordinate", breaking=True),
    "reads-less": ChangeCode("an operation of the author no longer selects a field"),
    "reach-unknown": ChangeCode(
        "too many combinations of conditions: callers may reach a coordinate or no longer reach it",
        breaking=True,
        opens=True,
    ),
    "too-many-classes": ChangeCode(
        "the conditions have more than 4,096 combinations, and reach differs for some", breaking=True
    ),
    "tool-opened": ChangeCode("callers may use a tool that they could not use", opens=True),
    "tool-closed": ChangeCode("callers may no longer use a tool", breaking=True),
    "tool-condition": ChangeCode("a condition on variables opens a tool otherwise", breaking=True, opens=True),
    "root-opened": ChangeCode("callers reach a root type that the schema did not have", opens=True),
    # endpoints and tools
    "endpoint-added": ChangeCode("the endpoint is new", opens=True),
    "endpoint-removed": ChangeCode("the endpoint is gone", breaking=True),
    "tool-added": ChangeCode("a tool is new"),
    "tool-removed": ChangeCode("a tool is gone, and its name is not an alias of another", breaking=True),
    "tool-renamed": ChangeCode("a tool has a new name, and the old name is its alias"),
    "tool-replaced": ChangeCode("a name means a tool of another kind, or another tool", breaking=True),
    "alias-added": ChangeCode("a tool has a further old name"),
    "alias-removed": ChangeCode("an old name of a tool is gone", breaking=True),
    "tool-unlisted": ChangeCode("lists no longer have a tool, which can still be called", breaking=True),
    "tool-listed": ChangeCode("lists have a tool that could only be called"),
    "text-changed": ChangeCode("a title, a description, an icon or a directive of the schema has changed"),
    "annotations-changed": ChangeCode("a hint about a tool is another, such as readOnlyHint"),
    "operation-changed": ChangeCode("a tool sends another operation"),
    "operation-writes": ChangeCode("a tool that read now writes", breaking=True, opens=True),
    "operation-reads": ChangeCode("a tool that wrote now reads", breaking=True),
    "binding-changed": ChangeCode("a variable that no model fills is bound otherwise", breaking=True, opens=True),
    "code-changed": ChangeCode("a function or toolkit in Python has another definition"),
    "meta-changed": ChangeCode("the `_meta` of a tool in lists, or of its results, is another"),
    "view-changed": ChangeCode("hosts show a tool's results with another page, or with none"),
    "task-changed": ChangeCode("a tool starts a job that callers can ask about, or its `@mcpTask` is another"),
    "tasks-ended": ChangeCode("ids of jobs that run are not taken any more", breaking=True),
    # arguments
    "argument-added": ChangeCode("a tool or prompt takes a further argument, which may be left out"),
    "argument-required-added": ChangeCode("a tool or prompt needs a further argument", breaking=True),
    "argument-removed": ChangeCode("a tool or prompt no longer takes an argument", breaking=True),
    "argument-required": ChangeCode("an argument that could be left out is required", breaking=True),
    "argument-optional": ChangeCode("an argument that was required may be left out"),
    "argument-widened": ChangeCode("an argument takes values of further types"),
    "argument-narrowed": ChangeCode("an argument takes values of fewer types", breaking=True),
    "argument-type": ChangeCode("an argument takes values of other types", breaking=True),
    "argument-value-added": ChangeCode("an argument takes a further value of an enum"),
    "argument-value-removed": ChangeCode("an argument no longer takes a value of an enum", breaking=True),
    "argument-default": ChangeCode("a call without the argument means another value", breaking=True),
    "argument-limit-raised": ChangeCode("a bound of an argument's values allows more"),
    "argument-limit-lowered": ChangeCode("a bound of an argument's values allows less", breaking=True),
    "argument-rule": ChangeCode("an argument has another rule, such as a pattern", breaking=True),
    # results
    "output-added": ChangeCode("results have a further field, or a schema"),
    "output-removed": ChangeCode(
        "results no longer have a field or a schema, or the schema leaves fields out", breaking=True
    ),
    "output-nullable": ChangeCode("a field of results may be null or absent", breaking=True),
    "output-required": ChangeCode("a field of results is never null or absent any more"),
    "output-type": ChangeCode("a field of results has another type", breaking=True),
    "output-value-added": ChangeCode("a field of results may have a further value of an enum"),
    "output-value-removed": ChangeCode("a field of results no longer has a value of an enum", breaking=True),
    "output-form": ChangeCode("results come as other forms: text, structured, or both", breaking=True),
    # the schema behind tools and routes that take documents
    "field-type": ChangeCode("a field that documents select has another type", breaking=True),
    "field-required": ChangeCode("a field that documents select is never null any more"),
    "input-required": ChangeCode("an input of documents is required, or takes fewer types", breaking=True),
    "input-optional": ChangeCode("an input of documents may be left out or null"),
    "input-default": ChangeCode("a document without the input means another value", breaking=True),
    "interface-left": ChangeCode("a type no longer implements an interface that documents may select", breaking=True),
    "interface-joined": ChangeCode("a type implements a further interface"),
    "directive-narrowed": ChangeCode("a directive of documents may stand in fewer places", breaking=True),
    "directive-widened": ChangeCode("a directive of documents may stand in further places"),
    "cost-changed": ChangeCode("documents count differently against `max_cost`, and may be refused", breaking=True),
    # consent, scopes, limits
    "confirm-raised": ChangeCode("a tool asks its user before a call, or in a stricter way", breaking=True),
    "confirm-lowered": ChangeCode("a tool no longer asks its user, or in a weaker way", opens=True),
    "scopes-added": ChangeCode("a tool needs further scopes", breaking=True),
    "scopes-removed": ChangeCode("a tool needs fewer scopes", opens=True),
    "limit-lowered": ChangeCode("a limit allows less", breaking=True),
    "limit-raised": ChangeCode("a limit allows more"),
    "size-changed": ChangeCode("the entry of a tool takes another number of tokens"),
    # callers
    "anonymous-refused": ChangeCode("callers without a credential are refused", breaking=True),
    "anonymous-admitted": ChangeCode("callers without a credential are admitted", opens=True),
    "listing-changed": ChangeCode("lists treat missing scopes otherwise, or scopes become public or private"),
    "key-added": ChangeCode("an API key is new", opens=True),
    "key-removed": ChangeCode("an API key is gone", breaking=True),
    "key-changed": ChangeCode("an API key of the same name has another digest", breaking=True, opens=True),
    "key-expires-earlier": ChangeCode("an API key expires earlier", breaking=True),
    "key-expires-later": ChangeCode("an API key expires later, or never", opens=True),
    "key-claims": ChangeCode("the holder of an API key has other claims, or skips policies", breaking=True, opens=True),
    "issuer-added": ChangeCode("tokens of a further issuer are accepted", opens=True),
    "issuer-removed": ChangeCode("tokens of an issuer are no longer accepted", breaking=True),
    "issuer-changed": ChangeCode("tokens of an issuer are judged otherwise", breaking=True, opens=True),
    "authorizer-added": ChangeCode("the authorizer of a further API is believed", opens=True),
    "authorizer-removed": ChangeCode("the authorizer of an API is no longer believed", breaking=True),
    "sign-in-changed": ChangeCode("the OAuth proxy is new, gone, or set otherwise", breaking=True, opens=True),
    # the API behind
    "upstream-url": ChangeCode("requests go to another URL, or to other tenants", opens=True),
    "upstream-headers": ChangeCode("requests carry other headers", opens=True),
    "upstream-credential": ChangeCode("requests carry another credential, or it is read from elsewhere", opens=True),
    "upstream-documents": ChangeCode("operations are sent in another form"),
    # routes and content
    "route-opened": ChangeCode("the GraphQL route takes more requests", opens=True),
    "route-closed": ChangeCode("the GraphQL route takes fewer requests", breaking=True),
    "document-added": ChangeCode("a persisted document is new"),
    "document-replaced": ChangeCode("a persisted document has another id, and operations of the same names"),
    "document-removed": ChangeCode("a persisted document, or an operation of one, is gone", breaking=True),
    "content-added": ChangeCode("a prompt, a resource or a skill is new"),
    "content-removed": ChangeCode("a prompt, a resource or a skill is gone", breaking=True),
    "content-changed": ChangeCode("a prompt, a resource, a skill or the instructions are others"),
    "content-opened": ChangeCode("other callers see a prompt, resource or toolkit", breaking=True, opens=True),
    "catalog-changed": ChangeCode("the catalog or the search for tools is set otherwise"),
    "log-changed": ChangeCode("the log has other facts of calls"),
    "other-changed": ChangeCode("the bundle has another difference"),
}
"""Code -> the judgement of this kind of difference."""
