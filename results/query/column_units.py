"""The units of an answer's columns, as far as the question shows: columns of one view, and their averages.

What is computed of columns, and an answer out of several tables, has no unit here: none is better than a wrong one.
Columns of tables have their unit in their name: `value_s`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Protocol

from benchbrief.compiler.metrics.sql.sql_text import sql_text
from benchbrief.results.store.user_query import Table
from benchbrief.results.store_errors import ResultsError


class Asked(Protocol):
    """What answers SQL."""

    def sql(self, text: str) -> Table: ...


_VIEWS: Mapping[str, Mapping[str, str]] = {
    "throughput": {"value": "ops/s"},
    "latency": {"value": "s"},
    "errors": {"value": "share"},
    "spread": {"mean": "ops/s", "sd": "ops/s", "cv": "share"},
}
"""`measure.` views of which a column has one unit in all rows (`measure_views.py`)."""
_KEEPING = frozenset(
    {"avg", "mean", "min", "max", "median", "sum", "any_value", "first", "last", "stddev", "stddev_samp"}
)
"""Functions whose value is in the unit of what they are given."""


def units_of(answer: Table, sql: str, store: Asked) -> tuple[str, ...]:
    """Return the unit of each column of the answer to a question; "" where it has none, or none is known."""
    unknown = ("",) * len(answer.columns)
    try:
        ((text,),) = store.sql(f"SELECT json_serialize_sql({sql_text(sql)})").rows  # it is read, and not run
    except (ResultsError, ValueError):
        return unknown
    parsed = json.loads(text)
    nodes = [each["node"] for each in parsed.get("statements", ())]
    if len(nodes) != 1 or nodes[0].get("type") != "SELECT_NODE" or nodes[0].get("cte_map", {}).get("map"):
        return unknown
    source = nodes[0]["from_table"]
    if source.get("type") != "BASE_TABLE":
        return unknown
    units = _columns(source.get("schema_name"), source["table_name"], store)
    asked = nodes[0]["select_list"]
    if any(each["class"] == "STAR" for each in asked):
        if len(asked) > 1 or asked[0].get("replace_list") or asked[0].get("rename_list"):
            return unknown
        return tuple(units.get(name, "") for name in answer.columns)
    if len(asked) > len(answer.columns):
        return unknown
    found = [_unit(each, units) for each in asked]
    return (*found, *unknown[len(found) :])  # the mark of a simulated run stands behind


def _columns(schema: str, name: str, store: Asked) -> Mapping[str, str]:
    if schema == "measure":
        return _VIEWS.get(name, {})
    if schema == "metric":
        rows = store.sql("SELECT name, unit FROM metrics").rows
        return {"value": next((str(unit) for metric, unit in rows if metric == name), "")}
    return {}


def _unit(asked: Mapping[str, Any], units: Mapping[str, str]) -> str:
    if asked.get("class") == "COLUMN_REF":
        return units.get(asked["column_names"][-1], "")
    if asked.get("class") == "FUNCTION" and asked.get("function_name") in _KEEPING:
        given = asked.get("arguments") or asked.get("children") or [{}]  # later and earlier versions of DuckDB
        return _unit(given[0].get("expression", given[0]), units)
    return ""
