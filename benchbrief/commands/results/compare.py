from __future__ import annotations

from pathlib import Path

import click

from benchbrief.cli.run_options import Share, complete_run, out_option
from benchbrief.cli.sections import SectionedCommand
from benchbrief.cli.terminal import Stop, exit_codes
from benchbrief.cli.verdict_files import require_writable, verdict_options
from benchbrief.dsl.bench_error import ExitCode


@click.command(
    cls=SectionedCommand,
    sections={
        "Rules": ("--metric", "--threshold", "--strict", "--mixed", "--other-load"),
        "Output": ("--json", "--html", "--language", "--junit", "--markdown"),
    },
    epilog="""
\b
Examples:
  bench compare last~1 last                    what has changed since then
  bench compare last:hdd last:nvme             two hardware groups of a run
  bench compare last:hdd last:sata last:nvme   rank three of them
  bench compare last:codec=none last:codec=lz4  two levels of a factor
  bench compare rev:main last                  the last run of main's spec
  bench compare 20260301 20260308 --metric throughput --metric latency.p99
  bench compare rev:v1.2 last --threshold 5% --junit compare.xml

Each side is a run (its name, the start of it, or its folder), `last`, `last~1` for the one before, or `rev:REVISION`
for the last run whose spec was that of the git revision. `:hardware` behind it takes one hardware group,
`:factor=level` one level; several are separated by commas.

"""
    + exit_codes(ExitCode.DONE, ExitCode.USAGE, ExitCode.EXPECT_FAILED),
)
@click.argument("named", nargs=-1, required=True, metavar="A B [C]...", shell_complete=complete_run)
@out_option
@click.option(
    "--metric",
    "metrics",
    multiple=True,
    metavar="NAME",
    help="Compare this: throughput, latency.p99[read], errors, sustained, or a metric of the spec. Repeatable.  "
    "[default: throughput, 99th percentiles, errors, what searches found, and the spec's metrics]",
)
@click.option("--threshold", type=Share(), default=0.0, metavar="SHARE", help="Ignore smaller changes: 5%.")
@click.option(
    "--strict", is_flag=True, help="End with 4 also if a difference can't be judged, or B lacks a point of A."
)
@click.option("--mixed", is_flag=True, help="Compare measured results with simulated or imported ones.")
@click.option("--other-load", is_flag=True, help="Judge also points with different loads.")
@click.option(
    "--html",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Write the comparison to FILE as a page of its own.",
)
@click.option("--language", type=click.Choice(["en", "ja"]), help="Language of that page.  [default: en]")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
@verdict_options
def command(
    named: tuple[str, ...],
    out: Path,
    metrics: tuple[str, ...],
    threshold: float,
    strict: bool,
    mixed: bool,
    other_load: bool,
    html: Path | None,
    language: str | None,
    as_json: bool,
    junit: Path | None,
    markdown: Path | None,
) -> None:
    """Compare B with A, point by point: both values, the change, and whether it is more than noise.

    A is the reference, and B is judged. With three and more, each point is ranked as well.
    """
    from benchbrief.comparing.judged_contenders import compare_named
    from benchbrief.comparing.print_comparison import print_comparison

    if language and html is None:
        raise click.UsageError("--language is that of the page of --html: say --html FILE too")
    require_writable(junit, markdown, html)
    judged = compare_named(named, out, metrics, threshold, mixed=mixed, other_load=other_load)
    print_comparison(
        judged, strict=strict, as_json=as_json, junit=junit, markdown=markdown, html=html, language=language or "en"
    )
    if judged.worse or (strict and judged.unjudged):
        raise Stop(ExitCode.EXPECT_FAILED)
