"""The folder of one lane: a run of the same plan, with only the cells of this lane."""

from __future__ import annotations

import filecmp
import hashlib
import os
import shlex
import shutil
import uuid
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict

from benchbrief.compiler.planning.plan_file import written_plan
from benchbrief.compiler.planning.plan_lanes import lane_named, lane_part, lanes_of
from benchbrief.dsl.bench_error import how_to_mend
from benchbrief.dsl.diagnostics.plain_amounts import first_of
from benchbrief.dsl.diagnostics.suggest import did_you_mean
from benchbrief.model.plan import Plan
from benchbrief.runners.errors import Damaged, DiskFull, RunnerError
from benchbrief.runners.journal.atomic_files import sha256_of, write_durably
from benchbrief.runners.journal.journal_file import JOURNAL, first_start
from benchbrief.runners.journal.run_folder import (
    LANE,
    MOST_OF_A_PLAN,
    PLAN,
    REVISION,
    SIMULATION,
    LaneName,
    lane_in,
    load_plan,
)
from benchbrief.runners.journal.run_identity import IDENTITY, new_identity
from benchbrief.runners.plain_files import open_plain, read_plain

_INDEX, _PARTS = "lane-plans.json", "lane-plans.parts"


class LanePlan(BaseModel):
    """The position of a lane's plan in the file of all lanes' plans (offset and length in bytes), and the plan's
    SHA-256. `hardware` are the names of the lane's hardware groups."""

    model_config = ConfigDict(frozen=True)
    hardware: tuple[str, ...]
    at: int
    length: int
    sha256: str


class LanePlans(BaseModel):
    """The contents of `lane-plans.json`. The lanes are ordered by their numbers."""

    model_config = ConfigDict(frozen=True)
    format: Literal["benchbrief-lane-plans"] = "benchbrief-lane-plans"
    version: Literal[1] = 1
    plan_sha256: str
    plan_bytes: int
    lanes: tuple[LanePlan, ...]


def write_lane_plans(run_dir: Path, plan: Plan) -> None:
    """Write the plan of each lane into the run's folder. Raises DiskFull."""
    try:
        found: list[LanePlan] = []
        at = 0
        with (run_dir / _PARTS).open("wb") as file:
            for lane in lanes_of(plan):
                content = part_content(lane_part(plan, lane))
                digest = hashlib.sha256(content).hexdigest()
                found.append(LanePlan(hardware=lane.hardware, at=at, length=len(content), sha256=digest))
                at += file.write(content)
            file.flush()
            os.fsync(file.fileno())
        whole = run_dir / PLAN
        index = LanePlans(plan_sha256=sha256_of(whole), plan_bytes=whole.stat().st_size, lanes=tuple(found))
        write_durably(run_dir / _INDEX, index.model_dump_json().encode())
    except OSError as error:
        raise DiskFull(
            f"the plans of lanes can't be written into {run_dir}: {error.strerror}",
            f"remove {run_dir}, free some space, and make it again",
        ) from error


def part_content(part: Plan) -> bytes:
    """Return the content of a lane's plan as it is written to the lane's folder."""
    return b"".join(written_plan(part))


def lane_plans_in(run_dir: Path) -> LanePlans | None:
    """Return the lanes' plans in a run. Returns None if there are none or if they belong to another plan."""
    try:
        found = LanePlans.model_validate_json(read_plain(run_dir / _INDEX))
        return found if found.plan_bytes == (run_dir / PLAN).stat().st_size else None
    except (OSError, ValueError):
        return None


def read_part(run_dir: Path, lane: LanePlan) -> bytes:
    """Return a lane's plan. Raises Damaged if the plan was changed after it was written."""
    path = run_dir / _PARTS
    try:
        with open_plain(path) as file:
            file.seek(lane.at)
            content = file.read(lane.length)
    except OSError as error:
        raise _damaged(path) from error
    if hashlib.sha256(content).hexdigest() != lane.sha256:
        raise _damaged(path)
    return content


def _damaged(path: Path) -> Damaged:
    index = path.with_name(_INDEX)
    return Damaged(
        f"{path} does not have the plan of the lane that {index.name} names",
        f"put the file back from a copy; or remove {index}, and lanes read the whole plan",
    )


def hardware_by_lane(run_dir: Path) -> tuple[tuple[str, ...], ...]:
    """Return the hardware groups of each lane of a run, ordered by the lanes' numbers. Raises RunnerError."""
    if kept := lane_plans_in(run_dir):
        return tuple(lane.hardware for lane in kept.lanes)
    return tuple(lane.hardware for lane in lanes_of(load_plan(run_dir)))


LANES = "lanes"
"""The folder in a run that holds the folders of its lanes, unless they are elsewhere."""
_NAMED = 12


class NoLane(RunnerError):
    """The plan has no lane with this number or name."""

    code = "no_lane"


def chosen_lane(run_dir: Path, name: str) -> LaneName:
    """Return the lane with this number or hardware group. Raises NoLane with the nearest name as hint.

    Raises RunnerError if the run's plan can't be read.
    """
    lanes = hardware_by_lane(run_dir)
    if number := lane_named(lanes, name):
        return LaneName(number, len(lanes))
    known = [key for hardware in lanes for key in hardware]
    guess = did_you_mean(name, known)
    some = first_of(known, _NAMED)
    hint = f"did you mean `{guess}`?" if guess else f"name one by its number, from 1 to {len(lanes)}, or its hardware"
    raise NoLane(f"the plan has no lane `{name}`: it has {len(lanes)}, with the hardware {some}", hint)


def refuse_driven_as_one(run_dir: Path) -> None:
    """Raise RunnerError if the run is itself a lane, or if a single controller has begun it as a whole."""
    if lane_in(run_dir) is not None:
        raise RunnerError(f"{run_dir} is the folder of one lane", "name the folder of the whole run")
    start = first_start(run_dir / JOURNAL)
    if (start is not None and not start.merged) or (start is None and _has_results(run_dir)):
        raise RunnerError(
            f"{run_dir} is run by one controller, for all of its lanes",
            f"go on with `bench resume {shlex.quote(str(run_dir))}`; or make another run, for lanes, with "
            "`bench plan SPEC --into FOLDER`",
        )


def _has_results(run_dir: Path) -> bool:
    """Return whether the journal begins with results of earlier runs, and no controller has started yet."""
    with suppress(OSError):
        return (run_dir / JOURNAL).stat().st_size > 0
    return False


def usual_folder(run_dir: Path, lane: int) -> Path:
    """Return the folder that a lane has if the user does not name one."""
    return usual_folders(run_dir, [lane])[lane]


def usual_folders(run_dir: Path, lanes: Iterable[int]) -> dict[int, Path]:
    """Return the folders that these lanes have if the user does not name any.

    If the run was renamed after its first lane began, the folders keep its old name.
    """
    own, folder = run_dir.resolve().name, run_dir / LANES
    names = {path.name.rpartition("-lane-")[0] for path in folder.glob("[!.]*-lane-*")}
    name = own if own in names or len(names) != 1 else names.pop()
    return {lane: folder / f"{name}-lane-{lane}" for lane in lanes}


def folder_of_lane(run_dir: Path, lane: LaneName, into: Path | None) -> Path:
    """Return the lane's folder, and make it if it does not exist. By default it is `lanes/RUN-lane-1` in the run's
    folder.

    The folder has the run's plan, or only the lane's part if the run keeps the parts. The folder appears as a whole or
    not at all, so two simultaneous starts make only one. Raises RunnerError if the folder belongs to something else.
    """
    folder = into or usual_folder(run_dir, lane.number)
    kept = lane_plans_in(run_dir)
    part = kept.lanes[lane.number - 1] if kept else None
    if not (folder / PLAN).exists():
        name = lane._replace(plan_sha256=kept.plan_sha256 if kept else "")
        _make(run_dir, folder, name, read_part(run_dir, part) if part else None)
    found = lane_in(folder)
    if found is None:
        raise RunnerError(f"{folder} is a run, and not the folder of a lane", "name another folder with --into")
    if found.plan_sha256:
        is_other = found.plan_sha256 != (kept.plan_sha256 if kept else sha256_of(run_dir / PLAN))
    else:
        is_other = not is_same_file(folder / PLAN, run_dir / PLAN)
    if is_other:
        raise RunnerError(f"{folder} is of another plan than {run_dir}", "name another folder with --into")
    if (found.number, found.of) != (lane.number, lane.of):
        raise RunnerError(f"{folder} is lane {found.number}, not {lane.number}", "name another folder with --into")
    if part and found.plan_sha256 and sha256_of(folder / PLAN) != part.sha256:
        raise Damaged(
            f"{folder / PLAN} is not the part of the plan that {run_dir} keeps for this lane",
            "put the file back from a copy, or name another folder with --into",
        )
    return folder


def is_same_file(one: Path, other: Path) -> bool:
    """Return whether two files have the same contents. Raises OSError."""
    return one.samefile(other) or filecmp.cmp(one, other, shallow=False)


def _link_or_copy(plan: Path, to: Path) -> None:
    """Link the plan into a lane's folder, or copy it if linking is impossible. Copying a large plan for a thousand
    lanes would need much space."""
    try:
        os.link(plan, to)
    except OSError:  # another file system, or one without links
        write_durably(to, read_plain(plan, most=MOST_OF_A_PLAN))


def _make(run_dir: Path, folder: Path, lane: LaneName, part: bytes | None) -> None:
    folder = folder.resolve()
    temporary = folder.with_name(f".{folder.name}-{uuid.uuid4().hex[:8]}")
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        temporary.mkdir()
        for name in (REVISION, SIMULATION):
            if (run_dir / name).exists():
                write_durably(temporary / name, read_plain(run_dir / name))
        if part is None:
            _link_or_copy(run_dir / PLAN, temporary / PLAN)
        else:
            write_durably(temporary / PLAN, part)
        for path in sorted((run_dir / "spec").glob("*")):
            write_durably(temporary / "spec" / path.name, read_plain(path, run_dir))
        write_durably(temporary / LANE, lane.as_file())
        write_durably(temporary / IDENTITY, new_identity(folder))
        try:
            temporary.rename(folder)  # also onto an empty folder, and never onto another
        except OSError:
            if not (folder / PLAN).exists():
                raise
    except OSError as error:
        hint = how_to_mend(error) or "it must be empty, or not there yet: see --into"
        raise RunnerError(f"the folder {folder} can't be made: {error.strerror}", hint) from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
