"""Read YAML with positions: callers ask for each value by name and kind, and each refusal has a place.

Scalars are read as the text in the file and take their kind from the method, so ``true`` and ``"true"`` are equal, as
in StepZen's files. ``json_object`` converts and counts values.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from types import MappingProxyType

import yaml

from handler.compiler.problems import Place, Problems
from handler.compiler.source.files import Variables
from handler.compiler.source.keys import BOOLEANS, NAME, Key, Keys, rows
from handler.compiler.source.yaml_tree import character_place, is_empty, mark_place, node_place, value_of
from handler.strict_json import JSONObject
from handler.text.sentences import did_you_mean, some

WITH_SECRETS = ("deployment", "identity", "upstream")
"""Sections of ``config.yaml`` whose values messages do not show: any of them may be a secret at a wrong place."""

SHELL = re.compile(r"\$\{([A-Z_][A-Z0-9_]{0,63})\}")  # an environment variable
SETTING = re.compile(r"[A-Za-z_-]{1,40}|sha256")
"""A key that may be shown among secrets. A secret may be there as a key: ``auth: {bearer 8f3c…}``."""


class Section:
    """One mapping of a YAML file. A value that names one of the ``variables``, if any, is read as the variable's.

    ``keys`` has the bounds and defaults of values, and ``item`` those of values below keys of an author's own.
    """

    def __init__(
        self,
        node: yaml.MappingNode | None,
        *,
        file: str,
        problems: Problems,
        variables: Variables | None,
        path: str = "",
        keys: Keys = MappingProxyType({}),
        item: Key | None = None,
    ) -> None:
        self._file = file
        self._problems = problems
        self._variables = variables
        self._path = path
        self._keys = keys
        self._item = item
        self._accepted = {name for name, key in keys.items() if not key.offered}
        self._node = node
        self._values: dict[str, yaml.Node] = {key.value: value for key, value in node.value} if node else {}

    def __contains__(self, key: str) -> bool:
        return key in self._values

    def __len__(self) -> int:
        return len(self._values)

    def __iter__(self) -> Iterator[str]:
        """Yield the keys in file order."""
        return iter(self._values)

    def accept(self, *names: str) -> list[str]:
        """Allow these keys in addition to expected ones; return those that exist."""
        self._accepted.update(names)
        return [name for name in self._values if name in names]

    def expect(self, *known: str) -> None:
        """Report every key that is not among ``known``. A section below a table is held against it when it is read."""
        for key, _ in self._node.value if self._node else ():
            if key.value not in known and key.value not in self._accepted:
                paths = [
                    path for path, _ in rows(self._keys) if re.fullmatch(rf".+\.{re.escape(key.value)}(\[])?", path)
                ]
                hint = f"; it belongs below, as {some(paths)}" if paths else did_you_mean(key.value, known)
                names = ", ".join(known) + hint
                name = key.value if not self._is_secret("") or SETTING.fullmatch(key.value) else "…"
                sentence = f'unknown key "{self._path}{name}": expected one of {names}'
                self._problems.add(node_place(key), sentence, code="unknown-key")

    def expect_table(self) -> None:
        """Report every key that is neither in the table nor accepted."""
        owners = {name: row.owner for name, row in self._keys.items() if name not in self._accepted}
        owned = (name for name, owner in owners.items() if owner and owner in self)
        self.expect(*(name for name, owner in owners.items() if not owner), *owned)

    def name(self, key: str) -> str:
        """Format a key with its path, for a sentence."""
        return f'"{self._path}{key}"'

    def place(self, key: str = "") -> Place:
        """Return the place of a value; of the section if there is no such key."""
        node = self._values.get(key, self._node)
        return node_place(node) if node else Place(self._file)

    def place_in(self, key: str, offset: int) -> Place:
        """Return the place of a character of a text, counted from 0; the text's beginning if that is unknown."""
        node = self._values.get(key)
        return character_place(node, offset) if isinstance(node, yaml.ScalarNode) else self.place(key)

    def is_variable(self, key: str) -> bool:
        """Return whether a text names a variable, whose value messages must not show."""
        node = self._values.get(key)
        is_name = isinstance(node, yaml.ScalarNode) and NAME.fullmatch(str(node.value)) is not None
        return is_name and self._variables is not None

    def is_mapping(self, key: str) -> bool:
        """Return whether the value of a key is a mapping."""
        return isinstance(self._values.get(key), yaml.MappingNode)

    def key_place(self, key: str) -> Place:
        """Return the place of a key; of the section if the key is missing."""
        keys = [name for name, _ in self._node.value if name.value == key] if self._node else []
        return node_place(keys[0]) if keys else self.place()

    def refuse(self, key: str, expected: str) -> None:
        """Report that the value of ``key`` does not fit. The message shows the value unless it may be a secret."""
        node = self._values.get(key)
        is_shown = not self._is_secret(key) or self.is_variable(key)
        got = ""
        if isinstance(node, yaml.ScalarNode) and (is_shown or not node.value):
            got = f", got {node.value!r:.60}"
        self.fault(key, f"expected {expected}{got}", code="invalid-value")

    def fault(self, key: str, sentence: str, *, code: str, at: Place | None = None) -> None:
        """Report a fault of the value of ``key``, which the message does not show by itself."""
        self._problems.add(at or self.place(key), f"{self.name(key)}: {sentence}", code=code)

    def warn(self, key: str, sentence: str, *, code: str) -> None:
        """Warn of the value of ``key``."""
        self._problems.warn(self.place(key), f"{self.name(key)}: {sentence}", code=code)

    def text(self, key: str, default: str = "") -> str:
        """Read a text, and check it by the table."""
        node = self._values.get(key)
        if not (node is None or isinstance(node, yaml.ScalarNode)):
            self.refuse(key, "a text")
            return default
        resolved = None if node is None else self._resolved(node)
        value, row = default if resolved is None else resolved, self._keys.get(key)
        if row and row.fault and (sentence := row.fault(value)):
            if row.code == "invalid-value":
                self.refuse(key, sentence.removeprefix("expected "))
            else:
                self.fault(key, sentence, code=row.code)
        return value

    def boolean(self, key: str, *, default: bool | None = None) -> bool:
        """Read a Boolean. ``default`` stands for that of the table."""
        default = self._keys[key].default if default is None else default
        text = self.text(key, str(default).lower())
        if text not in BOOLEANS:
            self.refuse(key, "true or false")
        return BOOLEANS.get(text, bool(default))

    def choice(self, key: str, *, default: str = "") -> str:
        """Read one of the texts of the table. ``default`` stands for that of the table."""
        known, default = self._keys[key].known, default or self._keys[key].default
        text = self.text(key, default)
        if text not in known:
            self.refuse(key, " or ".join(known))
            return default
        return text

    def number(self, key: str) -> float:
        """Read a number between the bounds of the table, both included."""
        row = self._keys[key] if key in self._keys or self._item is None else self._item
        text = self.text(key, str(row.default))
        try:
            value = float(text)
        except ValueError:
            value = float("nan")
        if not row.least <= value <= row.most:
            self.refuse(key, f"a number from {row.least:.9g} to {row.most:.9g}")
            return float(row.default)
        return value

    def integer(self, key: str) -> int:
        """Read a whole number between the bounds of the table, both included."""
        value = self.number(key)
        if value != int(value):
            self.refuse(key, "a whole number")
        return int(value)

    def section(self, key: str) -> Section:
        """Return the mapping below a key; an empty section if there is none."""
        node = self._values.get(key)
        if node is not None and not isinstance(node, yaml.MappingNode) and not is_empty(node):
            self.refuse(key, "a mapping of keys to values")
        return self._below(node if isinstance(node, yaml.MappingNode) else None, f"{self._path}{key}.", key)

    def defaults(self, key: str) -> Section:
        """Return the section below a key as if it were empty: a scalar is in the mapping's place."""
        return self._below(None, f"{self._path}{key}.", key)

    def sections(self, key: str, *, short: str = "") -> list[Section]:
        """List the mappings in the list below a key. A text is a mapping from ``short``, or the table's, to it."""
        short = self._keys[key].short if key in self._keys else short
        node, keys = self._values.get(key), self._keys[key].keys if key in self._keys else {}
        entries = node.value if isinstance(node, yaml.MappingNode) and keys else []
        if entries and all(isinstance(each, yaml.MappingNode) and name.value not in keys for name, each in entries):
            name = "NAME" if self._is_secret(key) else f"{entries[0][0].value:.80}"
            self.fault(key, f"expected a list, as in - {next(iter(keys))}: {name}", code="invalid-value")
            return []
        mappings = []
        for place, item in enumerate(self._items(key)):
            node, at = item, item.start_mark
            if short and isinstance(item, yaml.ScalarNode):
                node = yaml.MappingNode("", [(yaml.ScalarNode("", short, at), item)], at)
            if isinstance(node, yaml.MappingNode):
                mappings.append(self._below(node, f"{self._path}{key}[{place}].", key))
            else:
                self.fault(f"{key}[{place}]", "expected a mapping", code="invalid-value", at=node_place(node))
        return mappings

    def one_or_more(self, key: str) -> list[Section]:
        """List the mappings in the list below a key, or the single mapping there."""
        if isinstance(self._values.get(key), yaml.SequenceNode):
            return self.sections(key)
        return [self.section(key)]

    def json_object(self, key: str) -> JSONObject:
        """Read the mapping below a key as JSON. Only here do scalars have the kind in which they are written."""
        node = self._values.get(key)
        if not isinstance(node, yaml.MappingNode):
            self.refuse(key, "a mapping of keys to values")
            return {}
        try:
            value: JSONObject = value_of(node, text_of=self._resolved)
        except yaml.MarkedYAMLError as exc:
            at = mark_place(exc.problem_mark) if exc.problem_mark else self.place(key)
            self._problems.add(at, f"{self.name(key)}: {exc.problem}", code="invalid-value")
            return {}
        return value

    def has_items(self, key: str) -> bool:
        """Return whether there is anything in the list below a key."""
        return bool(self._items(key))

    def texts(self, key: str) -> list[tuple[str, Place]]:
        """List the texts in the list below a key, each with its place. A single text is a list of one."""
        texts, row = [], self._keys.get(key)
        for place, node in enumerate(self._items(key)):
            if not isinstance(node, yaml.ScalarNode):
                self.fault(f"{key}[{place}]", "expected a text", code="invalid-value", at=node_place(node))
                continue
            text, at = self._resolved(node), node_place(node)
            texts.append((text or "", at))
            if text is not None and row and row.fault and (sentence := row.fault(text)):
                self.fault(key, sentence, code=row.code, at=at)
        return texts

    def values(self, key: str) -> tuple[str, ...]:
        """Return the texts in the list below a key."""
        return tuple(text for text, _ in self.texts(key))

    def _resolved(self, node: yaml.ScalarNode) -> str | None:
        text = str(node.value)
        if self._is_secret("") and (shell := SHELL.search(text)):
            name = shell[1] if shell[0] == text else "NAME"  # the rest may be a secret
            remedy = f"write the value, for a stage in config.STAGE.yaml, or for a secret env:{name} or secret:{name}"
            self._problems.add(node_place(node), f"${{{name}}} is not replaced: {remedy}", code="unset-variable")
            return None
        if self._variables is None or not NAME.fullmatch(text):
            return text
        value = self._variables.find(text)
        if value is None:
            sentence = f"{text:.80} is set neither in the environment nor in .env"
            self._problems.add(node_place(node), sentence, code="unset-variable")
        return value

    def _is_secret(self, key: str) -> bool:
        """Return whether the value of a key may be a secret."""
        return re.split(r"[.\[]", f"{self._path}{key}", maxsplit=1)[0] in WITH_SECRETS

    def _items(self, key: str) -> list[yaml.Node]:
        node = self._values.get(key)
        if node is None or is_empty(node):
            return []
        return list(node.value) if isinstance(node, yaml.SequenceNode) else [node]

    def _below(self, node: yaml.MappingNode | None, path: str, key: str) -> Section:
        row = self._keys.get(key, self._item)
        below = Section(
            node,
            file=self._file,
            problems=self._problems,
            variables=self._variables,
            path=path,
            keys=row.keys if row else {},
            item=row.item if row else None,
        )
        if row and row.keys:
            below.expect_table()
        return below
