from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from benchbrief.cli.importer_options import ImportCommand, complete_kind
from benchbrief.cli.terminal import exit_codes, fail
from benchbrief.dsl.bench_error import ExitCode
from benchbrief.progress.run_progress import Progress
from benchbrief.running.import_command import SOURCE_OPTIONS, Choices, import_and_report, import_options

if TYPE_CHECKING:
    from benchbrief.model.plan import Plan
    from benchbrief.results.imports.keep_import import Prepared


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
    """Bring in results that were measured elsewhere, with their source, as a run of their own.

    KIND is what FILES are, by the importer that reads them. They go to the cells of a spec, so that its metrics and
    briefs work on them as they are. The run is marked as imported wherever it is shown, and `bench run` takes nothing
    from it. What the files do not tell stays missing.
    """
    from benchbrief.compiler.registry import IMPORTER_SPECS
    from benchbrief.results.imports.cell_matching import Where
    from benchbrief.results.imports.prepare_outputs import prepare_outputs
    from benchbrief.results.imports.read_imported import table_importer
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
