"""Tests that the method compares the data with the memory, explains YCSB's letters, and mentions percentiles only if
some are shown."""

from __future__ import annotations

import pytest

from benchbrief.model import plan as p
from benchbrief.reports.view.build_view import build
from benchbrief.reports.words.brief_words import CATALOGUES
from benchbrief.results.store import store_schema as s
from tests.reports import world as w


def told(
    *elements: p.Element,
    language: str = "en",
    memory: str = "16 GiB",
    options: dict[str, p.Option] | None = None,
    properties: dict[str, str | float | bool] | None = None,
    family: str = "db_bench",
) -> dict[str, str]:
    """Return the texts of the method by topic, for 100,000 records."""
    world = w.World({"disk": "Disk"}, {"a": "Sessions"})
    report = w.report("R", *(elements or (p.TextElement(prose=w.text("Words.")),)), language=language)
    report = report.model_copy(update={"disclosure": "separate"})
    plan = world.plan(report)
    loaded = {"properties": properties or {"key_size": 16.0, "value_size": 100.0}, "family": family, "benchmark": "a"}
    workloads = {key: each.model_copy(update=loaded) for key, each in plan.workloads.items()}
    data = p.Dataset(hash="0", records=100_000, reuse=True)
    cells = tuple(cell.model_copy(update={"dataset": data}) for cell in plan.cells)
    databases = {key: each.model_copy(update={"options": options or {}}) for key, each in plan.databases.items()}
    plan = plan.model_copy(update={"workloads": workloads, "cells": cells, "databases": databases})
    rows = [row for row in world.rows() if not (isinstance(row, s.FactRow) and row.kind == "host")]
    rows.append(s.FactRow(w.RUN, "host", None, "local", "memory", memory, None, "observed"))
    view = build(plan, w.make_store(rows), report, CATALOGUES[language])
    assert view.method
    return {item.term: item.text.replace("\u00a0", " ") for item in view.method.items}


def test_records_their_size_and_the_data_against_the_memory_and_caches_are_told() -> None:
    assert told(options={"cache": 4194304.0, "direct_io": True})["Data"] == (
        "100,000 records of 116 B (12 MB). All of it fits in the server's memory (16 GiB). "
        "The engine's own cache has 4 MiB. Direct I/O: files are read past the page cache."
    )
    assert "11 times the server's memory (1 MiB)" in told(memory="1 MiB")["Data"]
    assert told(language="ja")["データ"] == (
        "1 件 116 B のレコード 100,000 件（12 MB）。すべてサーバーのメモリー（16 GiB）に収まります。"
    )


def test_a_workload_of_ycsb_has_its_letter() -> None:
    record: dict[str, str | float | bool] = {"record_size": 1000.0}
    assert "Workloads of YCSB: A (Sessions)." in told(family="ycsb", properties=record)["Load"]
    assert "YCSB:" not in told()["Load"]


@pytest.mark.parametrize("shown", [True, False])
def test_where_percentiles_come_from_is_said_where_one_is_shown(shown: bool) -> None:
    query = w.query(
        w.latency("threads", hardware="disk", workload="a").sql,
        ("threads",),
        "s",
        "latency.p99[read]",
        [p.Read(measure="latency.p99", view="latency", statistic="p99")],
    )
    query = query if shown else w.throughput("threads", hardware="disk", workload="a")
    lines = (p.Line(label="L", query=query),)
    table = p.TableElement(title="T", dim="threads", dim_label="Threads", keys=w.keys((1, 2, 4)), lines=lines)
    assert ("Latency" in told(table)) == shown
