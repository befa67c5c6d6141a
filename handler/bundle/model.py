"""The waist between deploy time and request time: what a compiled endpoint is. ``bundle/stored.py`` stores it."""

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

SECRET_REFERENCE = "env:"  # noqa: S105 - how a bundle names a secret, and none itself
"""What stands before the name of a secret that the function's environment has as ``STILE_SECRET_NAME``."""

RSA_BITS = range(2_048, 16_385)
"""How long an RSA key may be. Source: RFC 7518, section 3.3, for the least; longer ones only take time."""

MAX_ANSWER_S = 28.0
"""After how many seconds a call is answered at the latest: API Gateway's REST APIs wait 29 s, its HTTP APIs 30 s, and
the start of a container counts."""

CONFIRM_LEVELS = ("", "advisory", "required")
"""How firmly a tool asks for its user's consent, the least first."""

CONFIRM = "confirm"
"""The argument in which a caller says that its user agreed."""

MAX_CONSENT_CHARS = 8_000
"""Of an operation, and of its variables, that a user is asked about. They are shown whole, or nobody is asked."""


@record(frozen=True, slots=True, kw_only=True)
class Operation:
    """One persisted operation, ready to send upstream."""

    name: str
    kind: str  # query | mutation
    text: str  # the operation and the fragments it uses, without our directives and descriptions
    sha256: str  # of the text, by which an API may know it
    null_is_absent: tuple[str, ...]  # variables that the API cannot take null for, and callers may give
    variables: tuple[str, ...]  # all that it declares
    defaults: JSONObject  # what it gives those of them that a request leaves out

    def coerced(self, sent: Mapping[str, Any]) -> JSONObject:
        """The values that variables have, of those that are sent."""
        return {**self.defaults, **sent}

    def sendable(self, variables: Mapping[str, Any]) -> JSONObject:
        """The variables as the API takes them."""
        return {name: value for name, value in variables.items() if not (value is None and name in self.null_is_absent)}


@record(frozen=True, slots=True, kw_only=True)
class Binding:
    """A variable that neither a model nor its user fills."""

    variable: str
    source: str  # claim | header | value
    name: str  # of the claim or header
    value: Any  # of a constant
    read_as: str  # what a header's text is: string | integer | number | boolean


@record(frozen=True, slots=True, kw_only=True)
class PersistedOperation:
    """An operation that requests name by the id of its document. Its name is empty where the author gave none."""

    operation: Operation
    variables: JSONObject  # the enforced schema of those that callers fill, with guards: see guarded_schema.py
    mask: Mask
    conditions: Mask  # that guard what variables can name
    bindings: tuple[Binding, ...]
    bound: JSONObject  # the schema of what the bindings give, as one object
    scopes: tuple[str, ...]  # of all tools that run it: no way around them leads here
    confirm: str  # the strictest of what these say: "" | advisory | required


@record(frozen=True, slots=True, kw_only=True)
class PersistedDocument:
    """A file of operations, called by ``sha256:`` and the SHA-256 of its bytes."""

    id: str
    operations: tuple[PersistedOperation, ...]
    tools: tuple[str, ...]  # tools that say of further operations of it all that an entry would: none stands here twice


@record(frozen=True, slots=True, kw_only=True)
class GraphQLEndpoint:
    """What ``/{folder}/{name}/graphql`` takes: nothing, persisted documents, or whatever a caller writes."""

    mode: str  # off | persisted | on
    guards: Mapping[str, Mask]  # what holds there beside the bundle's: ``__schema``, ``__type``, Federation's fields
    conditions: Mask  # all that a view of it depends on
    documents: tuple[PersistedDocument, ...]


@record(frozen=True, slots=True, kw_only=True)
class Limits:
    """How large a document that a model writes may be, and what callers send beside one."""

    max_tokens: int
    max_depth: int
    max_fields: int
    max_aliases: int
    max_cost: int  # objects and items of lists that its answer could hold
    max_values: int  # items of lists and members of objects among the arguments or variables of a call


@record(frozen=True, slots=True, kw_only=True)
class ToolOptions:
    """How a tool is served, whatever its kind."""

    hidden: bool  # not listed, but callable
    aliases: tuple[str, ...]  # old names: callable, not listed
    scopes: tuple[str, ...]  # what the caller's token must have
    output: str  # both | text | structured: which forms a result has
    confirm: str  # whether a call that writes waits for its user's consent: "" | advisory | required
    meta: Mapping[str, str]  # each result's _meta


@record(frozen=True, slots=True, kw_only=True)
class PrescribedTool:
    """A persisted operation whose variables the model fills."""

    name: str
    entry: JSONObject  # as tools/list shows it to whom nothing is hidden, with guards: see guarded_schema.py
    arguments: JSONObject  # the enforced schema, with guards: JSON Schema 2020-12
    flat: bool  # True: variables are the arguments; False: they stand under "variables"
    mask: Mask
    conditions: Mask  # that guard what arguments can name
    operation: Operation
    bindings: tuple[Binding, ...]
    bound: JSONObject  # the schema of what the bindings give, as one object
    options: ToolOptions


@record(frozen=True, slots=True, kw_only=True)
class Listing:
    """What ``tools/list`` shows of a GraphQL tool to callers of one outcome; no entry: nothing."""

    outcome: Mask  # of the tool's conditions
    entry: JSONObject | None


@record(frozen=True, slots=True, kw_only=True)
class GraphQLTool:
    """The model writes a request against a subset of the schema."""

    name: str
    entry: JSONObject  # what tools/list shows of it, its texts still templates of the schema: see graph/tool_entry.py
    arguments: JSONObject
    guards: Mapping[str, Mask]  # coordinate -> mask, what the tool's patterns add to the bundle's guards
    conditions: Mask  # all that a view of it depends on
    listings: tuple[Listing, ...]
    limits: Limits
    options: ToolOptions


@record(frozen=True, slots=True, kw_only=True)
class CodeTool:
    """A Python function. It judges its arguments itself, by the schema that its entry shows."""

    name: str
    entry: JSONObject
    kit: str  # the toolkit that has it, as module:attribute
    digest: str  # of what the code said when it was compiled: see code_tools/loading.py
    mask: Mask
    options: ToolOptions

    @property
    def arguments(self) -> JSONObject:
        """The schema of its arguments."""
        return dict(self.entry["inputSchema"])


@record(frozen=True, slots=True, kw_only=True)
class CatalogTool:
    """Finds what its caller may use of the endpoint: tools of all kinds, prompts and resources, hidden ones too."""

    name: str
    entry: JSONObject
    options: ToolOptions

    @property
    def arguments(self) -> JSONObject:
        """The schema of its arguments."""
        return dict(self.entry["inputSchema"])


Tool = PrescribedTool | GraphQLTool | CodeTool | CatalogTool


@record(frozen=True, slots=True, kw_only=True)
class CodeKit:
    """A toolkit that the endpoint takes. One whose lists depend on who asks has to load for each of them."""

    use: str  # module:attribute
    per_caller: bool
    hidden: bool | None  # what the configuration says for all of its tools; None: nothing
    category: str  # likewise; empty: nothing
    mask: Mask  # that guards all of it


@record(frozen=True, slots=True, kw_only=True)
class TextPrompt:
    """A prompt from a file: each message a role and a template of its text, see prompt_templates.py."""

    name: str
    entry: JSONObject  # as prompts/list shows it
    messages: tuple[PromptMessage, ...]
    completions: Mapping[str, tuple[str, ...]]  # argument -> the values that it may have
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
    """A resource from a file: ``text``, or ``blob`` in base64 where it is none."""

    entry: JSONObject  # as resources/list shows it, with its uri
    text: str
    blob: str
    mask: Mask

    @property
    def uri(self) -> str:
        """What it is read by."""
        return str(self.entry["uri"])


@record(frozen=True, slots=True, kw_only=True)
class CodeResource:
    """A resource that a function reads, or with ``uriTemplate`` in its entry all of a template."""

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
    claims: JSONObject | None  # what policies see of its holder; None: they skip policies


@record(frozen=True, slots=True, kw_only=True)
class VerificationKey:
    """A key that tokens are signed with, given by the author. An empty ``id``: the only one there is."""

    id: str
    algorithm: str  # HS256 | RS256 | RS384 | RS512 | ES256 | EdDSA
    key: str  # a PEM block; of HS256 the secret, or a reference to it: env:NAME


@record(frozen=True, slots=True, kw_only=True)
class Issuer:
    """Whose tokens are taken, and what they have to say."""

    issuer: str  # the claim iss; empty: not asked for
    audiences: tuple[str, ...]  # one of them is in the claim aud; empty: not asked for
    subject: str  # the claim sub; empty: anybody
    required_claims: tuple[str, ...]
    algorithms: tuple[str, ...]  # of tokens that a key of the key set signed
    jwks_url: str  # where the key set is; empty: nowhere
    keys: tuple[VerificationKey, ...]
    leeway_s: int  # how far two clocks may differ


@record(frozen=True, slots=True, kw_only=True)
class Bridge:
    """How clients that have to register sign in where they cannot: as the one client that the provider knows."""

    issuer: str  # whose tokens it leads to: one of the identity's
    authorize_url: str
    token_url: str
    client_id: str
    client_secret: str  # a reference to it; empty: the provider knows the client as a public one
    redirect_uris: tuple[str, ...]  # where answers may go; on loopback without a port: at any port
    client_metadata_documents: tuple[str, ...]  # URLs that are taken for client ids; none of them is fetched
    scope_prefix: str  # what the provider has before the names of an API's scopes
    extra_scopes: tuple[str, ...]  # asked for beside those that a client wants, by the provider's names
    resource: str  # drop | keep: whether the provider is told which API the token is for


@record(frozen=True, slots=True, kw_only=True)
class Identity:
    """How callers say who they are."""

    issuers: tuple[Issuer, ...]
    api_keys: tuple[ApiKey, ...]
    trusted_apis: tuple[str, ...]  # ids of API Gateway APIs whose authorizer's claims are taken
    typed_apis: tuple[str, ...] = ()  # those of them whose authorizer reads the token from the header Authorization
    bridge: Bridge | None = None

    @property
    def exists(self) -> bool:
        """Whether there is any way: else no credential could do more for a caller than none does."""
        return bool(self.issuers or self.api_keys or self.trusted_apis)


@record(frozen=True, slots=True, kw_only=True)
class Access:
    """Who gets in without a credential: ``anonymous`` is ``allow`` or ``challenge``."""

    anonymous: str


@record(frozen=True, slots=True, kw_only=True)
class Bundle:
    """One compiled endpoint."""

    endpoint: str  # folder/name
    sources: str  # SHA-256 over the author's files
    index: str  # SHA-256 of the schema index, an object of its own; empty: the endpoint has no schema
    conditions: tuple[Predicate, ...]  # their numbers are their places; 0 never holds
    guards: Mapping[str, Mask]  # coordinate -> mask; what is not here is open
    tools: tuple[Tool, ...]
    upstream: Upstream
    limits: Limits
    access: Access
    identity: Identity
    graphql: GraphQLEndpoint
    code: tuple[CodeKit, ...]
    prompts: tuple[Prompt, ...]
    resources: tuple[Resource, ...]
    instructions: str  # what clients tell their model about the endpoint; empty: nothing
