"""The completion scripts of shells, made of the definitions of commands."""

from __future__ import annotations

import argparse
import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

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
class CompletedWord:
    """An option, or a positional argument without names, with its values."""

    names: tuple[str, ...]
    help: str
    takes_value: bool
    kind: str
    choices: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CompletedCommand:
    """A command with its options and positional arguments."""

    name: str
    summary: str
    options: tuple[CompletedWord, ...]
    positionals: tuple[CompletedWord, ...]

    @property
    def valued(self) -> list[CompletedWord]:
        """The options that take a value."""
        return [option for option in self.options if option.takes_value]


def completed_command(name: str, summary: str, actions: Iterable[argparse.Action]) -> CompletedCommand:
    """Return a command's words from its argparse definitions."""
    words = [_completed_word(action) for action in actions]
    return CompletedCommand(
        name=name,
        summary=summary,
        options=tuple(word for word in words if word.names),
        positionals=tuple(word for word in words if not word.names),
    )


def _completed_word(action: argparse.Action) -> CompletedWord:
    return CompletedWord(
        names=tuple(action.option_strings),
        help=" ".join(str(action.help or "").replace("%(default)s", str(action.default)).split()),
        takes_value=action.nargs != 0,
        kind=KINDS.get(str(action.metavar), ""),
        choices=tuple(map(str, action.choices or ())),
    )


def _bash(commands: Sequence[CompletedCommand]) -> str:
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
        for each in command.valued
    )
    return _BASH.replace("@NAMES@", names).replace("@OPTIONS@", options).replace("@VALUED@", valued)


def _values(word: CompletedWord) -> str:
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


def _zsh(commands: Sequence[CompletedCommand]) -> str:
    """Return the script of zsh, with the arguments of each command for its function ``_arguments``."""
    cases = "".join(
        f"    {command.name}) _arguments -S {' '.join(shlex.quote(each) for each in _zsh_words(command))} ;;\n"
        for command in commands
    )
    names = " ".join(shlex.quote(f"{command.name}:{command.summary.replace(':', ' -')}") for command in commands)
    return _ZSH.replace("@NAMES@", names).replace("@CASES@", cases)


def _zsh_words(command: CompletedCommand) -> Iterator[str]:
    for option in command.options:
        value = f":value:{_zsh_values(option)}" if option.takes_value else ""
        for name in option.names:
            yield f"*{name}[{_zsh_text(option.help)}]{value}"
    for positional in command.positionals:
        yield f":{_zsh_text(positional.help)}:{_zsh_values(positional)}"


def _zsh_values(word: CompletedWord) -> str:
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


def _fish(commands: Sequence[CompletedCommand]) -> str:
    """Return the script of fish, a line for each word."""
    lines = [_FISH]
    for command in commands:
        lines.append(f"complete -c stile -n __fish_use_subcommand -a {command.name} -d {_fish_text(command.summary)}")
        seen = f"-n '__fish_seen_subcommand_from {command.name}'"
        for option in command.options:
            names = " ".join(f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}" for name in option.names)
            values = f" {_fish_value_of(option)}" if option.takes_value else ""
            lines.append(f"complete -c stile {seen} {names}{values} -d {_fish_text(option.help)}")
        kinds = {_fish_values(each) for each in command.positionals}
        lines += [f"complete -c stile {seen}{values}" for values in sorted(filter(None, kinds))]
    return "\n".join(lines) + "\n"


def _fish_value_of(option: CompletedWord) -> str:
    """Return the arguments for an option's value. ``-x`` keeps names of files out."""
    return f"{'-r' if option.kind == 'file' else '-x'}{_fish_values(option)}"


def _fish_values(word: CompletedWord) -> str:
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


SCRIPTS: Mapping[str, Callable[[Sequence[CompletedCommand]], str]] = {"bash": _bash, "zsh": _zsh, "fish": _fish}
"""Shell -> its script."""
