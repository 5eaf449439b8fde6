"""The share of the measured windows that the probes sampled. With little coverage, a mean covers only a part of the
window."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from benchbrief.results.store.searched_doubts import Answering

COMPLETE = 0.95
"""With less coverage than this, the brief says so. With more than the rest in gaps, there is no energy."""


class Patchy(NamedTuple):
    """A probe that sampled too little in `cells` of `of` measured cells, and nothing at all in `without` of them.

    `share` is the least coverage, in `cell`. Of several hosts, the one with the least counts.
    """

    probe: str
    cells: int
    of: int
    without: int
    share: float
    cell: str


def shares(store: Answering) -> dict[tuple[str, str], float]:
    """Return each coverage below 95 %, by probe and measured cell, the least of each probe first.

    It is 1 when no note reports a gap, as a late reading is none.
    """
    rows: Sequence[Sequence[Any]] = store.sql(
        "SELECT probe, cell_id, "  # noqa: S608  # our own number
        "min(CASE WHEN share = 0 OR noted.origin IS NOT NULL THEN share ELSE 1.0 END) AS least "
        "FROM coverage JOIN cells USING (run_id, cell_id) "
        "LEFT JOIN (SELECT DISTINCT cell_id AS of_cell, origin FROM notes WHERE severity <> 'info') AS noted "
        "ON of_cell = cell_id AND noted.origin = concat('probe:', probe, ':', node) "
        f"WHERE status = 'ok' GROUP BY probe, cell_id HAVING least < {COMPLETE} ORDER BY probe, least, cell_id"
    ).rows
    return {(str(probe), str(cell)): float(share) for probe, cell, share in rows}


def patchy(store: Answering) -> list[Patchy]:
    """Return the probes that sampled less than 95 % of the measured window of some cell, by name."""
    by_probe: dict[str, list[tuple[float, str]]] = {}
    for (probe, cell), share in shares(store).items():
        by_probe.setdefault(probe, []).append((share, cell))
    of = (
        "SELECT probe, count(DISTINCT cell_id) FROM coverage JOIN cells USING (run_id, cell_id) "
        "WHERE status = 'ok' GROUP BY probe"
    )
    measured: dict[str, int] = {str(probe): count for probe, count in store.sql(of).rows} if by_probe else {}
    return [
        Patchy(probe, len(known), measured[probe], sum(share == 0.0 for share, _ in known), *known[0])
        for probe, known in by_probe.items()
    ]
