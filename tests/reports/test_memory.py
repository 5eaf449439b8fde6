"""Tests that the disclosure names data that fit in their hosts' memory, with both sizes."""

from __future__ import annotations

import pytest

from benchbrief.reports.data.gaps import Gaps
from benchbrief.reports.data.report_data import Results
from benchbrief.reports.disclosure import disclosure
from benchbrief.reports.disclosure.disclosure import build_disclosure
from benchbrief.reports.words.brief_words import CATALOGUES
from benchbrief.results.store import store_schema as s
from benchbrief.results.store.store_schema import SizeRow
from tests.reports import world as w

GIB = 2.0**30


def results(size: float | None, observed: dict[str, str], language: str = "en") -> Results:
    world = w.World({"disk": "Disk"}, {"a": "Sessions"})
    rows = [row for row in world.rows() if not (isinstance(row, s.FactRow) and row.kind == "host")]
    rows += [s.FactRow(w.RUN, "host", None, "local", name, text, None, "observed") for name, text in observed.items()]
    cell = world.cell_id("disk", "a", 4)
    rows += [SizeRow(w.RUN, cell, "database.size", "local", size, "B", None if size else "not known")]
    return Results(world.plan(), w.make_store(rows), CATALOGUES[language])


@pytest.mark.parametrize(
    ("size", "observed", "fits"),
    [
        (5 * GIB, {"memory": "16 GiB"}, True),
        (16.5 * GIB, {"memory": "16 GiB"}, False),
        (5 * GIB, {"memory": "16 GiB", "memory_limit": "4 GiB"}, False),
        (2 * GIB, {"memory": "16 GiB", "memory_limit": "4 GiB"}, True),
        (5 * GIB, {}, False),
        (None, {"memory": "16 GiB"}, False),
    ],
)
def test_data_fit_where_they_are_not_larger_than_the_memory_that_the_host_may_use(
    size: float | None, observed: dict[str, str], fits: bool
) -> None:
    assert bool(list(disclosure.disclose_memory_fit(results(size, observed)))) == fits


@pytest.mark.parametrize(("kind", "is_disclosed"), [("tmpfs", False), ("ramfs", False), ("ext4", True)])
def test_the_memory_fit_is_disclosed_unless_the_file_system_is_in_memory(kind: str, is_disclosed: bool) -> None:
    found = results(5 * GIB, {"memory": "16 GiB", "filesystem": kind})
    assert bool(list(disclosure.disclose_memory_fit(found))) == is_disclosed


def test_nothing_is_said_of_data_that_are_read_around_the_page_cache() -> None:
    found = results(5 * GIB, {"memory": "16 GiB"})
    around = {
        key: each.model_copy(update={"options": {**each.options, "direct_io": True}})
        for key, each in found.plan.databases.items()
    }
    plan = found.plan.model_copy(update={"databases": around})
    assert list(disclosure.disclose_memory_fit(found))
    assert not list(disclosure.disclose_memory_fit(Results(plan, found.store, found.words)))


@pytest.mark.parametrize(
    ("language", "sentence"), [("en", "The data of Disk take 5 GiB on disk"), ("ja", "Disk のデータは")]
)
def test_the_disclosure_has_both_sizes(language: str, sentence: str) -> None:
    view = build_disclosure(results(5 * GIB, {"memory": "16 GiB"}, language), Gaps(), facts_of=(), reports_from=None)
    text = " ".join(item.text for group in view.groups for item in group.items).replace("\u00a0", " ")
    assert sentence in text
    assert "16 GiB" in text
