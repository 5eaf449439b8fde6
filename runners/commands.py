"""Commands as data: quoted for a POSIX shell, masked for people.

A secret travels to a host as an environment variable or in a file, never as a process argument: arguments are
readable by everyone on the machine.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterable, Iterator
from pathlib import Path
from urllib.parse import quote as percent_encode
from urllib.parse import unquote as percent_decode
from urllib.parse import urlsplit

from benchbrief.runners.errors import RunnerError
from benchbrief.runners.tasks import Command, Job, Secret, Word

MASK = "***"
_ENV_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_SHORTEST_PART = 4
"""A password found inside a URI is masked alone only from this length on: shorter ones would eat numbers."""


def quote(text: str) -> str:
    """One word for a POSIX shell, whatever it holds. Raises RunnerError for a NUL, which can't be passed."""
    if "\0" in text:
        raise RunnerError(f"a NUL character can't be passed to a command: {text[:80]!r}", "Remove it.")
    return shlex.quote(text)


def exports(command: Command) -> str:
    """Shell lines that set the command's environment; they may hold secrets."""
    lines = []
    for name, value in command.env.items():
        if not _ENV_NAME.match(name):
            raise RunnerError(f"{name!r} is not a name of an environment variable", "Use letters, digits and _.")
        lines.append(f"export {name}={quote(plain(value))}\n")
    return "".join(lines)


def exec_line(command: Command) -> str:
    """A shell line that becomes the command: no builtin, function or reserved word stands in its way."""
    words = []
    for word in command.words:
        if isinstance(word, Secret):
            raise RunnerError(
                f"the secret {word.name!r} would be a process argument, readable by every user of the host",
                "Pass it as an environment variable or in a file.",
            )
        words.append(quote(word))
    if not command.words or words[0].startswith(("-", "''")):
        raise RunnerError(f"not a command: {masked(command)!r}", "A command begins with the name of a program.")
    enter = f"cd -- {quote(command.cwd)} && " if command.cwd is not None else ""
    return f"{enter}exec {' '.join(words)}"


def script(command: Command, stdin: str = "") -> str:
    """A script for `sh`, on its standard input, that runs the command: no process list shows the script."""
    feed = f"printf %s {quote(stdin)} | " if stdin else ""
    return f"{exports(command)}{feed}({exec_line(command)}){'' if stdin else ' </dev/null'}\nexit $?\n"


def shell_line(line: str) -> Command:
    """A line that its writer meant for a shell, such as one of a spec's `prepare` lines."""
    return Command(("sh", "-c", line))


def as_at_login(line: str, here: bool) -> Command:
    """The same for a job, in the directory that a login begins in, or, on this machine, in ours."""
    if here:
        return Command(("sh", "-c", line), cwd=str(Path.cwd()))
    return Command(("sh", "-c", 'cd; exec sh -c "$1"', "sh", line))


def masked(command: Command) -> str:
    """The command for people, in shell syntax, secrets shown as ***."""
    env = [f"{name}={_shown(value)}" for name, value in command.env.items()]
    line = " ".join(env + [_shown(word) for word in command.words])
    return f"cd {shlex.quote(command.cwd)} && {line}" if command.cwd is not None else line


def plain(word: Word) -> str:
    return word.value if isinstance(word, Secret) else word


def _shown(word: Word) -> str:
    return MASK if isinstance(word, Secret) else shlex.quote(word)


def secrets_of(job: Job) -> tuple[Secret, ...]:
    words = [*job.command.words, *job.command.env.values(), *(w for file in job.files for w in file.content)]
    return tuple(word for word in words if isinstance(word, Secret))


class Masking:
    """Replaces secrets by ***, in text or in a stream of bytes cut anywhere."""

    def __init__(self, secrets: Iterable[Secret]) -> None:
        forms = {form.encode("utf-8", "surrogateescape") for secret in secrets for form in _forms(secret.value)}
        ordered = sorted(forms, key=len, reverse=True)  # the longest first: a URI before the password in it
        self._longest = len(ordered[0]) if ordered else 0
        self._pattern = re.compile(b"|".join(map(re.escape, ordered))) if ordered else None

    def text(self, text: str) -> str:
        masked_bytes = b"".join(self.stream([text.encode("utf-8", "surrogateescape")]))
        return masked_bytes.decode("utf-8", "surrogateescape")

    def stream(self, chunks: Iterable[bytes]) -> Iterator[bytes]:
        if self._pattern is None:
            yield from chunks
            return
        rest = b""
        for chunk in chunks:
            rest += chunk
            # A match that begins before `settled` can't grow or be replaced by a longer one with more bytes.
            settled = len(rest) - self._longest + 1
            done = 0
            out = bytearray()
            for match in self._pattern.finditer(rest):
                if match.start() >= settled:
                    break
                out += rest[done : match.start()] + MASK.encode()
                done = match.end()
            out += rest[done : max(done, settled)]
            rest = rest[max(done, settled) :]
            if out:
                yield bytes(out)
        if rest:
            yield self._pattern.sub(MASK.encode(), rest)


def _forms(secret: str) -> Iterator[str]:
    """How a tool may print a secret: as it is, percent-encoded or not, in JSON, the password alone."""
    for value in (secret, *_passwords(secret)):
        for form in (value, percent_encode(value, safe=""), percent_decode(value), json.dumps(value)[1:-1]):
            if form:
                yield form


def _passwords(secret: str) -> Iterator[str]:
    try:
        password = urlsplit(secret).password
    except ValueError:  # not a URI
        return
    if password and len(password) >= _SHORTEST_PART:
        yield password


def printable(text: str) -> str:
    """Text from a host without the characters that would drive a terminal."""
    return "".join(c if c.isprintable() or c in "\n\t" else "�" for c in text)
