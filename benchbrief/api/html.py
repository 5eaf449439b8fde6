"""Tables as a notebook shows them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from benchbrief.results.query.export import shown_cell


def html_table(columns: Sequence[str], rows: Iterable[Sequence[object]], note: str = "") -> str:
    """Return an HTML table, with numbers as `bench query` shows them on a terminal. Texts are escaped."""
    head = "".join(f"<th>{escape(column)}</th>" for column in columns)
    body = "".join(f"<tr>{''.join(f'<td>{escape(shown_cell(value))}</td>' for value in row)}</tr>" for row in rows)
    below = f"<p>{escape(note)}</p>" if note else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{below}"
