"""Asking a client's user before an operation is sent, where a tool says ``confirm``.

Whoever can be asked is asked, whatever the model says: the answer comes from the client. Of others ``advisory`` asks
for an argument, which is the model's word; ``required`` refuses them.
"""

from __future__ import annotations

import hashlib
import json
import uuid
from collections.abc import Mapping
from typing import Any

from handler.bundle import CONFIRM, JSONObject, Tool
from handler.errors import ConsentDeclined, ConsentImpossible, ConsentRequired
from handler.records import dataclass
from handler.server.call import Call
from handler.server.input_required import answers_to, ask

MAX_SHOWN_CHARS = 4_000
"""Of the operation, and of its variables: what is longer is nothing that a person reads before they agree."""

FORM: JSONObject = {
    "type": "object",
    "properties": {
        CONFIRM: {"type": "boolean", "title": "Do it", "description": "Whether this shall be done, as it stands above."}
    },
    "required": [CONFIRM],
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """What a user is asked about: the operation, and those of its variables that callers fill."""

    text: str
    variables: Mapping[str, Any]

    def question(self, call: Call, tool: Tool) -> str:
        """What the user reads."""
        said = f"{tool.entry.get('title') or tool.name} would send this to {call.caller.endpoint.bundle.endpoint}:"
        parts = [said, _bounded(self.text)]
        if self.variables:
            shown = json.dumps(self.variables, indent=2, ensure_ascii=False)
            parts += ["with these variables:", _bounded(shown)]
        return "\n\n".join(parts)

    def digest(self, question: str) -> str:
        """Of what the user is asked, with all that a long question leaves out."""
        whole = json.dumps([question, self.text, self.variables], sort_keys=True)
        return hashlib.sha256(whole.encode()).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreed:
    """The call goes on."""

    idempotency_key: str = ""  # the same each time the answer is sent; empty where nobody was asked


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """The result that asks."""

    result: JSONObject


def ask_consent(call: Call, tool: Tool, arguments: Mapping[str, Any], proposal: Proposal) -> Agreed | Asked:
    """Judge a call of a tool that says ``confirm``.

    Raises:
        ConsentRequired: nobody can be asked, and the model did not say that its user agreed.
        ConsentImpossible: nobody can be asked, and the tool takes no model's word.
        ConsentDeclined: the user does not want it.
        StateUnavailable: the function has no key for what it would ask.
        StateRefused: the answer is not one to this call, or comes too late.
    """
    is_required = tool.options.confirm == "required"
    if not _takes_forms(call) or not (is_required or call.caller.services.states.available):
        return _take_at_its_word(tool, arguments, is_required=is_required)
    question = proposal.question(call, tool)
    asked = proposal.digest(question)
    answers = answers_to(call)
    state = answers.state
    # An answer to another question is none: something else was published since.
    if not isinstance(state, dict) or state.get("asked") != asked:
        return _ask(call, question, {"asked": asked, "key": str(uuid.uuid4())})
    match answers.responses.get(CONFIRM):
        case {"action": "accept", "content": {"confirm": True}}:
            return Agreed(idempotency_key=state["key"])
        case {"action": "decline" | "cancel"} | {"action": "accept", "content": {"confirm": False}}:
            raise ConsentDeclined(tool.name)
    return _ask(call, question, state)


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


def _ask(call: Call, question: str, state: JSONObject) -> Asked:
    params = {"mode": "form", "message": question, "requestedSchema": FORM}
    return Asked(result=ask(call, {CONFIRM: {"method": "elicitation/create", "params": params}}, state=state))


def _bounded(text: str) -> str:
    """Text that shows what it is: no character in it that is invisible or turns others around."""
    shown = "".join(each if each.isprintable() or each == "\n" else ascii(each)[1:-1] for each in text)
    more = len(shown) - MAX_SHOWN_CHARS
    return shown if more <= 0 else f"{shown[:MAX_SHOWN_CHARS]}… ({more:,} more characters)"
