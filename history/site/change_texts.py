"""A change of a series in words: how much, how sure, and whose it is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from benchbrief.model.precision import formatted
from benchbrief.reports.text.number_format import fixed, quantity

if TYPE_CHECKING:
    from benchbrief.history.series_changes import Change, LabShare


def worth(change: Change) -> str:
    """Return better, worse or differs."""
    return "differs" if change.worse is None else "worse" if change.worse else "better"


def percent(ratio: float) -> str:
    """Return a ratio as a change: `+5.1 %`."""
    return f"{_signed((ratio - 1) * 100)} %"


def changed_by(change: Change, unit: str) -> str:
    """Return the change with its interval, in per cent; where there is no ratio, in the unit."""
    if change.ratio is None:
        apart = change.after - change.before
        return ("−" if apart < 0 else "+") + amount(abs(apart), unit)
    ends = ""
    if change.interval is not None:
        ends = f" ({' to '.join(_signed((end - 1) * 100) for end in change.interval)})"
    return f"{percent(change.ratio)}{ends}"


def amount(value: float, unit: str) -> str:
    """Return a value with its unit, with four significant digits."""
    return f"{formatted(value * 100, '.3g')} %" if unit == "share" else quantity(value, unit, significant=4)


def p_text(p: float) -> str:
    """Return a p-value, which needs no digits below a ten-thousandth."""
    return "p < 0.0001" if p < 1e-4 else f"p = {formatted(p, '.2g')}"


def lab_text(lab: LabShare) -> str:
    """Return what the control series say of a change; "" where they did not change."""
    if lab.is_lab:
        return f"the lab's: the control changed by {percent(lab.change)} in the same runs"
    if lab.is_part:
        return f"in part the lab's: the control changed by {percent(lab.change)}, and {percent(lab.rest)} is left"
    return ""


def remarks(change: Change) -> Iterator[str]:
    """Yield what else is known of a change: its runs, the spec's revisions, the lab's share, and the verdict."""
    yield f"first in {change.first.run_id}, last before it {change.last.run_id}"
    if change.first.revision and change.last.revision and change.first.revision != change.last.revision:
        yield f"the spec was {change.last.revision[:12]}, and is {change.first.revision[:12]}"
    if change.lab and (text := lab_text(change.lab)):
        yield text
    if change.verdict:
        yield f"verdict: {change.verdict.verdict}" + (f", {change.verdict.note}" if change.verdict.note else "")


def _signed(value: float) -> str:
    return f"{'−' if value < 0 else '+'}{fixed(abs(value), 1)}"
