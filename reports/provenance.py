"""Which cells a number comes from, read off the SQL that the compiler wrote (`compiler/metrics/sql_leaves.py`).

Every measure in it starts `FROM measure.cells AS c`, and names the keys it is fixed to in the WHERE clause after that.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

_SOURCE = "FROM measure.cells AS c"
_KEY = r"'(?:[^']|'')*'|-?[0-9][-+.0-9e]*"
_FIXED = re.compile(rf"\bc\.(\w+) (?:= ({_KEY})|IN \(([^)]*)\))")

Key = str | float


def fixed_keys(sql: str) -> Iterator[Mapping[str, frozenset[Key]]]:
    """For each measure in the SQL, the keys that its cells may have; a dimension that is left out may have any."""
    for part in sql.split(_SOURCE)[1:]:
        _, where, conditions = part.partition("WHERE ")
        line = conditions.split("\n", 1)[0] if where else ""
        yield {dim: frozenset(_keys(one or several)) for dim, one, several in _FIXED.findall(line)}


def _keys(text: str) -> Iterator[Key]:
    for key in re.findall(_KEY, text):
        yield key[1:-1].replace("''", "'") if key.startswith("'") else float(key)
