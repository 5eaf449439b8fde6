"""Merges the lanes of a run. Their records become one journal, and their raw outputs become one tree.

The result depends only on the folders: merging again, in any order, gives the same bytes. Lanes can therefore be merged
while others are still running, and again later.
"""

from __future__ import annotations

import heapq
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import reduce
from pathlib import Path
from typing import Literal

from benchbrief.compiler.estimates.estimate import RENDERING_S
from benchbrief.compiler.planning.plan_lanes import lanes_of
from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.model import events as j
from benchbrief.model.events import JournalPlace, MergedLane
from benchbrief.model.plan import Plan
from benchbrief.model.run_messages import say
from benchbrief.model.run_record import RunRecord
from benchbrief.runners.errors import DiskFull, RunnerError
from benchbrief.runners.execution.run_state import all_done, what_is_missing
from benchbrief.runners.fleet.lane_folder import refuse_driven_as_one
from benchbrief.runners.fleet.lane_results import (
    LaneResults,
    choose_counting,
    folders_in,
    read_lanes,
    refuse_missing_outputs,
)
from benchbrief.runners.journal.atomic_files import flush_all, link_or_copy
from benchbrief.runners.journal.journal_file import JOURNAL, START, has_begun, take_lock, write_line
from benchbrief.runners.journal.run_folder import files_of_beginning
from benchbrief.runners.plain_files import open_plain


@dataclass(frozen=True)
class Merged:
    """The merged run. `lanes` has the folder that counts for each lane."""

    end: j.RunEnded
    record: RunRecord
    lanes: dict[int, LaneResults]
    missing: tuple[int, ...]
    """The lanes that have not begun or are incomplete."""


def merge_lanes(run_dir: Path, plan: Plan, plan_sha256: str, folders: Sequence[Path]) -> Merged:
    """Merge these folders of lanes, and those inside the run, into the run. Raises RunnerError."""
    refuse_driven_as_one(run_dir)
    every = list({path.resolve(): path for path in (*folders_in(run_dir), *folders)}.values())
    chosen, fenced = choose_counting(read_lanes(run_dir, plan, every))
    if not chosen:
        raise RunnerError(
            f"no lane of {run_dir} has begun, so there is nothing to merge",
            f"run one with `bench lane {run_dir} 1`, or name the folders of lanes that were run elsewhere",
        )
    for each in chosen:
        refuse_missing_outputs(each)
    try:
        with _alone(run_dir) as journal:
            start = _start(run_dir, plan_sha256, chosen)
            if not has_begun(run_dir / JOURNAL):  # no results without a journal, also after a kill
                os.write(journal, write_line(start, START)[0])
                os.fsync(journal)
            # First the files that count, then the journal that names them.
            flush_all({path: None for each in chosen for path in _take_outputs(each.folder / "raw", run_dir / "raw")})
            record, end = _write(run_dir, plan, start, chosen, fenced)
    except OSError as error:
        raise DiskFull(f"{run_dir} can't be written: {error.strerror}", "free some space, then merge again") from error
    whole = {each.lane.number for each in chosen if each.is_whole}
    missing = tuple(lane.number for lane in lanes_of(plan) if lane.number not in whole)
    return Merged(end, record, {each.lane.number: each for each in chosen}, missing)


@contextmanager
def _alone(run_dir: Path) -> Iterator[int]:
    """Keep other processes from merging or running the run during the block. Yields the open journal's file descriptor.

    Raises RunnerError if another process is already merging or running it.
    """
    path = run_dir / JOURNAL
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW, 0o644)
    try:
        # Another merging may put a new journal in the place of the one that was opened: its lock is worth nothing then.
        if not take_lock(fd, path) or not os.path.samestat(path.stat(), os.fstat(fd)):
            raise RunnerError(f"{run_dir} is being run or merged by another process", "try again when it has ended")
        yield fd
    finally:
        os.close(fd)


def _take_outputs(source: Path, to: Path) -> Iterator[Path]:
    """Link or copy a lane's raw outputs. Files that an earlier merge took stay, unless they have changed.

    Yields everything that a merge has to flush: the copied files, and the folders that got new entries.
    """
    for at, _, names in os.walk(source):
        folder = to / os.path.relpath(at, source)
        if not folder.exists():
            folder.mkdir(parents=True)
            yield folder.parent
        taken = {name: how for name in names if (how := _take(Path(at, name), folder / name))}
        yield from (folder / name for name, how in taken.items() if how == "copied")
        if taken:
            yield folder


def _take(source: Path, to: Path) -> Literal["copied", "linked", ""]:
    """Link or copy a file, unless it is there already. Returns how it was taken, or "" if it was not."""
    with suppress(FileNotFoundError):  # a lane that goes on has put another file in its place
        there = source.stat()
        if to.exists():
            here = to.stat()
            if os.path.samestat(here, there) or (here.st_size, here.st_mtime_ns) == (there.st_size, there.st_mtime_ns):
                return ""
            to.unlink()
        return "copied" if link_or_copy(source, to) else "linked"
    return ""


def _write(
    run_dir: Path,
    plan: Plan,
    start: j.RunStarted,
    chosen: Sequence[LaneResults],
    fenced: Sequence[tuple[LaneResults, LaneResults]],
) -> tuple[RunRecord, j.RunEnded]:
    """Write the merged journal, and return its record and its end. If the file already begins with the same records, it
    stays as it is, because records of reports may follow them."""
    path, temporary = run_dir / JOURNAL, run_dir / f".{JOURNAL}.{os.getpid()}"
    record, chain, at = RunRecord(), START, 0
    try:
        with temporary.open("wb") as file:
            for each in _records(plan, start, chosen, fenced):
                line, chain = write_line(each, chain)
                record.add(JournalPlace(path, at, len(line)), each)
                at += file.write(line)
            end = _end(plan, record, chosen)
            line, chain = write_line(end, chain)
            record.add(JournalPlace(path, at, len(line)), end)
            file.write(line)
            file.flush()
            os.fsync(file.fileno())
        if not _begins_with(path, temporary):
            temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
    return record, end


def _start(run_dir: Path, plan_sha256: str, chosen: Sequence[LaneResults]) -> j.RunStarted:
    """Return the merged run's start. It is the start of the lane that began first, with this run's folder."""
    first = min((each.starts[0] for each in chosen), key=lambda start: start.at)
    merged = tuple(
        MergedLane(
            lane=each.lane.number,
            folder=each.folder.name,
            owner=each.owner,
            benchbrief=each.starts[-1].benchbrief,
            journal_bytes=each.size,
            journal_sum=each.sum,
        )
        for each in chosen
    )
    # Each lane has recorded the versions of its own tools.
    measurements: dict[str, int] = {}
    for each in chosen:
        for tool, version in each.starts[0].measurements.items():
            measurements[tool] = min(version, measurements.get(tool, version))
    own = {"run_id": run_dir.name, "plan_sha256": plan_sha256, "files": files_of_beginning(run_dir)}
    whole = {"merged": merged, "measurements": measurements, "resumed": False, "boot": "", "since_boot": None}
    return first.model_copy(update=own | whole)


def _records(
    plan: Plan,
    start: j.RunStarted,
    chosen: Sequence[LaneResults],
    fenced: Sequence[tuple[LaneResults, LaneResults]],
) -> Iterator[j.AnyRecord]:
    yield start
    if estimates := [each.estimated for each in chosen if each.estimated]:
        whole = reduce(_together, estimates)
        rendering_s = RENDERING_S * len(plan.reports)  # no lane renders
        yield whole.model_copy(
            update={"at": start.at, "rendering_s": rendering_s, "wall_s": whole.wall_s + rendering_s}
        )
    for each, instead in fenced:
        text = say.lane_fenced(
            lane=each.lane.number,
            fenced=each.folder.name,
            finished=each.finished,
            counts=instead.folder.name,
            n=len(each.lane.cells),
        )
        yield j.Remark(at=start.at, severity="warning", text=text)
    yield from heapq.merge(*(each.records() for each in chosen), key=lambda record: record.at)


def _together(one: j.TimeEstimated, other: j.TimeEstimated) -> j.TimeEstimated:
    """Return the estimate for two lanes that run in parallel: the work of both, and the time of the longer one."""
    seconds = {name: dict(activities) for name, activities in one.seconds.items()}
    for name, activities in other.seconds.items():
        of = seconds.setdefault(name, {})
        for activity, value in activities.items():
            of[activity] = of.get(activity, 0.0) + value
    return one.model_copy(
        update={
            "seconds": seconds,
            "wall_s": max(one.wall_s, other.wall_s),
            "runs": tuple(dict.fromkeys((*one.runs, *other.runs))),
        }
    )


def _end(plan: Plan, record: RunRecord, chosen: Sequence[LaneResults]) -> j.RunEnded:
    at = record.last_at or 0.0
    if len(chosen) < len(lanes_of(plan)) or not all(each.is_whole for each in chosen):
        return j.RunEnded(at=at, status="interrupted", message=say.stopped_before_all(), gone=True)
    histories = [record.cells[cell.id] for cell in plan.cells if cell.id in record.cells]
    short = sum(each.no_room == "point" for each in histories)
    failed = sum(each.ended is not None and each.ended.status == "failed" and not each.good for each in histories)
    if failed or short:
        return j.RunEnded(at=at, status="failed", message=what_is_missing(plan, record, failed, short))
    return j.RunEnded(at=at, status="done", message=all_done(plan, record))


def _begins_with(path: Path, other: Path) -> bool:
    """Return whether the first file begins with the whole content of the other file."""
    with open_plain(path) as longer, open_plain(other) as shorter:
        while block := shorter.read(1 << 20):
            if longer.read(len(block)) != block:
                return False
    return True
