"""``stile completion``: the script that completes words in a shell, and the names of tools that the script asks for."""

from __future__ import annotations

import argparse
import re
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

from handler.commands import COMMANDS, load_command, parser_of
from handler.commands.command_line import DONE, REFUSED
from handler.commands.console import complain, show_verbatim

EXAMPLES = ('eval "$(stile completion bash)"', "stile completion fish > ~/.config/fish/completions/stile.fish")
EXIT_CODES = {REFUSED: "with --tools, an endpoint has problems"}

SHELLS = ("bash", "zsh", "fish")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", choices=SHELLS, metavar="SHELL", help=f"the shell: {', '.join(SHELLS)}")
    parser.add_argument(
        "--tools", metavar="FOLDER", help="print the names of the folder's tools instead, as the script asks for them"
    )


def run(options: argparse.Namespace) -> int:
    if options.tools is None:
        commands = {name: parser_of(name, load_command(name))._actions for name in COMMANDS}  # noqa: SLF001 - no public list
        scripts = {"bash": _bash, "zsh": _zsh, "fish": _fish}
        show_verbatim(scripts[options.shell](commands).rstrip("\n"))
        return DONE
    from handler.commands.folders.endpoints import compile_all  # the scripts do not need the compiler

    folder = Path(options.tools)
    if not folder.is_dir():
        complain(f"{options.tools}: there is no such folder")
        return REFUSED
    outcomes = compile_all(folder, stage=None, endpoint=None)
    for tool in sorted({tool.name for each in outcomes if each.compiled for tool in each.compiled.bundle.tools}):
        show_verbatim(tool)
    return REFUSED if any(each.problems for each in outcomes) else DONE


Commands = Mapping[str, Sequence[argparse.Action]]
"""Each command with its options and positional arguments, which have no option strings."""

KINDS: Mapping[str, str] = {
    **dict.fromkeys(("FOLDER", "DIR", "DESTINATION", "NAME"), "folder"),
    **dict.fromkeys(("FILE", "SOURCE", "CLAIMS", "CALLER"), "file"),
    "TOOL": "tool",
    "STAGE": "stage",
}
"""The name of a value in help -> the kind of its completion. Other values are completed with nothing."""

ZSH_VALUES = {
    "folder": "_files -/",
    "file": "_files",
    "tool": '{compadd -- ${(f)"$(stile completion zsh --tools "$(_stile_folder)" 2>/dev/null)"}}',
    "stage": '{compadd -- ${(f)"$(_stile_stages)"}}',
}
FISH_VALUES = {
    "folder": " -a '(__fish_complete_directories)'",
    "file": " -F",
    "tool": " -a '(stile completion fish --tools (__stile_folder) 2>/dev/null)'",
    "stage": " -a '(__stile_stages)'",
}


def _kind(action: argparse.Action) -> str:
    return KINDS.get(str(action.metavar), "")


def _help(action: argparse.Action) -> str:
    return " ".join(str(action.help or "").replace("%(default)s", str(action.default)).split())


def _bash(commands: Commands) -> str:
    """Return the script of bash. Options and values are found by the command's name and the word before."""
    options, valued = "", ""
    for command, actions in commands.items():
        names = " ".join(name for action in actions for name in action.option_strings)
        positionals = " ".join(_bash_values(action) for action in actions if not action.option_strings)
        options += f"    {command}) options={shlex.quote(names)} positionals={shlex.quote(positionals)} ;;\n"
        for action in actions:
            if action.option_strings and action.nargs != 0:
                words = "|".join(f"{command},{name}" for name in action.option_strings)
                valued += f"    {words}) values={shlex.quote(_bash_values(action))} ;;\n"
    script = _BASH.replace("@NAMES@", shlex.quote(" ".join(commands)))
    return script.replace("@OPTIONS@", options).replace("@VALUED@", valued)


def _bash_values(action: argparse.Action) -> str:
    return f"={','.join(map(str, action.choices))}" if action.choices else _kind(action) or "nothing"


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


def _zsh(commands: Commands) -> str:
    """Return the script of zsh, with the arguments of each command for its function ``_arguments``."""
    cases = ""
    for command, actions in commands.items():
        words = []
        for action in sorted(actions, key=lambda action: not action.option_strings):
            help_ = re.sub(r"([\[\]:\\])", r"\\\1", _help(action))
            choices = f"({' '.join(map(str, action.choices))})" if action.choices else ""
            values = choices or ZSH_VALUES.get(_kind(action), " ")
            value = f":value:{values}" if action.nargs != 0 else ""
            words += [f"*{name}[{help_}]{value}" for name in action.option_strings] or [f":{help_}:{values}"]
        cases += f"    {command}) _arguments -S {' '.join(map(shlex.quote, words))} ;;\n"
    names = " ".join(shlex.quote(f"{name}:{COMMANDS[name].replace(':', ' -')}") for name in commands)
    return _ZSH.replace("@NAMES@", names).replace("@CASES@", cases)


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


def _fish(commands: Commands) -> str:
    """Return the script of fish, a line for each word."""
    lines = [_FISH]
    for command, actions in commands.items():
        lines.append(f"complete -c stile -n __fish_use_subcommand -a {command} -d {_fish_text(COMMANDS[command])}")
        line = f"complete -c stile -n '__fish_seen_subcommand_from {command}'"
        positionals = set()
        for action in actions:
            choices = f" -a {_fish_text(' '.join(map(str, action.choices)))}" if action.choices else ""
            values = choices or FISH_VALUES.get(_kind(action), "")
            if not action.option_strings:
                positionals.add(values)
                continue
            names = [f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}" for name in action.option_strings]
            flag = "-r" if _kind(action) == "file" else "-x"  # -x keeps names of files out
            value = f" {flag}{values}" if action.nargs != 0 else ""
            lines.append(f"{line} {' '.join(names)}{value} -d {_fish_text(_help(action))}")
        lines += [f"{line}{values}" for values in sorted(filter(None, positionals))]
    return "\n".join(lines) + "\n"


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
