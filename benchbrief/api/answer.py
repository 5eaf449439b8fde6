"""Rows of a run, as an Arrow table that pandas, polars and DuckDB can use without copying."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from html import escape
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from benchbrief.dsl.bench_error import BenchError

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

Params = ParamSpec("Params")
Made = TypeVar("Made")


def with_hints(function: Callable[Params, Made]) -> Callable[Params, Made]:
    """Wrap a function so that its BenchErrors show their hints on a second line."""

    @wraps(function)
    def called(*args: Params.args, **named: Params.kwargs) -> Made:
        try:
            return function(*args, **named)
        except BenchError as error:
            error.says_hint = True
            raise

    return called


_MOST_ROWS = 40
"""The most rows that a notebook shows."""


class LibraryMissing(BenchError):
    """Raised when an answer can't be converted because a library is not installed."""

    code = "library_missing"


class Answer:
    """Rows with named columns. Latencies are in seconds and sizes in bytes, as in the store.

    Rows of a simulated run have a column `simulated`, and rows of an imported run have a column `imported`. Libraries
    that read Arrow streams (`__arrow_c_stream__`) accept an Answer directly: `polars.DataFrame(answer)`,
    `duckdb.from_arrow(answer)`.
    """

    def __init__(self, table: pa.Table) -> None:
        self._table = table

    def arrow(self) -> pa.Table:
        return self._table

    @with_hints
    def df(self) -> pd.DataFrame:
        """Return a pandas DataFrame. Raises LibraryMissing."""
        try:
            import pandas  # noqa: F401 - only whether it is there: Arrow makes the frame
        except ImportError as error:
            raise LibraryMissing("pandas is not installed", "pip install pandas") from error
        found: pd.DataFrame = self._table.to_pandas()
        return found

    @with_hints
    def pl(self) -> pl.DataFrame:
        """Return a polars DataFrame. Raises LibraryMissing."""
        try:
            import polars
        except ImportError as error:
            raise LibraryMissing("polars is not installed", "pip install polars") from error
        return polars.DataFrame(self._table)

    def rows(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self._table.to_pylist()
        return found

    @property
    def columns(self) -> list[str]:
        return list(self._table.column_names)

    def __len__(self) -> int:
        return int(self._table.num_rows)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self._table.__arrow_c_stream__(requested_schema)

    def __repr__(self) -> str:
        return f"<{len(self)} rows: {', '.join(self.columns)}>"

    def _repr_html_(self) -> str:
        rows = self._table.slice(0, _MOST_ROWS).to_pylist()
        more = len(self) - len(rows)
        return html_table(self.columns, [list(row.values()) for row in rows], f"and {more:,} more rows" if more else "")


def html_table(columns: Sequence[str], rows: Iterable[Sequence[object]], note: str = "") -> str:
    """Return an HTML table. Numbers look as they do when `bench query` prints them on a terminal. Texts are escaped."""
    from benchbrief.results.query import shown_cell

    head = "".join(f"<th>{escape(column)}</th>" for column in columns)
    body = "".join(f"<tr>{''.join(f'<td>{escape(shown_cell(value))}</td>' for value in row)}</tr>" for row in rows)
    below = f"<p>{escape(note)}</p>" if note else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{below}"
