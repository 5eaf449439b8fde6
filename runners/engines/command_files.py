"""Facts about files that declared commands name, such as scripts. Their contents shape results as much as the commands
do.

A file is identified by its SHA-256, or a very large file by its size and the time of its last change. Files are left
out if a command writes them, if they are in the database's directory or in system folders, or if they are not plain
files.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path

from benchbrief.model.plan import Database, Hardware
from benchbrief.runners.hosts.host_connections import is_on_controller
from benchbrief.runners.jobs.commands import read_script
from benchbrief.runners.jobs.connection_retry import run_persistently
from benchbrief.runners.jobs.tasks import Command
from benchbrief.runners.seams import Hosts

FACT = "file "
"""The beginning of each fact's name. `PATH on HOST` follows."""
_TIMEOUT_S = 120.0
_NESTED_AT_MOST = 3

_LOOK = read_script(__file__, "scripts/command_digests.sh")


def command_files(database: Database, hardware: Hardware, hosts: Hosts) -> dict[str, str]:
    """Return the digests of the files that the commands of a database and its hardware name, by path and host.

    Facts are listed for each host, even if hosts agree, so that facts from two times can be compared by name. Raises
    RunnerError if a host can't be reached.
    """
    facts: dict[str, str] = {}
    for host_id in hardware.hosts:
        names = list(dict.fromkeys(name for line in _lines(database, hardware, host_id) for name in named_words(line)))
        if not names:
            continue
        at = hosts[host_id]
        here = str(Path.cwd()) if is_on_controller(at.host) else ""
        command = Command(("sh", "-c", _LOOK, "sh", here, database.path or "", *names))
        for line in run_persistently(at, command, timeout_s=_TIMEOUT_S).stdout.splitlines():
            number, _, said = line.partition(" ")
            facts[f"{FACT}{names[int(number) - 1]} on {host_id}"] = said
    return facts


def rename_hosts(facts: Mapping[str, str], called: Mapping[str, str]) -> dict[str, str]:
    """Return the facts with each host's old name replaced by its current one. `called` maps old names to current
    ones."""
    found: dict[str, str] = {}
    for name, said in facts.items():
        path, on, host_id = name.rpartition(" on ")
        known = name.startswith(FACT) and on and host_id in called
        found[f"{path} on {called[host_id]}" if known else name] = said
    return found


def _lines(database: Database, hardware: Hardware, host_id: str) -> Iterator[str]:
    """Yield the commands that run on a host before a measurement."""
    yield from hardware.prepare
    for hook in database.hooks:
        if hook.when != "teardown" and (hook.on == "each" or host_id == hardware.hosts[0]):
            yield hook.line


def named_words(line: str, depth: int = 0) -> Iterator[str]:
    """Yield the words of a shell line that may be names of files. The line may read or run these files."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    lexer.commenters = ""
    try:
        words = list(lexer)
    except ValueError:  # an open quote: the shell refuses the line
        return
    written = False
    for word in words:
        if set(word) <= set("();<>|&"):
            written = ">" in word
            continue
        if not written:
            yield from _file_names(word)
            if depth < _NESTED_AT_MOST and any(c.isspace() for c in word):  # as in sh -c '...'
                yield from named_words(word, depth + 1)
        written = False


def _file_names(word: str) -> Iterator[str]:
    """Yield a word, and the value that it sets (such as `/path` in `--file=/path`), if they can be file names."""
    for text in (word, word.partition("=")[2]):
        name = text.replace("${HOME}", "~").replace("$HOME", "~")
        if name and not name.startswith("-") and not set(name) & set("$*?[`"):
            yield name
