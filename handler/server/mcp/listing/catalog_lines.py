"""The entries of a catalog as a search knows them, and the lines that it shows of them."""

from __future__ import annotations

from typing import Any

from handler.bundle.tools import only_reads
from handler.code_tools.catalog_search import Listed, category_of
from handler.search.ranking import Ranked
from handler.strict_json import JSONObject

NAMES = ("name", "uri", "uriTemplate")

MAX_ABOUT_CHARS = 160


def line_of(section: str, listed: Listed, *, search: str) -> JSONObject:
    """Return what a model needs to choose an entry of a section. ``search`` is the name of the catalog's tool."""
    entry = listed.entry
    about = _about(entry)
    line: JSONObject = {name: entry[name] for name in NAMES if name in entry}
    line |= {"about": about} if about else {}
    if section == "tools":
        category = category_of(entry)
        line |= {"arguments": _arguments(entry), "call": f"{search}-{'call' if only_reads(entry) else 'call-mutation'}"}
        line |= {"category": category} if category else {}
    if section == "prompts" and entry.get("arguments"):
        line["arguments"] = ", ".join(_argument(each["name"], each.get("required")) for each in entry["arguments"])
    return {**line, "hidden": listed.hidden}


def spoken_of(entry: JSONObject) -> set[str]:
    """Return the names by which an entry can be asked for."""
    return {str(entry[key]) for key in NAMES if key in entry}


def ranked_of(listed: Listed, *, key: str) -> Ranked:
    """Return what a search knows of an entry: its names with those of its aliases, its texts, and its arguments."""
    entry = listed.entry
    properties = entry.get("inputSchema", {}).get("properties", {})
    arguments = {**properties, **{each["name"]: each for each in entry.get("arguments", ())}}
    texts = [entry.get("description"), category_of(entry)]
    texts += [each.get("description") for each in arguments.values() if isinstance(each, dict)]
    names = [*(entry.get(name) for name in (*NAMES, "title")), *listed.aliases]
    return Ranked(
        key=key,
        names=tuple(str(name) for name in names if name),
        texts=tuple(str(text) for text in texts if text),
        parts=tuple(arguments),
    )


def _about(entry: JSONObject) -> str:
    """Return the beginning of the description, or else the title."""
    text = " ".join(str(entry.get("description") or entry.get("title") or "").split())
    return text if len(text) <= MAX_ABOUT_CHARS else f"{text[: MAX_ABOUT_CHARS - 1]}…"


def _arguments(entry: JSONObject) -> str:
    schema = entry.get("inputSchema", {})
    required = schema.get("required", ())
    return ", ".join(_argument(name, name in required) for name in schema.get("properties", {}))


def _argument(name: str, required: Any) -> str:
    return name if required else f"{name}?"
