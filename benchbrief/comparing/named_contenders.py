"""The contenders of `bench compare`, as a user names them: `last`, `last~1`, RUN, RUN:hardware, rev:HEAD~3."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from benchbrief.cli.run_options import open_results
from benchbrief.comparing.git_files import GitFiles
from benchbrief.dsl.diagnostics.suggest import did_you_mean
from benchbrief.results.compare.contender import Contender
from benchbrief.results.runs.find_runs import find_run, list_real_runs
from benchbrief.results.store_errors import ResultsError
from benchbrief.runners.errors import RunnerError
from benchbrief.runners.journal.run_folder import load_plan

_REVISION = "rev:"


class NotComparable(ResultsError):
    """What is named has nothing that can be compared, or must not be."""

    code = "not_comparable"


@dataclass(frozen=True)
class Reference:
    """`hardware` is "" for all of a run's."""

    text: str
    run_dir: Path
    hardware: str = ""


def resolve(text: str, out: Path) -> Reference:
    """Raises RunnerError, or NotComparable when the run has no such hardware."""
    name, colon, hardware = text.rpartition(":")
    if not colon or name == _REVISION[:-1] or Path(text).is_dir():
        name, hardware = text, ""
    return Reference(text, _run(name or "last", out), hardware)


def _run(name: str, out: Path) -> Path:
    if name.startswith(_REVISION):
        return _of_revision(name.removeprefix(_REVISION), out)
    return find_run(out, name)


def _of_revision(revision: str, out: Path) -> Path:
    """The last run whose spec was, byte for byte, that of a git revision. Raises RunnerError."""
    for run_dir in reversed(list_real_runs(out)):
        try:
            spec = load_plan(run_dir).spec
        except RunnerError:  # of another version
            continue
        if not Path(spec.name).resolve().parent.is_dir():
            continue
        files = GitFiles.at(revision, Path(spec.name))
        if all(files.sha256(Path(name)) == digest for name, digest in spec.files.items()):
            return run_dir
    hint = f"check {revision} out and run its spec; or name a run, `bench status --all` lists them"
    raise ResultsError(f"no run in {out} measured the spec of {revision}", hint)


def contender(reference: Reference, opened: ExitStack) -> Contender:
    """Its results, open for as long as `opened` is. Raises RunnerError, NotComparable."""
    plan = load_plan(reference.run_dir)
    hardware = None
    if reference.hardware:
        variants = [key for key, group in plan.hardware.items() if group.group == reference.hardware]
        if reference.hardware not in plan.hardware and len(variants) > 1:
            run = reference.text.rpartition(":")[0]
            what = f"{reference.hardware} of run {reference.run_dir.name} has {len(variants)} variants"
            raise NotComparable(what, f"name one: {', '.join(f'`{run}:{key}`' for key in variants)}")
        names = {name: key for key, group in plan.hardware.items() for name in (key, group.group)}
        names.update({key: key for key in plan.hardware})
        hardware = names.get(reference.hardware)
        if hardware is None:
            guess = did_you_mean(reference.hardware, names)
            hint = f"did you mean `{guess}`?" if guess else f"it has {', '.join(plan.hardware)}"
            raise NotComparable(f"run {reference.run_dir.name} has no hardware {reference.hardware}", hint)
    store = opened.enter_context(open_results(reference.run_dir))
    origin = "simulated" if store.simulated else "imported" if store.imported else "measured"
    return Contender(reference.text, plan, store, hardware, origin)
