"""Print the settings of `sam build` from samconfig.toml: architecture, extras, then each folder or file of code.

Each setting is one line. The script runs on the function's Python with nothing installed. If stages differ,
STILE_CONFIG_ENV names the stage of the next `sam deploy --config-env`. ARCH, STILE_EXTRAS and STILE_CODE are for builds
that are not deployed: here they must equal the file's values.
"""

from __future__ import annotations

import os
import re
import sys
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

CONFIG = Path(__file__).parents[1] / "samconfig.toml"
DEFAULTS = {"Architecture": "arm64", "Extras": "", "CodeModules": ""}  # as in template.yaml
EXTRAS = {"code", "jwt", "page"}
PAIR = re.compile(r"""(?:^|\s)(?:ParameterKey=(\w+),ParameterValue|(\w+))=("[^"]*"|'[^']*'|[^\s"']*)(?=\s|$)""")


class BuildError(Exception):
    """samconfig.toml or the environment does not say how to build."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Build:
    """The build settings of one stage."""

    architecture: str
    extras: tuple[str, ...]
    modules: tuple[str, ...]
    code: tuple[str, ...]

    def __str__(self) -> str:
        return "\n".join([self.architecture, ",".join(self.extras), *self.code])


def main() -> int:
    """Print the settings, or the sentence about their error."""
    try:
        config = tomllib.loads(CONFIG.read_text("utf-8"))
        build = build_of(config, os.environ)
        _require_same(build, os.environ)
    except (BuildError, OSError, ValueError) as exc:
        print(f"{CONFIG.name}: {exc}", file=sys.stderr)
        return 1
    print(build)
    return 0


def build_of(config: Mapping[str, Any], environ: Mapping[str, str]) -> Build:
    """Return the settings of the stage in STILE_CONFIG_ENV, or without it those that all stages share."""
    chosen = environ.get("STILE_CONFIG_ENV", "")
    stages = [name for name, stage in config.items() if isinstance(stage, Mapping)]
    if chosen and chosen not in stages:
        raise BuildError(f"STILE_CONFIG_ENV={chosen}: expected one of the stages {', '.join(stages)}")
    first, *others = [chosen] if chosen else ["default", *(name for name in stages if name != "default")]
    build = _read_stage(config, first)
    for name in others:
        other = _read_stage(config, name)
        for what in ("architecture", "extras", "code"):
            one, two = (getattr(each, what) for each in (build, other))
            if one != two:
                raise BuildError(
                    f"the stages {first} and {name} differ in {what}, {_shown(one)} and {_shown(two)}, and a build "
                    f"serves one of them: name it, as in STILE_CONFIG_ENV={name} sam build --config-env {name}"
                )
    return build


def _read_stage(config: Mapping[str, Any], stage: str) -> Build:
    """Read the settings of a stage, and refuse settings that contradict each other."""
    said = _parameters_of(config, stage)
    build = Build(
        architecture=said["Architecture"],
        extras=tuple(sorted(_listed(said["Extras"]))),
        modules=_listed(said["CodeModules"]),
        code=_code_of(config, stage),
    )
    if build.architecture not in ("arm64", "x86_64"):
        raise BuildError(f"{stage}: Architecture is {_shown(build.architecture)}: expected arm64 or x86_64")
    if not EXTRAS.issuperset(build.extras):
        raise BuildError(
            f"{stage}: Extras is {_shown(build.extras)}: expected code, jwt and page, each or none of them"
        )
    if build.modules and "code" not in build.extras:
        raise BuildError(f"{stage}: CodeModules is {_shown(build.modules)}, and tools in Python need the Extras code")
    there = {Path(path).name.removesuffix(".py") for path in build.code}
    for module in build.modules:
        if module.partition(".")[0] not in there:
            raise BuildError(
                f"{stage}: CodeModules names {module}, which is in no folder or file of [{stage}.build_artifact."
                f"parameters] code: {_shown(build.code)}"
            )
    return build


def _parameters_of(config: Mapping[str, Any], stage: str) -> dict[str, str]:
    """Return the template's parameters as `sam deploy` takes them.

    SAM takes `parameter_overrides` as a whole from the command's own section, else from `global`. `sam deploy --guided`
    writes its own section, and `global` then applies to builds only: so all sections must have the same values.
    """
    sections = {command: overrides_of(config, stage, command) for command in ("global", "build", "deploy")}
    said = {name: overrides for name, overrides in sections.items() if overrides is not None}
    for name, default in DEFAULTS.items():
        values = {command: overrides.get(name, default) for command, overrides in said.items()}
        if len({frozenset(_listed(value)) for value in values.values()}) > 1:
            places = ", ".join(f"{_shown(value)} in [{stage}.{each}.parameters]" for each, value in values.items())
            raise BuildError(f"{stage}: {name} is {places}: say the same")
    return DEFAULTS | next(iter(said.values()), {})


def overrides_of(config: Mapping[str, Any], stage: str, command: str) -> dict[str, str] | None:
    """Return `parameter_overrides` of one command, in any form that SAM takes; `None` if the key is missing."""
    at = f"[{stage}.{command}.parameters]"
    value = _table(_table(_table(config, stage), command), "parameters").get("parameter_overrides")
    if value is None:
        return None
    overrides = dict(_pairs_of(value, f"{at} parameter_overrides"))
    known = {name.lower(): name for name in DEFAULTS}
    for name in overrides.keys() - DEFAULTS.keys():
        meant = known.get(name.replace("_", "").lower())
        if meant:  # `sam deploy` silently drops parameters that the template does not have
            raise BuildError(f"{at} parameter_overrides: {name}: expected {meant}")
    return overrides


def _pairs_of(value: object, at: str) -> Iterator[tuple[str, str]]:
    match value:
        case Mapping():
            for name, one in value.items():
                items = one if isinstance(one, list) else [one]
                if name == "$include" or not all(isinstance(item, str | int | float) for item in items):
                    raise BuildError(f"{at}: {name}: expected a text, a number or a list of these")
                yield name, ",".join(text for item in items if (text := str(item).strip()))
        case list():
            for item in value:
                yield from _pairs_of(item, at)
        case str() if PAIR.sub("", value).strip():
            raise BuildError(f"{at}: {_shown(value)}: expected Name=value, and no file, which this build does not read")
        case str():
            for long, short, text in PAIR.findall(value):
                yield long or short, text[1:-1] if text[:1] in ("'", '"') else text
        case _:
            raise BuildError(f"{at}: expected a table, a list or a text")


def _code_of(config: Mapping[str, Any], stage: str) -> tuple[str, ...]:
    """Return the folders and files of code: the stage's own, or those of the stage `default`."""
    for name in (stage, "default"):
        code = _table(_table(_table(config, name), "build_artifact"), "parameters").get("code")
        if code is not None:
            if not isinstance(code, list) or not all(
                isinstance(path, str) and path and not re.search(r"[\s*?\[]", path) for path in code
            ):
                raise BuildError(
                    f"[{name}.build_artifact.parameters] code: expected a list of folders and files, without spaces"
                )
            return tuple(str(Path(path)) for path in code)
    return ()


def _require_same(build: Build, environ: Mapping[str, str]) -> None:
    """Refuse an environment that differs from the file: neither the next build nor the stack would know of it."""
    for variable, where, same in (
        ("ARCH", "Architecture", environ.get("ARCH", "") in ("", build.architecture)),
        ("STILE_EXTRAS", "Extras", _words(environ, "STILE_EXTRAS") in ([], sorted(build.extras))),
        ("STILE_CODE", "code", _words(environ, "STILE_CODE") in ([], sorted(build.code))),
    ):
        if not same:
            raise BuildError(
                f"{variable} is {_shown(environ[variable])}, which neither the stack nor the next build would know of: "
                f"unset it, and change {where} in this file"
            )


def _words(environ: Mapping[str, str], name: str) -> list[str]:
    return sorted(environ.get(name, "").replace(",", " ").split())


def _table(within: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = within.get(name, {})
    if not isinstance(found, Mapping):
        raise BuildError(f"{name}: expected a table")
    return found


def _listed(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())


def _shown(value: str | tuple[str, ...]) -> str:
    return f'"{value if isinstance(value, str) else ",".join(value)}"'


if __name__ == "__main__":
    sys.exit(main())
