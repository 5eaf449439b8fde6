"""Non-zero numbers whose format prints 0: `{latency.p50[read]:.1f} ms` of 40 us is "0.0 ms"."""

from __future__ import annotations

import re
from collections.abc import Iterator

from benchbrief.reports.data.numbers_file import Number, NumbersFile

_MOST = 3
"""The most warnings; further ones are counted."""


def warn_of_vanished(file: NumbersFile) -> Iterator[str]:
    """Yield a warning for each of the first numbers that a format of the spec prints as 0."""
    texts = {query.id: query.expression for query in file.queries}
    found: dict[tuple[str, str], Number] = {}
    for number in file.numbers:
        ends = [end for end in (number.value, number.high) if end is not None]
        if number.printed.format and any(ends) and not re.search("[1-9]", number.shown):
            found.setdefault((texts[number.query], number.printed.format), number)
    for (expression, form), number in list(found.items())[:_MOST]:
        yield (
            f"report `{file.report}`: `{expression}` is not 0, and its format `{form}` prints {number.shown}: "
            "give it more digits, or none to have its unit chosen"
        )
    if len(found) > _MOST:
        yield f"report `{file.report}`: of numbers that are not 0 and are printed as 0, {len(found) - _MOST:,} more"
