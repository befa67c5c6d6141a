"""Front matter: YAML between two lines ``---`` at the beginning of a file in Markdown."""

from __future__ import annotations

import re

import yaml
from graphql import Source

from handler.compiler.problems import Place, Problems
from handler.compiler.source.yaml_tree import parse_yaml

_FRONT_MATTER = re.compile(r"(---[ \t]*\n(?:.*\n)*?)---[ \t]*(?:\n|\Z)")


def read_front_matter(source: Source, problems: Problems) -> tuple[yaml.MappingNode | None, int]:
    """Read the mapping between the first two ``---`` lines; also return the start of the text after it.

    The mapping is ``None`` if there is no front matter, if it is empty, or after reporting that it is not valid.
    YAML reads the first ``---`` as its document marker, so places in the mapping are those in the file.
    """
    found = _FRONT_MATTER.match(source.body)
    if found is None and source.body.partition("\n")[0].rstrip() == "---":
        problems.add(
            Place(source.name, 1, 1),
            'the front matter has no end: expected another line "---"',
            code="unclosed-front-matter",
        )
    return (parse_yaml(found[1], source.name, problems), found.end()) if found else (None, 0)
