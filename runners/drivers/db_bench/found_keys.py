"""Whether db_bench found the keys that its data set has.

A load with fillseq writes each key once, and no benchmark on loaded data deletes one: each that is looked up is there.
Only `reset = command` may bring other data. Those of fillrandom have 1 - 1/e of the keys.
"""

from __future__ import annotations

from math import exp, sqrt

from benchbrief.compiler.registry import accepted_errors
from benchbrief.model.message import share_figure
from benchbrief.runners.drivers.db_bench.db_bench_output import Headline, say
from benchbrief.runners.errors import BadOutput
from benchbrief.runners.execution.driver_contexts import CellContext

_BY_FILLRANDOM = 1 - exp(-1)
_DEVIATIONS = 6


def require_found(context: CellContext, headline: Headline) -> None:
    """Raises BadOutput when more keys are missing than the data set, or `max_errors` of the experiment, allows."""
    missing = _missing(headline)
    if not missing or headline.found is None:
        return
    hits, asked = headline.found
    if missing <= accepted_errors(context.experiment.max_error_share, "db_bench") * asked:
        return
    records = float(context.workload.properties["records"])
    if context.database.reset == "command" and _fits_fillrandom(hits, asked, records):
        return
    if not hits:
        raise BadOutput(say.found_none(benchmark=headline.name, asked=asked), say.hint_keys())
    raise BadOutput(
        say.found_other(benchmark=headline.name, hits=hits, asked=asked, share=share_figure(hits / asked, 2)),
        say.hint_found_other(),
    )


def warn_of_few_found(headline: Headline) -> tuple[str, ...]:
    """Return a warning when some of the keys that were looked up are not there."""
    if not _missing(headline) or headline.found is None:
        return ()
    hits, asked = headline.found
    return (say.found_fewer(benchmark=headline.name, share=share_figure(hits / asked, 1)),)


def _missing(headline: Headline) -> int:
    if headline.found is None or headline.name == "readmissing":
        return 0
    hits, asked = headline.found
    return max(0, asked - hits)


def _fits_fillrandom(hits: int, asked: int, records: float) -> bool:
    """Return whether the share found is what as many writes of random keys leave as there are keys."""
    variance = _BY_FILLRANDOM * (1 - _BY_FILLRANDOM) * (1 / asked + 1 / records)
    return abs(hits / asked - _BY_FILLRANDOM) <= _DEVIATIONS * sqrt(variance)
