"""Ask the client's user before an operation is sent, if the tool says ``confirm``.

A user who can be asked is asked, whatever the model says: the answer comes from the client. If not, ``advisory``
demands an argument, which is the model's word, and ``required`` refuses the call.
"""

from __future__ import annotations

import hashlib
import json
import re
import uuid
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from handler.bundle.tools import CONFIRM, MAX_CONSENT_CHARS, Tool
from handler.cold.records import record
from handler.errors.consent_errors import ConsentDeclined, ConsentImpossible, ConsentRequired, ConsentTooLong
from handler.server.mcp.calls.input_required import answers_to, ask
from handler.server.mcp.messages.method_call import Call
from handler.server.upstream.graphql_request import GraphQLRequest
from handler.strict_json import JSONObject
from handler.text.invisible import escaped

BRAILLE_BLANK = "\u2800"
"""A printable symbol to Unicode, without a visible dot."""

_BLANK_LINES = re.compile(r"\n(?: *\n){2,}")

FORM: JSONObject = {
    "type": "object",
    "properties": {
        CONFIRM: {"type": "boolean", "title": "Do it", "description": "Whether this shall be done, as it stands above."}
    },
    "required": [CONFIRM],
}


@record(frozen=True, slots=True, kw_only=True)
class ConsentRequest:
    """The result that asks the user."""

    result: JSONObject


async def ask_consent(
    call: Call, tool: Tool, arguments: Mapping[str, Any], request: GraphQLRequest, *, shown: Mapping[str, Any]
) -> GraphQLRequest | ConsentRequest:
    """Return the request with the consent of the caller's user, or the result that asks for consent.

    ``shown``: the variables that callers fill. A mutation gets a key that is equal each time the client sends the
    user's answer, by which the API recognizes a repetition.

    Raises:
        ConsentRequired: the user cannot be asked, and the model did not say that the user agreed.
        ConsentImpossible: the user cannot be asked, and the tool does not take the model's word.
        ConsentDeclined: the user declined.
        ConsentTooLong: the question is too long to show it whole.
        ClaimMissing: the API's address needs a claim that the caller does not have.
        StateUnavailable: the function has no key to seal the question with.
        StateRefused: the answer is not to this call, or comes too late.
    """
    is_required = tool.options.confirm == "required"
    if not _takes_forms(call) or not (is_required or call.caller.services.states.available):
        if is_required:
            raise ConsentImpossible(tool.name)
        if arguments.get(CONFIRM) is not True:
            raise ConsentRequired(tool.name, say=f'"{CONFIRM}": true')
        return request
    question = _question(call, tool, request.text, shown)
    # The question, and the operation and variables as they are sent.
    proposal = json.dumps([question, request.text, dict(shown)], sort_keys=True)
    digest = hashlib.sha256(proposal.encode()).hexdigest()
    answers = await answers_to(call)
    state = answers.state
    # An answer to another question does not count: another version was published since.
    if not isinstance(state, dict) or state.get("asked") != digest:
        return await _ask(call, question, {"asked": digest, "key": str(uuid.uuid4())})
    match answers.responses.get(CONFIRM):
        case {"action": "accept", "content": {"confirm": True}}:
            return request if request.is_query else replace(request, idempotency_key=state["key"])
        case {"action": "decline" | "cancel"} | {"action": "accept", "content": {"confirm": False}}:
            raise ConsentDeclined(tool.name)
    return await _ask(call, question, state)


def _takes_forms(call: Call) -> bool:
    """Return whether the client's user can be asked to fill a form.

    Source: MCP 2026-07-28, client/elicitation ("Capabilities"): an empty object means forms.
    """
    elicitation = call.client_capabilities.get("elicitation")
    return isinstance(elicitation, dict) and ("form" in elicitation or "url" not in elicitation)


def _question(call: Call, tool: Tool, operation: str, variables: Mapping[str, Any]) -> str:
    """Return the text that the user reads: all of the operation and of the variables.

    Raises:
        ConsentTooLong: the operation or the variables are longer than a question allows.
        ClaimMissing: the caller has no address of the API, so nothing could be sent.
    """
    target = f"{call.caller.endpoint.bundle.endpoint}{_tenant_of(call)}"
    parts = [
        f"{tool.entry.get('title') or tool.name} would send this to {target}:",
        _shown(operation, tool, "the operation"),
    ]
    if variables:
        json_text = json.dumps(variables, indent=2, ensure_ascii=False)
        parts += ["with these variables:", _shown(json_text, tool, "its variables")]
    return "\n\n".join(parts)


def _tenant_of(call: Call) -> str:
    """Return the words for the claim in the API's address: 100 plain characters at most. Empty string without one."""
    part = call.caller.endpoint.bundle.upstream.tenant
    if part is None:
        return ""
    from handler.server.upstream.sending import url_of_tenant

    value = url_of_tenant(call.caller, part).removeprefix(part.before).removesuffix(part.after)
    return f" for {part.claim} {value}"


async def _ask(call: Call, question: str, state: JSONObject) -> ConsentRequest:
    params = {"mode": "form", "message": question, "requestedSchema": FORM}
    return ConsentRequest(
        result=await ask(call, {CONFIRM: {"method": "elicitation/create", "params": params}}, state=state)
    )


def _shown(text: str, tool: Tool, part: str) -> str:
    """Escape all characters of a text that are invisible, turn others around or push them away. Nothing is cut."""
    visible = "".join(
        character
        if (character.isprintable() and character != BRAILLE_BLANK) or character == "\n"
        else ascii(character)[1:-1]
        for character in escaped(text)
    )
    visible = _BLANK_LINES.sub(lambda run: "\\n" * run[0].count("\n"), visible)
    if len(visible) > MAX_CONSENT_CHARS:
        raise ConsentTooLong(tool.name, part, chars=len(visible), max_chars=MAX_CONSENT_CHARS)
    return visible
