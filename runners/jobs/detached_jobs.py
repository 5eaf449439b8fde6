"""Detached jobs: one implementation for every transport, which needs only short shell scripts and file reads.

A job outlives the connection that started it. It lives on its host in its own directory, which has mode 0700, so that
other users of the host can't read it. They can read only who holds the host, and the owner's sign of life:

    ${TMPDIR:-/tmp}/benchbrief-<uid>/       removed when it is empty
        <owner>.alive       the owner's sign of life, which its controller keeps changing: a word, and its time as the
                            host's boot and the seconds since
        claim               the run that holds the host (`host_claims.py`)
        <owner>-<id>/       `id` is a digest of the job's key, or random
            about           a description for people: run, controller, job, command with secrets masked (JSON)
            run             the script that runs the job, in a session and process group of its own
            lock            held (flock) by `run` while it lives: a wait for the job is a wait for this lock in the
                            kernel, and a killed `run` releases it too
            boot pid born   the host's boot, the process group, and its start in ticks since the boot: together they
                            never name another process
            start           epoch seconds by the host's clock, and seconds since its boot before and after that reading
            load            how busy the host's processors were, and how much of it was the job
            stdout stderr   of the job
            stopping        exists when we are ending the job
            unattended      exists when the job ends itself, as its controller was silent for too many seconds
            end rc          the end as in `start`; the exit code (or `stopped`, `unattended`). Both are written last,
                            and only when the disk has room
            forget          shell lines that remove the secrets from the job's files and its output after its end, and
                            then this file
            work/           the job's working directory, with its files

Processes that a job starts are in its process group, which ends with the job. If a process starts its own session
(`setsid`), it is recognised by BENCHBRIEF_JOB in its environment, which is the job's directory. Such a process ends
when the job is stopped. If the job ends by itself, the process ends when the run leaves the host, like a server that
`prepare` starts for all cells. This misses processes that another program starts for a job (`sudo`, `docker run`,
`systemctl start`), and processes without that variable. Control groups are not used, since they would affect the
measurement, and most accounts may not make any.

A directory without `pid` is a job that never began. No decision depends on the host's clock, which may be set.
"""

from __future__ import annotations

import math
import re
import threading
from collections.abc import Callable, Collection
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from typing import NamedTuple, TypeVar

from benchbrief.model.run_messages import say
from benchbrief.runners.errors import ConnectionLost, HostError, HostFull, RunnerError
from benchbrief.runners.jobs import job_scripts as scripts
from benchbrief.runners.jobs.claim_holders import host_busy_error, parse_claim
from benchbrief.runners.jobs.commands import mask_command, printable, secrets_of, with_values
from benchbrief.runners.jobs.connection_retry import call_persistently
from benchbrief.runners.jobs.fetch_outputs import MAX_FETCH, cannot_write, fetch, files_below, write_file
from benchbrief.runners.jobs.job_scripts import STOP_GRACE_S, directory_name, inside_job, new_word, start_script
from benchbrief.runners.jobs.script_host import JobHost, sh
from benchbrief.runners.jobs.tasks import Completed, Job, JobOutput
from benchbrief.runners.journal.atomic_files import flush
from benchbrief.runners.journal.secret_masking import Masking
from benchbrief.runners.seams import JobState

_CLOCK_SET_S = 0.05
"""How many seconds the clock and the time since boot may differ between two readings, apart from the errors of both
readings. If they differ by more, the clock counts as set."""
_READ_S = 0.2
"""If a job does not record when it read the time since boot, it may have done so up to this many seconds after it read
the clock."""


def job_span(start: str, end: str) -> tuple[float | None, float | None, float | None]:
    """Return the job's start and end in epoch seconds, and by how much the clock was set in between. Each is None if
    unknown.

    If the clock was set, the end is computed from the time since boot.
    """
    first, second = _moment(start), _moment(end)
    if first is None or second is None:
        return (first.at if first else None, second.at if second else None, None)
    if first.up is None or second.up is None:
        return first.at, second.at, None
    # Each clock was read between two readings of the time since boot.
    least, most = second.up[0] - first.up[1], second.up[1] - first.up[0]
    by_clock, by_boot = second.at - first.at, (least + most) / 2
    if least - _CLOCK_SET_S <= by_clock <= most + _CLOCK_SET_S:
        return first.at, second.at, 0.0
    return first.at, first.at + by_boot, by_clock - by_boot


def elapsed_s(start: str, end: str) -> float | None:
    """Return the seconds between two moments by the time since boot, or None if unknown."""
    first, second = _moment(start), _moment(end)
    if first is None or second is None or first.up is None or second.up is None:
        return None
    return (sum(second.up) - sum(first.up)) / 2


def booted_at(start: str) -> float | None:
    """Return when the host started, in epoch seconds by its clock at the job's start."""
    first = _moment(start)
    return first.at - sum(first.up) / 2 if first and first.up else None


class _Moment(NamedTuple):
    """A moment. `at` is its time in epoch seconds by the host's clock, and `up` has a lower and an upper bound of the
    seconds since boot."""

    at: float
    up: tuple[float, float] | None


def _moment(text: str) -> _Moment | None:
    match = re.fullmatch(r"(\d{1,11}(?:\.\d{0,9})?)(?: (\d{1,12}\.\d{1,3})(?: (\d{1,12}\.\d{1,3}))?)?", text)
    if match is None:
        return None
    if match[2] is None:
        return _Moment(float(match[1]), None)
    before = float(match[2])
    # The kernel truncates it to hundredths.
    return _Moment(float(match[1]), (before, float(match[3]) + 0.01) if match[3] else (before - _READ_S, before + 0.01))


LEAST_S = 1.0
"""A job shorter than this, in seconds, spends too much of its time on starting and ending."""
_TIME = r"(\d{1,9})m(\d{1,2}(?:[.,]\d{1,9})?)s"
_LOAD = re.compile(rf"(\d{{1,18}}) (\d{{1,18}}) {_TIME} {_TIME} {_TIME} {_TIME} (\d{{1,6}})")


def other_cores(text: str, seconds: float | None) -> float | None:
    """Return how many cores were busy with other work, on average over the job, or None if unknown."""
    match = _LOAD.fullmatch(" ".join(text.split()))
    if match is None or seconds is None or seconds < LEAST_S or int(match[11]) == 0:
        return None
    words = match.groups()[2:10]
    times = [60 * float(m) + float(s.replace(",", ".")) for m, s in zip(words[::2], words[1::2], strict=True)]
    busy = (int(match[2]) - int(match[1])) / int(match[11])
    return max(0.0, busy - sum(times)) / seconds if busy >= 0 else None


_SLICE_S = 60.0
"""The most seconds that a wait on the host lasts, so that nothing stays there if its controller dies."""
_ODD_WAIT_S = 1.0
_ODD_WAITS = 20
"""How many times in a row to repeat a wait that failed on the host. `_ODD_WAIT_S` is the pause in seconds before each
time."""
_RESERVED = ("stdout", "stderr", "command.txt")
_T = TypeVar("_T")


# --- starting -----------------------------------------------------------------------------------------------


def start(host: JobHost, job: Job) -> DetachedJob:
    """Start a job exactly once, even if the connection breaks in between, or if another controller resumes the run.

    If a job with the same key is already there, whether running, ended or killed, attaches to it. Raises HostBusy if
    another run has taken over the host. Raises HostFull and HostError.
    """
    for pattern in job.collect:
        inside_job(pattern)
        if pattern in _RESERVED:
            raise RunnerError(say.collect_reserved(job=repr(job.name), name=repr(pattern)), say.hint_name_otherwise())
    text = start_script(host, job)
    # Now, as the job may run before its host has answered.
    over = host.session.underway.job(f"{job.name} on {host.host.id}")
    try:
        directory = _begin(host, job, text)
    except BaseException:
        over()
        raise
    return DetachedJob(host, job, directory, over)


def _begin(host: JobHost, job: Job, text: str) -> str:
    """Run the script on the host, and return the directory of the job that was started or found."""
    done = call_persistently(host, lambda: sh(host, text, 60))
    _refuse_taken(host, done)
    verdict, _, path = done.stdout.strip().partition(" ")
    said = Masking(secrets_of(job)).text(printable(done.stderr.strip()[-300:]))
    where = host.host.id
    if verdict == "started" and path.startswith("/") and "\n" not in path:
        return path
    if verdict == "full" or "No space left" in said:
        raise HostFull(say.no_space_to_start(host=where, job=job.name, path=printable(path)), say.hint_room(host=where))
    if verdict == "unsafe":
        raise HostError(
            say.unsafe_directory(host=where, path=printable(path), user=host.host.user or say.our_user()),
            say.hint_unsafe(host=where),
        )
    if verdict == "locked":
        raise HostError(say.job_unlocked(host=where, job=job.name, path=printable(path)), say.hint_unlocked(host=where))
    if verdict == "lacks":
        raise HostError(say.host_lacks(host=where, job=job.name, path=printable(path)), say.hint_linux())
    raise HostError(
        say.job_unstartable(host=where, job=job.name, said=said or say.shell_said_nothing()),
        say.hint_job_needs(),
    )


def _refuse_taken(host: JobHost, done: Completed) -> None:
    """Raise HostBusy if the host reports that its claim is no longer ours."""
    verdict, *details = done.stdout.splitlines() or [""]
    if verdict == "held" and len(details) == 3:
        raise host_busy_error(host.host.id, parse_claim(details[0]), details[1], details[2])


def send_heartbeat(host: JobHost) -> None:
    """Show the jobs on a host that their controller is alive, by changing a file there. Raises HostBusy and
    HostError."""
    claimed = host.claimed.text if host.claimed else ""
    script = with_values(scripts.ALIVE, owner=host.run_name.owner, token=new_word(), claimed=claimed)
    _refuse_taken(host, sh(host, script, 15))


def find(host: JobHost, key: str) -> JobState | None:
    """Implement `seams.Transport.find`. Raises HostError."""
    script = with_values(scripts.FIND, id=directory_name(host, key))
    said = call_persistently(host, lambda: sh(host, script)).stdout.strip()
    states: dict[str, JobState] = {"running": "running", "ended": "ended", "killed": "killed"}
    if said not in (*states, "none"):
        raise HostError(say.job_untold(host=host.host.id, job=key, said=repr(printable(said[:200]))))
    return states.get(said)


def end_leftovers(
    host: JobHost, kept: Collection[str] = (), *, owner: str = "", release: bool = False, keep: bool = False
) -> int:
    """Stop and remove an owner's jobs (by default the current run's), and end processes that they started in separate
    sessions.

    Returns how many jobs and processes were still running. The jobs' outputs are lost, so their cell must run again.
    Jobs whose keys are in `kept` stay, and so do the processes that ended jobs started. With `release`, also gives up
    the owner's claim, unless jobs are left there. With `keep`, only gives up the claim.
    """
    if release and not owner and host.claimed is not None:
        host.claimed.attended()
        host.claimed = None
    script = with_values(
        scripts.END_LEFTOVERS,
        owner=owner or host.run_name.owner,
        kept=" ".join(directory_name(host, key) for key in kept),
        grace=f"{STOP_GRACE_S:.0f}",
        release="yes" if release else "",
        keep="yes" if keep else "",
    )
    said = call_persistently(host, lambda: sh(host, script, 120)).stdout.strip()
    return int(said) if re.fullmatch(r"\d{1,9}", said) else 0


# --- a started job ------------------------------------------------------------------------------------------


class DetachedJob:
    """A job on a host. Implements `seams.RunningJob`."""

    def __init__(self, host: JobHost, job: Job, directory: str, over: Callable[[], None]) -> None:
        self._host = host
        self._job = job
        self._directory = directory
        self._masking = Masking(secrets_of(job), job.figures)
        self._stopped = False
        self._state: dict[str, str] = {}
        """The host's report about the job after its end."""
        self._ended = threading.Event()
        self._lost: RunnerError | None = None
        self._watcher: threading.Thread | None = None
        self._out_of_touch = False
        self._unheard = host.session.heartbeats.keep(host, partial(send_heartbeat, host), job.unattended_s)
        self._over = over

    def _attended(self) -> None:
        """Stop sending heartbeats, and note that the job has ended."""
        self._unheard()
        self._over()

    def wait(self, timeout_s: float) -> bool:
        """Wait for the job. Returns True once it has ended.

        Raises HostError if the host is away for longer than the job may run without a controller.
        """
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
        script = with_values(scripts.WAIT, d=self._directory, slice=f"{_SLICE_S:.0f}")
        # Wait for a host as long as its job may run alone. Do not wait when the job sets no such time.
        patience_s = self._job.unattended_s if math.isfinite(self._job.unattended_s) else 0.0
        try:
            odd = 0
            while code := call_persistently(self._host, partial(self._slice, script), patience_s, self._lose_touch):
                # 1: the slice is over. Any other code comes at once, and may come again and again.
                odd = 0 if code == 1 else odd + 1
                if odd > _ODD_WAITS:
                    raise HostError(say.job_unawaited(host=where, job=self._job.name, said=say.flock_ended(code=code)))
                if odd:
                    threading.Event().wait(_ODD_WAIT_S)
        except RunnerError as error:
            self._lost = error
        except Exception as error:  # otherwise the waiting thread would wait for ever
            self._lost = HostError(say.job_unawaited(host=where, job=self._job.name, said=repr(error)))
        self._ended.set()

    def _slice(self, script: str) -> int:
        done = sh(self._host, script, _SLICE_S + 30)
        self._out_of_touch = False
        if done.exit_code == 0:
            self._state = _state(done.stdout)
        return done.exit_code

    def _lose_touch(self) -> None:
        self._out_of_touch = True

    @property
    def out_of_touch(self) -> bool:
        return self._out_of_touch

    def stop(self) -> None:
        script = with_values(scripts.STOP, d=self._directory, grace=f"{STOP_GRACE_S:.0f}")
        done = call_persistently(self._host, lambda: sh(self._host, script, 2 * STOP_GRACE_S + 30))
        said = done.stdout.partition("\n")[0]
        if said == "immortal":
            raise HostError(
                say.job_stays(host=self._host.host.id, job=self._job.name),
                say.hint_immortal(host=self._host.host.id),
            )
        self._stopped = self._stopped or said == "stopped"
        self._state = _state(done.stdout)
        self._attended()

    def tail(self, limit: int = 2000) -> str:
        script = with_values(scripts.TAIL, d=self._directory, limit=f"{limit:d}")
        text = call_persistently(self._host, lambda: sh(self._host, script)).stdout
        return printable(self._masking.text(text))[-limit:]

    def collect(self, into: Path) -> JobOutput:
        """Fetch the outputs. The originals stay on the host until `discard`.

        Raises DiskFull, HostFull (the job's host was full), or HostError if the job vanished. Even then, as much of the
        outputs as possible is fetched first.
        """
        where = self._host.host.id
        state = self._state or self._ask()
        if state.get("running") != "no":
            raise HostError(say.job_still_runs(host=where, job=self._job.name), say.hint_stop_first())
        try:
            self._fetch(into)
        except ConnectionLost:
            raise
        except HostError:
            self._ask()  # a job that is gone by now is the reason
            raise
        start, end = state.get("start", ""), state.get("end", "")
        started, ended, clock_set_s = job_span(start, end)
        rc = state.get("rc", "")
        if rc == "unattended" or (not rc and "unattended" in state):
            raise HostError(
                say.job_alone(
                    host=where,
                    job=self._job.name,
                    seconds=state.get("unattended") or f"{self._job.unattended_s:g}",
                    path=into,
                ),
                say.hint_cut_off(host=where),
            )
        if not rc:
            if "end" in state or state.get("room") != "yes":
                raise HostFull(
                    say.no_space(host=where, job=self._job.name, path=self._directory),
                    say.hint_room(host=where),
                )
            raise HostError(
                say.killed_outside(host=where, job=self._job.name, path=into),
                say.hint_killed(host=where),
            )
        if started is None or ended is None or not re.fullmatch(r"stopped|\d{1,3}", rc):
            raise HostError(say.job_state_unread(host=where, job=self._job.name), say.hint_date(host=where))
        by_us = self._stopped or rc == "stopped"
        code = None if by_us else _exit_code(int(rc))
        other = other_cores(state.get("load", ""), elapsed_s(start, end))
        return JobOutput(into, code, started, ended, where, clock_set_s, booted_at(start), other)

    def discard(self) -> None:
        """Remove the job from the host. Raises HostError if the job is still running."""
        script = with_values(
            scripts.DISCARD, d=self._directory, owner=self._host.run_name.owner, grace=f"{STOP_GRACE_S:.0f}"
        )
        said = call_persistently(self._host, lambda: sh(self._host, script)).stdout.strip()
        if said == "running":
            raise HostError(say.job_still_runs(host=self._host.host.id, job=self._job.name), say.hint_stop_first())
        self._attended()

    def _ask(self) -> dict[str, str]:
        """Ask the host for the job's state. Raises HostError if the job vanished."""
        script = with_values(scripts.STATE, d=self._directory)
        state = _state(call_persistently(self._host, lambda: sh(self._host, script)).stdout)
        if state.get("gone"):
            raise HostError(
                say.job_gone(host=self._host.host.id, job=self._job.name, path=self._directory),
                say.hint_removed(),
            )
        return state

    def _fetch(self, into: Path) -> None:
        wanted = {"stdout": f"{self._directory}/stdout", "stderr": f"{self._directory}/stderr"}
        if self._job.collect:
            found = call_persistently(self._host, lambda: list(files_below(self._host, f"{self._directory}/work")))
            for name, _ in found:
                if name not in _RESERVED and any(fnmatchcase(name, pattern) for pattern in self._job.collect):
                    wanted[name] = f"{self._directory}/work/{name}"
        try:
            into.mkdir(parents=True, exist_ok=True)
            command = f"{mask_command(self._job.command)}\n".encode("utf-8", "surrogateescape")
            write_file(into / "command.txt", [command])
        except OSError as error:
            raise cannot_write(error, into) from error
        left = MAX_FETCH
        for name, path in wanted.items():
            left -= call_persistently(self._host, partial(fetch, self._host, path, into / name, left, self._masking))
        flush(into)


def _state(said: str) -> dict[str, str]:
    """Return what a script reports about a job, by name."""
    lines = (line.partition("\t") for line in said.splitlines()[:10])
    return {name: value.strip() for name, tab, value in lines if tab}


def _exit_code(status: int) -> int:
    """Convert a shell's exit code 128 + n to -n. It means that signal n ended the process."""
    return 128 - status if 128 < status <= 192 else status
