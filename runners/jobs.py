"""Detached jobs: one implementation for every transport, on top of short shell scripts and of reading files.

A job outlives the connection that started it. It lives on its host in a directory of its own, mode 0700:

    ${TMPDIR:-/tmp}/benchbrief-<uid>/<owner>-<id>/
        run             the script that runs the job, in a session and process group of its own
        lock            held (flock) by `run` for as long as it lives: who waits for the job waits for the
                        lock, in the kernel, and a killed `run` releases it too
        boot pid start  which boot of the host, process group, epoch seconds by the host's clock
        stdout stderr   of the job
        end rc          epoch seconds, exit code (or `stopped`); written last, and only when the disk has room
        work/           the job's working directory, with its files
"""

from __future__ import annotations

import errno
import os
import re
import stat
import threading
import uuid
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Protocol, TypeVar

from benchbrief.compiler.plan import Host
from benchbrief.runners.commands import Masking, exec_line, exports, masked, plain, quote, secrets_of
from benchbrief.runners.seams import (
    Command,
    Completed,
    DiskFull,
    File,
    HostError,
    HostFull,
    Job,
    JobOutput,
    RunnerError,
)

_SLICE_S = 60.0
"""A wait on the host ends at least this often, so that nothing is left behind when its controller dies."""
_STOP_GRACE_S = 5.0
_RETRY_AFTER_S = (0.1, 0.3, 1.0, 2.0, 4.0, 8.0)
_MAX_FETCH = 2 << 30
_MAX_ENTRIES = 10_000
_RESERVED = ("stdout", "stderr", "command.txt")

_T = TypeVar("_T")


class ConnectionLost(HostError):
    """The connection to a host broke. What was running there as a job still runs."""


@dataclass(frozen=True)
class Entry:
    """A name in a directory of a host. `size` is None for what is not a regular file."""

    name: str
    size: int | None
    directory: bool = False


def entry(name: str, mode: int, size: int) -> Entry:
    return Entry(name, size if stat.S_ISREG(mode) else None, stat.S_ISDIR(mode))


class JobHost(Protocol):
    """What jobs need of a transport. Each may raise ConnectionLost, and connects again when called again.

    `owner` is in the names of the jobs' directories, so that a run that is resumed knows its own.
    """

    host: Host
    owner: str

    def run(self, command: Command, *, timeout_s: float = 30.0, stdin: str = "") -> Completed: ...

    def entries(self, directory: str) -> list[Entry]: ...

    def read(self, path: str, limit: int) -> Iterator[bytes]:
        """The first `limit` bytes of a file, in pieces."""
        ...


def sh(host: JobHost, script: str, timeout_s: float = 30.0) -> Completed:
    """Run one of our own scripts: it goes in on standard input, so that no process list shows it."""
    return host.run(Command(("sh",)), stdin=script, timeout_s=timeout_s)


# --- starting -----------------------------------------------------------------------------------------------

_START = """\
old_umask=$(umask)
umask 077
root="${{TMPDIR:-/tmp}}/benchbrief-$(id -u)"
mkdir -p -- "$root" 2>/dev/null
if [ ! -d "$root" ] || [ -L "$root" ] || [ ! -O "$root" ]; then echo "unsafe $root"; exit 1; fi
chmod 700 -- "$root"
d="$root/{id}"
failed() {{
    why=$(LC_ALL=C; export LC_ALL; {{ head -c 65536 /dev/zero >"$root/room"; }} 2>&1)
    case $why in *"No space left"*|*"quota exceeded"*) echo "full $root";; *) echo failed; echo "$why" >&2;; esac
    rm -rf -- "$d" "$root/room"
    exit 1
}}
if [ -s "$d/pid" ]; then echo "started $d"; exit 0; fi
for tool in setsid flock; do
    command -v $tool >/dev/null || {{ echo "lacks $tool"; exit 1; }}
done
[ -r /proc/sys/kernel/random/boot_id ] || {{ echo "lacks /proc"; exit 1; }}
{check}
mkdir -p -- "$d/work" && cd -- "$d/work" || failed
{files}
cd .. || failed
printf %s {env} >env || failed
{{ echo "old_umask=$old_umask"; printf %s {run}; }} >run || failed
said=$(setsid -f sh ./run 2>&1 </dev/null)
[ -s pid ] || {{ printf '%s\\n' "$said" >&2; failed; }}
echo "started $d"
"""

# `exec 9>&-` keeps the lock out of the job, so that it tells of this script alone. Ignored signals would be
# inherited by the job, trapped ones are not. The last line ends what the job left running in its group, this
# script included (dash's `kill` knows no `--`).
_RUN = """\
umask 077
exec 9>lock
flock -x 9 || exit 1
trap : TERM INT HUP
cat /proc/sys/kernel/random/boot_id >boot
date +%s.%N >start || exit 1
echo $$ >pid || exit 1
exec >/dev/null 2>&1
(
    exec 9>&-
    cd work || exit 126
    . ../env
    rm -f ../env
    umask "$old_umask"
    {exec_line}
) </dev/null >stdout 2>stderr
rc=$?
date +%s.%N >end
head -c 65536 /dev/zero >room && rm room && echo $rc >rc.tmp && mv rc.tmp rc
kill -KILL -$$
"""


def start(host: JobHost, job: Job) -> DetachedJob:
    """Start a job, once, even when the connection breaks while it is started. Raises HostFull or HostError."""
    identity = f"{host.owner}-{uuid.uuid4().hex}"
    command = job.command
    check = ""
    if command.cwd is not None:
        where = quote(command.cwd)
        check = f'[ -d {where} ] || {{ echo "no directory "{where} >&2; echo failed; exit 1; }}'
    text = _START.format(
        id=identity,
        check=check,
        files="\n".join(map(_write_line, job.files)),
        env=quote(exports(command)),
        run=quote(_RUN.format(exec_line=exec_line(command))),
    )
    for pattern in job.collect:
        _inside(pattern)
        if pattern in _RESERVED:
            raise RunnerError(f"job {job.name!r} may not collect a file named {pattern!r}", "Name it otherwise.")
    done = _persistently(lambda: sh(host, text))
    verdict, _, path = done.stdout.strip().partition(" ")
    said = Masking(secrets_of(job)).text(printable(done.stderr.strip()[-300:]))
    where = host.host.id
    if verdict == "started" and path.startswith("/") and "\n" not in path:
        return DetachedJob(host, job, path)
    if verdict == "full" or "No space left" in said:
        raise HostFull(f"no space left on {where} for {job.name} {printable(path)}".rstrip(), f"Make room on {where}.")
    if verdict == "unsafe":
        raise HostError(
            f"{where}: {printable(path)} is not a directory of {host.host.user or 'our user'} alone",
            f"Remove it on {where}, or set TMPDIR there.",
        )
    if verdict == "lacks":
        raise HostError(
            f"{where}: can't start {job.name}: the host has no {printable(path)}",
            "Benchmarks run on Linux hosts with util-linux (setsid, flock); from another system, name them by SSH.",
        )
    raise HostError(
        f"{where}: can't start {job.name}: {said or 'the shell said nothing'}",
        "Jobs need sh, setsid, flock (util-linux) and a directory that can be written.",
    )


def _write_line(file: File) -> str:
    name = _inside(file.name)
    folder = _inside(str(PurePosixPath(file.name).parent))
    content = quote("".join(map(plain, file.content)))
    return f"mkdir -p -- {folder} && printf %s {content} >{name} || failed"


def _inside(name: str) -> str:
    """A path below the job's directory, quoted."""
    path = PurePosixPath(name)
    if not name or path.is_absolute() or ".." in path.parts:
        raise RunnerError(f"{name!r} is not a file of the job's own directory", "Use a plain name.")
    return quote(f"./{name}")


def end_leftovers(host: JobHost) -> int:
    """Stop and remove the owner's jobs, which an earlier controller left behind; how many were still running.

    What they have not yet told is lost: the cell that they belong to is to be run again.
    """
    script = _END_LEFTOVERS.format(owner=quote(host.owner), stop=_STOP.format(d='"$d"', grace=f"{_STOP_GRACE_S:.0f}"))
    said = _persistently(lambda: sh(host, script, 120)).stdout.strip()
    return int(said) if said.isdigit() else 0


# --- a started job ------------------------------------------------------------------------------------------

_STOP = """\
cd -- {d} || exit 0
pid=$(cat pid)
if flock -n -s lock true; then
    # It has ended; or `run` alone was killed, and the rest of its group, whose number can't be taken yet, was not.
    [ -e rc ] || [ "$(cat boot)" != "$(cat /proc/sys/kernel/random/boot_id)" ] || kill -KILL "-$pid"
    exit 0
fi
kill -TERM "-$pid"
flock -w {grace} -s lock true && [ -e rc ] && {{ echo stopped; exit 0; }}
kill -KILL "-$pid"
flock -w {grace} -s lock true || {{ echo immortal; exit 0; }}
date +%s.%N >end
head -c 65536 /dev/zero >room && rm room && echo stopped >rc
echo stopped
"""

_END_LEFTOVERS = """\
root="${{TMPDIR:-/tmp}}/benchbrief-$(id -u)"
running=0
for d in "$root"/{owner}-*; do
    [ -d "$d" ] && [ -O "$d" ] || continue
    flock -n -s "$d/lock" true || running=$((running + 1))
    (
{stop}
    ) >/dev/null 2>&1
    rm -rf -- "$d"
done
echo "$running"
"""

_STATE = """\
cd -- {d} || {{ echo "gone	yes"; exit 0; }}
if flock -n -s lock true; then echo "running	no"; else echo "running	yes"; fi
for f in start end rc; do [ -e $f ] && printf '%s\\t%s\\n' $f "$(head -c 40 $f)"; done
if head -c 65536 /dev/zero >room; then echo "room	yes"; else echo "room	no"; fi
rm -f room
"""


class DetachedJob:
    """A job on a host; see `seams.RunningJob`."""

    def __init__(self, host: JobHost, job: Job, directory: str) -> None:
        self._host = host
        self._job = job
        self._directory = directory
        self._masking = Masking(secrets_of(job))
        self._stopped = False
        self._ended = threading.Event()
        self._lost: RunnerError | None = None
        self._watcher: threading.Thread | None = None

    def wait(self, timeout_s: float) -> bool:
        """True when it has ended. Survives a broken connection; raises HostError when the host stays away."""
        if self._watcher is None:
            self._watcher = threading.Thread(target=self._watch, daemon=True, name=f"watch {self._job.name}")
            self._watcher.start()
        if not self._ended.wait(timeout_s):
            return False
        if self._lost is not None:
            lost, self._lost, self._watcher = self._lost, None, None
            self._ended.clear()
            raise lost
        return True

    def _watch(self) -> None:
        script = f"cd -- {quote(self._directory)} || exit 0; flock -w {_SLICE_S:.0f} -s lock true"
        try:
            while _persistently(lambda: sh(self._host, script, _SLICE_S + 30)).exit_code != 0:
                pass
        except RunnerError as error:
            self._lost = error
        self._ended.set()

    def stop(self) -> None:
        script = _STOP.format(d=quote(self._directory), grace=f"{_STOP_GRACE_S:.0f}")
        said = _persistently(lambda: sh(self._host, script, 2 * _STOP_GRACE_S + 30)).stdout.strip()
        if said == "immortal":
            raise HostError(
                f"{self._host.host.id}: {self._job.name} does not end, not even when killed",
                f"They may wait for a device that does not answer: look at the log of {self._host.host.id}.",
            )
        self._stopped = self._stopped or said == "stopped"

    def tail(self, limit: int = 2000) -> str:
        script = f"cd -- {quote(self._directory)} && tail -q -c {limit:d} stderr stdout"
        text = _persistently(lambda: sh(self._host, script)).stdout
        return printable(self._masking.text(text))[-limit:]

    def collect(self, into: Path) -> JobOutput:
        """Raises DiskFull when the disk is full here, HostFull when it was there, HostError when the job vanished.

        What it left is fetched first in every case; its directory is removed only when all of it is here.
        """
        state = self._state()
        where = self._host.host.id
        if state.get("gone"):
            raise HostError(
                f"{where}: the directory of {self._job.name} has gone: {self._directory}",
                "Was it removed, or the host restarted?",
            )
        if state.get("running") != "no":
            raise HostError(f"{where}: {self._job.name} is still running", "Stop it first.")
        self._fetch(into)
        _persistently(lambda: sh(self._host, f"rm -rf -- {quote(self._directory)}"))
        started = _epoch(state.get("start", ""))
        ended = _epoch(state.get("end", ""))
        rc = state.get("rc", "")
        if not rc:
            if "end" in state or state.get("room") != "yes":
                raise HostFull(
                    f"no space left on {where}: {self._job.name} could not write to {self._directory}",
                    f"Make room on {where}.",
                )
            raise HostError(
                f"{where}: {self._job.name} was killed from outside; what it wrote is in {into}",
                f"Look at the log of {where} for a restart or for a lack of memory.",
            )
        if started is None or ended is None or not re.fullmatch(r"stopped|\d{1,3}", rc):
            raise HostError(f"{where}: can't read the state of {self._job.name}", f"Does `date` work on {where}?")
        by_us = self._stopped or rc == "stopped"
        return JobOutput(into, None if by_us else _exit_code(int(rc)), started, ended, where)

    def _state(self) -> dict[str, str]:
        done = _persistently(lambda: sh(self._host, _STATE.format(d=quote(self._directory))))
        pairs = (line.partition("\t") for line in done.stdout.splitlines()[:10])
        return {key: value.strip() for key, _, value in pairs}

    def _fetch(self, into: Path) -> None:
        wanted = {"stdout": f"{self._directory}/stdout", "stderr": f"{self._directory}/stderr"}
        if self._job.collect:
            found = _persistently(lambda: list(_files(self._host, f"{self._directory}/work")))
            for name, _ in found:
                if name not in _RESERVED and any(fnmatchcase(name, pattern) for pattern in self._job.collect):
                    wanted[name] = f"{self._directory}/work/{name}"
        try:
            into.mkdir(parents=True, exist_ok=True)
            command = f"{masked(self._job.command)}\n".encode("utf-8", "surrogateescape")
            write_file(into / "command.txt", [command])
        except OSError as error:
            raise _cannot_write(error, into) from error
        left = _MAX_FETCH
        for name, path in wanted.items():
            left -= _persistently(partial(fetch, self._host, path, into / name, left, self._masking))
        _sync_directory(into)


def _persistently(call: Callable[[], _T]) -> _T:
    """The call's result; a broken connection is opened again a few times. The calls are safe to repeat."""
    for pause in _RETRY_AFTER_S:
        try:
            return call()
        except ConnectionLost:
            threading.Event().wait(pause)
    return call()


def _files(host: JobHost, root: str) -> Iterator[tuple[str, int]]:
    """Regular files below a directory: (relative path, size). Links are not followed, odd names not believed."""
    waiting = [""]
    seen = 0
    while waiting:
        below = waiting.pop()
        for entry in host.entries(f"{root}/{below}".rstrip("/")):
            seen += 1
            if seen > _MAX_ENTRIES:
                raise HostError(f"{host.host.id}: over {_MAX_ENTRIES} files in {root}", "Collect fewer files.")
            if entry.name in ("", ".", "..") or "/" in entry.name or "\0" in entry.name:
                continue
            name = f"{below}/{entry.name}".lstrip("/")
            if entry.directory:
                waiting.append(name)
            elif entry.size is not None:
                yield name, entry.size


def fetch(host: JobHost, path: str, to: Path, limit: int = _MAX_FETCH, masking: Masking | None = None) -> int:
    """Fetch a file and return its size. Raises DiskFull without room here, HostError for one over the limit."""
    size = 0

    def counted() -> Iterator[bytes]:
        nonlocal size
        for piece in host.read(path, limit + 1):
            size += len(piece)
            yield piece

    try:
        to.parent.mkdir(parents=True, exist_ok=True)
        write_file(to, masking.stream(counted()) if masking else counted())
    except OSError as error:
        raise _cannot_write(error, to) from error
    if size > limit:
        to.unlink()
        raise HostError(
            f"{host.host.id}: {path} is too large to fetch: what a job leaves may have {_MAX_FETCH >> 30} GiB",
            "It is still there: make the tool write less, or fetch it by hand.",
        )
    return size


def write_file(path: Path, pieces: Iterable[bytes]) -> None:
    """Write a file (0600) and see it on the disk; nothing half-written stays when that fails."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            for piece in pieces:
                file.write(piece)
            file.flush()
            os.fsync(file.fileno())
    except BaseException:
        path.unlink(missing_ok=True)
        raise


def _sync_directory(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def is_full(error: OSError) -> bool:
    return error.errno in (errno.ENOSPC, errno.EDQUOT)


def _cannot_write(error: OSError, path: Path) -> RunnerError:
    if is_full(error):
        return DiskFull(f"no space left on the controller for {path}", "free some space, then `bench resume`")
    return RunnerError(f"can't write {path}: {error.strerror}", "The output is still on the host.")


def _exit_code(status: int) -> int:
    """A shell's 128 + n for a process that signal n ended becomes -n."""
    return 128 - status if 128 < status <= 192 else status


def _epoch(text: str) -> float | None:
    return float(text) if re.fullmatch(r"\d{9,11}(\.\d{0,9})?", text) else None


def printable(text: str) -> str:
    """Text from a host without the characters that would drive a terminal."""
    return "".join(c if c.isprintable() or c in "\n\t" else "�" for c in text)
