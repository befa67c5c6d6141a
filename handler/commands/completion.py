"""``stile completion``: the script that completes words in a shell, and the names of tools that the script asks for."""

from __future__ import annotations

import argparse
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from handler.commands import COMMANDS, load_command, parser_of
from handler.commands.terminal.console import complain, show_verbatim
from handler.commands.terminal.exit_codes import DONE, REFUSED

EXAMPLES = ('eval "$(stile completion bash)"', "stile completion fish > ~/.config/fish/completions/stile.fish")
EXIT_CODES = {REFUSED: "with --tools, an endpoint has problems"}

SHELLS = ("bash", "zsh", "fish")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", choices=SHELLS, metavar="SHELL", help=f"the shell: {', '.join(SHELLS)}")
    parser.add_argument(
        "--tools", metavar="FOLDER", help="print the names of the folder's tools instead, as the script asks for them"
    )


def run(options: argparse.Namespace) -> int:
    if options.tools is not None:
        return _show_tools(options.tools)
    scripts = {"bash": _bash, "zsh": _zsh, "fish": _fish}
    show_verbatim(scripts[options.shell]([*map(_command_of, COMMANDS)]).rstrip("\n"))
    return DONE


def _show_tools(folder: str) -> int:
    from handler.commands.folders.endpoints import compile_all  # the scripts do not need the compiler

    if not Path(folder).is_dir():
        complain(f"{folder}: there is no such folder")
        return REFUSED
    outcomes = compile_all(Path(folder), stage=None, endpoint=None)
    for tool in sorted({tool.name for each in outcomes if each.compiled for tool in each.compiled.bundle.tools}):
        show_verbatim(tool)
    return REFUSED if any(each.problems for each in outcomes) else DONE


KINDS: Mapping[str, str] = {
    "FOLDER": "folder",
    "DIR": "folder",
    "DESTINATION": "folder",
    "NAME": "folder",
    "FILE": "file",
    "SOURCE": "file",
    "CLAIMS": "file",
    "CALLER": "file",
    "TOOL": "tool",
    "STAGE": "stage",
}
"""The name of a value in help -> the kind of its completion. Other values are completed with nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Word:
    """An option, or a positional argument without names, with its values."""

    names: tuple[str, ...]
    help: str
    takes_value: bool
    kind: str
    choices: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Command:
    """A command with its options and positional arguments."""

    name: str
    summary: str
    options: Sequence[_Word]
    positionals: Sequence[_Word]


def _command_of(name: str) -> _Command:
    """Return the words of a command, from its own definitions of arguments."""
    words = [
        _Word(
            names=tuple(action.option_strings),
            help=" ".join(str(action.help or "").replace("%(default)s", str(action.default)).split()),
            takes_value=action.nargs != 0,
            kind=KINDS.get(str(action.metavar), ""),
            choices=tuple(map(str, action.choices or ())),
        )
        for action in parser_of(name, load_command(name))._actions  # noqa: SLF001 - argparse has no public list
    ]
    options, positionals = [word for word in words if word.names], [word for word in words if not word.names]
    return _Command(name=name, summary=COMMANDS[name], options=options, positionals=positionals)


def _bash(commands: Sequence[_Command]) -> str:
    """Return the script of bash. Options and values are found by the command's name and the word before."""
    names = shlex.quote(" ".join(command.name for command in commands))
    options = "".join(
        f"    {command.name}) options={shlex.quote(' '.join(name for each in command.options for name in each.names))}"
        f" positionals={shlex.quote(' '.join(_values(each) for each in command.positionals))} ;;\n"
        for command in commands
    )
    valued = "".join(
        f"    {'|'.join(f'{command.name},{name}' for name in each.names)}) values={shlex.quote(_values(each))} ;;\n"
        for command in commands
        for each in command.options
        if each.takes_value
    )
    return _BASH.replace("@NAMES@", names).replace("@OPTIONS@", options).replace("@VALUED@", valued)


def _values(word: _Word) -> str:
    return f"={','.join(word.choices)}" if word.choices else word.kind or "nothing"


_BASH = """\
# Completion of stile for bash: eval "$(stile completion bash)"
_stile() {
  local word="${COMP_WORDS[COMP_CWORD]}" previous="${COMP_WORDS[COMP_CWORD-1]}" command="${COMP_WORDS[1]}"
  local options="" positionals="" values="" folder="" count=0 index each
  COMPREPLY=()
  if ((COMP_CWORD == 1)); then
    mapfile -t COMPREPLY < <(compgen -W @NAMES@" --help --version" -- "$word")
    return
  fi
  case "$command" in
@OPTIONS@    *) return ;;
  esac
  for ((index = 2; index < COMP_CWORD; index++)); do
    each="${COMP_WORDS[index]}"
    if [[ $each == -* ]]; then
      _stile_value "$command" "$each"
      [[ -n $values ]] && ((index++))
    else
      [[ -z $folder ]] && folder="$each"
      ((count++))
    fi
  done
  if [[ $word == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$options" -- "$word")
    return
  fi
  _stile_value "$command" "$previous"
  if [[ -z $values ]]; then
    local -a kinds=($positionals)
    values="${kinds[count]:-nothing}"
  fi
  case "$values" in
    =*) values="${values#=}"; mapfile -t COMPREPLY < <(compgen -W "${values//,/ }" -- "$word") ;;
    folder) compopt -o filenames; mapfile -t COMPREPLY < <(compgen -d -- "$word") ;;
    file) compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- "$word") ;;
    tool) mapfile -t COMPREPLY < <(compgen -W "$(stile completion bash --tools "$folder" 2>/dev/null)" -- "$word") ;;
    stage) mapfile -t COMPREPLY < <(compgen -W "$(_stile_stages "$folder")" -- "$word") ;;
  esac
}
_stile_value() {
  values=""
  case "$1,$2" in
@VALUED@    *) ;;
  esac
}
_stile_stages() {
  find "${1:-.}" -name 'config.*.yaml' 2>/dev/null | sed -n 's|.*/config\\.\\(.*\\)\\.yaml$|\\1|p' | sort -u
}
complete -F _stile stile
"""


def _zsh(commands: Sequence[_Command]) -> str:
    """Return the script of zsh, with the arguments of each command for its function ``_arguments``."""
    cases = "".join(
        f"    {command.name}) _arguments -S {' '.join(map(shlex.quote, _zsh_words(command)))} ;;\n"
        for command in commands
    )
    names = " ".join(shlex.quote(f"{command.name}:{command.summary.replace(':', ' -')}") for command in commands)
    return _ZSH.replace("@NAMES@", names).replace("@CASES@", cases)


def _zsh_words(command: _Command) -> Iterator[str]:
    for option in command.options:
        value = f":value:{_zsh_values(option)}" if option.takes_value else ""
        for name in option.names:
            yield f"*{name}[{_zsh_text(option.help)}]{value}"
    for positional in command.positionals:
        yield f":{_zsh_text(positional.help)}:{_zsh_values(positional)}"


def _zsh_values(word: _Word) -> str:
    if word.choices:
        return f"({' '.join(word.choices)})"
    return {
        "folder": "_files -/",
        "file": "_files",
        "tool": '{compadd -- ${(f)"$(stile completion zsh --tools "$(_stile_folder)" 2>/dev/null)"}}',
        "stage": '{compadd -- ${(f)"$(_stile_stages)"}}',
    }.get(word.kind, " ")


def _zsh_text(text: str) -> str:
    return re.sub(r"([\[\]:\\])", r"\\\1", text)


_ZSH = """\
#compdef stile
_stile_folder() {
  local each
  for each in $words[2,-1]; do
    [[ -d $each ]] && print -r -- "$each" && return
  done
}
_stile_stages() {
  local folder="$(_stile_folder)"
  find "${folder:-.}" -name 'config.*.yaml' 2>/dev/null | sed -n 's|.*/config\\.\\(.*\\)\\.yaml$|\\1|p' | sort -u
}
_stile() {
  local -a commands=(@NAMES@)
  if ((CURRENT == 2)); then
    _describe command commands
    return
  fi
  local command=$words[2]
  shift words
  ((CURRENT--))
  case $command in
@CASES@  esac
}
compdef _stile stile
"""


def _fish(commands: Sequence[_Command]) -> str:
    """Return the script of fish, a line for each word."""
    lines = [_FISH]
    for command in commands:
        lines.append(f"complete -c stile -n __fish_use_subcommand -a {command.name} -d {_fish_text(command.summary)}")
        line = f"complete -c stile -n '__fish_seen_subcommand_from {command.name}'"
        for option in command.options:
            names = " ".join(f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}" for name in option.names)
            flag = "-r" if option.kind == "file" else "-x"  # -x keeps names of files out
            values = f" {flag}{_fish_values(option)}" if option.takes_value else ""
            lines.append(f"{line} {names}{values} -d {_fish_text(option.help)}")
        kinds = {_fish_values(each) for each in command.positionals}
        lines += [f"{line}{values}" for values in sorted(filter(None, kinds))]
    return "\n".join(lines) + "\n"


def _fish_values(word: _Word) -> str:
    if word.choices:
        return f" -a {_fish_text(' '.join(word.choices))}"
    return {
        "folder": " -a '(__fish_complete_directories)'",
        "file": " -F",
        "tool": " -a '(stile completion fish --tools (__stile_folder) 2>/dev/null)'",
        "stage": " -a '(__stile_stages)'",
    }.get(word.kind, "")


def _fish_text(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


_FISH = """\
# Completion of stile for fish
function __stile_folder
  for each in (commandline -opc)[3..-1]
    if test -d $each
      echo $each
      return
    end
  end
  return 1
end
function __stile_stages
  set -l folder (__stile_folder); or set folder .
  find $folder -name 'config.*.yaml' 2>/dev/null | string replace -rf '.*/config\\.(.*)\\.yaml$' '$1' | sort -u
end
complete -c stile -f"""
