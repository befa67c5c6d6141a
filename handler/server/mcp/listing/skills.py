"""List a caller's skills, and find one by its URI. Their files are resources: see ``resources.py``."""

from __future__ import annotations

from handler.errors.calls import SkillNotFound
from handler.server.context.caller import Caller
from handler.strict_json import JSONObject


async def skills_for(caller: Caller) -> list[JSONObject]:
    """Return the entries of the skills that a caller may read, by name."""
    return [skill.entry for skill in caller.endpoint.bundle.skills if caller.evaluation.meets(skill.mask)]


async def find_skill(caller: Caller, uri: str) -> JSONObject | None:
    """Return the entry of the skill whose ``SKILL.md`` has this URI; ``None`` if the caller has no such skill."""
    return next((entry for entry in await skills_for(caller) if entry["uri"] == uri), None)


async def require_skill(caller: Caller, uri: str) -> JSONObject:
    """Return the entry of a skill as ``find_skill`` does.

    Raises:
        SkillNotFound: the caller has no such skill, whether or not it exists.
        CredentialRequired: instead of that, if the caller is anonymous and a credential could help.
    """
    entry = await find_skill(caller, uri)
    if entry is None:
        raise caller.missing(SkillNotFound(uri))
    return entry
