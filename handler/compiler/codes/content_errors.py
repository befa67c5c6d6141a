"""Codes of errors in prompts, resources and skills."""

from __future__ import annotations

from collections.abc import Mapping

CONTENT_ERRORS: Mapping[str, tuple[str, str]] = {
    "duplicate-prompt": (
        "Two prompts have one name.",
        "Rename one of them.",
    ),
    "duplicate-prompt-argument": (
        "A prompt has two arguments of one name.",
        "Rename one of them.",
    ),
    "duplicate-skill": (
        "Two skills have one name.",
        "Rename one of them.",
    ),
    "empty-prompt": (
        "A prompt has a message without text.",
        "Write the text, or remove the message.",
    ),
    "invalid-completion": (
        "A list of completions has an empty or a repeated text.",
        "Write each text once.",
    ),
    "invalid-prompt-name": (
        "A text is not the name of a prompt.",
        "Use 1 to 128 letters, digits, _, - and dots.",
    ),
    "invalid-skill": (
        "A skill does not have the form that hosts read.",
        "Correct skills/NAME/SKILL.md, its front matter or the folder's name, as the message says.",
    ),
    "invalid-skill-file": (
        "A file of a skill is a link, or its name fits no URI of a skill, or differs from another name only by case.",
        "Put the file itself there, or rename it.",
    ),
    "large-resources": (
        "The files of resources/ and skills/ are larger than a bundle may hold.",
        "Keep fewer or smaller files.",
    ),
    "large-skill": (
        "A skill has more files than hosts take.",
        "Keep fewer files in it, or make two skills.",
    ),
}
"""Code -> meaning and remedy."""
