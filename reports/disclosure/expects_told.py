"""What a disclosure says of the expectations, and by which rule the repeats decide them."""

from __future__ import annotations

from collections.abc import Iterator

from benchbrief.reports.view.expectations import judged, told
from benchbrief.reports.view.report_data import Results
from benchbrief.reports.view.view_model import Item


def expects_told(results: Results) -> Iterator[Item]:
    """Yield each verdict, then how several places are judged, where an expectation has them."""
    found = judged(results)
    for one in found:
        label = one.expect.label if one.expect.label != one.expect.text else ""
        yield Item(label, told(one, results), emphasis=one.verdict != "holds" or one.decided is False)
    if any(one.decided is not None and one.places > 1 for one in found):
        yield Item("", results.words["d_expect_places"])
