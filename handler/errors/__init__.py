"""Every error that Stile raises.

    StileError
      CompileError              an endpoint folder has problems; carries all of them
      UnknownCoordinate         a text that names nothing in a schema
      UnknownCaller             a text that names no caller of an endpoint
      PatternRefused            a regular expression that is invalid or may take very long
      PredicateRefused          a condition of a policy that cannot be read
      KeyRefused                a text that is not a public key for its algorithm
      KeyFileRefused            the file with the user's secret for test tokens cannot be used
      BundleError               bytes that are not a bundle this release can serve
      SettingsError             an environment variable that is missing or not valid
      StorageError              the storage of the bundles did not answer as it should
        ObjectNotFound          the storage has no such object
        StorageDenied           the credentials may not do this with the storage
        ObjectChanged           another object is there than a conditional write is for
        WriteUnconfirmed        the storage did not confirm a write
      AwsError                  AWS refused, or there are no credentials to sign a request with
        AwsDenied               the credentials do not allow the call
        AwsUnanswered           an AWS service did not answer, or says to try later
      SecretUnavailable         a secret of the function's settings cannot be read
      HttpError                 an HTTP exchange without a response to read
        HttpTimeout             the deadline passed
        HttpUnreachable         no connection, or one that broke before the response was complete
          AddressRefused        an address that no author may send requests to
          HttpEncoding          a response in an encoding that was not requested
          HttpHeadTooLarge      a response with more headers than are read
        HttpTooLarge            more bytes than the caller allowed
      AccessError               the caller may not do this
        CredentialRequired      an anonymous caller, and a credential is required
        CredentialRefused       a credential that is unknown or expired
        CredentialMalformed     a request whose credential cannot be read
        KeysUnavailable         a credential that cannot be verified at the moment
        VerifierMissing         a credential that this function was built without the packages to verify
        InsufficientScope       a credential that lacks scopes
      OAuthRefused              a request to the OAuth proxy that gets an OAuth error
        RedirectRefused         a redirect URI that the owner does not allow
        AssertionRefused        an identity assertion that is not valid here and now
      EndpointNotFound          no published endpoint of that folder/name
      FunctionLacks             the function was built or configured without something that an endpoint needs
      UnservedSource            records of an event source that would be lost if the function returned
      NotFound                  no object of that name for this caller, whether or not it exists
        ToolNotFound            no tool
        SkillNotFound           no skill of that URI
        PromptNotFound          no prompt
        ResourceNotFound        no resource of that URI
      DocumentNotFound          no persisted document of that id for this caller
      CallError                 a call that fails for a reason the model can act on
        BindingMissing          the request lacks the source of a variable that the model may not fill
        ConsentRequired         the caller's user has not agreed to the call
        ConsentImpossible       the caller's user cannot be asked over this channel
        ConsentDeclined         the caller's user was asked, and did not agree
        ConsentTooLong          the call is too long to show to the caller's user in full
        InvalidArguments        arguments that do not fit the tool's schema
        DocumentRefused         a GraphQL document outside the view or its limits
        ValuesRefused           a policy does not let this caller give these values
        CallerTokenRequired     the API needs the caller's own token, and there is none that it may have
        ClaimMissing            the caller's claims lack one that is sent to the API
        HeaderRefused           a header of the caller's request that cannot be forwarded
        UpstreamError           no usable answer from the GraphQL API
          AnswerMisfit          an answer that violates the API's published schema
          ResultTooLarge        an answer above the limit of results that cannot be cut to it
          UpstreamFailure       a failed request: the log has a word for the failure
          UpstreamForbidden     an API address that no author may send requests to
          CircuitOpen           the API did not answer, so no request is sent for a while
          CredentialUnavailable the credential for the API was not available, so nothing was sent
            ClientRefused       a token endpoint that refuses the endpoint's client
        DeadlinePassed          no time left
        ToolError               a failure reported by a code tool
          GraphQLErrors         the API's errors for a request that a code tool sent
        StateUnavailable        a call asks its user first, and its state cannot be kept
        CursorRefused           a cursor that was not made for this call and caller
        CursorPastEnd           a cursor whose list is shorter now
        UnknownTask             a job that this caller may not ask about, or no longer
        ClientCannotAsk         a call asks its user first, and the client's revision of MCP has no way to
        CodeChanged             a code tool that differs from the published one
        NotInCatalog            no tool of that name in the caller's catalog
        OtherCatalogCall        a tool that writes, called as one that reads, or the other way around
      McpError                  a JSON-RPC error, with the code that a code tool gives
        InvalidParams           the standard error for invalid input
          StateRefused          an answer to a question that was not asked, or not for this call and caller
        AuthenticationRequired  a tool that needs a credential for the API behind it
      CodeUnavailable           a toolkit that is missing or may not be imported
      AuthorFailed              an exception of an author's code, for the log alone
      Expired                   a call of a code tool whose time is over
      ToolDefinitionError       an invalid tool, prompt or resource in Python

Every error that reaches a caller has a ``stile_code``, which clients and alarms may compare: its meaning never changes.
``docs/reference/request-errors.md`` lists the codes. An error that is vague on purpose has one code for all its causes.

No error knows an HTTP status (``server/denials.py`` has them) or a JSON-RPC code. ``McpError``
alone carries a JSON-RPC code, because its author chose it.
"""

from __future__ import annotations

MAX_SAID_CHARS = 200
"""Characters of a caller's own words that an error repeats."""


class StileError(Exception):
    """Root of every error that Stile raises on purpose."""

    stile_code = "internal-error"
    """The code that callers read. A class that reaches callers has its own."""
