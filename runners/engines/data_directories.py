"""Data directories on hosts: which ones benchbrief may empty, and how to take and restore snapshots of them.

A directory is ours only if it holds our marker. We write the marker when we make the directory or find it empty, and we
remove nothing from other directories. A snapshot lies in the directory itself. It is therefore on the same device, and
file systems that can share blocks need not copy them.
"""

from __future__ import annotations

from contextlib import suppress

from benchbrief.model.message import Message
from benchbrief.model.run_messages import say
from benchbrief.runners.errors import Interrupted, RunnerError
from benchbrief.runners.jobs.commands import read_script, with_values
from benchbrief.runners.jobs.connection_retry import run_persistently
from benchbrief.runners.jobs.long_commands import run_to_end
from benchbrief.runners.jobs.tasks import Command, Completed, Job
from benchbrief.runners.seams import Stopping, Transport

MARKER = "BENCHBRIEF"
"""The name of the marker file, which makes a directory ours."""
SNAPSHOT = "BENCHBRIEF.snapshot"
"""The name of the folder that holds the snapshot, inside the directory."""
LIST = "BENCHBRIEF.files"
"""The file in a snapshot that lists the names, sizes and times of its files."""
_TIMEOUT_S = 600.0
_COPY_TIMEOUT_S = 6 * 3600.0


def _script(name: str) -> str:
    return with_values(read_script(__file__, f"scripts/{name}.sh"), marker=MARKER, snapshot=SNAPSHOT, list=LIST)


# Every script gets the directory as $1. It exits with 0, or exits with 1 and prints why: the output of a program, or in
# its last line `@`, one of these codes, and a detail.
_WHY = frozenset(
    {
        *("directory_relative", "directory_unmade", "directory_root", "directory_home", "directory_readonly"),
        *("directory_taken", "directory_unowned", "snapshot_missing", "snapshot_edited"),
        *("link_unkept", "links_impossible"),
    }
)
_OPEN = _script("open_directory")

_EMPTY = _script("empty_directory")

TAKE = _script("take_snapshot")
"""The script that copies the directory's contents into a snapshot."""

RESTORE = _script("restore_snapshot")
"""The script that copies the snapshot back into the directory."""

_FORGET_HALF = f'rm -rf -- "$1/{SNAPSHOT}.new"'

_MARK = _script("mark_directory")

_MARKED = f'cat -- "$1/{MARKER}" 2>/dev/null || true'

_MARKED_SNAPSHOT = _script("marked_snapshot")


def warn_of_aged(writers: int) -> tuple[str, ...]:
    """Return a remark about how many cells have written to the data set since its load. If none has, return no
    remark."""
    if not writers:
        return ()
    return (say.aged(n=writers),)


def open_directory(host: Transport, path: str) -> str | None:
    """Claim the directory if it is not ours yet. Returns the problem, or None on success."""
    return _said(path, _run(host, _OPEN, path))


def look_at_directory(host: Transport, path: str) -> str | None:
    """Return the problem that would keep `open_directory` from claiming the directory, or None. Changes nothing."""
    return _said(path, _run(host, _OPEN, path, "look"))


def empty_directory(host: Transport, path: str) -> str | None:
    """Remove all contents and the snapshot, and clear the marker. Returns the problem, or None on success."""
    return _said(path, _run(host, _EMPTY, path))


def take_snapshot(host: Transport, path: str, stopping: Stopping, script: str = TAKE) -> str | None:
    """Run `script` to take a snapshot of all contents. The process that writes the contents must have ended.

    Returns the problem, or None on success. Raises Interrupted.
    """
    try:
        return _copied(host, "snapshot", script, path, stopping)
    except Interrupted:
        with suppress(RunnerError):  # the next attempt begins with this
            _run(host, _FORGET_HALF, path)
        raise


def restore_snapshot(host: Transport, path: str, stopping: Stopping, script: str = RESTORE) -> str | None:
    """Replace all contents by the snapshot's. An interrupted restore leaves an empty marker, so the contents do not
    count as a data set.

    Returns the problem, or None on success. Raises Interrupted.
    """
    return _copied(host, "restore", script, path, stopping)


def _copied(host: Transport, name: str, script: str, path: str, stopping: Stopping) -> str | None:
    job = Job(name, Command(("sh", "-c", script, "sh", path)), timeout_s=_COPY_TIMEOUT_S)
    ran = run_to_end(host, job, stopping)
    if ran.exit_code is None:
        return say.copy_late(hours=f"{_COPY_TIMEOUT_S / 3600:.0f}")
    return None if ran.exit_code == 0 else _why(path, ran.said) or say.exit_code(code=ran.exit_code)


def mark_directory(host: Transport, path: str, text: str) -> str | None:
    """Write a text into the marker. Returns the problem, or None on success."""
    return _said(path, _run(host, _MARK, path, text))


def read_mark(host: Transport, path: str, *, snapshot: bool = False) -> str:
    """Return the text in the marker of the directory or of its snapshot. Returns "" if there is no marker, or if the
    snapshot's files have changed."""
    return _run(host, _MARKED_SNAPSHOT if snapshot else _MARKED, path).stdout.strip()


def _said(path: str, done: Completed) -> str | None:
    if done.exit_code == 0:
        return None
    return _why(path, done.stdout.strip() or done.stderr.strip()) or say.exit_code(code=done.exit_code)


def _why(path: str, said: str) -> str:
    """Return the output of a script, followed by the sentence for its exit code."""
    words, _, last = said.rpartition("\n")
    code, _, other = last.removeprefix("@").partition(" ")
    if not last.startswith("@") or code not in _WHY:
        return said[:300]
    why = Message(code, {"path": path, "other": other[:100], "marker": MARKER})
    return say.both(first=words[:300], then=why) if words else why


def _run(host: Transport, script: str, path: str, *arguments: str, timeout_s: float = _TIMEOUT_S) -> Completed:
    with host.session.underway.waited_for(f"{path} on {host.host.id}", timeout_s, short=True):
        return run_persistently(host, Command(("sh", "-c", script, "sh", path, *arguments)), timeout_s=timeout_s)
