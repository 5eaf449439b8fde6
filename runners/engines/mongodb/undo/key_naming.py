"""How a load generator has named the keys of a data set: what its `insertorder` and `zeropadding` were.

They are not in a spec, but a release's own workload file may set them. So the records of the load are asked.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from benchbrief.compiler.planning.plan import Dataset
from benchbrief.runners.data_seams import NamesKeys
from benchbrief.runners.engines.mongodb.mongo_data import Data

_LONGEST = 64
"""The most digits that keys are padded to with zeros."""
_LOOKED_AT = 1000
"""So many of the first records are looked through for the shortest key, which shows the padding best."""


def find_naming(data: Data, dataset: Dataset, names: NamesKeys) -> Callable[[int], str] | None:
    """Return the function from the number of a record to its key; None when the load's keys are not of this tool's.

    Raises ServerFailed.
    """
    for ordered in (False, True):
        key = partial(names.key, ordered=ordered)
        first = range(min(dataset.records, _LOOKED_AT))
        shortest = min(first, key=lambda number: len(key(number)))
        found = data.present([key(shortest, padding=digits) for digits in range(1, _LONGEST + 1)])
        if len(found) != 1:
            continue
        digits = _digits(found[0], key(shortest))
        named = partial(key, padding=digits)
        ends = {named(0), named(dataset.records - 1)}
        if set(data.present(sorted(ends))) == ends:
            return named
    return None


def _digits(padded: str, plain: str) -> int:
    """Return to how many digits the key is padded; 1 when it is as long as without."""
    return 1 if padded == plain else sum(character.isdigit() for character in padded)
