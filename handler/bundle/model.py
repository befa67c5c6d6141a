"""A compiled endpoint, the interface between deploy time and request time. ``bundle/stored.py`` stores it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from handler.bundle.upstream import Upstream
from handler.policy.evaluation import Mask
from handler.policy.predicates import Predicate
from handler.records import record
from handler.strict_json import JSONObject as JSONObject  # noqa: PLC0414 - most modules know it from here

ENDPOINT_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]*/[A-Za-z][A-Za-z0-9_-]*")

SECRET_REFERENCE = "env:"  # noqa: S105 - the prefix of a secret's name in a bundle, not a secret
"""Prefix of the name of a secret that the function's environment has as ``STILE_SECRET_NAME``."""

RSA_BITS = range(2_048, 16_385)
"""Length of an RSA key. Source: RFC 7518, section 3.3, for the minimum; longer keys only take time."""

MAX_ANSWER_S = 28.0
"""Longest time until the answer to a call: API Gateway's REST APIs wait 29 s, its HTTP APIs 30 s, and the start of a
container counts."""

CONFIRM_LEVELS = ("", "advisory", "required")
"""Levels of the consent that a tool asks its user for, weakest first."""

CONFIRM = "confirm"
"""The argument with which a caller says that its user agreed."""

MAX_CONSENT_CHARS = 8_000
"""Length of an operation, and of its variables, in a question to a user. Both are shown in full, or not asked about."""


@record(frozen=True, slots=True, kw_only=True)
class Operation:
    """One persisted operation, ready to send upstream."""

    name: str
    kind: str  # query | mutation
    text: str  # the operation and the fragments it uses, without our directives and descriptions
    sha256: str  # of the text; an API may know the operation by it
    null_is_absent: tuple[str, ...]  # variables that callers may give and whose null the API does not accept
    variables: tuple[str, ...]  # all declared variables
    defaults: JSONObject  # variable -> its default, for variables that a request leaves out

    def coerced(self, sent: Mapping[str, Any]) -> JSONObject:
        """Return the values of the variables: those that are sent, and defaults."""
        return {**self.defaults, **sent}

    def sendable(self, variables: Mapping[str, Any]) -> JSONObject:
        """Return the variables in the form that the API accepts."""
        return {name: value for name, value in variables.items() if not (value is None and name in self.null_is_absent)}


@record(frozen=True, slots=True, kw_only=True)
class Binding:
    """A variable that neither a model nor its user fills."""

    variable: str
    source: str  # claim | header | value
    name: str  # name of the claim or header
    value: Any  # value of a constant
    read_as: str  # type of a header's text: string | integer | number | boolean


@record(frozen=True, slots=True, kw_only=True)
class PersistedOperation:
    """An operation that requests name by its document's id. The name is the empty string if the author gave none."""

    operation: Operation
    variables: JSONObject  # the enforced schema of callers' variables, with guards: see guarded_schema.py
    mask: Mask
    conditions: Mask  # conditions of the coordinates that values can name
    bindings: tuple[Binding, ...]
    bound: JSONObject  # the schema of the bindings' values, as one object
    scopes: tuple[str, ...]  # the scopes of all tools that run it, so that it does not bypass them
    confirm: str  # the strictest level of these tools: "" | advisory | required


@record(frozen=True, slots=True, kw_only=True)
class PersistedDocument:
    """A file of operations, with the id ``sha256:`` and the SHA-256 of its bytes."""

    id: str
    operations: tuple[PersistedOperation, ...]
    tools: tuple[str, ...]  # prescribed tools equal to further entries, which ``operations`` leaves out


@record(frozen=True, slots=True, kw_only=True)
class GraphQLEndpoint:
    """The requests that ``/{folder}/{name}/graphql`` accepts: none, persisted documents, or a caller's documents."""

    mode: str  # off | persisted | on
    guards: Mapping[str, Mask]  # added to the bundle's guards: ``__schema``, ``__type``, Federation's fields
    conditions: Mask  # all conditions that its views depend on
    documents: tuple[PersistedDocument, ...]


@record(frozen=True, slots=True, kw_only=True)
class Limits:
    """Limits of a document that a caller writes, and of the values sent with one."""

    max_tokens: int
    max_depth: int
    max_fields: int
    max_aliases: int
    max_cost: int  # objects and items of lists that its answer could hold
    max_values: int  # items of lists and members of objects among the arguments or variables of a call


@record(frozen=True, slots=True, kw_only=True)
class ToolOptions:
    """Options of a tool of any kind."""

    hidden: bool  # not listed, but callable
    aliases: tuple[str, ...]  # old names: callable, not listed
    scopes: tuple[str, ...]  # scopes that the caller's token must have
    output: str  # forms of a result: both | text | structured
    confirm: str  # consent before a call that writes: "" | advisory | required
    meta: Mapping[str, str]  # each result's _meta


@record(frozen=True, slots=True, kw_only=True)
class PrescribedTool:
    """A persisted operation whose variables the model fills."""

    name: str
    entry: JSONObject  # as in tools/list if nothing is hidden, with guards: see guarded_schema.py
    arguments: JSONObject  # the enforced schema, with guards: JSON Schema 2020-12
    flat: bool  # True: variables are the arguments; False: they are members of "variables"
    mask: Mask
    conditions: Mask  # conditions of the coordinates that values can name
    operation: Operation
    bindings: tuple[Binding, ...]
    bound: JSONObject  # the schema of the bindings' values, as one object
    options: ToolOptions


@record(frozen=True, slots=True, kw_only=True)
class Listing:
    """The definition of a GraphQL tool in ``tools/list`` for callers of one outcome; no ``entry``: not listed."""

    outcome: Mask  # of the tool's conditions
    entry: JSONObject | None


@record(frozen=True, slots=True, kw_only=True)
class GraphQLTool:
    """The model writes a request against a subset of the schema."""

    name: str
    entry: JSONObject  # as in tools/list, with texts that are templates of the schema: see graph/tool_entry.py
    arguments: JSONObject
    guards: Mapping[str, Mask]  # coordinate -> mask, added by the tool's patterns to the bundle's guards
    conditions: Mask  # all conditions that its views depend on
    listings: tuple[Listing, ...]
    limits: Limits
    options: ToolOptions


@record(frozen=True, slots=True, kw_only=True)
class CodeTool:
    """A Python function. It validates its arguments itself, by the schema in its entry."""

    name: str
    entry: JSONObject
    kit: str  # its toolkit, as module:attribute
    digest: str  # digest of its definition at compile time: see code_tools/loading.py
    mask: Mask
    options: ToolOptions

    @property
    def arguments(self) -> JSONObject:
        """The schema of the arguments."""
        return dict(self.entry["inputSchema"])


@record(frozen=True, slots=True, kw_only=True)
class CatalogTool:
    """A tool that finds the tools, prompts and resources that its caller may use, hidden ones too."""

    name: str
    entry: JSONObject
    options: ToolOptions

    @property
    def arguments(self) -> JSONObject:
        """The schema of the arguments."""
        return dict(self.entry["inputSchema"])


Tool = PrescribedTool | GraphQLTool | CodeTool | CatalogTool


@record(frozen=True, slots=True, kw_only=True)
class CodeKit:
    """A toolkit of the endpoint. If its lists depend on the caller (``per_caller``), each list loads it."""

    use: str  # module:attribute
    per_caller: bool
    hidden: bool | None  # configured for all of its tools; None: not configured
    category: str  # configured for all of its tools; empty: not configured
    mask: Mask  # guards the whole toolkit


@record(frozen=True, slots=True, kw_only=True)
class TextPrompt:
    """A prompt from a file: each message has a role and a template of its text, see prompt_templates.py."""

    name: str
    entry: JSONObject  # as prompts/list shows it
    messages: tuple[PromptMessage, ...]
    completions: Mapping[str, tuple[str, ...]]  # argument -> its possible values
    mask: Mask


@record(frozen=True, slots=True, kw_only=True)
class PromptMessage:
    """One message of a prompt. ``role`` is user or assistant."""

    role: str
    text: str


@record(frozen=True, slots=True, kw_only=True)
class CodePrompt:
    """A prompt that a function writes."""

    name: str
    entry: JSONObject
    kit: str
    digest: str
    mask: Mask
    hidden: bool
    completions: Mapping[str, tuple[str, ...]]


Prompt = TextPrompt | CodePrompt


@record(frozen=True, slots=True, kw_only=True)
class FileResource:
    """A resource from a file: ``text``, or ``blob`` in base64 if the file is not text."""

    entry: JSONObject  # as resources/list shows it, with its uri
    text: str
    blob: str
    mask: Mask

    @property
    def uri(self) -> str:
        """The URI to read it by."""
        return str(self.entry["uri"])


@record(frozen=True, slots=True, kw_only=True)
class CodeResource:
    """A resource that a function reads, or all resources of a template if the entry has ``uriTemplate``."""

    entry: JSONObject
    kit: str
    digest: str
    mask: Mask
    hidden: bool


Resource = FileResource | CodeResource


@record(frozen=True, slots=True, kw_only=True)
class ApiKey:
    """A key by its digest; the key itself is never stored. ``expires`` is a UNIX time in seconds, 0 for never."""

    name: str
    sha256: str
    expires: int
    claims: JSONObject | None  # the holder's claims for policies; None: the holder skips policies


@record(frozen=True, slots=True, kw_only=True)
class VerificationKey:
    """A verification key of tokens, given by the author. An empty ``id``: the issuer's only key."""

    id: str
    algorithm: str  # HS256 | RS256 | RS384 | RS512 | ES256 | EdDSA
    key: str  # a PEM block; for HS256 the secret, or a reference to it: env:NAME


@record(frozen=True, slots=True, kw_only=True)
class Issuer:
    """An issuer of accepted tokens, and the requirements on them."""

    issuer: str  # the claim iss; empty: not checked
    audiences: tuple[str, ...]  # one of them must be in the claim aud; empty: not checked
    subject: str  # the claim sub; empty: any
    required_claims: tuple[str, ...]
    algorithms: tuple[str, ...]  # of tokens signed with a key of the key set
    jwks_url: str  # URL of the key set; empty: none
    keys: tuple[VerificationKey, ...]
    leeway_s: int  # tolerated difference of two clocks


@record(frozen=True, slots=True, kw_only=True)
class Bridge:
    """The OAuth proxy: clients that cannot register with the provider sign in as the one client that it knows."""

    issuer: str  # the issuer of the tokens: one of the identity's
    authorize_url: str
    token_url: str
    client_id: str
    client_secret: str  # a reference to the secret; empty: the provider knows a public client
    redirect_uris: tuple[str, ...]  # allowed redirect URIs; on loopback without a port: any port
    client_metadata_documents: tuple[str, ...]  # URLs accepted as client ids; none of them is fetched
    scope_prefix: str  # the provider's prefix of the names of an API's scopes
    extra_scopes: tuple[str, ...]  # requested in addition to the client's, by the provider's names
    resource: str  # drop | keep: the parameter that names the token's API to the provider


@record(frozen=True, slots=True, kw_only=True)
class Identity:
    """The ways of callers to authenticate."""

    issuers: tuple[Issuer, ...]
    api_keys: tuple[ApiKey, ...]
    trusted_apis: tuple[str, ...]  # ids of API Gateway APIs whose authorizer's claims are accepted
    typed_apis: tuple[str, ...] = ()  # trusted APIs whose authorizer reads the token from the header Authorization
    bridge: Bridge | None = None

    @property
    def exists(self) -> bool:
        """True if there is a way to authenticate: without one, a credential makes no difference."""
        return bool(self.issuers or self.api_keys or self.trusted_apis)


@record(frozen=True, slots=True, kw_only=True)
class Access:
    """Access without a credential: ``anonymous`` is ``allow`` or ``challenge``."""

    anonymous: str


@record(frozen=True, slots=True, kw_only=True)
class Bundle:
    """One compiled endpoint."""

    endpoint: str  # folder/name
    sources: str  # SHA-256 of the author's files
    index: str  # SHA-256 of the schema index, a separate object; empty: the endpoint has no schema
    conditions: tuple[Predicate, ...]  # numbered by their places; 0 never holds
    guards: Mapping[str, Mask]  # coordinate -> mask; coordinates without one are open
    tools: tuple[Tool, ...]
    upstream: Upstream
    limits: Limits
    access: Access
    identity: Identity
    graphql: GraphQLEndpoint
    code: tuple[CodeKit, ...]
    prompts: tuple[Prompt, ...]
    resources: tuple[Resource, ...]
    instructions: str  # text about the endpoint that clients give their model; may be empty
