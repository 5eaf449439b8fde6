"""`bench import`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from benchbrief.importing import Choices, import_and_tell, import_options
from benchbrief.progress import Progress
from benchbrief.terminal import ExitCode, exit_codes, fail

if TYPE_CHECKING:
    from benchbrief.compiler.plan import Plan
    from benchbrief.results.imports.keep import Prepared

TABLE = "table"
TOOLS = ("ycsb", "go-ycsb", "db_bench", "hdr")
LOGS = ("iostat", "ipmitool")
UNITS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3}


@click.command(
    epilog="""
\b
Examples:
  bench import table published.csv --spec brief.bench
  bench import table published.csv --spec brief.bench --dry-run
  bench import table ramp.csv --spec brief.bench --experiment ramp --title "Ramp of 2019" --publisher "Example Ltd" --url https://example.com/ramp --licence "cited with its source"

\b
  bench import ycsb out/*/*.txt --spec brief.bench --as "out/{hardware}/{workload}-t{threads}.txt" --title "Lab runs" --publisher "Example Ltd" --document "lab book 12" --licence internal
  bench import db_bench run.log --spec rocks.bench --cell hardware=nvme,workload=rr,threads=16 --title "Lab runs" --publisher "Example Ltd" --document "lab book 12" --licence internal
  bench import hdr a/*.hlog --spec brief.bench --as "a/{workload}-t{threads}-{operation}.hlog" --unit ns --title "Lab runs" --publisher "Example Ltd" --document "lab book 12" --licence internal

\b
A table is CSV; its columns are coordinates, and measures with their unit:
  # title: Shrink Your Cluster
  # publisher: Example Ltd
  # document: EX-1234
  # licence: single figures are cited with their source
  hardware, workload, threads, throughput (ops/s), latency.p99[read] (ms)
  eco,      a,        96,      7120.1,             4.2

"""  # noqa: E501  # an example is one line, which is pasted
    + exit_codes(ExitCode.DONE, ExitCode.SPEC_WRONG, ExitCode.USAGE, ExitCode.EXPECT_FAILED)
)
@click.argument("kind", type=click.Choice((TABLE, *TOOLS)))
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path, dir_okay=False))
@click.option(
    "--as",
    "pattern",
    default="",
    metavar="PATTERN",
    help="Where outputs' paths say their cell: out/{hardware}/{workload}-t{threads}.txt",
)
@click.option(
    "--cell", default="", metavar="NAME=VALUE,...", help="What is the same of all outputs: hardware=nvme,threads=8"
)
@click.option(
    "--unit",
    type=click.Choice(tuple(UNITS)),
    default="us",
    show_default=True,
    help="The unit of the values in HDR logs.",
)
@click.option(
    "--logs",
    default="",
    metavar="PATTERN",
    help="YCSB's histogram logs, where they are not beside its outputs: logs/{hardware}/t{threads}-{operation}.hdr",
)
@click.option(
    "--samples",
    multiple=True,
    type=(click.Choice(LOGS), str),
    metavar="KIND PATTERN",
    help="Logs beside outputs, iostat's or ipmitool's: --samples iostat 'out/{hardware}/t{threads}-{node}.log'",
)
@import_options
def command(
    choices: Choices,
    kind: str,
    files: tuple[Path, ...],
    pattern: str,
    cell: str,
    unit: str,
    logs: str,
    samples: tuple[tuple[str, str], ...],
) -> None:
    """Bring in results that were measured elsewhere, with their source, as a run of their own.

    KIND is what FILES are: `table`, a table of published figures (CSV), or finished outputs of a tool: `ycsb` (its
    output, with the HDR logs beside it; or raw latencies), `go-ycsb`, `db_bench`, or HDR logs by themselves. They go to
    the cells of a spec, so that its metrics and briefs work on them as they are. The run is marked as imported wherever
    it is shown, and `bench run` takes nothing from it. What the files do not tell stays missing.
    """
    from benchbrief.results.imports.prepare import prepare_table
    from benchbrief.results.imports.prepare_outputs import Where, prepare_outputs

    progress = Progress(quiet=choices.as_json)
    if kind == TABLE:
        if len(files) > 1:
            raise fail("a table is one file", "import each by itself: each has a source of its own")
        if pattern or cell or logs or samples:
            raise fail("a table says its cells itself", "leave out --as, --cell, --logs and --samples")
        import_and_tell(
            choices,
            lambda plan: prepare_table(files[0], plan, choices.told, choices.experiment, skip_bad=choices.skip_bad),
        )
        return
    if logs and kind != "ycsb":
        raise fail("--logs is for the outputs of ycsb", "HDR logs by themselves are FILES of `bench import hdr`")
    where = Where(pattern, cell, choices.experiment, UNITS[unit], logs, samples)

    def prepare(plan: Plan) -> Prepared:
        with progress.doing(f"reading {len(files)} file{'s' if len(files) != 1 else ''}"):
            return prepare_outputs(kind, files, plan, choices.told, where, skip_bad=choices.skip_bad)

    import_and_tell(choices, prepare)
