"""Commands as data, with quoting for a POSIX shell and masking for people.

A secret reaches a host as an environment variable or in a file, never as a process argument, because everyone on the
machine can read arguments.
"""

from __future__ import annotations

import re
import shlex
from pathlib import Path

from benchbrief.model.run_messages import say
from benchbrief.runners.errors import RunnerError
from benchbrief.runners.jobs.tasks import Command, Job, Word
from benchbrief.runners.journal.secret_masking import MASK, Secret

_ENV_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")


def quote(text: str) -> str:
    """Quote a text as one word for a POSIX shell. Raises RunnerError if the text has a NUL, which can't be passed."""
    if "\0" in text:
        raise RunnerError(say.nul_in_command(text=repr(text[:80])), say.hint_remove_it())
    return shlex.quote(text)


def exports(command: Command) -> str:
    """Return shell lines that set the command's environment. They may contain secrets."""
    lines = []
    for name, value in command.env.items():
        if not _ENV_NAME.match(name):
            raise RunnerError(say.no_env_name(name=repr(name)), say.hint_env_name())
        lines.append(f"export {name}={quote(plain(value))}\n")
    return "".join(lines)


def exec_line(command: Command) -> str:
    """Return a shell line that replaces the shell by the command, even if a builtin, function or reserved word has the
    same name."""
    words = []
    for word in command.words:
        if isinstance(word, Secret):
            raise RunnerError(say.secret_argument(name=repr(word.name)), say.hint_secret_argument())
        words.append(quote(word))
    if not command.words or words[0].startswith(("-", "''")):
        raise RunnerError(say.not_a_command(command=repr(mask_command(command))), say.hint_not_a_command())
    enter = f"cd -- {quote(command.cwd)} && " if command.cwd is not None else ""
    return f"{enter}exec {' '.join(words)}"


def script(command: Command, stdin: str = "") -> str:
    """Return a script that becomes the command when `sh` reads it from standard input. In this way, no process list
    shows the script.

    If the command is `sh` itself, the script is the command's own input, as there is no need to start a second shell.
    """
    if command.words == ("sh",) and command.cwd is None and stdin:
        return exports(command) + stdin
    feed, fed = (f"printf %s {quote(stdin)} | (", ")") if stdin else ("", " </dev/null")
    return f"{exports(command)}{feed}{exec_line(command)}{fed}\nexit $?\n"


def shell_line(line: str) -> Command:
    """Return the command that runs a shell line, such as a line of a spec's `prepare`."""
    return Command(("sh", "-c", line))


def as_at_login(line: str, here: bool) -> Command:
    """Return the command of a job that runs a shell line in the login directory or, with `here`, in the current
    directory."""
    if here:
        return Command(("sh", "-c", line), cwd=str(Path.cwd()))
    return Command(("sh", "-c", 'cd; exec sh -c "$1"', "sh", line))


def mask_command(command: Command) -> str:
    """Show the command to people in shell syntax, with secrets as ***."""
    env = [f"{name}={_shown(value)}" for name, value in command.env.items()]
    line = " ".join(env + [_shown(word) for word in command.words])
    return f"cd {shlex.quote(command.cwd)} && {line}" if command.cwd is not None else line


def plain(word: Word) -> str:
    return word.written or word.value if isinstance(word, Secret) else word


def _shown(word: Word) -> str:
    return MASK if isinstance(word, Secret) else shlex.quote(word)


def secrets_of(job: Job) -> tuple[Secret, ...]:
    words = [*job.command.words, *job.command.env.values(), *(w for file in job.files for w in file.content)]
    return tuple(word for word in words if isinstance(word, Secret))


def printable(text: str) -> str:
    """Return a host's text without control characters, since these could control a terminal."""
    return "".join(c if c.isprintable() or c in "\n\t" else "�" for c in text)


_PART = re.compile(r"\. (\S+\.sh)\n")


def read_script(code: str, name: str) -> str:
    """Return a script together with the parts that it includes, each one once. `name` is relative to the module whose
    `__file__` is `code`."""
    return "".join(_lines(Path(code).parent / name, set()))


def _lines(path: Path, included: set[Path]) -> list[str]:
    if path.resolve() in included:
        return []
    included.add(path.resolve())
    lines = []
    for line in path.read_text(encoding="utf-8").splitlines(keepends=True):
        if part := _PART.fullmatch(line):
            lines += _lines(path.parent / part[1], included)
        elif line.strip() and not line.lstrip().startswith("#"):
            lines.append(line)
    return lines


def with_values(script: str, **values: str) -> str:
    """Return a script that first sets these variables."""
    return "".join(f"{name}={quote(value)}\n" for name, value in values.items()) + script
