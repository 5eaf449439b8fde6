"""Compares runs, as `bench compare` does."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from html import escape
from pathlib import Path
from typing import Any

from benchbrief.api.answer import Answer, html_table, with_hints
from benchbrief.cli.run_options import OUT
from benchbrief.comparing.compare_output import table_rows
from benchbrief.comparing.judged_contenders import JudgedContenders, compare_named
from benchbrief.comparing.print_comparison import named
from benchbrief.comparing.ranking_output import ranking_rows
from benchbrief.results.compare.comparison import Comparison

_DIMS = ("experiment", "hardware", "workload", "phase", "threads", "target")


@with_hints
def compare(
    *runs: str | Path,
    metrics: Sequence[str] = (),
    threshold: float = 0.0,
    mixed: bool = False,
    other_load: bool = False,
    out: str | Path = OUT,
) -> Compared:
    """Compare runs with the first one, point by point, as `bench compare` does.

    Runs are named as for `bench compare`: `"last"`, `"last~1"`, `"20260301:nvme"` for one of the run's hardware groups,
    `"last:codec=lz4"` for a level of a factor, `"rev:main"`, or the run's folder. `metrics` are `"throughput"`,
    `"latency.p99[read]"` or metrics of the spec; by default, all of them are compared. Changes smaller than
    `threshold`, a share, are ignored. With `mixed`, measured runs may be compared with simulated or imported ones; with
    `other_load`, points are judged even if their loads differ. `out` is the folder that holds the runs. Raises
    BenchError if a run is missing, or if the runs have nothing in common.
    """
    named = [str(each) for each in runs]
    return Compared(compare_named(named, Path(out), metrics, threshold, mixed=mixed, other_load=other_load))


class Compared:
    """The result of a comparison, which `compare` returns."""

    def __init__(self, judged: JudgedContenders) -> None:
        self._judged = judged

    @property
    def runs(self) -> dict[str, str]:
        """The contenders by letter. Each is described by its run's name, followed by its hardware or levels after a
        colon."""
        return dict(zip(self._judged.names, map(named, self._judged.references), strict=True))

    @property
    def worse(self) -> int:
        """The number of points at which a contender is worse than the first one, added up over all later contenders."""
        return len(self._judged.worse)

    @property
    def notes(self) -> tuple[str, ...]:
        """The limitations of the numbers, one sentence each."""
        return self._judged.notes

    @property
    def differences(self) -> list[dict[str, str]]:
        """Other differences between the contenders, one per row. `what` names the property, and each contender's column
        holds its value."""
        return [
            {"what": each.what, **dict(zip(self._judged.names, each.each, strict=True))}
            for each in self._judged.differing
        ]

    @cached_property
    def pairs(self) -> Answer:
        """Each pair of values at each point: both values, `ratio` of the second to the first with its interval from
        `low` to `high` at `level`, `difference` in the unit, `p`, `p_holm` (corrected), `verdict` and its `reason`. The
        origin of each value is measured, simulated or imported.
        """
        rows = [
            {
                "first": self._judged.names[one],
                "second": self._judged.names[other],
                **_pair(row),
                "first_origin": self._judged.origins[one],
                "second_origin": self._judged.origins[other],
            }
            for (one, other), outcome in self._judged.outcomes.items()
            for row in outcome.comparisons
        ]
        return _answer(rows, ("first", "second"), _PAIR)

    @cached_property
    def ranking(self) -> Answer:
        """Each contender at each point: its value, whether it is among the best, and its `letters`. Contenders that
        share a letter can't be told apart."""
        rows = [
            {**_place(each), "contender": name, "value": values.value if values else None,
             "letters": each.letters[place], "is_best": bool(each.order) and place in each.leading,
             "reason": str(each.reason), "origin": self._judged.origins[place]}
            for each in self._judged.rankings
            for place, (name, values) in enumerate(zip(self._judged.names, each.values, strict=True))
        ]  # fmt: skip
        return _answer(rows, (), _RANKED)

    def __repr__(self) -> str:
        return f"<{', '.join(f'{letter}: {run}' for letter, run in self.runs.items())}; {self.worse} worse>"

    def _repr_html_(self) -> str:
        named = "".join(f"<p>{letter}: {escape(run)}</p>" for letter, run in self.runs.items())
        if len(self.runs) == 2:
            (outcome,) = self._judged.outcomes.values()
            head, rows = ("metric", "point", "A", "B", "change", "verdict"), table_rows(outcome.comparisons)
        else:
            head, rows = ("metric", "point", *self._judged.names, "best"), ranking_rows(self._judged)
        notes = "".join(f"<li>{escape(note)}</li>" for note in self.notes)
        return f"{named}{html_table(head, rows)}<ul>{notes}</ul>"


_PLACE = ("metric", "unit", "better", *_DIMS)
_PAIR = (
    "first_value", "second_value", "ratio", "low", "high", "level", "difference", "p", "p_holm", "verdict", "reason",
    "first_origin", "second_origin",
)  # fmt: skip
_RANKED = ("contender", "value", "letters", "is_best", "reason", "origin")
_TEXTS = ("first", "second", "metric", "unit", "better", "experiment", "hardware", "workload", "phase", "verdict",
          "reason", "contender", "letters", "origin", "first_origin", "second_origin")  # fmt: skip


def _place(row: Any) -> dict[str, object]:
    return {"metric": row.quantity, "unit": row.unit, "better": row.better, **dict(row.point)}


def _pair(row: Comparison) -> dict[str, object]:
    low, high = row.interval or (None, None)
    sides = {"first_value": row.first and row.first.value, "second_value": row.second and row.second.value}
    tested = {name: getattr(row, name) for name in ("ratio", "level", "difference", "p", "p_holm", "verdict")}
    return {**_place(row), **sides, **tested, "low": low, "high": high, "reason": str(row.reason)}


def _answer(rows: Sequence[dict[str, object]], begin: Sequence[str], end: Sequence[str]) -> Answer:
    """Return the rows as a table. Dimensions that only metrics have are placed after the dimensions of cells."""
    import pyarrow as pa

    columns = dict.fromkeys((*begin, *_PLACE, *(name for row in rows for name in row if name not in end), *end))
    arrays = {}
    for name in columns:
        values = [row.get(name) for row in rows]
        is_text = name in _TEXTS or any(isinstance(value, str) for value in values)
        kind = pa.bool_() if name == "is_best" else pa.string() if is_text else pa.float64()
        arrays[name] = pa.array([value if value is None or not is_text else str(value) for value in values], kind)
    return Answer(pa.table(arrays))
