"""Tests the hosts in a disclosure: hosts with equal facts are listed together, and no fact in a table is repeated."""

from __future__ import annotations

import pytest

from benchbrief.model.plan import Host, Probe
from benchbrief.reports.data.gaps import Gaps
from benchbrief.reports.data.report_data import Results
from benchbrief.reports.disclosure.disclosure import build_disclosure
from benchbrief.reports.words.brief_words import CATALOGUES
from benchbrief.results.store import store_schema as s
from tests.reports import world as w

FACTS = {"cpu": "8 cores", "clock_source": "tsc", "memory": "16 GiB"}


def test_the_packages_of_extensions_are_named() -> None:
    world = w.World({"disk": "Disk"}, {"a": "Sessions"})
    plan = world.plan()
    where = plan.hardware["disk"].origin
    probe = Probe(name="entropy", package="bench-entropy 0.1.0", every_s=1.0, hosts=(), origin=where)
    tool = plan.cells[0].tool.model_copy(update={"package": "bench-own 2.0"})
    cells = tuple(each.model_copy(update={"probes": (probe,), "tool": tool}) for each in plan.cells)
    results = Results(plan.model_copy(update={"cells": cells}), w.make_store(world.rows()), CATALOGUES["en"])
    view = build_disclosure(results, Gaps(), facts_of=(), reports_from=None)
    said = {item.term: item.text for group in view.groups for item in group.items}
    assert said["Extensions used"] == f"bench-own 2.0 ({tool.driver}), bench-entropy 0.1.0 (entropy)"


@pytest.mark.parametrize("in_a_table", [True, False])
def test_hosts_with_equal_facts_stand_together(in_a_table: bool) -> None:
    world = w.World({"disk": "Disk"}, {"a": "Sessions"})
    plan = world.plan()
    hosts = {name: Host(id=name, transport="ssh", name=f"{name}.lab") for name in ("db-1", "db-2", "load")}
    hardware = {key: each.model_copy(update={"hosts": ("db-1", "db-2")}) for key, each in plan.hardware.items()}
    plan = plan.model_copy(update={"hosts": hosts, "hardware": hardware})
    rows = [row for row in world.rows() if not (isinstance(row, s.FactRow) and row.kind == "host")]
    for host in hosts:
        facts = {**FACTS, "hostname": f"vm-{host}"} if host != "load" else {**FACTS, "memory": "4 GiB"}
        rows += [s.FactRow(w.RUN, "host", None, host, name, text, None, "observed") for name, text in facts.items()]
    results = Results(plan, w.make_store(rows), CATALOGUES["en"])
    view = build_disclosure(results, Gaps(), facts_of=plan.hardware if in_a_table else (), reports_from=None)
    (found,) = (group for group in view.groups if group.title == "Hosts")
    tested, load = found.items
    assert "db-1" in tested.term
    assert "db-2" in tested.term
    assert load.term == "load"
    assert tested.text.count("8 cores") == 1
    assert ("tsc" in tested.text) != in_a_table
    assert ("vm-db-2" in tested.text) != in_a_table
    assert "tsc" in load.text, "no table has the facts of a host that is not under test"
