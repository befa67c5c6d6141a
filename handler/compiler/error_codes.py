"""The codes of errors in an endpoint folder."""

from __future__ import annotations

from collections.abc import Mapping

ERRORS: Mapping[str, tuple[str, str]] = {
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
    "duplicate-argument": (
        "An argument or input field is given twice.",
        "Remove one of them.",
    ),
    "duplicate-assertion-client": (
        "Two clients of one OAuth proxy's assertion_clients have one id.",
        "Give each client its own id; an id may have two secrets.",
    ),
    "duplicate-definition": (
        "A type, member, fragment, variable, prompt or resource is defined twice.",
        "Rename or remove one of them.",
    ),
    "duplicate-description": (
        "A parameter is described twice.",
        "Keep one description.",
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
    "duplicate-operation": (
        "Two operations have one name.",
        "Rename one of them.",
    ),
    "duplicate-policy": (
        "Two policies are for one type.",
        "Put all rules of the type into one policy.",
    ),
    "duplicate-prompt": (
        "Two prompts have one name.",
        "Rename one of them.",
    ),
    "duplicate-prompt-argument": (
        "A prompt has two arguments of one name.",
        "Rename one of them.",
    ),
    "duplicate-rule": (
        "A field appears in two rules of a policy.",
        "Combine the conditions in one rule.",
    ),
    "duplicate-schema": (
        "The schema is defined twice.",
        "Keep one schema definition.",
    ),
    "duplicate-skill": (
        "Two skills have one name.",
        "Rename one of them.",
    ),
    "duplicate-tool": (
        "Two tools, or their aliases, have one name.",
        "Rename one of them.",
    ),
    "duplicate-toolkit": (
        "A toolkit appears in code twice.",
        "Remove one entry.",
    ),
    "empty-description": (
        "A description has no text.",
        "Write its value, or remove the entry.",
    ),
    "empty-file": (
        "A schema file has no definition.",
        "Write type definitions, or remove the file from @sdl.",
    ),
    "empty-prompt": (
        "A prompt has a message without text.",
        "Write the text, or remove the message.",
    ),
    "fragment-cycle": (
        "A fragment contains itself.",
        "Take one of its spreads out.",
    ),
    "hidden-from-clients": (
        "An operation uses a part of the schema that @sdl(visibility:) or @inaccessible hides from every client.",
        "Ask for something else, or show it.",
    ),
    "hidden-itself": (
        "access.show names a coordinate that another rule hides; it only excepts inputs that name a hidden field.",
        "Remove the rule that hides it, or the entry of access.show.",
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
    "invalid-binding": (
        "@mcpBind does not say one valid source for its variable.",
        "Give one of claim, header or value, of a form that fits the variable.",
    ),
    "invalid-client-id": (
        "A text is not the URL of a client ID metadata document.",
        "Write an https URL with a path.",
    ),
    "invalid-code-modules": (
        "STILE_CODE_MODULES does not fit.",
        "Write names of Python modules, separated by commas.",
    ),
    "invalid-completion": (
        "A list of completions has an empty or a repeated text.",
        "Write each text once.",
    ),
    "invalid-condition": (
        "A condition of a policy, toolkit or tool cannot be read.",
        "Correct it where the message points.",
    ),
    "invalid-endpoint-name": (
        "A text is not the name of an endpoint.",
        "Write folder/name, as the message describes.",
    ),
    "invalid-example": (
        "An example of @tool or @mcpTool does not fit the variables of the tool's operation.",
        "Correct the value or name that the message names.",
    ),
    "invalid-file-name": (
        "The name of a file is not UTF-8.",
        "Rename the file.",
    ),
    "invalid-graphql": (
        "A rule of GraphQL is broken that has no code of its own.",
        "Follow the message.",
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
    "invalid-option": (
        "An argument of @tool or @mcpTool has a value that cannot be kept.",
        "Correct it as the message says.",
    ),
    "invalid-pattern": (
        "A regular expression cannot be used.",
        "Correct the expression; it must fit the syntax that the message names.",
    ),
    "invalid-placeholder": (
        "The text of a prompt has braces that name no argument.",
        "Name an argument, or write the braces as \\{{.",
    ),
    "invalid-project-file": (
        "A project file of StepZen cannot be read.",
        "Correct its JSON as the message says.",
    ),
    "invalid-prompt-name": (
        "A text is not the name of a prompt.",
        "Use 1 to 128 letters, digits, _, - and dots.",
    ),
    "invalid-recording": (
        "tools.recording.json has a text that looks like a secret, or is not a recording of answers.",
        "Leave the text out of the operation, or write the file anew: stile test FOLDER --record.",
    ),
    "invalid-redirect-uri": (
        "A redirect URI cannot be allowed.",
        "Write a whole https URI, or one of loopback.",
    ),
    "invalid-schema": (
        "The definitions do not make a schema.",
        "Correct the definition that the message names.",
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
    "invalid-skill": (
        "A skill does not have the form that hosts read.",
        "Correct skills/NAME/SKILL.md, its front matter or the folder's name, as the message says.",
    ),
    "invalid-skill-file": (
        "A file of a skill is a link, or its name fits no URI of a skill, or differs from another name only by case.",
        "Put the file itself there, or rename it.",
    ),
    "invalid-task": (
        "@mcpTask does not fit its mutation, or an operation that it names.",
        "Name a query of the folder, and paths of fields that the operations select, as the message says.",
    ),
    "invalid-tenant-url": (
        "The place for the tenant in upstream.url cannot be filled safely.",
        "Write {claim:NAME} as one label of the host, below a domain of your own, or as one segment of the path.",
    ),
    "invalid-tool-definition": (
        "A tool, prompt or resource in Python cannot be made.",
        "Correct the function or its decorator as the message says.",
    ),
    "invalid-tool-name": (
        "A text is not the name of a tool.",
        "Use 1 to 128 letters, digits, _, - or ., and the template variables that the message lists.",
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
    "known-documents-only": (
        "A caller or a model writes requests, and upstream.documents says that the API takes none.",
        "Use persisted operations, or change upstream.documents.",
    ),
    "large-resources": (
        "The files of resources/ and skills/ are larger than a bundle may hold.",
        "Keep fewer or smaller files.",
    ),
    "large-skill": (
        "A skill has more files than hosts take.",
        "Keep fewer files in it, or make two skills.",
    ),
    "limits-of-an-operation": (
        "A tool that runs one operation has limits of requests that a model writes.",
        "Remove the limits but max_result_bytes.",
    ),
    "long-consent": (
        "A tool with confirm has an operation that is too long to show to a user.",
        "Shorten the operation, or remove confirm.",
    ),
    "long-instructions": (
        "instructions are longer than clients take.",
        "Shorten the text.",
    ),
    "matches-nothing": (
        "A pattern that hides, or one of its alternatives, matches nothing, so a field may be open.",
        "Correct the name, or remove the alternative; access.hide names coordinates instead.",
    ),
    "misnamed-config": (
        "A file looks like config.yaml and is not read, and there is no config.yaml: no policy would hold.",
        "Rename the file to config.yaml.",
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
    "missing-actor-token": (
        "actor_token_type is given without an actor_token.",
        "Give both, or neither.",
    ),
    "missing-argument": (
        "A required argument is not given.",
        "Give the argument.",
    ),
    "missing-issuer": (
        "An OAuth proxy belongs to an entry of identity without an issuer.",
        "Add the issuer.",
    ),
    "missing-keys": (
        "An issuer has no keys to verify its tokens with.",
        "Add jwksendpoint or keys.",
    ),
    "missing-operation-type": (
        "The schema has no root type for this kind of operation.",
        "Define the root type, or remove the operation.",
    ),
    "missing-query-type": (
        "The schema has no query type.",
        "Define type Query, or name the type in the schema definition.",
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
    "no-operation": (
        "A file of operations has no operation.",
        "Write one, or remove the file.",
    ),
    "not-a-list": (
        "limits.list_sizes names a field that is not a list.",
        "Name a field that returns a list, or an object with one.",
    ),
    "not-a-query": (
        "A tool that sends a mutation says limits.continue, which is for queries.",
        "Remove continue from its limits.",
    ),
    "not-an-input": (
        "access.show names a coordinate that is not an input.",
        "Name an input field, an argument or an enum value.",
    ),
    "not-ignorable": (
        "checks.ignore names the code of an error; only warnings can be ignored.",
        "Correct the error, and remove the entry.",
    ),
    "not-read-only": (
        "A tool says readOnlyHint: true and can send mutations.",
        "Remove the hint, or the mutations.",
    ),
    "nothing-exposed": (
        "A GraphQL tool exposes no field of a root type.",
        "Add a pattern that exposes some.",
    ),
    "passthrough-audience": (
        "Callers' tokens would be passed on to an API that they are not for.",
        "Add the audience to every issuer, or use token_exchange.",
    ),
    "repeated-directive": (
        "A directive appears twice where it may appear once.",
        "Remove one of them.",
    ),
    "reserved-uri": (
        "A resource in Python has a URI that is for files, schemas and skills.",
        "Choose another scheme.",
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
    "unclosed-front-matter": (
        "The front matter of a prompt or skill has no end.",
        "Add a line with ---.",
    ),
    "undefined-variable": (
        "An operation uses a variable that it does not declare.",
        "Declare the variable.",
    ),
    "unknown-argument": (
        "A field or directive does not have an argument.",
        "Correct the name.",
    ),
    "unknown-assertion-issuer": (
        "An OAuth proxy takes assertions of an issuer whose signatures cannot be verified.",
        "Add an entry of identity for the issuer, with jwksendpoint or public keys.",
    ),
    "unknown-caller": (
        "An entry of policies.test.yaml or tools.test.yaml names a caller that does not exist.",
        "Write anonymous, a JSON file with claims, key:NAME, or in policies.test.yaml {claims: {…}}.",
    ),
    "unknown-code": (
        "checks.ignore names a diagnostic code that does not exist.",
        "Correct the code; `stile check` prints each with its message.",
    ),
    "unknown-coordinate": (
        "A text does not name anything in the schema.",
        "Write Type, Type.field or Type.field(argument:) as in the schema.",
    ),
    "unknown-directive": (
        "A directive is not defined, or not known here.",
        "Correct the name, or define the directive.",
    ),
    "unknown-expectation": (
        "An entry of policies.test.yaml or tools.test.yaml names what does not exist, or there is no entry.",
        "Correct the name, write an entry, or remove the file.",
    ),
    "unknown-field": (
        "A type does not have a field.",
        "Correct the name.",
    ),
    "unknown-fragment": (
        "A fragment is not defined.",
        "Correct the name, or define the fragment.",
    ),
    "unknown-key": (
        "A key of a YAML file is not known.",
        "Correct the name, or remove the key.",
    ),
    "unknown-logged-argument": (
        "An entry of log.arguments names a tool or an argument that does not exist.",
        "Write tool.argument, with the names that stile check --json and tools/list show.",
    ),
    "unknown-operation": (
        "@tool(prescribed:) names an operation that does not exist.",
        "Correct the name.",
    ),
    "unknown-scalar": (
        "scalars names a type that is not a scalar of the schema.",
        "Correct the name.",
    ),
    "unknown-tool": (
        "questions.yaml names a tool that the endpoint does not have.",
        "Write the name as stile check shows it.",
    ),
    "unknown-type": (
        "A type is not defined.",
        "Correct the name, or define the type.",
    ),
    "unknown-view": (
        "A tool or config.yaml names a page that ui/ does not have.",
        "Correct the name, or add ui/NAME.html.",
    ),
    "unlistable-tool": (
        "A tool's entry is larger than a response may be.",
        "Give the tool fewer or shorter inputs.",
    ),
    "unloggable-argument": (
        "An entry of log.arguments names an argument that may hold a secret, or text that a model writes.",
        "Leave it out. log.coordinates tells the fields that a request reads.",
    ),
    "unmet-expectation": (
        "A caller has or lacks what policies.test.yaml does not expect, or tools.test.yaml expects another answer.",
        "Correct the rule that the message names, the tool, or the expectation.",
    ),
    "unpersisted-operation": (
        "@tool(prescribed:) runs an operation that is not persisted.",
        "Set persist: true.",
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
        "A STEPZEN_ variable has no value, or a value is a variable in the style of a shell, as ${NAME}.",
        "Set the STEPZEN_ variable in the environment or in .env; write the value in place of ${NAME}.",
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
    "variables-in-condition": (
        "A condition of a toolkit, tool, prompt or resource asks for $variables, which are not known at that time.",
        "Use $jwt only, or write the condition as a rule of access.policies.",
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
