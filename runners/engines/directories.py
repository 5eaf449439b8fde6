"""Data directories on hosts: which are ours to empty, and snapshots of what is in them.

A directory is ours only when it holds our marker, which is written when we make it or find it empty: nothing else is
ever removed. A snapshot lies in the directory itself, so that it is on the same device, where a file system that can
does not copy what both have in common.
"""

from __future__ import annotations

from contextlib import suppress

from benchbrief.runners.attended_jobs import run_to_end
from benchbrief.runners.errors import Interrupted, RunnerError
from benchbrief.runners.patience import run_persistently
from benchbrief.runners.seams import Stopping, Transport
from benchbrief.runners.tasks import Command, Completed, Job
from benchbrief.runners.underway import UNDERWAY

MARKER = "BENCHBRIEF"
SNAPSHOT = "BENCHBRIEF.snapshot"
_TIMEOUT_S = 600.0
_COPY_TIMEOUT_S = 6 * 3600.0

# Every script gets the directory as $1 and leaves with 0, or says why not on standard output and leaves with 1.
_OPEN = f"""\
d=$1; marker={MARKER}
case $d in /*) ;; *) echo "$d is not an absolute path"; exit 1 ;; esac
mkdir -p -- "$d" 2>/dev/null && [ -d "$d" ] || {{ echo "$d can't be made"; exit 1; }}
real=$(readlink -f -- "$d")
home=$(readlink -f -- "${{HOME:-/}}")
case $real in
    / | "$home") echo "$d is $([ "$real" = / ] && echo "the root directory" || echo "a home directory")"; exit 1 ;;
esac
[ -w "$d" ] || {{ echo "$d can't be written"; exit 1; }}
if [ ! -f "$d/$marker" ]; then
    other=$(ls -A -- "$d" | grep -vxF lost+found | head -n 1)
    [ -z "$other" ] || {{ echo "$d is not empty ($other), and was not made by benchbrief"; exit 1; }}
    : >"$d/$marker" || exit 1
fi
"""

_EMPTY = f"""\
cd -- "$1" && [ -f {MARKER} ] || {{ echo "$1 does not hold the marker {MARKER}"; exit 1; }}
: >{MARKER}
find . -mindepth 1 -maxdepth 1 ! -name {MARKER} ! -name lost+found -exec rm -rf -- {{}} +
"""

# It counts only when it has its name: a copy that was cut short has not.
_TAKE = f"""\
cd -- "$1" && [ -f {MARKER} ] || {{ echo "$1 does not hold the marker {MARKER}"; exit 1; }}
rm -rf -- {SNAPSHOT} {SNAPSHOT}.new && mkdir -- {SNAPSHOT}.new || exit 1
find . -mindepth 1 -maxdepth 1 ! -name lost+found ! -name '{SNAPSHOT}*' \\
    -exec cp -a --reflink=auto -t {SNAPSHOT}.new -- {{}} + 2>&1 || exit 1
sync -f . && mv -- {SNAPSHOT}.new {SNAPSHOT}
"""

_RESTORE = f"""\
cd -- "$1" && [ -f {SNAPSHOT}/{MARKER} ] || {{ echo "there is no snapshot in $1"; exit 1; }}
find . -mindepth 1 -maxdepth 1 ! -name {MARKER} ! -name lost+found ! -name '{SNAPSHOT}*' -exec rm -rf -- {{}} +
: >{MARKER}
find {SNAPSHOT} -mindepth 1 -maxdepth 1 ! -name {MARKER} -exec cp -a --reflink=auto -t . -- {{}} + 2>&1 || exit 1
cp -- {SNAPSHOT}/{MARKER} {MARKER}.new && sync -f . && mv -- {MARKER}.new {MARKER}
"""

_FORGET_HALF = f'rm -rf -- "$1/{SNAPSHOT}.new"'

# It is renamed into place: it says something either fully or not at all.
_MARK = f"""\
cd -- "$1" && [ -f {MARKER} ] || {{ echo "$1 does not hold the marker {MARKER}"; exit 1; }}
printf %s "$2" >{MARKER}.new && sync -- {MARKER}.new && mv -- {MARKER}.new {MARKER}
"""

_MARKED = f'cat -- "$1/{MARKER}" 2>/dev/null || true'


def aged(writers: int) -> tuple[str, ...]:
    """What is to be told of a data set to which so many cells wrote since it was loaded."""
    if not writers:
        return ()
    cells = f"{writers} earlier cell{'s' if writers > 1 else ''}"
    return (f"the data set had been written to by {cells} since it was loaded: it is not as a load leaves it",)


def open_directory(host: Transport, path: str) -> str | None:
    """Make it ours, if it is not yet; None when it went well, else what is wrong with it."""
    return _said(_run(host, _OPEN, path))


def empty(host: Transport, path: str) -> str | None:
    """Remove all that is in it, snapshot and all, but for the marker, which then says nothing; as `open_directory`."""
    return _said(_run(host, _EMPTY, path))


def take_snapshot(host: Transport, path: str, stopping: Stopping) -> str | None:
    """Copy all that is in it; who wrote it has ended. As `open_directory`. Raises Interrupted."""
    try:
        return _copied(host, "snapshot", _TAKE, path, stopping)
    except Interrupted:
        with suppress(RunnerError):  # the next one begins with that
            _run(host, _FORGET_HALF, path)
        raise


def restore_snapshot(host: Transport, path: str, stopping: Stopping) -> str | None:
    """Put everything in it back as the snapshot has it; as `take_snapshot`. Cut short, it counts for nothing."""
    return _copied(host, "restore", _RESTORE, path, stopping)


def _copied(host: Transport, name: str, script: str, path: str, stopping: Stopping) -> str | None:
    job = Job(name, Command(("sh", "-c", script, "sh", path)), timeout_s=_COPY_TIMEOUT_S)
    ran = run_to_end(host, job, stopping)
    if ran.exit_code is None:
        return f"it took longer than {_COPY_TIMEOUT_S / 3600:.0f} h"
    return None if ran.exit_code == 0 else ran.said or f"code {ran.exit_code}"


def mark(host: Transport, path: str, text: str) -> str | None:
    """Have the marker say something; as `open_directory`."""
    return _said(_run(host, _MARK, path, text))


def marked(host: Transport, path: str, *, snapshot: bool = False) -> str:
    """What the marker of the directory, or of its snapshot, says; "" where there is none."""
    folder = f"{path}/{SNAPSHOT}" if snapshot else path
    return _run(host, _MARKED, folder).stdout.strip()


def _said(done: Completed) -> str | None:
    if done.exit_code == 0:
        return None
    return (done.stdout.strip() or done.stderr.strip() or f"code {done.exit_code}")[:300]


def _run(host: Transport, script: str, path: str, *arguments: str, timeout_s: float = _TIMEOUT_S) -> Completed:
    with UNDERWAY.waited_for(f"{path} on {host.host.id}", timeout_s, short=True):
        return run_persistently(host, Command(("sh", "-c", script, "sh", path, *arguments)), timeout_s=timeout_s)
