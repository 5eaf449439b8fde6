"""Detached jobs: one implementation for every transport, on top of short shell scripts and of reading files.

A job outlives the connection that started it. It lives on its host in a directory of its own, mode 0700, of which other
users of the host see nothing; but they may read who holds the host, and its sign of life:

    ${TMPDIR:-/tmp}/benchbrief-<uid>/       gone when nothing is left in it
        <owner>.alive       the owner's sign of life, which its controller changes again and again: a word, and when
                            that was, as the boot of the host and the seconds since
        claim               the run that holds the host (`runners/locks.py`)
        <owner>-<id>/       `id` is a digest of the job's key, or at random
            about           what it is, for people: run, controller, job, command with secrets masked (JSON)
            run             the script that runs the job, in a session and process group of its own
            lock            held (flock) by `run` for as long as it lives: who waits for the job waits for the
                            lock, in the kernel, and a killed `run` releases it too
            boot pid born   which boot of the host, process group, when that began in ticks since the boot:
                            together they are no other process's, ever
            start           epoch seconds by the host's clock, and seconds since its boot
            stdout stderr   of the job
            stopping        there when we are ending it
            unattended      there when it ends itself, as its controller has given no sign of life for so many seconds
            end rc          the same at the end; exit code (or `stopped`, `unattended`); written last, and only when the
                            disk has room
            forget          shell lines that take the secrets out of the files it was given, when it has ended
            work/           the job's working directory, with its files

A directory without `pid` is a job that never began. No decision is taken by the host's clock, which may be stepped.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
import threading
import uuid
from collections.abc import Callable, Collection
from dataclasses import asdict
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path, PurePosixPath
from typing import TypeVar

from benchbrief.runners import job_scripts as scripts
from benchbrief.runners.commands import (
    MASK,
    Masking,
    exec_line,
    exports,
    masked,
    plain,
    printable,
    quote,
    secrets_of,
)
from benchbrief.runners.errors import HostError, HostFull, RunnerError
from benchbrief.runners.fetching import MAX_FETCH, cannot_write, fetch, files_below, sync_directory, write_file
from benchbrief.runners.holders import about, busy
from benchbrief.runners.job_host import JobHost, sh
from benchbrief.runners.keeper import KEEPER
from benchbrief.runners.patience import persistently
from benchbrief.runners.seams import JobState
from benchbrief.runners.tasks import Completed, File, Job, JobOutput, RunName, Secret
from benchbrief.runners.underway import UNDERWAY

_SLICE_S = 60.0
"""A wait on the host ends at least this often, so that nothing is left behind when its controller dies."""
_ODD_WAIT_S = 1.0
_ODD_WAITS = 20
"""So often in a row, and so far apart, a wait that went wrong on the host is made again."""
STOP_GRACE_S = 5.0
_WATCH_EVERY_S = 5.0
"""How often, at most, a job looks for a sign of life of its controller."""
_CLOCK_SET_S = 0.25
"""By how much the clock and the time since boot (in hundredths) disagree when the clock was set meanwhile."""
_RESERVED = ("stdout", "stderr", "command.txt")
_T = TypeVar("_T")


# --- starting -----------------------------------------------------------------------------------------------


def start(host: JobHost, job: Job) -> DetachedJob:
    """Start a job, once, even when the connection breaks while it is started, or the controller is another one by now.

    A job with a key that is there already, running, ended or killed, is attached to: nothing is started. Raises
    HostBusy when another run has taken the host over from us; HostFull, HostError.
    """
    for pattern in job.collect:
        _inside(pattern)
        if pattern in _RESERVED:
            raise RunnerError(f"job {job.name!r} may not collect a file named {pattern!r}", "Name it otherwise.")
    text = _start_script(host, job)
    over = UNDERWAY.job(f"{job.name} on {host.host.id}")  # by now: it may run before its host has told us so
    try:
        directory = _begin(host, job, text)
    except BaseException:
        over()
        raise
    return DetachedJob(host, job, directory, over)


def _begin(host: JobHost, job: Job, text: str) -> str:
    """The directory of the job that this script has started on the host, or found there."""
    done = persistently(host, lambda: sh(host, text, 60))
    _refuse_taken(host, done)
    verdict, _, path = done.stdout.strip().partition(" ")
    said = Masking(secrets_of(job)).text(printable(done.stderr.strip()[-300:]))
    where = host.host.id
    if verdict == "started" and path.startswith("/") and "\n" not in path:
        return path
    if verdict == "full" or "No space left" in said:
        raise HostFull(f"no space left on {where} for {job.name} {printable(path)}".rstrip(), f"Make room on {where}.")
    if verdict == "unsafe":
        raise HostError(
            f"{where}: {printable(path)} is not a directory of {host.host.user or 'our user'} alone",
            f"Remove it on {where}, or set TMPDIR there.",
        )
    if verdict == "locked":
        raise HostError(
            f"{where}: can't start {job.name}: {printable(path)} could not be locked",
            f"Something there hangs, or it is not a local file system: set TMPDIR to one on {where}.",
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


def _refuse_taken(host: JobHost, done: Completed) -> None:
    """Raises HostBusy when the host says that its claim is no longer ours."""
    verdict, *told = done.stdout.splitlines() or [""]
    if verdict == "held" and len(told) == 3:
        raise busy(host.host.id, about(told[0]), told[1], told[2])


def _start_script(host: JobHost, job: Job) -> str:
    command = job.command
    watched = math.isfinite(job.unattended_s)
    tick_s = min(_WATCH_EVERY_S, job.unattended_s / 4)
    run = scripts.with_values(
        f"job() {{\n{exec_line(command)}\n}}\n{scripts.RUN}",
        alive=f"../{host.run_name.owner}.alive",
        tick=f"{tick_s:.3f}" if watched else "0",
        ticks=str(math.ceil(job.unattended_s / tick_s)) if watched else "0",
        unattended=f"{job.unattended_s:g}",
        grace=f"{STOP_GRACE_S:.0f}",
    )
    files = "\n".join(map(_write_line, job.files))
    return scripts.with_values(
        f"write_files() {{\n:\n{files}\n}}\n{scripts.START}",
        owner=host.run_name.owner,
        id=_directory_name(host, job.key),
        token=new_word(),
        claimed=host.claimed.text if host.claimed else "",
        cwd=command.cwd or "",
        about=_about(host.run_name, job),
        env=exports(command),
        run=run,
        forget="".join(map(_forget_line, job.files)),
    )


def _directory_name(host: JobHost, key: str) -> str:
    digest = hashlib.sha256(key.encode("utf-8", "surrogateescape")).hexdigest()[:16] if key else uuid.uuid4().hex
    return f"{host.run_name.owner}-{digest}"


def _about(run: RunName, job: Job) -> str:
    """One line of JSON in ASCII, whatever the names hold."""
    shown = masked(job.command)
    told = {**asdict(run), "job": job.key or job.name, "command": shown if len(shown) <= 2000 else shown[:2000] + "..."}
    return json.dumps(told)


def new_word() -> str:
    """Something that was never written before, always as long."""
    return uuid.uuid4().hex


def tell_alive(host: JobHost) -> None:
    """Change the sign of life of the jobs' controller on a host, when there are jobs. Raises HostBusy, HostError."""
    claimed = host.claimed.text if host.claimed else ""
    script = scripts.with_values(scripts.ALIVE, owner=host.run_name.owner, token=new_word(), claimed=claimed)
    _refuse_taken(host, sh(host, script, 15))


def find(host: JobHost, key: str) -> JobState | None:
    """See `seams.Transport.find`. Raises HostError."""
    script = scripts.with_values(scripts.FIND, id=_directory_name(host, key))
    said = persistently(host, lambda: sh(host, script)).stdout.strip()
    states: dict[str, JobState] = {"running": "running", "ended": "ended", "killed": "killed"}
    if said not in (*states, "none"):
        raise HostError(f"{host.host.id}: can't tell what became of {key}: {printable(said[:200])!r}")
    return states.get(said)


def _write_line(file: File) -> str:
    name = _inside(file.name)
    folder = _inside(str(PurePosixPath(file.name).parent))
    content = quote("".join(map(plain, file.content)))
    return f"mkdir -p -- {folder} && printf %s {content} >{name} || failed"


def _forget_line(file: File) -> str:
    """Writes a file anew without its secrets: what a job left may lie on its host until somebody comes back for it."""
    if not any(isinstance(word, Secret) for word in file.content):
        return ""
    name = _inside(f"work/{file.name}")
    kept = "".join(MASK if isinstance(word, Secret) else word for word in file.content)
    return f"[ ! -e {name} ] || printf %s {quote(kept)} >{name}\n"


def _inside(name: str) -> str:
    """A path below the job's directory, quoted."""
    path = PurePosixPath(name)
    if not name or path.is_absolute() or ".." in path.parts:
        raise RunnerError(f"{name!r} is not a file of the job's own directory", "Use a plain name.")
    return quote(f"./{name}")


def end_leftovers(
    host: JobHost, kept: Collection[str] = (), *, owner: str = "", release: bool = False, keep: bool = False
) -> int:
    """Stop and remove an owner's jobs, the host's own unless named; how many were still running.

    What they have not yet told is lost: the cell that they belong to is to be run again. Jobs with the keys of `kept`
    are left alone. With `release`, the owner's claim of the host is given up too, unless jobs are left there; with
    `keep`, that alone.
    """
    if release and not owner and host.claimed is not None:
        host.claimed.attended()
        host.claimed = None
    script = scripts.with_values(
        scripts.END_LEFTOVERS,
        owner=owner or host.run_name.owner,
        kept=" ".join(_directory_name(host, key) for key in kept),
        grace=f"{STOP_GRACE_S:.0f}",
        release="yes" if release else "",
        keep="yes" if keep else "",
    )
    said = persistently(host, lambda: sh(host, script, 120)).stdout.strip()
    return int(said) if re.fullmatch(r"\d{1,9}", said) else 0


# --- a started job ------------------------------------------------------------------------------------------


class DetachedJob:
    """A job on a host; see `seams.RunningJob`."""

    def __init__(self, host: JobHost, job: Job, directory: str, over: Callable[[], None]) -> None:
        self._host = host
        self._job = job
        self._directory = directory
        self._masking = Masking(secrets_of(job))
        self._stopped = False
        self._ended = threading.Event()
        self._lost: RunnerError | None = None
        self._watcher: threading.Thread | None = None
        self._out_of_touch = False
        self._unheard = KEEPER.keep(host, partial(tell_alive, host), job.unattended_s)
        self._over = over

    def _attended(self) -> None:
        """It has ended: it needs no sign of life any more."""
        self._unheard()
        self._over()

    def wait(self, timeout_s: float) -> bool:
        """True when it has ended. Raises HostError when the host stays away for as long as the job may go on alone."""
        if self._watcher is None:
            self._watcher = threading.Thread(target=self._watch, daemon=True, name=f"watch {self._job.name}")
            self._watcher.start()
        if not self._ended.wait(timeout_s):
            return False
        if self._lost is not None:
            lost, self._lost, self._watcher = self._lost, None, None
            self._ended.clear()
            raise lost
        self._attended()
        return True

    def _watch(self) -> None:
        where = self._host.host.id
        script = scripts.with_values(scripts.WAIT, d=self._directory, slice=f"{_SLICE_S:.0f}")
        # As long as the job may go on alone, its host is waited for; one that says nothing of it is not.
        patience_s = self._job.unattended_s if math.isfinite(self._job.unattended_s) else 0.0
        try:
            odd = 0
            while code := persistently(self._host, partial(self._slice, script), patience_s, self._lose_touch):
                # 1: the slice is over. Any other code comes at once, and may come for ever.
                odd = 0 if code == 1 else odd + 1
                if odd > _ODD_WAITS:
                    raise HostError(f"{where}: can't wait for {self._job.name}: flock ends with code {code}")
                if odd:
                    threading.Event().wait(_ODD_WAIT_S)
        except RunnerError as error:
            self._lost = error
        except Exception as error:  # who waits would wait for ever
            self._lost = HostError(f"{where}: can't wait for {self._job.name}: {error!r}")
        self._ended.set()

    def _slice(self, script: str) -> int:
        code = sh(self._host, script, _SLICE_S + 30).exit_code
        self._out_of_touch = False
        return code

    def _lose_touch(self) -> None:
        self._out_of_touch = True

    @property
    def out_of_touch(self) -> bool:
        return self._out_of_touch

    def stop(self) -> None:
        script = scripts.with_values(f'{scripts.STOP}stop "$d"\n', d=self._directory, grace=f"{STOP_GRACE_S:.0f}")
        said = persistently(self._host, lambda: sh(self._host, script, 2 * STOP_GRACE_S + 30)).stdout.strip()
        if said == "immortal":
            raise HostError(
                f"{self._host.host.id}: {self._job.name} does not end, not even when killed",
                f"They may wait for a device that does not answer: look at the log of {self._host.host.id}.",
            )
        self._stopped = self._stopped or said == "stopped"
        self._attended()

    def tail(self, limit: int = 2000) -> str:
        script = scripts.with_values(scripts.TAIL, d=self._directory, limit=f"{limit:d}")
        text = persistently(self._host, lambda: sh(self._host, script)).stdout
        return printable(self._masking.text(text))[-limit:]

    def collect(self, into: Path) -> JobOutput:
        """Raises DiskFull when the disk is full here, HostFull when it was there, HostError when the job vanished.

        What it left is fetched first in every case, and stays on the host until `discard`.
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
        started, ended = _span(state.get("start", ""), state.get("end", ""))
        rc = state.get("rc", "")
        if rc == "unattended" or (not rc and "unattended" in state):
            raise HostError(
                f"{where}: {self._job.name} stopped itself: no sign of its controller for "
                f"{state.get('unattended') or f'{self._job.unattended_s:g}'} s; what it wrote is in {into}",
                f"Was the controller down, or {where} cut off from it, for so long?",
            )
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

    def discard(self) -> None:
        """Raises HostError when the job still runs."""
        script = scripts.with_values(
            scripts.DISCARD, d=self._directory, owner=self._host.run_name.owner, grace=f"{STOP_GRACE_S:.0f}"
        )
        said = persistently(self._host, lambda: sh(self._host, script)).stdout.strip()
        if said == "running":
            raise HostError(f"{self._host.host.id}: {self._job.name} is still running", "Stop it first.")
        self._attended()

    def _state(self) -> dict[str, str]:
        done = persistently(self._host, lambda: sh(self._host, scripts.with_values(scripts.STATE, d=self._directory)))
        pairs = (line.partition("\t") for line in done.stdout.splitlines()[:10])
        return {key: value.strip() for key, _, value in pairs}

    def _fetch(self, into: Path) -> None:
        wanted = {"stdout": f"{self._directory}/stdout", "stderr": f"{self._directory}/stderr"}
        if self._job.collect:
            found = persistently(self._host, lambda: list(files_below(self._host, f"{self._directory}/work")))
            for name, _ in found:
                if name not in _RESERVED and any(fnmatchcase(name, pattern) for pattern in self._job.collect):
                    wanted[name] = f"{self._directory}/work/{name}"
        try:
            into.mkdir(parents=True, exist_ok=True)
            command = f"{masked(self._job.command)}\n".encode("utf-8", "surrogateescape")
            write_file(into / "command.txt", [command])
        except OSError as error:
            raise cannot_write(error, into) from error
        left = MAX_FETCH
        for name, path in wanted.items():
            left -= persistently(self._host, partial(fetch, self._host, path, into / name, left, self._masking))
        sync_directory(into)


def _exit_code(status: int) -> int:
    """A shell's 128 + n for a process that signal n ended becomes -n."""
    return 128 - status if 128 < status <= 192 else status


def _span(start: str, end: str) -> tuple[float | None, float | None]:
    """The two moments in epoch seconds. One that came after the clock was set is where the time since boot puts it."""
    first, second = (re.fullmatch(r"(\d{1,11}(?:\.\d{0,9})?)(?: (\d{1,12}\.\d{1,3}))?", text) for text in (start, end))
    if first is None or second is None:
        return (float(first[1]) if first else None, float(second[1]) if second else None)
    started, ended = float(first[1]), float(second[1])
    if first[2] and second[2]:
        by_boot = started + float(second[2]) - float(first[2])
        ended = by_boot if abs(by_boot - ended) > _CLOCK_SET_S else ended
    return started, ended
