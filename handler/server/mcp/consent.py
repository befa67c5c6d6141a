"""Asking a client's user before an operation is sent, where a tool says ``confirm``.

Whoever can be asked is asked, whatever the model says: the answer comes from the client. Of others ``advisory`` asks
for an argument, which is the model's word; ``required`` refuses them.
"""

from __future__ import annotations

import hashlib
import json
import re
import uuid
from collections.abc import Mapping
from typing import Any

from handler.bundle.model import CONFIRM, MAX_CONSENT_CHARS, JSONObject, Tool
from handler.errors import ConsentDeclined, ConsentImpossible, ConsentRequired, ConsentTooLong
from handler.invisible import escaped
from handler.records import record
from handler.server.mcp.call import Call
from handler.server.mcp.input_required import answers_to, ask

BRAILLE_BLANK = "\u2800"
"""A letter to Unicode, without a dot to be seen."""

_BLANK_LINES = re.compile(r"\n(?: *\n){2,}")

FORM: JSONObject = {
    "type": "object",
    "properties": {
        CONFIRM: {"type": "boolean", "title": "Do it", "description": "Whether this shall be done, as it stands above."}
    },
    "required": [CONFIRM],
}


@record(frozen=True, slots=True, kw_only=True)
class Proposal:
    """What a user is asked about: the operation, and those of its variables that callers fill."""

    text: str
    variables: Mapping[str, Any]

    def question(self, call: Call, tool: Tool) -> str:
        """The text that the user reads: all of the operation and of the variables.

        Raises:
            ConsentTooLong: there is more of it than a question may have.
        """
        said = f"{tool.entry.get('title') or tool.name} would send this to {call.caller.endpoint.bundle.endpoint}:"
        parts = [said, _shown(self.text, tool, "the operation")]
        if self.variables:
            variables = json.dumps(self.variables, indent=2, ensure_ascii=False)
            parts += ["with these variables:", _shown(variables, tool, "its variables")]
        return "\n\n".join(parts)

    def digest(self, question: str) -> str:
        """A digest of the question, and of what it shows as it is sent."""
        whole = json.dumps([question, self.text, self.variables], sort_keys=True)
        return hashlib.sha256(whole.encode()).hexdigest()


@record(frozen=True, slots=True, kw_only=True)
class Agreed:
    """The call goes on."""

    idempotency_key: str = ""  # the same each time the answer is sent; empty where nobody was asked


@record(frozen=True, slots=True, kw_only=True)
class Asked:
    """The result that asks."""

    result: JSONObject


async def ask_consent(call: Call, tool: Tool, arguments: Mapping[str, Any], proposal: Proposal) -> Agreed | Asked:
    """Judge a call of a tool that says ``confirm``.

    Raises:
        ConsentRequired: nobody can be asked, and the model did not say that its user agreed.
        ConsentImpossible: nobody can be asked, and the tool takes no model's word.
        ConsentDeclined: the user does not want it.
        ConsentTooLong: the user cannot be shown all of it.
        StateUnavailable: the function has no key for what it would ask.
        StateRefused: the answer is not one to this call, or comes too late.
    """
    is_required = tool.options.confirm == "required"
    if not _takes_forms(call) or not (is_required or call.caller.services.states.available):
        return _take_at_its_word(tool, arguments, is_required=is_required)
    question = proposal.question(call, tool)
    asked = proposal.digest(question)
    answers = await answers_to(call)
    state = answers.state
    # An answer to another question is none: something else was published since.
    if not isinstance(state, dict) or state.get("asked") != asked:
        return await _ask(call, question, {"asked": asked, "key": str(uuid.uuid4())})
    match answers.responses.get(CONFIRM):
        case {"action": "accept", "content": {"confirm": True}}:
            return Agreed(idempotency_key=state["key"])
        case {"action": "decline" | "cancel"} | {"action": "accept", "content": {"confirm": False}}:
            raise ConsentDeclined(tool.name)
    return await _ask(call, question, state)


def _takes_forms(call: Call) -> bool:
    """Whether the client's user can be asked to fill a form.

    Source: MCP 2026-07-28, client/elicitation ("Capabilities"): an empty object means forms.
    """
    elicitation = call.client_capabilities.get("elicitation")
    return isinstance(elicitation, dict) and ("form" in elicitation or "url" not in elicitation)


def _take_at_its_word(tool: Tool, arguments: Mapping[str, Any], *, is_required: bool) -> Agreed:
    if is_required:
        raise ConsentImpossible(tool.name)
    if arguments.get(CONFIRM) is not True:
        raise ConsentRequired(tool.name, say=f'"{CONFIRM}": true')
    return Agreed()


async def _ask(call: Call, question: str, state: JSONObject) -> Asked:
    params = {"mode": "form", "message": question, "requestedSchema": FORM}
    asked = await ask(call, {CONFIRM: {"method": "elicitation/create", "params": params}}, state=state)
    return Asked(result=asked)


def _shown(text: str, tool: Tool, part: str) -> str:
    """Text that shows what it is, whole: no character that is invisible, turns others around or pushes them away."""
    visible = "".join(each if _is_seen(each) else ascii(each)[1:-1] for each in escaped(text))
    shown = _BLANK_LINES.sub(lambda run: "\\n" * run[0].count("\n"), visible)
    if len(shown) > MAX_CONSENT_CHARS:
        raise ConsentTooLong(tool.name, part, chars=len(shown), max_chars=MAX_CONSENT_CHARS)
    return shown


def _is_seen(character: str) -> bool:
    return (character.isprintable() and character != BRAILLE_BLANK) or character == "\n"
