"""What every kind of `bench import` shares: its options, and what it says when it is done."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from benchbrief.pipeline import OUT, said, store
from benchbrief.spec_options import compile_or_stop, spec_options
from benchbrief.terminal import ExitCode, Stop, fail, warn

if TYPE_CHECKING:
    from benchbrief.compiler.plan import Plan
    from benchbrief.results.imports.keep import Prepared

F = TypeVar("F", bound=Callable[..., Any])
SHORT = "imported, not measured here"
_SHOWN = 10
SOURCE_OPTIONS = {
    "title": "What the numbers are from: a paper's or a brief's title.",
    "publisher": "Who published it, or measured it.",
    "url": "Where it is to be read.",
    "document": "Its number or revision, or where it is kept.",
    "date": "When it was published, or measured.",
    "licence": "What may be done with the numbers.",
}


@dataclass(frozen=True)
class Choices:
    """The options of every kind of import. `told` is what they say of the source."""

    spec: Path
    profile: str | None
    params: dict[str, str]
    out: Path
    experiment: str
    told: dict[str, str | None]
    skip_bad: bool
    again: bool
    dry_run: bool
    as_json: bool


def import_options(function: F) -> F:
    """The options; the function is given them as one `Choices`."""

    def command(**given: Any) -> Any:
        told = {key: given.pop(key) for key in SOURCE_OPTIONS}
        names = ("spec", "profile", "params", "out", "experiment", "skip_bad", "again", "dry_run", "as_json")
        choices = Choices(told=told, **{name: given.pop(name) for name in names})
        return function(choices, **given)

    command.__doc__ = function.__doc__
    command.__name__ = function.__name__
    options: list[Callable[[Any], Any]] = [
        click.option("--spec", required=True, type=click.Path(path_type=Path), help="The spec whose cells they are."),
        spec_options,
        click.option("--experiment", "-e", default="", help="Its experiment, where several have such cells."),
        click.option(
            "--out", type=click.Path(path_type=Path), default=OUT, show_default=True, help="Folder that holds the runs."
        ),
        *(click.option(f"--{key}", metavar="TEXT", help=text) for key, text in SOURCE_OPTIONS.items()),
        click.option("--skip-bad", is_flag=True, help="Keep what is right, and say what is left out."),
        click.option("--again", is_flag=True, help="Also what was imported before."),
        click.option("--dry-run", is_flag=True, help="Say what would be kept, and keep nothing."),
        click.option("--json", "as_json", is_flag=True, help="Print the outcome as JSON."),
    ]
    made: Any = command
    for option in reversed(options):
        made = option(made)
    return made  # type: ignore[no-any-return]  # click's decorators keep the function's type


def import_and_tell(choices: Choices, prepare: Callable[[Plan], Prepared]) -> None:
    """Read, keep, build the tables, and say what there is now. Raises RunnerError, or Stop."""
    from benchbrief.results.imports.keep import imported_before, keep_run

    checked = compile_or_stop(choices.spec, choices.profile, choices.params)
    plan: Plan = checked.plan
    if not plan.cells:
        raise fail(f"{choices.spec} has no cell", "add an experiment to it", ExitCode.SPEC_WRONG)
    what = prepare(plan)
    if not choices.again and (before := imported_before(choices.out, (file for _, file in what.files))):
        raise fail(before, "nothing was imported; for another run of the same, say --again")
    for problem in what.problems:
        warn(f"left out: {problem}")
    for text in what.remarks:
        warn(text)
    for text in _too_many_failed(what, plan):
        warn(text)
    if choices.dry_run:
        _tell(choices, what, plan, None)
        return
    run_dir = keep_run(choices.out, plan, {name: Path(name).read_bytes() for name in plan.spec.files}, what)
    broken = [verdict for verdict in store(run_dir, plan).verdicts if verdict.holds is False]
    _tell(choices, what, plan, run_dir)
    for verdict in broken:
        warn(verdict.warning)
    if broken:
        raise Stop(ExitCode.EXPECT_FAILED)


def _too_many_failed(what: Prepared, plan: Plan) -> Iterator[str]:
    """Cells more of whose operations failed than their experiment accepts: what `bench run` would take for failed."""
    accepted = {name: experiment.max_error_share for name, experiment in plan.experiments.items()}
    over = [each for each in what.cells if each.failed > accepted[each.cell.experiment]]
    for each in over[:_SHOWN]:
        most = f"max_errors is {100 * accepted[each.cell.experiment]:.3g} %"
        yield f"{100 * each.failed:.3g} % of the operations of {each.cell.id} failed, and {most}"
    if len(over) > _SHOWN:
        yield f"in {len(over) - _SHOWN} more cells more operations failed than max_errors accepts"


def _tell(choices: Choices, what: Prepared, plan: Plan, run_dir: Path | None) -> None:
    if choices.as_json:
        document = {
            "run": run_dir.name if run_dir else None,
            "directory": str(run_dir) if run_dir else None,
            "origin": "imported",
            "dry_run": choices.dry_run,
            "source": dict(what.source.said),
            "files": [file.model_dump() for _, file in what.files],
            "cells": [each.cell.id for each in what.cells],
            "published": len(what.published),
            "too_many_failed": list(_too_many_failed(what, plan)),
            "left_out": [str(problem) for problem in what.problems],
            "remarks": list(what.remarks),
        }
        click.echo(json.dumps(document, indent=1, ensure_ascii=False))
        return
    spared = sum(len(each.not_needed) for each in what.cells)
    verb = "would import" if run_dir is None else "imported"
    parts = [f"{len(what.cells)} of {len(plan.cells)} cells"]
    if spared:
        parts.append(f"which stand for {spared} repeat{'s' if spared != 1 else ''} of theirs")
    if what.published:
        count = len(what.published)
        parts.append(f"{count} published value{'s' if count != 1 else ''} of metrics, to compare with")
    click.echo(f"{verb} {', '.join(parts)}, from {what.source.said['title']} ({what.source.said['publisher']})")
    if run_dir is not None:
        click.echo(f"run {run_dir.name} ({SHORT})")
        click.echo(f"next: bench report {said(run_dir)}" if plan.reports else f"next: bench status {said(run_dir)}")
