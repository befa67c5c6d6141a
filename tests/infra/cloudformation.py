from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]


def read_template(name: str) -> dict[str, Any]:
    """A template with ``!Ref x`` written out as ``{"Ref": "x"}``, and ``!Sub x`` as ``{"Fn::Sub": "x"}``."""
    template: dict[str, Any] = yaml.load((ROOT / name).read_text("utf-8"), CloudFormationLoader)
    return template


class CloudFormationLoader(yaml.SafeLoader):
    """YAML with CloudFormation's tags."""


def construct_function(loader: CloudFormationLoader, name: str, node: yaml.Node) -> dict[str, Any]:
    match node:
        case yaml.ScalarNode():
            value: Any = loader.construct_scalar(node)
        case yaml.SequenceNode():
            value = loader.construct_sequence(node, deep=True)
        case _:
            assert isinstance(node, yaml.MappingNode)
            value = loader.construct_mapping(node, deep=True)
    return {name if name in ("Ref", "Condition") else f"Fn::{name}": value}


CloudFormationLoader.add_multi_constructor("!", construct_function)
