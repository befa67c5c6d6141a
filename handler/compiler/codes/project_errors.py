"""Codes of errors in configuration, files and tools in Python."""

from __future__ import annotations

from collections.abc import Mapping

PROJECT_ERRORS: Mapping[str, tuple[str, str]] = {
    "credentials-in-url": (
        "A URL has a user name or a password in it.",
        "Remove it from the URL, and use upstream.auth or a secret.",
    ),
    "development-issuer": (
        "The configuration would trust the tokens of stile token, which are for trials only.",
        "Remove the issuer: stile dev and stile call trust its tokens without a setting.",
    ),
    "duplicate-api-key": (
        "Two API keys have one name.",
        "Give each key a name of its own.",
    ),
    "duplicate-assertion-client": (
        "Two clients of one OAuth proxy's assertion_clients have one id.",
        "Give each client its own id; an id may have two secrets.",
    ),
    "duplicate-endpoint": (
        "Two folders make one endpoint, so one would overwrite the other.",
        "Give one of them another name.",
    ),
    "duplicate-id": (
        "Two texts of a manifest have one id.",
        "Remove one of them.",
    ),
    "duplicate-identity": (
        "identity appears at the top of config.yaml and in deployment.",
        "Keep one of them.",
    ),
    "duplicate-issuer": (
        "A token issuer has two entries.",
        "Put all of its keys into one entry.",
    ),
    "duplicate-key": (
        "A key appears twice in one mapping of a YAML file, or in one object of a manifest.",
        "Remove one of them.",
    ),
    "duplicate-key-id": (
        "Two keys of one issuer have one id.",
        "Give each key its own keyid.",
    ),
    "duplicate-oauth-proxy": (
        "An endpoint has two OAuth proxies.",
        "Keep one.",
    ),
    "duplicate-policy": (
        "Two policies are for one type.",
        "Put all rules of the type into one policy.",
    ),
    "duplicate-rule": (
        "A field appears in two rules of a policy.",
        "Combine the conditions in one rule.",
    ),
    "duplicate-toolkit": (
        "A toolkit appears in code twice.",
        "Remove one entry.",
    ),
    "hidden-itself": (
        "access.show names a coordinate that another rule hides; it only excepts inputs that name a hidden field.",
        "Remove the rule that hides it, or the entry of access.show.",
    ),
    "invalid-algorithm": (
        "A key set cannot be used with this algorithm.",
        "Take one of the algorithms that the message lists.",
    ),
    "invalid-api-id": (
        "A text is not the id of an API of API Gateway.",
        "Write the letters and digits before .execute-api.",
    ),
    "invalid-auth-mode": (
        "upstream.auth does not have exactly one mode.",
        "Choose one of the modes that the message lists.",
    ),
    "invalid-client-id": (
        "A text is not the URL of a client ID metadata document.",
        "Write an https URL with a path.",
    ),
    "invalid-code-modules": (
        "STILE_CODE_MODULES does not fit.",
        "Write names of Python modules, separated by commas.",
    ),
    "invalid-condition": (
        "A condition of a policy, toolkit or tool cannot be read.",
        "Correct it where the message points.",
    ),
    "invalid-endpoint-name": (
        "A text is not the name of an endpoint.",
        "Write folder/name, as the message describes.",
    ),
    "invalid-file-name": (
        "The name of a file is not UTF-8.",
        "Rename the file.",
    ),
    "invalid-header": (
        "A header cannot be sent or passed on.",
        "Choose another header, as the message says.",
    ),
    "invalid-key": (
        "A text is not a public key for its algorithm.",
        "Write the key as PEM, of the kind and size that the message says.",
    ),
    "invalid-manifest": (
        "A manifest of persisted queries cannot be read, or says something else than its texts.",
        "Correct it as the message says, or write it anew with the tool that made it.",
    ),
    "invalid-placeholder": (
        "The text of a prompt has braces that name no argument.",
        "Name an argument, or write the braces as \\{{.",
    ),
    "invalid-project-file": (
        "A project file of StepZen cannot be read.",
        "Correct its JSON as the message says.",
    ),
    "invalid-redirect-uri": (
        "A redirect URI cannot be allowed.",
        "Write a whole https URI, or one of loopback.",
    ),
    "invalid-scope": (
        "A text is not an OAuth scope.",
        "Write it without spaces and quotes.",
    ),
    "invalid-secret": (
        "A secret does not fit its algorithm.",
        "Write env:NAME, and set the secret where the function runs.",
    ),
    "invalid-secret-reference": (
        "A reference to a secret cannot be read.",
        "Write one of the forms that the message lists.",
    ),
    "invalid-tenant-url": (
        "The place for the tenant in upstream.url cannot be filled safely.",
        "Write {claim:NAME} as one label of the host, below a domain of your own, or as one segment of the path.",
    ),
    "invalid-tool-definition": (
        "A tool, prompt or resource in Python cannot be made.",
        "Correct the function or its decorator as the message says.",
    ),
    "invalid-value": (
        "A value of a YAML file is of another kind, or out of bounds.",
        "Write a value of the kind that the message says.",
    ),
    "invalid-view": (
        "A file in ui/ is not a page that hosts can show, or the pages together are larger than a bundle may hold.",
        "Put whole pages there, smaller ones, no links, and with names of letters, digits, _ and - only.",
    ),
    "invalid-yaml": (
        "A file is not YAML.",
        "Correct it where the message points.",
    ),
    "long-instructions": (
        "instructions are longer than clients take.",
        "Shorten the text.",
    ),
    "misnamed-config": (
        "A file looks like config.yaml and is not read, and there is no config.yaml: no policy would hold.",
        "Rename the file to config.yaml.",
    ),
    "missing-actor-token": (
        "actor_token_type is given without an actor_token.",
        "Give both, or neither.",
    ),
    "missing-issuer": (
        "An OAuth proxy belongs to an entry of identity without an issuer.",
        "Add the issuer.",
    ),
    "missing-keys": (
        "An issuer has no keys to verify its tokens with.",
        "Add jwksendpoint or keys.",
    ),
    "missing-tenant-pattern": (
        "upstream.url has a place for the tenant, and nothing says which names tenants have.",
        "Write the pattern of the whole name in upstream.tenant_pattern.",
    ),
    "module-failed": (
        "A Python module raised an exception when it was imported or read.",
        "Correct the module where the message points.",
    ),
    "module-not-allowed": (
        "A toolkit is in a module that may not be imported.",
        "Name the module in STILE_CODE_MODULES.",
    ),
    "module-unavailable": (
        "A toolkit cannot be imported.",
        "Install its module, or correct its name.",
    ),
    "needs-schema": (
        "config.yaml or a file needs a schema, and the endpoint has none.",
        "Add index.graphql, or remove the entry that the message names.",
    ),
    "not-a-list": (
        "limits.list_sizes names a field that is not a list.",
        "Name a field that returns a list, or an object with one.",
    ),
    "not-an-input": (
        "access.show names a coordinate that is not an input.",
        "Name an input field, an argument or an enum value.",
    ),
    "not-ignorable": (
        "checks.ignore names the code of an error; only warnings can be ignored.",
        "Correct the error, and remove the entry.",
    ),
    "passthrough-audience": (
        "Callers' tokens would be passed on to an API that they are not for.",
        "Add the audience to every issuer, or use token_exchange.",
    ),
    "reserved-uri": (
        "A resource in Python has a URI that is for files, schemas and skills.",
        "Choose another scheme.",
    ),
    "unclosed-front-matter": (
        "The front matter of a prompt or skill has no end.",
        "Add a line with ---.",
    ),
    "unknown-assertion-issuer": (
        "An OAuth proxy takes assertions of an issuer whose signatures cannot be verified.",
        "Add an entry of identity for the issuer, with jwksendpoint or public keys.",
    ),
    "unknown-caller": (
        "An entry of policies.test.yaml names a caller that does not exist.",
        "Write anonymous, a JSON file with claims, key:NAME, or {claims: {…}}.",
    ),
    "unknown-code": (
        "checks.ignore names a diagnostic code that does not exist.",
        "Correct the code; `stile check` prints each with its message.",
    ),
    "unknown-coordinate": (
        "A text does not name anything in the schema.",
        "Write Type, Type.field or Type.field(argument:) as in the schema.",
    ),
    "unknown-expectation": (
        "An entry of policies.test.yaml names what does not exist or cannot be tried, or there is no entry.",
        "Correct the name, write an entry, or remove the file.",
    ),
    "unknown-key": (
        "A key of a YAML file is not known.",
        "Correct the name, or remove the key.",
    ),
    "unknown-logged-argument": (
        "An entry of log.arguments names a tool or an argument that does not exist.",
        "Write tool.argument, with the names that stile check --json and tools/list show.",
    ),
    "unknown-scalar": (
        "scalars names a type that is not a scalar of the schema.",
        "Correct the name.",
    ),
    "unknown-tool": (
        "questions.yaml names a tool that the endpoint does not have.",
        "Write the name as stile check shows it.",
    ),
    "unknown-view": (
        "A tool or config.yaml names a page that ui/ does not have.",
        "Correct the name, or add ui/NAME.html.",
    ),
    "unloggable-argument": (
        "An entry of log.arguments names an argument that may hold a secret, or text that a model writes.",
        "Leave it out. log.coordinates tells the fields that a request reads.",
    ),
    "unmet-expectation": (
        "A caller has a tool, a field or a call that policies.test.yaml does not expect, or lacks one that it expects.",
        "Correct the rule that the message names, or the expectation.",
    ),
    "unreadable-file": (
        "A file or folder cannot be read.",
        "Correct its name, size, place or encoding, as the message says.",
    ),
    "unsealed-cursors": (
        "Answers are to be continued (limits.continue), for which the function needs STILE_STATE_KEY.",
        "Set STILE_STATE_KEY where the function runs, and here for the check.",
    ),
    "unset-variable": (
        "A STEPZEN_ variable has no value.",
        "Set it in the environment or in .env.",
    ),
    "variables-in-condition": (
        "A condition of a toolkit, tool, prompt or resource asks for $variables, which are not known at that time.",
        "Use $jwt only, or write the condition as a rule of access.policies.",
    ),
}
"""Code -> meaning and remedy."""
