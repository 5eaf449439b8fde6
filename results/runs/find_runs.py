"""Finds runs in the folder that contains them, by id, by folder name, or by how they ended."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Literal, get_args

from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.model.events import Imported, RunEnded
from benchbrief.results.store_errors import ResultsError
from benchbrief.runners.errors import Damaged, RunnerError
from benchbrief.runners.fleet.lane_results import folders_in
from benchbrief.runners.journal.journal_file import JOURNAL, first_start, is_being_written, last_record
from benchbrief.runners.journal.run_folder import PLAN, SIMULATION
from benchbrief.runners.session import is_making_brief

RunState = Literal["running", "done", "failed", "interrupted"]
RUN_STATES: tuple[RunState, ...] = get_args(RunState)
RUN_NAME = re.compile(r"[0-9]{8}-[0-9]{6}-")
"""The beginning of a run's name."""
_LAST = re.compile(r"(last|simulated|imported)(?:~([0-9]{1,9}))?")


@dataclass(frozen=True)
class RunInFolder:
    """A run in a folder. `started_at` is in epoch seconds; if the journal has no start, it is the time of the plan's
    file."""

    run_id: str
    path: Path
    started_at: float
    state: RunState
    simulated: bool
    imported: bool = False


def list_runs(out: Path) -> list[Path]:
    """Return the directories of all runs in a folder, the oldest first. The result is empty if the folder does not
    exist."""
    return [run.path for run in _runs(out)]


def list_real_runs(out: Path) -> list[Path]:
    """Return the directories of the runs that were measured here, neither simulated nor imported, the oldest first."""
    return [run.path for run in _runs(out) if not run.simulated and not run.imported]


def require_folder(out: Path) -> None:
    """Raise ResultsError if a folder of runs is missing, is not a folder, or can't be read."""
    other = "name another folder of runs, or a store"
    try:
        with os.scandir(out):
            return
    except FileNotFoundError:
        raise ResultsError(f"there is no folder {out}", f"start a run with `bench run SPEC`, or {other}") from None
    except NotADirectoryError:
        raise ResultsError(f"{out} is no folder", other) from None
    except OSError as error:
        raise _unreadable(out, error) from error


def _unreadable(path: Path, error: OSError) -> ResultsError:
    owner = f"`ls -ld {shlex.quote(str(path))}` shows who may read it"
    found = ResultsError(f"{path} can't be read: {error.strerror}", f"{owner}; or name another one")
    found.__cause__ = error
    return found


def _refuse_unreadable(out: Path, after: str = "", name: str = "") -> None:
    """Raise ResultsError if the folder can't be read, or if one of its unreadable runs may be the requested run: its
    name begins with `name`, and it is later than the run `after`."""
    if os.path.lexists(out):
        require_folder(out)
    for path, error in unreadable_runs(out):
        if path.name > after and path.name.startswith(name):
            raise error


def unreadable_runs(out: Path) -> Iterator[tuple[Path, ResultsError]]:
    """Yield the folders of runs that the user may not read, in order of name. Each comes with an error to report."""
    for path in sorted(out.glob("*")):
        if RUN_NAME.match(path.name):
            try:
                with os.scandir(path):
                    pass
            except PermissionError as error:
                yield path, _unreadable(path, error)
            except OSError:
                continue  # a file, or gone


def last_run(out: Path, option: str = "") -> Path:
    """Return the last run that was measured here. Raises ResultsError if there is none.

    A simulated or imported run must be named by the user. `option` is the option for this, which the error's hint
    mentions.
    """
    return _real(out, option)[-1].path


def _real(out: Path, option: str = "") -> list[RunInFolder]:
    """Return all runs that were measured here, the oldest first. Raises ResultsError if there are none."""
    runs = _runs(out)
    _refuse_unreadable(out, after=runs[-1].run_id if runs else "")
    if not runs:
        raise _none_in(out)
    real = [run for run in runs if not run.simulated and not run.imported]
    if not real:
        kinds = {"imported" if run.imported else "simulated" for run in runs}
        said = "imported" if runs[-1].imported else "simulated"
        hint = f"say `{option}{said}` for the last one, {runs[-1].run_id}; or measure with `bench run SPEC`"
        raise ResultsError(f"all runs in {out} are {' or '.join(sorted(kinds))}", hint)
    return real


def last_interrupted(out: Path) -> Path:
    """Return the last run that can be resumed. Raises ResultsError if there is none."""
    runs = _real(out)
    resumable = [run for run in runs if run.state == "interrupted"]
    if resumable:
        return resumable[-1].path
    going = [run for run in runs if run.state == "running"]
    if going:
        error = f"no run in {out} was interrupted, and {going[-1].run_id} goes on"
        raise ResultsError(error, f"follow it: bench watch {shlex.quote(str(going[-1].path))}")
    last = runs[-1]
    hint = f"the last run is {last.run_id} ({last.state}); name a run to try its failed cells again"
    raise ResultsError(f"no run in {out} was interrupted", hint)


def last_unended(out: Path) -> Path:
    """Return the run in progress, or else the last run without an end. A run is in progress while its brief is being
    made.

    Raises ResultsError if there is no such run, or if it is unclear which run is meant. This is so if two runs are in
    progress, or if a run later than the one in progress has lost its controller.
    """
    runs = _runs(out)
    if not runs:
        raise _none_in(out)
    going = [run for run in runs if run.state == "running" or is_making_brief(run.path)]
    left = [run for run in runs if run not in going and not isinstance(last_record(run.path / JOURNAL), RunEnded)]
    later = [run for run in left if going and runs.index(run) > runs.index(going[-1])]
    if going and len(going) + len(later) > 1:
        what = {run.run_id: "goes on" if run.state == "running" else "its brief is being made" for run in going}
        what |= {run.run_id: "left by its controller" for run in later}
        listed = [f"{run} ({state})" for run, state in what.items()]
        raise ResultsError(f"several runs in {out} could be meant: {', '.join(listed)}", "name the run")
    if going or left:
        return (going or left)[-1].path
    last = runs[-1]
    raise ResultsError(f"no run in {out} goes on", f"the last one is {last.run_id} ({last.state})")


def find_run(out: Path, name: str) -> Path:
    """Find a run by its id, the beginning of the id, or its folder, even if the folder was renamed.

    `last`, `last~1` and so on are runs that were measured here; `imported`, `simulated`, `imported~1` and so on are the
    others. Raises ResultsError if no run or several runs fit.
    """
    if (Path(name) / PLAN).is_file():
        return Path(name)
    if found := _LAST.fullmatch(name):
        return _counted_back(out, name, found[1], int(found[2] or 0))
    runs = _runs(out)
    _refuse_without_plan(out, name, runs)
    if not runs:
        raise _none_in(out)
    fitting = [run.path for run in runs if run.run_id == name] or [r.path for r in runs if r.run_id.startswith(name)]
    fitting = fitting or [run.path for run in runs if _id_in_journal(run.path).startswith(name)]
    if len(fitting) == 1:
        return fitting[0]
    _refuse_unreadable(out, name=name)
    if fitting:
        raise ResultsError(f"{len(fitting)} runs in {out} begin with {name}", f"say more of it: {_some(fitting)}")
    ending = [run.path for run in runs if run.run_id.endswith(f"-{name}")]
    hint = f"the last ones are {_some([run.path for run in runs])}"
    if ending:
        hint = f"did you mean {ending[0].name}?" if len(ending) == 1 else f"these end so: {_some(ending)}"
    raise ResultsError(f"no run {name} in {out}", hint)


def _id_in_journal(run_dir: Path) -> str:
    """Return a run's name from its journal, or "" if the run has not begun. Renaming the run's folder does not change
    this name."""
    start = first_start(run_dir / JOURNAL)
    return start.run_id if start else ""


def _refuse_without_plan(out: Path, name: str, runs: list[RunInFolder]) -> None:
    """Raise Damaged if the only run that matches the name has lost its plan."""
    if any(run.run_id.startswith(name) for run in runs):
        return
    for path in (Path(name), *_without_plan(out)):
        if (path / JOURNAL).is_file() and (path == Path(name) or path.name.startswith(name)):
            raise _lost_plan(path)


def _without_plan(out: Path) -> list[Path]:
    found = sorted(journal.parent for journal in out.glob(f"*/{JOURNAL}"))
    return [path for path in found if not (path / PLAN).is_file()]


def _lost_plan(path: Path) -> Damaged:
    return Damaged(
        f"{path / PLAN} is missing, without which the run can't be read",
        "put the file back from a copy; its results are left as they are; or run the spec again",
    )


def _counted_back(out: Path, name: str, kind: str, back: int) -> Path:
    if kind == "last" and back == 0:
        return last_run(out)
    runs = [run for run in _runs(out) if (run.simulated, run.imported) == (kind == "simulated", kind == "imported")]
    if back < len(runs):
        return runs[-1 - back].path
    others = "; simulated and imported ones do not count" if kind == "last" else ""
    what = "measured" if kind == "last" else kind
    raise ResultsError(f"{out} has no run {name}: {len(runs)} were {what}", f"`bench status --all` lists them{others}")


def run_state(run_dir: Path) -> RunState:
    """Return "running" while a process drives the run or one of its lanes. Otherwise, return how the run ended.

    A run without an end is interrupted. A run whose journal can't be read counts as interrupted, too; the error is
    reported when the journal is read.
    """
    with suppress(OSError):
        if is_being_written(run_dir) or any(is_being_written(lane) for lane in folders_in(run_dir)):
            return "running"
    last = last_record(run_dir / JOURNAL)
    return last.status if isinstance(last, RunEnded) else "interrupted"


def _runs(out: Path) -> list[RunInFolder]:
    found = [_run(plan.parent) for plan in out.glob(f"*/{PLAN}")]
    return sorted(found, key=lambda run: (run.started_at, run.run_id))


def _run(path: Path) -> RunInFolder:
    return RunInFolder(
        path.name, path, started_at(path), run_state(path), is_simulated(path), imported_from(path) is not None
    )


def imported_from(run_dir: Path) -> Imported | None:
    """Return the source of a run's results if they were measured elsewhere, or None otherwise."""
    start = first_start(run_dir / JOURNAL)
    return start.imported if start else None


def is_simulated(run_dir: Path) -> bool:
    """Return whether the run was marked as simulated when it was made or started."""
    start = first_start(run_dir / JOURNAL)
    return (run_dir / SIMULATION).exists() or (start is not None and start.simulated is not None)


def started_at(run_dir: Path) -> float:
    """Return when a run started, in epoch seconds. If the journal has no start, this is the time of the plan's file."""
    start = first_start(run_dir / JOURNAL)
    return start.at if start else (run_dir / PLAN).stat().st_mtime


def _none_in(out: Path) -> RunnerError:
    _refuse_unreadable(out)
    if lost := _without_plan(out):
        return _lost_plan(lost[-1])
    return ResultsError(f"no run in {out}", "start one with `bench run SPEC`, or name another folder with --out")


def _some(paths: list[Path]) -> str:
    names = [path.name for path in paths[-5:]]
    return ("..., " if len(paths) > 5 else "") + ", ".join(names)
