"""Tests the hosts in a disclosure: hosts with equal facts are listed together, and no fact in a table is repeated."""

from __future__ import annotations

import pytest

from benchbrief.model.plan import Host
from benchbrief.reports.data.gaps import Gaps
from benchbrief.reports.data.report_data import Results
from benchbrief.reports.disclosure.disclosure import build_disclosure
from benchbrief.reports.words.brief_words import CATALOGUES
from benchbrief.results.store import store_schema as s
from tests.reports import world as w

FACTS = {"cpu": "8 cores", "clock_source": "tsc", "memory": "16 GiB"}


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
