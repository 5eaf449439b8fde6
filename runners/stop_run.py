"""Stops a run from another process.

The run's controller is asked to stop. If there is no controller, the run's hosts are cleaned up here. If the run's
lanes are jobs of a scheduler, the jobs are cancelled first.
"""

from __future__ import annotations

import os
import shlex
import signal
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import field, replace
from functools import partial
from pathlib import Path
from typing import Literal, NamedTuple

from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.model import events as j
from benchbrief.model.plan import Host, Plan
from benchbrief.model.run_record import RunRecord
from benchbrief.runners.errors import HostBusy, RunnerError
from benchbrief.runners.fleet.lane_results import folders_in
from benchbrief.runners.fleet.scheduler import scheduler_named
from benchbrief.runners.fleet.submitted_run import is_driven, name_of_jobs, submitted_run
from benchbrief.runners.hosts.host_connections import CONTROLLER, fan_out
from benchbrief.runners.hosts.orphans import Listed, list_leftovers
from benchbrief.runners.jobs.claim_holders import describe_holder
from benchbrief.runners.jobs.detached_jobs import end_leftovers
from benchbrief.runners.journal.controller_clock import now
from benchbrief.runners.journal.journal_file import Journal, is_being_written, read_run
from benchbrief.runners.journal.run_folder import HELD_OUT, PLAN, held_out_folder, load_plan
from benchbrief.runners.journal.run_identity import copied_from, has_identity, original_of, run_name
from benchbrief.runners.seams import Hosts, Transport
from benchbrief.runners.session import driver_of, find_driving_processes, is_driven_here, is_this_machine
from benchbrief.runners.transports.transport_base import JobTransport
from benchbrief.runners.world.world_choice import world_of

QUIET_S = 150
"""A live controller is never silent towards a host for longer than this, in seconds, even after it has lost another
host."""


def refuse_driven_here(owner: str, run_dir: Path) -> None:
    """Raise RunnerError if another process on this machine drives a run with this identity, or makes its brief."""
    found = driver_of(owner)
    if found is not None:
        pid, folder = found
        same = folder.resolve() == run_dir.resolve()
        raise RunnerError(
            f"process {pid} still makes the brief of this run"
            if same
            else f"process {pid} drives this run in {folder}: this folder is a copy, or that one was",
            f"wait for it, or end it with: bench stop {shlex.quote(str(folder))}",
        )


def refuse_driven_elsewhere(hosts: Hosts, ids: Iterable[str], owner: str) -> None:
    """Raise HostBusy if a controller on another machine has recently shown a sign of life for this run."""

    def look(host_id: str) -> None:
        host = hosts[host_id]
        if isinstance(host, JobTransport):
            refuse_alive(host_id, list_leftovers(host), owner)

    for result in fan_out(ids, look).values():
        if isinstance(result, HostBusy):
            raise result


def refuse_alive(host_id: str, found: Iterable[Listed], owner: str) -> None:
    """Raise HostBusy if one host's jobs and claims show that a controller on another machine is alive."""
    for each in found:
        fresh = each.silent_s is not None and each.silent_s <= QUIET_S
        if each.owner == owner and fresh and not is_this_machine(each.claim):
            left_s = QUIET_S - (each.silent_s or 0)
            raise HostBusy(
                f"{host_id} is held by {describe_holder(each.claim)}, which has this run's identity and gave a sign of "
                f"life {each.silent_s} s ago: this folder is a copy of a run that is driven there",
                f"end it there with `bench stop`; if that controller is gone, try again in {left_s} s",
            )


_LOOK_EVERY_S = 0.1
_SAY_EVERY_S = 10.0


class FoundLeftover(NamedTuple):
    """A job, claim or process that was left on a host."""

    host: str
    left: Listed


@dataclass(frozen=True)
class Stopped:
    """How a run was stopped.

    `how` is `stopped` if the run's controller stopped it, `cleaned` if the run had no controller and was ended here,
    and `ended` if the run had ended before. `found` are the run's jobs and claims that were ended or removed here.
    `unclean` has the hosts that could not be cleaned, each with the reason. If the run is a copy, `copied_from` is its
    original, whose jobs are not touched.
    """

    how: Literal["stopped", "cleaned", "ended"]
    found: Sequence[FoundLeftover] = ()
    unclean: Mapping[str, Exception] = field(default_factory=dict)
    copied_from: str = ""

    @property
    def jobs(self) -> int:
        """Return how many of the run's jobs were still running."""
        return sum(each.left.kind == "job" and each.left.state == "running" for each in self.found)


def stop_run(run_dir: Path, say: Callable[[str], None]) -> Stopped:
    """End a run and remove all its traces from its hosts. Calls `say` with messages about what it waits for. Raises
    RunnerError."""
    if is_driven_here(run_dir):
        _ask(run_dir, say)
        if read_run(run_dir).end is not None:
            return Stopped("stopped")
    return _clean_up(run_dir)


def _ask(run_dir: Path, say: Callable[[str], None]) -> None:
    """Ask the run's controller to stop, and wait until it has stopped.

    Does not use SIGINT, because a script's shell starts background commands (`bench run ... &`) in such a way that they
    ignore SIGINT.
    """
    pid = _controller(run_dir)
    if pid is None:
        raise RunnerError(
            f"the process that drives {run_dir.name} was not found on this machine",
            "it belongs to another user or machine: stop the run there",
        )
    try:
        os.kill(pid, signal.SIGTERM)
    except ProcessLookupError:
        pass
    except PermissionError:
        raise RunnerError(
            f"process {pid}, which drives {run_dir.name}, belongs to another user", "ask that user to stop it"
        ) from None
    started = said = time.monotonic()
    say(f"asked process {pid} to stop")
    while is_driven_here(run_dir):
        time.sleep(_LOOK_EVERY_S)
        now = time.monotonic()
        if now - said > _SAY_EVERY_S:
            said = now
            say(f"process {pid} is still stopping after {now - started:.0f} s; `kill -9 {pid}`, then the same again")


def _controller(run_dir: Path) -> int | None:
    """Return the pid of the process that drives the run. On Linux, the process is looked up, since the pid in the
    journal may be outdated."""
    if sys.platform != "linux":
        starts = read_run(run_dir).starts
        return starts[-1].controller_pid if starts else None
    return next((pid for pid, folder in find_driving_processes() if folder == run_dir.resolve()), None)


def _clean_up(run_dir: Path) -> Stopped:
    """End a run that has no controller, together with the runs inside its folder that measure held-out repeats."""
    below = [held_out_folder(run_dir, plan.parent.name) for plan in sorted((run_dir / HELD_OUT).glob(f"*/{PLAN}"))]
    parts = [_cleaned_up(folder) for folder in below if read_run(folder).end is None]
    whole = _cleaned_up(run_dir)
    found = [each for part in (whole, *parts) for each in part.found]
    unclean = {host: why for part in (*parts, whole) for host, why in part.unclean.items()}
    return replace(whole, found=found, unclean=unclean)


def _cleaned_up(run_dir: Path) -> Stopped:
    """End the jobs of a run that has no controller, remove what it left on its hosts, and end its journal."""
    plan = load_plan(run_dir)
    journal = Journal(run_dir)  # so that nobody resumes it meanwhile
    try:
        record = journal.extend()
        named = {key: host for key, host in plan.hosts.items() if not host.is_open}
        plan = plan.model_copy(update={"hosts": named | nodes_ever(plan, record)})
        name = run_name(run_dir)
        refuse_driven_here(name.owner, run_dir)
        end = partial(end_all, name.owner, partial(_is_of_earlier_place, run_dir, record))
        with world_of(run_dir, record.starts).hosts(plan, name) as hosts:
            results = fan_out([*plan.hosts, CONTROLLER.id], lambda host_id: end(hosts[host_id]))
        found = [
            FoundLeftover(host_id, each) for host_id, left in results.items() if isinstance(left, list) for each in left
        ]
        unclean = {host_id: left for host_id, left in results.items() if isinstance(left, RunnerError)}
        ended = not record.starts or record.end is not None
        if not ended:
            message = "ended by `bench stop`, as its controller was gone"
            journal.write(j.RunEnded(at=now(), status="interrupted", message=message, gone=True))
        return Stopped("ended" if ended else "cleaned", found, unclean, copied_from(run_dir))
    finally:
        journal.close()


def nodes_ever(plan: Plan, record: RunRecord) -> dict[str, Host]:
    """Return all nodes that the lane ever had, each as a host."""
    return {
        node: plan.hosts[host].model_copy(update={"id": node, "name": node, "asked": None})
        for each in record.given
        for host, node in each.nodes.items()
        if host in plan.hosts
    }


def end_all(owner: str, is_too: Callable[[Listed], bool], host: Transport) -> list[Listed]:
    """End and remove the run's jobs and claims on a host, and return them. Raises HostError, and HostBusy if another
    controller of the run is alive there."""
    if not isinstance(host, JobTransport):
        return []
    found = list_leftovers(host)
    refuse_alive(host.host.id, found, owner)
    owners = dict.fromkeys([owner, *(each.owner for each in found if is_too(each))])
    for each in owners:
        end_leftovers(host, owner=each, release=True)
    return [each for each in found if each.owner in owners]


def _is_of_earlier_place(run_dir: Path, record: RunRecord, left: Listed) -> bool:
    """Return whether a job or claim belongs to the run although its owner was derived from an earlier folder path or
    host name.

    Only runs by earlier versions have such an owner, until they are driven again.
    """
    if has_identity(run_dir):
        return False
    claim = left.claim
    starts = [(start.run_id, start.controller_pid) for start in record.starts]
    if (claim.get("run"), claim.get("pid")) not in starts:
        return False
    folder = Path(str(claim.get("folder") or "/"))
    with suppress(OSError, ValueError):
        return folder.resolve() == run_dir.resolve() or not folder.is_dir()  # otherwise this run was copied from it
    return False


_LOOK_AT_JOBS_EVERY_S = 0.5


def stop_any_run(run_dir: Path, say: Callable[[str], None]) -> Stopped:
    """Stop a run, whether one controller drives it or a scheduler runs its lanes. Raises RunnerError."""
    return stop_run(run_dir, say) if submitted_run(run_dir) is None else _stop_jobs(run_dir, say)


def _stop_jobs(run_dir: Path, say: Callable[[str], None]) -> Stopped:
    if original := original_of(run_dir):
        return Stopped("ended", copied_from=original)
    submitted = submitted_run(run_dir)
    scheduler, name = scheduler_named(submitted.scheduler if submitted else ""), name_of_jobs(run_dir)
    live = [job for job in scheduler.jobs(name) if job.is_live]
    if live:
        scheduler.cancel(name)
        say(f"cancelled {len(live)} jobs: {', '.join(job.id for job in live)}")
    began = said = time.monotonic()
    while (left := [job for job in scheduler.jobs(name) if job.is_live]) or is_driven(run_dir):
        time.sleep(_LOOK_AT_JOBS_EVERY_S)
        if time.monotonic() - said > _SAY_EVERY_S:
            said = time.monotonic()
            what = ", ".join(f"job {job.id} ({job.described})" for job in left) or "its controller"
            say(f"waiting for {what} since {said - began:.0f} s")
        if left:  # a controller may have submitted one meanwhile
            scheduler.cancel(name)
    return _together([_clean(folder, say) for folder in folders_in(run_dir)], was_live=bool(live))


def _clean(folder: Path, say: Callable[[str], None]) -> Stopped:
    """End everything that a lane has left. The lane's process may live slightly longer than its scheduler job."""
    began = time.monotonic()
    while is_being_written(folder):
        time.sleep(_LOOK_AT_JOBS_EVERY_S)
        if time.monotonic() - began > _SAY_EVERY_S * 6:
            raise RunnerError(
                f"{folder} is still being written, though its job has ended",
                "a process of it goes on, on a node that its scheduler has lost; stop it there",
            )
    return stop_run(folder, say)


def _together(lanes: list[Stopped], *, was_live: bool) -> Stopped:
    found: list[FoundLeftover] = []
    unclean: dict[str, Exception] = {}
    for each in lanes:
        found += each.found
        unclean |= each.unclean
    cleaned = any(each.how == "cleaned" for each in lanes)
    return Stopped("cleaned" if cleaned else "stopped" if was_live else "ended", found, unclean)
