"""Codes of errors in schemas, operations and the tools made from them."""

from __future__ import annotations

from collections.abc import Mapping

GRAPHQL_ERRORS: Mapping[str, tuple[str, str]] = {
    "anonymous-operation": (
        "An operation has no name, so nothing can call it.",
        "Name the operation.",
    ),
    "conflicting-definitions": (
        "A field or argument of a merged type is defined twice, with different types.",
        "Keep one definition, or give both the same type.",
    ),
    "conflicting-fields": (
        "A selection asks for two different fields under one response name.",
        "Give one of the fields an alias.",
    ),
    "conflicting-root-types": (
        "Two schema definitions name different root types.",
        "Name each root type once.",
    ),
    "duplicate-argument": (
        "An argument or input field is given twice.",
        "Remove one of them.",
    ),
    "duplicate-definition": (
        "A type, member, fragment, variable, prompt or resource is defined twice.",
        "Rename or remove one of them.",
    ),
    "duplicate-description": (
        "A parameter is described twice.",
        "Keep one description.",
    ),
    "duplicate-operation": (
        "Two operations have one name.",
        "Rename one of them.",
    ),
    "duplicate-schema": (
        "The schema is defined twice.",
        "Keep one schema definition.",
    ),
    "duplicate-tool": (
        "Two tools, or their aliases, have one name.",
        "Rename one of them.",
    ),
    "empty-description": (
        "A description has no text.",
        "Write its value, or remove the entry.",
    ),
    "empty-file": (
        "A schema file has no definition.",
        "Write type definitions, or remove the file from @sdl.",
    ),
    "fragment-cycle": (
        "A fragment contains itself.",
        "Take one of its spreads out.",
    ),
    "hidden-from-clients": (
        "An operation uses a part of the schema that @sdl(visibility:) or @inaccessible hides from every client.",
        "Ask for something else, or show it.",
    ),
    "impossible-extension": (
        "An extension is for a type that does not exist, or is of another kind.",
        "Define the type, or correct the extension.",
    ),
    "impossible-fragment": (
        "A fragment is for a type that can never stand where the fragment is used.",
        "Correct its type condition.",
    ),
    "include-cycle": (
        "Schema files include each other.",
        "Remove one of the includes.",
    ),
    "invalid-binding": (
        "@mcpBind does not say one valid source for its variable.",
        "Give one of claim, header or value, of a form that fits the variable.",
    ),
    "invalid-example": (
        "An example of @tool or @mcpTool does not fit the variables of the tool's operation.",
        "Correct the value or name that the message names.",
    ),
    "invalid-graphql": (
        "A rule of GraphQL is broken that has no code of its own.",
        "Follow the message.",
    ),
    "invalid-option": (
        "An argument of @tool or @mcpTool has a value that cannot be kept.",
        "Correct it as the message says.",
    ),
    "invalid-pattern": (
        "A regular expression cannot be used.",
        "Correct the expression; it must fit the syntax that the message names.",
    ),
    "invalid-schema": (
        "The definitions do not make a schema.",
        "Correct the definition that the message names.",
    ),
    "invalid-tool-name": (
        "A text is not the name of a tool.",
        "Use 1 to 128 letters, digits, _, - or ., and the template variables that the message lists.",
    ),
    "known-documents-only": (
        "A caller or a model writes requests, and upstream.documents says that the API takes none.",
        "Use persisted operations, or change upstream.documents.",
    ),
    "limits-of-an-operation": (
        "A tool that runs one operation has limits of requests that a model writes.",
        "Remove the limits but max_result_bytes.",
    ),
    "long-consent": (
        "A tool with confirm has an operation that is too long to show to a user.",
        "Shorten the operation, or remove confirm.",
    ),
    "matches-nothing": (
        "A pattern that hides, or one of its alternatives, matches nothing, so a field may be open.",
        "Correct the name, or remove the alternative; access.hide names coordinates instead.",
    ),
    "misplaced-definition": (
        "A file of operations has a type definition.",
        "Move it to a schema file.",
    ),
    "misplaced-directive": (
        "A directive is where it has no meaning.",
        "Move it to where the message says.",
    ),
    "misplaced-operation": (
        "A schema file has an operation.",
        "Move it to operations/.",
    ),
    "missing-argument": (
        "A required argument is not given.",
        "Give the argument.",
    ),
    "missing-operation-type": (
        "The schema has no root type for this kind of operation.",
        "Define the root type, or remove the operation.",
    ),
    "missing-query-type": (
        "The schema has no query type.",
        "Define type Query, or name the type in the schema definition.",
    ),
    "no-operation": (
        "A file of operations has no operation.",
        "Write one, or remove the file.",
    ),
    "not-a-query": (
        "A tool that sends a mutation says limits.continue, which is for queries.",
        "Remove continue from its limits.",
    ),
    "not-read-only": (
        "A tool says readOnlyHint: true and can send mutations.",
        "Remove the hint, or the mutations.",
    ),
    "nothing-exposed": (
        "A GraphQL tool exposes no field of a root type.",
        "Add a pattern that exposes some.",
    ),
    "repeated-directive": (
        "A directive appears twice where it may appear once.",
        "Remove one of them.",
    ),
    "reserved-variable": (
        "A variable has the name confirm, which a tool with confirm takes itself.",
        "Rename the variable.",
    ),
    "schema-query": (
        "A tool's operation asks for __schema or __type, which would reveal hidden types.",
        "Remove the field.",
    ),
    "subscription": (
        "An operation is a subscription; a tool is one request and one answer.",
        "Use a query or mutation.",
    ),
    "syntax-error": (
        "A file is not GraphQL.",
        "Correct it where the message points.",
    ),
    "too-complex": (
        "A file takes too much work to validate.",
        "Split it, and nest less deeply.",
    ),
    "unclear-tool": (
        "@tool has both of graphql and prescribed, or neither.",
        "Give one of them.",
    ),
    "undefined-variable": (
        "An operation uses a variable that it does not declare.",
        "Declare the variable.",
    ),
    "unknown-argument": (
        "A field or directive does not have an argument.",
        "Correct the name.",
    ),
    "unknown-directive": (
        "A directive is not defined, or not known here.",
        "Correct the name, or define the directive.",
    ),
    "unknown-field": (
        "A type does not have a field.",
        "Correct the name.",
    ),
    "unknown-fragment": (
        "A fragment is not defined.",
        "Correct the name, or define the fragment.",
    ),
    "unknown-operation": (
        "@tool(prescribed:) names an operation that does not exist.",
        "Correct the name.",
    ),
    "unknown-type": (
        "A type is not defined.",
        "Correct the name, or define the type.",
    ),
    "unlistable-tool": (
        "A tool's entry is larger than a response may be.",
        "Give the tool fewer or shorter inputs.",
    ),
    "unpersisted-operation": (
        "@tool(prescribed:) runs an operation that is not persisted.",
        "Set persist: true.",
    ),
    "unused-binding": (
        "An operation does not use its bound variable.",
        "Use the variable, or remove it.",
    ),
    "unused-fragment": (
        "A fragment is not used.",
        "Use or remove it.",
    ),
    "upload-argument": (
        "A required variable takes a file, which no argument can be.",
        "Make it optional, or remove the operation.",
    ),
    "wrong-kind": (
        "A type is of another kind than its place takes.",
        "Use an object type, interface or input type, as the message says.",
    ),
    "wrong-selection": (
        "A field lacks its selection, or a scalar has one.",
        "Add or remove the selection.",
    ),
    "wrong-value": (
        "A value does not fit its type.",
        "Write a value of the type.",
    ),
    "wrong-variable-type": (
        "A variable's type does not fit where the variable is used.",
        "Change the type of the variable.",
    ),
}
"""Code -> meaning and remedy."""
