"""Other work on the hosts of load generators while cells were measured."""

from __future__ import annotations

from benchbrief.results.store.searched_doubts import Answering


def read_other_work(store: Answering, condition: str = "true") -> list[tuple[str, float | None]]:
    """Return each measured cell with the cores that other work took on a host of its load generator, the highest
    average of its hosts; None where it was little or could not be judged. `condition` is on the rows `c` of cells."""
    rows = store.sql(
        "SELECT c.cell_id, (SELECT max((message::JSON ->> '$.args.amount.value')::DOUBLE) FROM main.notes AS n "  # noqa: S608  # a condition of our own
        "JOIN main.sentences USING (run_id, text) WHERE n.cell_id = c.cell_id AND code = 'busy_meanwhile') "
        f"FROM main.cells AS c WHERE status = 'ok' AND {condition}"
    ).rows
    return [(cell, cores) for cell, cores in rows]
