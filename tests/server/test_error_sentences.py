"""The catalogue of sentences of request errors. Other tests assert codes."""

from __future__ import annotations

import inspect
from types import ModuleType

import pytest

from handler.errors import StileError, access, calls, consent_errors, cursor_errors, protocol, upstream
from handler.errors.access import (
    AssertionRefused,
    CredentialMalformed,
    CredentialRefused,
    CredentialRequired,
    InsufficientScope,
    KeysUnavailable,
    OAuthRefused,
    RedirectRefused,
    VerifierMissing,
)
from handler.errors.calls import (
    BindingMissing,
    ClientCannotAsk,
    CodeChanged,
    DeadlinePassed,
    DocumentNotFound,
    DocumentRefused,
    EndpointNotFound,
    Fault,
    GraphQLErrors,
    InvalidArguments,
    NotInCatalog,
    OtherCatalogCall,
    PromptNotFound,
    ResourceNotFound,
    SkillNotFound,
    StateUnavailable,
    ToolError,
    ToolNotFound,
    ValuesRefused,
)
from handler.errors.consent_errors import ConsentDeclined, ConsentImpossible, ConsentRequired, ConsentTooLong
from handler.errors.cursor_errors import CursorPastEnd, CursorRefused, UnknownTask
from handler.errors.protocol import AuthenticationRequired, InvalidParams, McpError, StateRefused
from handler.errors.upstream import (
    AnswerMisfit,
    CallerTokenRequired,
    CircuitOpen,
    ClaimMissing,
    CredentialUnavailable,
    HeaderRefused,
    ResultTooLarge,
    UpstreamError,
    UpstreamFailure,
    UpstreamForbidden,
)

CATALOGUE: list[tuple[StileError, str]] = [
    # access
    (CredentialRequired(), "a credential is required"),
    (CredentialRefused("expired"), "the credential was refused"),
    (
        CredentialMalformed(),
        "expected one credential, as Authorization: Bearer TOKEN, Authorization: Apikey KEY or X-API-Key: KEY",
    ),
    (KeysUnavailable(), "the credential cannot be verified at the moment"),
    (VerifierMissing(), "this function cannot verify the credential"),
    (InsufficientScope("orders", ["a:read", "a:write"]), "orders needs a token with the scopes a:read a:write"),
    (OAuthRefused("invalid_request", "state is missing"), "invalid_request: state is missing"),
    (AssertionRefused("type"), "invalid_grant: the assertion is not valid for this client and endpoint now"),
    (
        RedirectRefused("invalid_request", "https://a.example"),
        "invalid_request: the owner of this server does not allow this redirect URI",
    ),
    # calls
    (EndpointNotFound("api/things"), "no endpoint api/things"),
    (ToolNotFound("orders"), "Unknown tool: orders"),
    (NotInCatalog("orders", search="find"), "Unknown tool: orders. find finds the names of tools."),
    (
        OtherCatalogCall("pay", expected="find-call-mutation", writes=True),
        "pay may change something: call it with find-call-mutation.",
    ),
    (ToolNotFound("x" * 300), f"Unknown tool: {'x' * 200}"),
    (PromptNotFound("review"), "Unknown prompt: review"),
    (ResourceNotFound("docs://a"), "Resource not found: docs://a"),
    (SkillNotFound("skill://a/b/SKILL.md"), "Skill not found: skill://a/b/SKILL.md"),
    (DocumentNotFound(), "there is no persisted document with this documentId"),
    (
        BindingMissing("orders", "header", "x-tenant"),
        (
            "orders fills a variable from the request header x-tenant, which is missing. No argument replaces it: "
            "tell your user that the client's connection has to be set up for it."
        ),
    ),
    (
        BindingMissing("orders", "claim", "tenant", misfit=True),
        (
            "orders fills a variable from the verified claim tenant, which does not have the form that it needs. "
            "No argument replaces it: tell your user that the client's connection has to be set up for it."
        ),
    ),
    (
        ConsentRequired("order", say='"confirm": true'),
        (
            "Nothing was done yet, because order asks for consent. Tell your user what this call would do. "
            'If they agree, repeat it with "confirm": true.'
        ),
    ),
    (
        ConsentImpossible("order"),
        (
            "Nothing was done, because order asks your user before it runs, and this client cannot ask. Tell your "
            "user to take a client that speaks MCP 2026-07-28 and declares elicitation."
        ),
    ),
    (
        ConsentDeclined("order"),
        (
            "Nothing was done, because your user was asked about this call of order and did not agree. "
            "Do not repeat it unless they ask for it."
        ),
    ),
    (
        ConsentTooLong("order", "the operation", chars=25_000, max_chars=20_000),
        (
            "Nothing was done, because order asks your user before it runs, and this call is too long to be agreed to: "
            "the operation would take 25,000 characters to show, and the limit is 20,000. Make several shorter calls."
        ),
    ),
    (ValuesRefused(), "You are not allowed to make this call with these values. Nothing was sent."),
    (
        InvalidArguments("orders", ["/a: missing", "/b: missing"]),
        "Invalid arguments for tool orders: /a: missing; /b: missing",
    ),
    (InvalidArguments("orders", ["x" * 9_000]), f"Invalid arguments for tool orders: {'x' * 7_964}…"),
    (
        DocumentRefused(Fault("Cannot query field 'a'.", 2, 3), Fault("too many")),
        "The GraphQL request was refused: 2:3: Cannot query field 'a'.; too many",
    ),
    (
        DocumentRefused(Fault("no"), sdl="type Query"),
        "The GraphQL request was refused: no\n\nUsable parts of the types that it got wrong:\n\ntype Query",
    ),
    (DocumentRefused(*[Fault("no")] * 12), f"The GraphQL request was refused: {'no; ' * 10}and 2 more"),
    (DocumentRefused(*[Fault("no")] * 11, complete=False), f"The GraphQL request was refused: {'no; ' * 10}and more"),
    (DeadlinePassed(), "The call took too long and was cancelled. Ask for less, or try later."),
    (ToolError("try again with flag=true"), "try again with flag=true"),
    (GraphQLErrors([{"message": "no"}, {"message": "not now"}], partial=None), "The API reported: no; not now"),
    (ResultTooLarge("Ask for fewer rows.", size=60_000, max_bytes=48_000), "Ask for fewer rows."),
    (UnknownTask(), "Unknown task: this taskId is not one that you may use, or it is too old."),
    (
        CursorRefused("stileCursor"),
        (
            "Nothing was sent, because stileCursor is not a cursor for this call. A cursor is valid for 15 minutes, "
            "with the arguments of the call that returned it. Call again without stileCursor."
        ),
    ),
    (
        CursorPastEnd("stileCursor", "data.orders"),
        (
            "The API's answer has changed since stileCursor was made: data.orders is gone, or is shorter now. "
            "Call again without stileCursor."
        ),
    ),
    (
        StateUnavailable("too large"),
        (
            "This tool has to ask your user first, and the server is not set up to ask. The server's owner has to "
            "change that."
        ),
    ),
    (
        ClientCannotAsk(),
        (
            "Nothing was done yet, because this has to ask your user first, and your client cannot ask. "
            "A client that speaks MCP 2026-07-28 can."
        ),
    ),
    (CodeChanged("Tool a"), "Tool a changed since it was published: its maintainer has to publish it again."),
    # upstream
    (
        CallerTokenRequired(),
        (
            "This tool sends its caller's own token to the API, and this caller has no such token. Nothing was sent. "
            "No argument replaces the token: tell your user to sign in with their own account."
        ),
    ),
    (
        CallerTokenRequired(audience="things"),
        (
            "This tool sends its caller's own token to the API, and the token of this caller is not for things. "
            "Nothing was sent. No argument replaces the token: tell your user to sign in with their own account."
        ),
    ),
    (
        ClaimMissing("org"),
        (
            "This tool sends the verified claim org of its caller to the API, and this caller does not have the claim. "
            "Nothing was sent. No argument replaces the claim: tell your user that their account has to be set up "
            "for this tool."
        ),
    ),
    (
        ClaimMissing("org", misfit=True),
        (
            "This tool sends the verified claim org of its caller to the API, and this claim cannot be sent as it is. "
            "Nothing was sent. No argument replaces the claim: tell your user that their account has to be set up "
            "for this tool."
        ),
    ),
    (HeaderRefused("x-a"), "The request header x-a cannot be forwarded as it is. Nothing was sent."),
    (UpstreamError("This API takes only requests that it knows."), "This API takes only requests that it knows."),
    (
        AnswerMisfit("data.a: expected integer", coordinate="data.a", answer="{}", advice="Do not repeat it."),
        "Do not repeat it. The API's answer violates its published schema (data.a: expected integer):",
    ),
    (UpstreamFailure("The API did not answer.", reason="UpstreamTimeout"), "The API did not answer."),
    (
        UpstreamForbidden("loopback"),
        (
            "The API is at an address that is not allowed, so nothing was sent. This tool's maintainer has to change "
            "the address."
        ),
    ),
    (
        CircuitOpen(pause_s=10),
        "The API did not answer several times in a row, so it is not asked for 10 s. Nothing was sent. Try later.",
    ),
    (
        CredentialUnavailable("secret"),
        (
            "The credential for the API was not available, so nothing was sent. Try later; if that does not help, this "
            "tool's maintainer has to fix the problem."
        ),
    ),
    (
        CredentialUnavailable("secret", refused=True),
        (
            "The token of this tool's caller was not accepted for the API, so nothing was sent. Tell your user to "
            "sign in again; if that does not help, they may not use this API."
        ),
    ),
    # protocol
    (McpError(7, "custom"), "custom"),
    (InvalidParams("Invalid params: expected a uri (string)"), "Invalid params: expected a uri (string)"),
    (StateRefused(), "The requestState is not one for this call: call again without it"),
    (AuthenticationRequired(), "Authentication required"),
]

NEVER_RAISED = {access.AccessError, calls.NotFound, calls.CallError}


@pytest.mark.parametrize(("error", "sentence"), CATALOGUE)
def test_sentence_of_an_error(error: StileError, sentence: str) -> None:
    assert str(error) == sentence


def test_every_error_has_its_sentence_in_the_catalogue() -> None:
    def defined(module: ModuleType) -> set[type[StileError]]:
        found = {each for each in vars(module).values() if inspect.isclass(each) and issubclass(each, StileError)}
        return {each for each in found if each.__module__ == module.__name__}

    reaching = (
        defined(access)
        | defined(calls)
        | defined(consent_errors)
        | defined(cursor_errors)
        | defined(upstream)
        | defined(protocol)
    )
    assert {type(error) for error, _ in CATALOGUE} == reaching - NEVER_RAISED
