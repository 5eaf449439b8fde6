"""What searches for a promise found, in one sentence for the terminal: in a run's log, its last lines, its status."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchbrief.dsl.diagnostics.plain_amounts import plural

if TYPE_CHECKING:
    from benchbrief.results.analysis.promised_rates import Promised


def sentence(found: Promised) -> str:
    """`e (on box, with a) keeps its promise at ≥ 2,000 ops/s: 4 of 4 runs there kept it, 1 of them held out`; "" where
    no rate counts; a warning says why."""
    if found.sustained is None:
        return ""
    where = f"{found.experiment} (on {found.hardware}, with {found.workload})"
    here = [each for each in found.rates if each.rate == found.sustained]
    met, broken = sum(each.all_met for each in here), sum(each.all_broken for each in here)
    late = sum(each.late for each in here)
    text = f"{where} keeps its promise at {found.doubt.mark}{found.sustained:,.0f} ops/s: "
    text += f"{met} of {plural(met + broken, 'run')} there kept it, {found.held_met} of them held out"
    if late:
        text += f"; in {late} more the load generator was too late to tell"
    for each in found.lowered_late:
        of = plural(each.held_out, "held-out run")
        text += (
            f"; {each.rate:,.0f} ops/s was lowered, as the load generator was too late in {each.held_beyond} of {of}"
        )
    return text + _undecided(found)


def _undecided(found: Promised) -> str:
    """What is known of a rate that the search did not decide with its confidence, as `bench compare` prints it."""
    from benchbrief.model.rate_search import CONFIDENCE

    if not found.is_undecided:
        return ""
    known = [f"no run broke it up to {found.kept_to:,.0f}"] if found.kept_to is not None else []
    known += [f"none kept it from {found.broken_from:,.0f} ops/s on"] if found.broken_from is not None else []
    runs = f": {', '.join(known)}" if known else ""
    return f"; not decided with {100 * CONFIDENCE:.0f} % confidence{runs}"
