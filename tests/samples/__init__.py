"""Stored forms and documents that other programs wrote."""

from __future__ import annotations

from pathlib import Path

SUPERGRAPH = (Path(__file__).parent / "supergraph" / "supergraph.graphql").read_text("utf-8")
"""A supergraph that Apollo composed of two subgraphs."""

SUPERGRAPH_API = (Path(__file__).parent / "supergraph" / "api.graphql").read_text("utf-8")
"""Its API schema as Apollo's library prints it."""
