"""Read the limits of the schemas that lists of tools have."""

from __future__ import annotations

from dataclasses import dataclass

from handler.compiler.source.yaml_section import Section

KEYS = ("max_schema_bytes", "max_output_schema_bytes", "recursion")

MAX_SCHEMA_BYTES = 6_000
MAX_OUTPUT_SCHEMA_BYTES = 4_000

MOST_BYTES = 1_000_000

RECURSION = ("unroll", "ref")
OUTPUT_SCHEMA = ("on", "off")


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaLimits:
    """The limits of the schemas in a tool's list entry; 0 for none."""

    max_schema_bytes: int
    max_output_schema_bytes: int
    recursive: bool  # a reference may lead to itself
    output: bool  # prescribed tools have an output schema


def read_schema_limits(limits: Section, *, output: str) -> SchemaLimits:
    """Read the keys of ``limits`` on schemas. ``output`` is one of OUTPUT_SCHEMA."""
    return SchemaLimits(
        max_schema_bytes=limits.integer("max_schema_bytes", MAX_SCHEMA_BYTES, least=0, most=MOST_BYTES),
        max_output_schema_bytes=limits.integer(
            "max_output_schema_bytes", MAX_OUTPUT_SCHEMA_BYTES, least=0, most=MOST_BYTES
        ),
        recursive=limits.choice("recursion", RECURSION, default="unroll") == "ref",
        output=output != "off",
    )
