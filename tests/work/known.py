"""Shapes that cost more than they may once. Each search begins with them, and each stays a test."""

from __future__ import annotations

from collections.abc import Mapping

from tests.work.genomes import Gene, Genome

KNOWN: Mapping[str, Mapping[str, Genome]] = {
    "documents": {
        "unknown fields among line breaks": (Gene("unknown fields", 190, 1), Gene("line breaks", 1_000, 0)),
        "wrong values of a wide enum": (Gene("enum values", 400, 1),),
        "types that there are not": (Gene("inline fragments", 150, 1),),
        "wrong names on a wide root": (Gene("unknown fields", 100, 4),),
    },
    "introspection": {
        "the whole schema through a tool": (Gene("types", 1, 2), Gene("way", 1, 0)),
        "the whole schema on a route": (Gene("types", 1, 2), Gene("way", 1, 2)),
        "aliases of fields that are skipped": (Gene("aliases, left out", 60, 0), Gene("way", 1, 4)),
        "aliases of all, skipped": (Gene("aliases, left out", 230, 1), Gene("way", 1, 3)),
        "aliases of arguments, skipped": (Gene("aliases of arguments, left out", 230, 0), Gene("way", 1, 2)),
        "types by name, skipped": (Gene("by name", 10, 0), Gene("aliases of types, left out", 9, 0), Gene("way", 1, 2)),
        "values of types of fields": (Gene("aliases of types", 60, 1), Gene("way", 1, 2)),
        "a union's types by name": (Gene("by name", 10, 1), Gene("aliases, left out", 20, 2), Gene("way", 1, 2)),
    },
    "arguments": {
        "empty items of a wide filter": (Gene("target", 3, 0), Gene("items", 340_000, 0), Gene("wrapper", 1, 5)),
        "values of a wide enum, the last one wrong": (Gene("target", 3, 1), Gene("items and a misfit", 45_000, 2)),
        "numbers, the last one wrong": (Gene("target", 3, 2), Gene("items and a misfit", 300_000, 1)),
        "wrong numbers of a tool in Python": (Gene("target", 1, 2), Gene("items", 250_000, 4)),
        "objects that should differ": (Gene("target", 1, 3), Gene("objects that differ", 4_000, 0)),
    },
    "variables": {
        "empty items of a wide filter": (Gene("target", 1, 0), Gene("items", 340_000, 0), Gene("wrapper", 1, 5)),
        "values of a wide enum": (Gene("target", 1, 1), Gene("items and a misfit", 45_000, 2)),
    },
    "messages": {
        "a batch of refused documents": (Gene("calls", 1, 0), Gene("batch", 20)),
        "a batch of questions for the schema": (Gene("calls", 1, 1), Gene("batch", 20)),
        "a batch of schemas": (Gene("reads", 1, 0), Gene("batch", 20)),
        "a batch of lists": (Gene("lists", 1, 1), Gene("batch", 20)),
        "a long text to complete": (Gene("completions", 500_000, 1),),
    },
    "answers": {
        "spaces in an error's message": (Gene("paths", 20_000, 1),),
        "small objects": (Gene("objects", 60_000, 0),),
        "empty lists in lists": (Gene("nested lists", 850_000, 1), Gene("request", 1, 2)),
        "as many lists as are read": (Gene("nested lists", 240_000, 3),),
        "a wide object": (Gene("wide objects", 450_000, 0),),
        "as wide an object as is read, of a tool in Python": (Gene("wide objects", 245_000, 0), Gene("request", 1, 3)),
        "objects of names that differ": (Gene("wide objects", 400_000, 5), Gene("request", 1, 3)),
        "empty objects": (Gene("empty values", 1_600_000, 0), Gene("request", 1, 2)),
        "long integers": (Gene("long integers", 1_200, 0),),
        "small numbers": (Gene("small numbers", 700_000, 0),),
        "halves of pairs": (Gene("half pairs", 830_001, 0),),
    },
}
"""By family, and by what stands in them."""
