"""What each lane needs of a plan, beside the plan: so that a lane takes as long as its cells, and not as the whole run.

`lane-plans.parts` has a plan for each lane, one after another; `lane-plans.json` says where each begins, and its
SHA-256, beside that of plan.json. The plan stays the truth: a run without these files is read by its plan alone.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict

from benchbrief.compiler.kept_plans.plan_file import written_plan
from benchbrief.compiler.lanes.plan_lanes import lane_part, lanes_of
from benchbrief.compiler.planning.plan import Plan
from benchbrief.runners.errors import Damaged, DiskFull
from benchbrief.runners.journal.atomic_files import write_durably
from benchbrief.runners.journal.file_digests import sha256_of
from benchbrief.runners.journal.run_folder import PLAN, load_plan
from benchbrief.runners.plain_files import open_plain, read_plain

_INDEX, _PARTS = "lane-plans.json", "lane-plans.parts"


class LanePlan(BaseModel):
    """The place of a lane's plan among the parts, in bytes, and its SHA-256. `hardware` has the lane's groups."""

    model_config = ConfigDict(frozen=True)
    hardware: tuple[str, ...]
    at: int
    length: int
    sha256: str


class LanePlans(BaseModel):
    """The contents of `lane-plans.json`. The lanes are in the order of their numbers."""

    model_config = ConfigDict(frozen=True)
    format: Literal["benchbrief-lane-plans"] = "benchbrief-lane-plans"
    version: Literal[1] = 1
    plan_sha256: str
    plan_bytes: int
    lanes: tuple[LanePlan, ...]


def write_lane_plans(run_dir: Path, plan: Plan) -> None:
    """Keep the plan of each lane in a run that has this plan. Raises DiskFull."""
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
    """Return the plan of a lane as its folder keeps it."""
    return b"".join(written_plan(part))


def lane_plans_in(run_dir: Path) -> LanePlans | None:
    """Return what a run keeps for its lanes; None where it has its plan alone, or what it keeps is of another plan."""
    try:
        found = LanePlans.model_validate_json(read_plain(run_dir / _INDEX))
        return found if found.plan_bytes == (run_dir / PLAN).stat().st_size else None
    except (OSError, ValueError):
        return None


def read_part(run_dir: Path, lane: LanePlan) -> bytes:
    """Return a lane's plan. Raises Damaged when it is not what was written."""
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
    """Return the hardware groups of each lane of a run, in the order of their numbers. Raises RunnerError."""
    if kept := lane_plans_in(run_dir):
        return tuple(lane.hardware for lane in kept.lanes)
    return tuple(lane.hardware for lane in lanes_of(load_plan(run_dir)))
