"""The folders of a run's lanes, and which folder counts if a lane ran more than once.

A scheduler may run a job twice. Only one of the lane's folders then counts. It counts as a whole, because a
controller's numbers and the cells that it chose belong together. It is the folder with the most finished cells or, on a
tie, the one that was started last. The others are fenced: nothing in them is counted, and the run reports that.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from benchbrief.compiler.planning.plan_file import read_plan
from benchbrief.compiler.planning.plan_lanes import PlanLane, lane_part, lanes_of
from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.model import events as j
from benchbrief.model.plan import Plan
from benchbrief.runners.errors import Damaged, RunnerError
from benchbrief.runners.fleet.lane_folder import LANES, is_same_file, part_content
from benchbrief.runners.journal.atomic_files import sha256_of
from benchbrief.runners.journal.journal_file import JOURNAL, chain_of, each_record, read_run, sum_at
from benchbrief.runners.journal.run_folder import MOST_OF_A_PLAN, PLAN, lane_in, load_plan, recorded_plan, simulation_of
from benchbrief.runners.journal.run_identity import owner_in
from benchbrief.runners.plain_files import open_plain, read_plain, why_not_kept


class Contradiction(RunnerError):
    """Folders of lanes that can't belong to one run."""

    code = "lanes_contradict"


@dataclass(frozen=True)
class LaneResults:
    """A lane's folder, and the content of its journal when it was read, except the records about single cells.

    `finished` is how many cells have succeeded or are not needed. `size` is the journal's size in bytes.
    """

    folder: Path
    lane: PlanLane
    owner: str
    finished: int
    size: int
    starts: Sequence[j.RunStarted]
    end: j.RunEnded | None
    estimated: j.TimeEstimated | None

    @property
    def sum(self) -> str:
        return chain_of(self.folder / JOURNAL, self.size).sum

    @property
    def is_whole(self) -> bool:
        """Return whether all cells of the lane have their verdicts."""
        return self.end is not None and self.end.status != "interrupted"

    @property
    def rank(self) -> tuple[int, float, str, str]:
        """Return the sort key of a lane's folder. The folder with the highest key counts."""
        return self.finished, self.starts[-1].at, self.owner, self.sum

    def records(self) -> Iterator[j.AnyRecord]:
        """Yield the records of the measurements. Starts, ends, estimates, and remarks that a later start made obsolete
        are left out."""
        starts = 0
        for _, record in each_record(self.folder / JOURNAL, self.size, keep_open=False):
            starts += isinstance(record, j.RunStarted)
            overtaken = isinstance(record, j.Remark) and record.passing and starts < len(self.starts)
            if not overtaken and not isinstance(record, j.RunStarted | j.RunEnded | j.TimeEstimated):
                yield record


@dataclass(frozen=True)
class _Run:
    """The run whose lanes are read. `digest` is the digest of its plan."""

    folder: Path
    plan: Plan
    digest: str
    lanes: Sequence[PlanLane]

    def is_part(self, content: bytes, lane: PlanLane) -> bool:
        """Return whether the content is this lane's part of the plan, even if another version of benchbrief wrote
        it."""
        part = lane_part(self.plan, lane)
        if content == part_content(part):
            return True
        with suppress(ValueError):
            return read_plan(content) == part
        return False


def folders_in(run_dir: Path) -> list[Path]:
    """Return the folders of lanes that are inside the run's own folder."""
    found = (run_dir / LANES).glob(f"*/{PLAN}")
    return sorted(path.parent for path in found if not path.parent.name.startswith("."))


def read_lanes(run_dir: Path, plan: Plan, folders: Iterable[Path]) -> list[LaneResults]:
    """Read the folders of the lanes that have begun. Returns them in the order of the lanes, whatever the order of
    `folders`.

    Raises RunnerError if a folder belongs to something else, and Contradiction if the folders can't belong to one run.
    """
    run = _Run(run_dir, plan, sha256_of(run_dir / PLAN), lanes_of(plan))
    simulated = simulation_of(run_dir)
    found = [_read(folder, run) for folder in folders]
    begun = sorted((each for each in found if each.starts), key=lambda each: (each.lane.number, *each.rank))
    for each in begun:
        if any(start.simulated != simulated for start in each.starts):
            raise Contradiction(
                f"{each.folder} is simulated in another way than {run_dir}, or was measured",
                "measured and simulated results are never mixed: name the folders that belong to the run",
            )
    return _without_earlier_copies(begun)


def _read(folder: Path, run: _Run) -> LaneResults:
    named = lane_in(folder) if (folder / PLAN).is_file() else None
    if named is None:
        raise RunnerError(f"{folder} is not the folder of a lane", "name folders that `bench lane` has made")
    if not (named.plan_sha256 == run.digest if named.plan_sha256 else is_same_file(folder / PLAN, run.folder / PLAN)):
        raise RunnerError(
            f"{folder} is of another plan than {run.folder}", "leave it out: lanes of one plan make one run"
        )
    if named.of != len(run.lanes) or not 0 < named.number <= named.of:
        raise Contradiction(
            f"{folder} is lane {named.number} of {named.of}, and the plan has {len(run.lanes)}",
            "use one version of benchbrief for all lanes of a run",
        )
    lane = run.lanes[named.number - 1]
    part = read_plain(folder / PLAN, most=MOST_OF_A_PLAN) if named.plan_sha256 else None
    # The plan of a thousand lanes takes long to read. It is read only to raise the error for another digest.
    if recorded_plan(folder) != (run.digest if part is None else hashlib.sha256(part).hexdigest()):
        load_plan(folder)
    if part is not None and not run.is_part(part, lane):
        raise Contradiction(
            f"{folder} has a part of the plan that is not of {run.folder / PLAN}",
            f"run the lane again, into another folder: bench lane {run.folder} {lane.number} --into FOLDER",
        )
    its_plan, record = run.plan.model_copy(update={"cells": lane.cells}), read_run(folder)
    strangers = record.cells.keys() - {cell.id for cell in lane.cells}
    if strangers:
        raise Contradiction(
            f"{folder} is lane {lane.number}, and its journal has a cell of another: {min(strangers)}",
            f"run the lane again, into another folder: bench lane {run.folder} {lane.number} --into FOLDER",
        )
    finished = len(record.finished(its_plan))
    return LaneResults(
        folder, lane, owner_in(folder), finished, record.size, record.starts, record.end, record.estimated
    )


def _without_earlier_copies(found: Sequence[LaneResults]) -> list[LaneResults]:
    """Leave out a folder if another copy of it went further. Raises Contradiction if each of two copies continued in
    its own way."""
    left: list[LaneResults] = []
    for each in sorted(found, key=lambda lane: lane.size, reverse=True):
        same = next((other for other in left if each.owner and other.owner == each.owner), None)
        if same is None:
            left.append(each)
        elif sum_at(same.folder / JOURNAL, _common(same, each)) != each.sum:
            raise Contradiction(
                f"{same.folder} and {each.folder} are copies of one folder, and both were run on: they say different "
                "things of the same attempts",
                "merge again, and name only the one that is to count",
            )
    return sorted(left, key=lambda lane: (lane.lane.number, *lane.rank))


def _common(longer: LaneResults, shorter: LaneResults) -> int:
    """Return how many bytes of the longer journal to compare with the whole shorter one.

    This is the shorter one's size, if a line of the longer one ends there. Otherwise the two can't be copies, and the
    longer one's whole size is returned, so that the comparison fails.
    """
    with open_plain(longer.folder / JOURNAL) as file:
        file.seek(shorter.size - 1)
        return shorter.size if file.read(1) == b"\n" else longer.size


def choose_counting(found: Sequence[LaneResults]) -> tuple[list[LaneResults], list[tuple[LaneResults, LaneResults]]]:
    """Return the folder that counts for each lane. Also return each fenced folder, with the folder that counts in its
    place."""
    best: dict[int, LaneResults] = {}
    for each in sorted(found, key=lambda lane: lane.rank):
        best[each.lane.number] = each
    fenced = [(each, best[each.lane.number]) for each in found if best[each.lane.number] is not each]
    chosen = [best[number] for number in sorted(best)]
    _refuse_other_measurements(chosen)
    return chosen, fenced


def _refuse_other_measurements(chosen: Sequence[LaneResults]) -> None:
    first: LaneResults | None = None
    for each in chosen:
        first = first or each
        for start in each.starts:
            if start.measurement != first.starts[0].measurement:
                raise Contradiction(
                    f"{first.folder} was measured by benchbrief {first.starts[0].benchbrief}, and {each.folder} "
                    f"by {start.benchbrief}, which measures in another way",
                    "run all lanes with one version of benchbrief",
                )


def refuse_missing_outputs(each: LaneResults) -> None:
    """Raise Damaged if a raw output in the journal is missing from the folder or is not a plain file."""
    for record in each.records():
        if isinstance(record, j.JobCollected):
            for name in record.files:
                path = each.folder / record.directory / name
                if why := why_not_kept(path, each.folder):
                    raise Damaged(
                        f"{path} {why}, and the lane's journal names it",
                        "copy the lane's whole folder again, or run the lane again into another one",
                    )
