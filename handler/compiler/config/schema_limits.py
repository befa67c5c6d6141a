"""Read the limits of the schemas that lists of tools have."""

from __future__ import annotations

from dataclasses import dataclass

from handler.compiler.source.yaml_section import Section


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
        max_schema_bytes=limits.integer("max_schema_bytes"),
        max_output_schema_bytes=limits.integer("max_output_schema_bytes"),
        recursive=limits.choice("recursion") == "ref",
        output=output != "off",
    )
