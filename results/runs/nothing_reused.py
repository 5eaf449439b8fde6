"""Why a run takes nothing from earlier runs, in one sentence, with the runs of other folders that measured the same."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Collection, Iterator
from contextlib import suppress
from pathlib import Path

from benchbrief.model.plan import Plan
from benchbrief.results.runs.find_runs import RUN_NAME, list_real_runs, list_runs, run_state
from benchbrief.runners.journal.run_folder import PLAN

_MOST_FOLDERS = 200
_MOST_RUNS = 20
"""So many folders beside the usual one are looked at, and so many of the newest runs in each."""
_LARGEST = 1 << 26
"""No larger plan of another folder is read, in bytes."""


def why_nothing(plan: Plan, out: Path) -> str:
    """Return why nothing could be taken from the runs of a folder; "" for the first run of a spec."""
    hashes = {cell.hash for cell in plan.cells}
    for run_dir in reversed(list_real_runs(out)):
        spec, has_same = _planned(run_dir, hashes)
        name = run_dir.name
        if has_same and run_state(run_dir) == "running":
            return f"run {name} of the same cells goes on: bench watch {name}"
        if has_same:
            return f"run {name} has no good results of the same cells that could be taken: bench status {name}"
        if spec == Path(plan.spec.name).name:
            diff = f"bench plan {shlex.quote(plan.spec.name)} --diff {name}"
            return f"no cell of run {name}, the last one of this spec, is the same: {diff}"
    for run_dir in _elsewhere(Path(plan.spec.name).parent, out):
        if _planned(run_dir, hashes)[1]:
            folder = shlex.quote(str(run_dir.parent))
            return f"none is in {out}; run {run_dir.name} of the same cells is in another folder: --out {folder}"
    if list_runs(out) and not list_real_runs(out):
        return f"all runs in {out} are simulated or imported"
    return ""


def _planned(run_dir: Path, hashes: Collection[str]) -> tuple[str, bool]:
    """Return the name of a run's spec, and whether it has cells of these definitions; "" for a plan that can't be
    read."""
    with suppress(OSError, ValueError, KeyError, TypeError, RecursionError):
        if (run_dir / PLAN).stat().st_size <= _LARGEST:
            plan = json.loads((run_dir / PLAN).read_bytes())
            return Path(plan["spec"]["name"]).name, any(cell["hash"] in hashes for cell in plan["cells"])
    return "", False


def _elsewhere(spec_folder: Path, out: Path) -> Iterator[Path]:
    """Yield the runs of other folders beside the spec and in the working directory, the newest of each first."""
    seen = {out.resolve()}
    for root in (spec_folder, Path()):
        for folder in _folders(root):
            if folder.resolve() not in seen:
                seen.add(folder.resolve())
                runs = (each for each in _folders(folder) if RUN_NAME.match(each.name))
                yield from sorted(runs, reverse=True)[:_MOST_RUNS]


def _folders(root: Path) -> list[Path]:
    """Return some folders in one, without those behind links."""
    found: list[Path] = []
    with suppress(OSError), os.scandir(root) as entries:
        for entry in entries:
            if len(found) == _MOST_FOLDERS:
                break
            if entry.is_dir(follow_symlinks=False):
                found.append(root / entry.name)
    return sorted(found)
