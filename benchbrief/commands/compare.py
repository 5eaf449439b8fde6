"""`bench compare`."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from benchbrief.ci.verdict_files import verdict_options, write_markdown, write_verdicts
from benchbrief.cli.run_options import complete_run, out_option
from benchbrief.cli.simulation_options import Share
from benchbrief.cli.terminal import Stop, columns_of, exit_codes, fail, one_line, show, show_json, show_wrapped
from benchbrief.dsl.bench_error import ExitCode

if TYPE_CHECKING:
    from benchbrief.comparing.load_differences import Loads
    from benchbrief.comparing.named_contenders import Reference
    from benchbrief.results.compare.compared_quantities import Contender
    from benchbrief.results.compare.comparison import Outcome, Quantity


@click.command(
    epilog="""
\b
Examples:
  bench compare last~1 last                     what has changed since the run before the last
  bench compare last:hdd last:nvme              two hardware groups of one run
  bench compare rev:main last                   the last run of the spec as it is on main, and the last run
  bench compare 20260301 20260308 --metric throughput --metric latency.p99
  bench compare rev:v1.2 last --threshold 5% --junit compare.xml --markdown "$GITHUB_STEP_SUMMARY"

A contender is a run (its name, the start of it, or its folder), `last`, `last~1` for the one before, or `rev:REVISION`,
the last run whose spec was that of the git revision; each with `:hardware` behind it, or all hardware.

"""
    + exit_codes(ExitCode.DONE, ExitCode.USAGE, ExitCode.EXPECT_FAILED)
)
@click.argument("a", shell_complete=complete_run)
@click.argument("b", shell_complete=complete_run)
@out_option
@click.option(
    "--metric",
    "metrics",
    multiple=True,
    metavar="NAME",
    help="Compare this: throughput, latency.p95, latency.p99[read], errors, sustained, or a metric of the spec. "
    "Repeatable. [default: throughput, 99th percentiles, errors, what searches found, and the spec's metrics]",
)
@click.option(
    "--threshold", type=Share(), default=0.0, metavar="SHARE", help="Changes smaller than this count for nothing: 5%."
)
@click.option(
    "--strict", is_flag=True, help="Exit with 4 also where a difference can't be judged, or B lacks a point of A."
)
@click.option("--mixed", is_flag=True, help="Compare what was measured with what was simulated or imported.")
@click.option("--other-load", is_flag=True, help="Judge also points where the load of the two is not the same.")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
@verdict_options
def command(
    a: str,
    b: str,
    out: Path,
    metrics: tuple[str, ...],
    threshold: float,
    strict: bool,
    mixed: bool,
    other_load: bool,
    as_json: bool,
    junit: Path | None,
    markdown: Path | None,
) -> None:
    """Compare B with A, point by point: both values, the change, and whether it is more than noise.

    A is what is compared with, B what is judged.
    """
    from benchbrief.comparing import compare_output as output
    from benchbrief.comparing.comparison_cautions import cautions, told_loads
    from benchbrief.comparing.load_differences import compare_loads
    from benchbrief.comparing.named_contenders import contender, resolve
    from benchbrief.results.compare.comparison import compare
    from benchbrief.results.compare.contender_differences import differences

    references = resolve(a, out), resolve(b, out)
    _refuse_same(*references)
    with ExitStack() as opened:
        first, second = (contender(reference, opened) for reference in references)
        _refuse_mixture(first, second, mixed)
        loads = compare_loads(first, second)
        chosen = _chosen(first, second, metrics)
        if not other_load:
            chosen = [_with_unlike(quantity, loads) for quantity in chosen]
        outcome = compare(chosen, threshold)
        if not any(row.first and row.second for row in outcome.comparisons):
            hint = f"only A has {_some(outcome.only_first)}; only B has {_some(outcome.only_second)}"
            raise fail(f"{a} and {b} have measured no point in common", hint)
        found = [*loads.differences, *differences(first, second)]
        notes = [*told_loads(outcome, loads, judged=other_load)]
        notes += list(cautions(first, second, outcome, threshold))
        origins = first.origin, second.origin
    title = f"{_named(references[1])} against {_named(references[0])}"
    write_verdicts(title, list(output.cases(outcome, strict=strict)), junit)
    write_markdown(output.markdown(title, outcome, found, notes), markdown)
    if as_json:
        document = output.as_dict(*references, outcome, found, threshold, origins)
        show_json(document)
    else:
        _tell(references, outcome, list(output.told_differences(found)), notes)
    if outcome.worse or (strict and outcome.untold):
        raise Stop(ExitCode.EXPECT_FAILED)


def _with_unlike(quantity: Quantity, loads: Loads) -> Quantity:
    reasons = {point: loads.why_other(point) for point in quantity.points}
    return replace(quantity, unlike={**{point: why for point, why in reasons.items() if why}, **quantity.unlike})


def _named(reference: Reference) -> str:
    hardware = f":{reference.hardware}" if reference.hardware else ""
    return f"{reference.run_dir.name}{hardware}"


def _some(keys: tuple[str, ...]) -> str:
    return ", ".join(keys[:3]) + (", ..." if len(keys) > 3 else "") if keys else "nothing"


def _refuse_same(first: Reference, second: Reference) -> None:
    if bool(first.hardware) != bool(second.hardware):
        whole = second if first.hardware else first
        hint = f"name it on both sides, as in `{whole.text}:{first.hardware or second.hardware}`, or on none"
        raise fail("one side is a hardware group, the other a whole run", hint)
    if (first.run_dir.resolve(), first.hardware) == (second.run_dir.resolve(), second.hardware):
        hint = "name another run (`bench status --all` lists them), or hardware: `last:hdd last:nvme`"
        raise fail(f"{first.text} and {second.text} are the same run, {first.run_dir.name}", hint)


def _refuse_mixture(first: Contender, second: Contender, mixed: bool) -> None:
    if first.origin != second.origin and not mixed:
        hint = "numbers of different origin differ for reasons of their own; say --mixed to compare them all the same"
        raise fail(f"{first.label} was {first.origin}, and {second.label} {second.origin}", hint)


def _chosen(first: Contender, second: Contender, metrics: tuple[str, ...]) -> list[Quantity]:
    from benchbrief.comparing.comparison_cautions import told_definitions
    from benchbrief.dsl.diagnostics.suggest import did_you_mean
    from benchbrief.results.compare.compared_quantities import by_default, quantities

    known = {each.name: each for each in quantities(first, second)}
    if not metrics:
        return by_default(known, first.plan, second.plan)
    chosen: dict[str, Quantity] = {}
    for wanted in metrics:
        named = [name for name in known if name == wanted or name.startswith(f"{wanted}[")]
        if not named and wanted == "errors":
            continue  # there were none
        if not named:
            words = dict.fromkeys((*known, *(name.partition("[")[0] for name in known)))
            guess = did_you_mean(wanted, words)
            hint = f"did you mean `{guess}`?" if guess else f"there are {', '.join(known)}"
            hint = next(told_definitions(first, second, (wanted,)), hint)
            raise fail(f"the two have no `{wanted}` in common", hint)
        chosen.update((name, known[name]) for name in named)
    return list(chosen.values())


def _tell(references: tuple[Reference, Reference], outcome: Outcome, different: list[str], notes: list[str]) -> None:
    from benchbrief.comparing import compare_output as output
    from benchbrief.comparing.compare_table import table_of

    for letter, reference in zip("AB", references, strict=True):
        show(f"{letter}  {_named(reference)}")
    if different:
        show()
        show("what else differs, A | B:")
        for line in different:
            show_wrapped(f"  {one_line(line)}", indent=4)
    table = table_of(outcome.comparisons, columns_of(sys.stdout))
    show()
    for line, row in table.lines:
        show(line, colour=output.COLOURS.get(row.verdict) if row else None)
    show()
    show(output.counted(outcome), colour="red" if outcome.worse else None)
    for text in table.notes:
        show_wrapped(text, indent=2)
    for note in notes:
        show_wrapped(f"note: {note}", indent=6)
