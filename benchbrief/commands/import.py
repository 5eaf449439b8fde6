"""`bench import`."""

from __future__ import annotations

from pathlib import Path

import click

from benchbrief.importing import Choices, import_and_tell, import_options
from benchbrief.terminal import ExitCode, exit_codes, fail

KINDS = ("table",)


@click.command(
    epilog="""
\b
Examples:
  bench import table published.csv --spec brief.bench
  bench import table published.csv --spec brief.bench --dry-run
  bench import table ramp.csv --spec brief.bench --experiment ramp --title "Ramp of 2019" --publisher "Example Ltd" --url https://example.com/ramp --licence "cited with its source"

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
@click.argument("kind", type=click.Choice(KINDS))
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path, dir_okay=False))
@import_options
def command(choices: Choices, kind: str, files: tuple[Path, ...]) -> None:
    """Bring in results that were measured elsewhere, with their source, as a run of their own.

    KIND is what FILES are: `table`, a table of published figures (CSV). They go to the cells of a spec, so that its
    metrics and briefs work on them as they are. The run is marked as imported wherever it is shown, and `bench run`
    takes nothing from it. What the files do not tell stays missing.
    """
    from benchbrief.results.imports.prepare import prepare_table

    if kind == "table":
        if len(files) > 1:
            raise fail("a table is one file", "import each by itself: each has a source of its own")
        import_and_tell(
            choices,
            lambda plan: prepare_table(files[0], plan, choices.told, choices.experiment, skip_bad=choices.skip_bad),
        )
