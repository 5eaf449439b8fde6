from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from benchbrief.cli.run_options import IMPORTED, OUT, F, run_name, with_options
from benchbrief.cli.sections import SectionedCommand
from benchbrief.cli.spec_options import compile_or_stop, spec_options
from benchbrief.cli.terminal import Stop, exit_codes, fail, one_line, show, show_json, warn
from benchbrief.dsl.bench_error import ExitCode
from benchbrief.dsl.diagnostics.plain_amounts import plural
from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.progress.run_progress import Progress
from benchbrief.running.make_brief import make_tables

if TYPE_CHECKING:
    from benchbrief.model.extension_spec import ImporterSpec
    from benchbrief.model.plan import Cell, Plan
    from benchbrief.model.value_shapes import Key
    from benchbrief.results.imports.keep_import import Prepared, StatedSource

_OTHER = "benchbrief.other_importer"


class ImportCommand(SectionedCommand):
    """`bench import KIND`. It has the options of benchbrief's own importers, and those of the importer KIND. All are
    gathered in `options`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        from benchbrief.compiler.registry import IMPORTER_SPECS
        from benchbrief.runners.plugins import spec_of

        asked = next((word for word in args if IMPORTER_SPECS.offered(word)), None)
        if asked and asked not in IMPORTER_SPECS.own:
            ctx.meta[_OTHER] = spec_of(IMPORTER_SPECS, asked)
        return super().parse_args(ctx, args)

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        own = super().get_params(ctx)
        taken = {name for param in own for name in param.opts}
        for spec in self._importers(ctx):
            for name, key in spec.options.items():
                if f"--{name}" in taken:
                    hint = f"ask the authors of {spec.name} for another name"
                    raise fail(f"the importer `{spec.name}` can't be used: `bench import` has a --{name}", hint)
                taken.add(f"--{name}")
                own.insert(-1, _option(name, key))
        return own

    def invoke(self, ctx: click.Context) -> Any:
        from benchbrief.compiler.registry import IMPORTER_SPECS
        from benchbrief.runners.plugins import spec_of

        spec = spec_of(IMPORTER_SPECS, ctx.params["kind"])
        if spec.reads == "samples":
            hint = f"give it beside outputs: --samples {spec.name} PATTERN"
            raise fail(f"{spec.name} reads samples, which are imported with a measurement", hint)
        names = [name for each in self._importers(ctx) for name in each.options]
        given = {name: value for name in names if (value := ctx.params.pop(name)) is not None}
        for name in given:
            if name not in spec.options:
                of = next(each.name for each in self._importers(ctx) if name in each.options)
                raise fail(f"--{name} is for the outputs of {of}", f"leave it out: {spec.name} has no such option")
        ctx.params["options"] = given
        return super().invoke(ctx)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        from benchbrief.compiler.registry import IMPORTER_SPECS

        with formatter.section("Kinds"):
            known = {spec.name: spec.doc for spec in self._importers(ctx)}
            others = {each.name: f"See `bench import {each.name} --help`." for each in IMPORTER_SPECS.offered()}
            formatter.write_dl(list((others | known).items()))
        super().format_epilog(ctx, formatter)

    def _importers(self, ctx: click.Context) -> Iterator[ImporterSpec]:
        from benchbrief.compiler.registry import IMPORTER_SPECS

        yield from IMPORTER_SPECS.own.values()
        if _OTHER in ctx.meta:
            yield ctx.meta[_OTHER]


def complete_kind(_ctx: click.Context, _param: click.Parameter, begun: str) -> list[str]:
    """Return the kinds that a shell offers. All kinds from other packages are offered, because only an import would
    show which files they read."""
    from benchbrief.compiler.registry import IMPORTER_SPECS

    own = IMPORTER_SPECS.own
    return [name for name in IMPORTER_SPECS.names if name.startswith(begun) and not (name in own and own[name].probe)]


def _option(name: str, key: Key) -> click.Option:
    from benchbrief.model.value_shapes import Flag, Number, Word

    kind: click.ParamType[Any] | type = str
    match key.shape:
        case Word(choices=choices):
            kind = click.Choice(choices)
        case Number():
            kind = float
    default = f"  [default: {key.default}]" if key.default else ""
    names: Sequence[str] = (f"--{name}", name)
    if isinstance(key.shape, Flag):
        return click.Option(names, is_flag=True, default=None, help=key.doc + default)
    return click.Option(names, type=kind, default=None, help=key.doc + default)


_SHOWN = 10
SOURCE_OPTIONS = {
    "title": "Title of the paper or brief that has the numbers.",
    "publisher": "Who published it, or measured it.",
    "url": "Where it can be read.",
    "document": "Its number or revision, or where it is kept.",
    "date": "When it was published, or measured.",
    "licence": "What may be done with the numbers.",
}


@dataclass(frozen=True)
class Choices:
    """The options common to all kinds of import. `said` has the options that describe the source, by name. `told` and
    `facts` are the values of --told and --facts."""

    spec: Path
    profile: str | None
    params: dict[str, str]
    out: Path
    experiment: str
    said: dict[str, str | None]
    told: tuple[str, ...]
    facts: str
    mine: bool
    skip_bad: bool
    again: bool
    dry_run: bool
    as_json: bool

    def source(self, plan: Plan) -> StatedSource:
        """Return the described source. Raises ImportRefused."""
        from benchbrief.reports.disclosure.run_origin import TOPICS
        from benchbrief.reports.words.brief_words import CATALOGUES
        from benchbrief.results.imports.keep_import import source_of_options

        facts = {name for hardware in plan.hardware.values() for name in hardware.facts}
        topics = tuple(words[topic] for words in CATALOGUES.values() for topic in TOPICS)
        return source_of_options(self.said, self.told, self.facts, facts, topics, mine=self.mine)


def _short_enough(_: click.Context, parameter: click.Parameter, given: Any) -> Any:
    """Refuse a description of a source that is too long. `given` is one text, several, or None."""
    from benchbrief.results.imports.keep_import import too_long

    for text in given if isinstance(given, tuple) else (given,):
        if text and (why := too_long(parameter.name or "", text)):
            raise click.BadParameter(f"the source's {why}: shorten it")
    return given


def import_options(function: F) -> F:
    """Add the options to a command, and pass them to the function as one `Choices`."""

    def command(**given: Any) -> Any:
        said = {key: given.pop(key) for key in SOURCE_OPTIONS}
        own = {each.name: given.pop(each.name) for each in fields(Choices) if each.name != "said"}
        choices = Choices(said=said, **own)
        return function(choices, **given)

    command.__doc__ = function.__doc__
    command.__name__ = function.__name__
    return with_options(  # type: ignore[return-value]  # click's decorators keep the function's type
        command,
        click.option("--spec", required=True, type=click.Path(path_type=Path), help="The spec whose cells they are."),
        spec_options,
        click.option("--experiment", "-e", default="", help="The experiment, if several have such cells."),
        click.option(
            "--out", type=click.Path(path_type=Path), default=OUT, show_default=True, help="Folder that holds the runs."
        ),
        *(
            click.option(f"--{key}", metavar="TEXT", help=text, callback=_short_enough)
            for key, text in SOURCE_OPTIONS.items()
        ),
        click.option(
            "--told",
            multiple=True,
            metavar="NAME: TEXT",
            callback=_short_enough,
            help="A version or setting that the source tells. Repeatable.",
        ),
        click.option(
            "--facts",
            default="",
            metavar="NAMES",
            callback=_short_enough,
            help="Facts of the hardware that the source tells: cpu,storage.",
        ),
        click.option("--mine", is_flag=True, help="You measured them yourself: no source is needed."),
        click.option("--skip-bad", is_flag=True, help="Import what is right, and say what is left out."),
        click.option("--again", is_flag=True, help="Import also what was imported before."),
        click.option("--dry-run", is_flag=True, help="Say what would be imported, and keep nothing."),
        click.option("--json", "as_json", is_flag=True, help="Print the outcome as JSON."),
    )


def import_and_report(choices: Choices, prepare: Callable[[Plan], Prepared]) -> None:
    """Import results as a run, build its tables, and show the outcome. Raises RunnerError, Stop.

    An import that fails or is interrupted is deleted. If only the tables do not fit on the disk, the import is kept for
    `bench rebuild`.
    """
    from benchbrief.results.imports.keep_import import imported_before, keep_run
    from benchbrief.results.store_errors import NoRoom
    from benchbrief.runners.errors import DiskFull

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
        _show_result(choices, what, plan, None)
        return
    try:
        run_dir = keep_run(choices.out, plan, {name: Path(name).read_bytes() for name in plan.spec.files}, what)
    except DiskFull as error:  # the error's own hint is for a run, which can be resumed
        hint = "nothing was imported: free some space, or choose another folder with --out"
        raise fail(str(error), hint, ExitCode.BRIEF_NOT_MADE) from error
    try:
        broken = [verdict for verdict in make_tables(run_dir, plan).verdicts if verdict.holds is False]
    except NoRoom:
        raise  # the import is kept, and `bench rebuild` builds its tables once there is room
    except BaseException:
        # Other commands would fail on a run whose tables can't be built.
        shutil.rmtree(run_dir, ignore_errors=True)
        raise
    _show_result(choices, what, plan, run_dir)
    for verdict in broken:
        warn(verdict.warning)
    if broken:
        raise Stop(ExitCode.EXPECT_FAILED)


def _too_many_failed(what: Prepared, plan: Plan) -> Iterator[str]:
    """Name the cells with a share of failed operations above the experiment's limit. `bench run` would call such cells
    failed."""
    from benchbrief.compiler.registry import accepted_errors

    def accepted(cell: Cell) -> float:
        return accepted_errors(plan.experiments[cell.experiment].max_error_share, cell.tool.driver)

    over = [each for each in what.cells if each.failed > accepted(each.cell)]
    for each in over[:_SHOWN]:
        most = f"{100 * accepted(each.cell):.3g} % may"
        yield f"{100 * each.failed:.3g} % of the operations of {each.cell.id} failed, and {most}"
    if len(over) > _SHOWN:
        yield f"in {len(over) - _SHOWN} more cells more operations failed than may"


def _show_result(choices: Choices, what: Prepared, plan: Plan, run_dir: Path | None) -> None:
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
        show_json(document)
        return
    spared = sum(len(each.not_needed) for each in what.cells)
    verb = "would import" if run_dir is None else "imported"
    parts = [f"{len(what.cells)} of {plural(len(plan.cells), 'cell')}"]
    if spared:
        parts.append(f"which stand for {spared} repeat{'s' if spared != 1 else ''} of theirs")
    if what.published:
        count = len(what.published)
        parts.append(f"{count} published value{'s' if count != 1 else ''} of metrics, to compare with")
    show(f"{verb} {', '.join(parts)}, from {one_line(what.source.name)}")
    if run_dir is not None:
        show(f"run {run_dir.name} ({IMPORTED})")
        show(f"next: bench report {run_name(run_dir)}" if plan.reports else f"next: bench status {run_name(run_dir)}")


@click.command(
    cls=ImportCommand,
    sections={
        "Cells": ("--as", "--cell", "--samples", "--spec", "--profile", "--param", "--experiment"),
        "Source": (*(f"--{name}" for name in SOURCE_OPTIONS), "--told", "--facts", "--mine"),
    },
    epilog="""
\b
Examples:
  bench import table published.csv --spec brief.bench --dry-run
  bench import table ramp.csv --spec brief.bench --title "Ramp of 2019" \\
    --publisher "Example Ltd" --url https://example.com/ramp \\
    --licence "cited with its source"
  bench import ycsb out/*/*.txt --spec brief.bench --mine \\
    --as "out/{hardware}/{workload}-t{threads}.txt"
  bench import db_bench run.log --spec rocks.bench --mine \\
    --cell hardware=nvme,workload=rr,threads=16
  bench import hdr a/*.hlog --spec brief.bench --mine --unit ns \\
    --as "a/{workload}-t{threads}-{operation}.hlog"

\b
A table is CSV; its columns are coordinates, and measures with their unit:
  # title: Shrink Your Cluster
  # publisher: Example Ltd
  # document: EX-1234
  # licence: single figures are cited with their source
  hardware, workload, threads, throughput (ops/s), latency.p99[read] (ms)
  eco,      a,        96,      7120.1,             4.2

"""
    + exit_codes(ExitCode.DONE, ExitCode.SPEC_WRONG, ExitCode.USAGE, ExitCode.EXPECT_FAILED),
)
@click.argument("kind", shell_complete=complete_kind)
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path, dir_okay=False))
@click.option(
    "--as",
    "pattern",
    default="",
    metavar="PATTERN",
    help="Where paths say the cell: {hardware}/t{threads}.txt",
)
@click.option("--cell", default="", metavar="NAME=VALUE,...", help="What all outputs have in common: hardware=nvme.")
@click.option(
    "--samples",
    multiple=True,
    type=(str, str),
    metavar="KIND PATTERN",
    help="Logs of samples beside the outputs: iostat '{hardware}/t{threads}-{node}.log'.",
)
@import_options
def command(
    choices: Choices,
    kind: str,
    files: tuple[Path, ...],
    pattern: str,
    cell: str,
    samples: tuple[tuple[str, str], ...],
    options: Mapping[str, str | float | bool],
) -> None:
    """Import results that were measured elsewhere, with their source, as a run of their own.

    KIND is the importer that reads FILES. The results go into the cells of a spec, so that its metrics and briefs work
    on them. The run is marked as imported wherever it is shown, and `bench run` never reuses its results. Values that
    the files do not contain are missing.
    """
    from benchbrief.compiler.registry import IMPORTER_SPECS
    from benchbrief.results.imports.cell_matching import Where
    from benchbrief.results.imports.importer_seams import table_importer
    from benchbrief.results.imports.prepare_outputs import prepare_outputs
    from benchbrief.runners.plugins import spec_of

    progress = Progress(quiet=choices.as_json)
    if spec_of(IMPORTER_SPECS, kind).reads == "tables":
        if len(files) > 1:
            raise fail("a table is one file", "import each by itself: each has a source of its own")
        if pattern or cell or samples:
            raise fail("a table says its cells itself", "leave out --as, --cell and --samples")
        import_and_report(
            choices,
            lambda plan: table_importer(kind).prepare(
                files[0], plan, choices.source(plan), choices.experiment, skip_bad=choices.skip_bad
            ),
        )
        return
    where = Where(pattern, cell, choices.experiment, options, samples)

    def prepare(plan: Plan) -> Prepared:
        with progress.doing(f"reading {len(files)} file{'s' if len(files) != 1 else ''}"):
            return prepare_outputs(kind, files, plan, choices.source(plan), where, skip_bad=choices.skip_bad)

    import_and_report(choices, prepare)
