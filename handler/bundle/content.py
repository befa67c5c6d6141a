"""The prompts, resources and skills of a bundle."""

from __future__ import annotations

import re
from collections.abc import Mapping

from handler.cold.records import record
from handler.policy.evaluation import Mask
from handler.strict_json import JSONObject


@record(frozen=True, slots=True, kw_only=True)
class TextPrompt:
    """A prompt from a file: each message has a role and a template of its text, see ``fill_prompt``."""

    KIND = "text"

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

    KIND = "code"

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

    KIND = "file"

    entry: JSONObject  # as resources/list shows it, with its uri
    text: str
    blob: str
    mask: Mask
    hidden: bool = False  # not listed, but readable

    @property
    def uri(self) -> str:
        """The URI to read it by."""
        return str(self.entry["uri"])

    @property
    def is_page(self) -> bool:
        """True if hosts show the resource in the chat."""
        return self.uri.startswith("ui:")


@record(frozen=True, slots=True, kw_only=True)
class CodeResource:
    """A resource that a function reads, or all resources of a template if the entry has ``uriTemplate``."""

    KIND = "code"

    entry: JSONObject
    kit: str
    digest: str
    mask: Mask
    hidden: bool


Resource = FileResource | CodeResource


@record(frozen=True, slots=True, kw_only=True)
class Skill:
    """A skill. Its files are resources of the bundle with the same mask."""

    entry: JSONObject  # as skills/list shows it
    mask: Mask

    @property
    def name(self) -> str:
        """The name, which is the last segment of the folder in the URI."""
        return str(self.entry["frontmatter"]["name"])

    @property
    def uri(self) -> str:
        """The URI of the file SKILL.md."""
        return str(self.entry["uri"])


PLACEHOLDER = r"\\\{\{|\{\{([A-Za-z0-9_-]+)\}\}"
"""An argument in the text of a prompt, or ``\\{{``, which means two braces."""


def fill_prompt(template: str, values: Mapping[str, str]) -> str:
    """Return the text for these values, which are not expanded again. An argument without a value is empty."""
    return re.sub(PLACEHOLDER, lambda match: values.get(match[1], "") if match[1] else "{{", template)


def expanded_chars(template: str, values: Mapping[str, str]) -> int:
    """Return an upper bound of the text's length, without expanding it."""
    return len(template) + sum(len(values.get(name, "")) for name in re.findall(PLACEHOLDER, template))
