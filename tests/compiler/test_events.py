"""Tests events of an experiment: how they affect cells, hashes, data sets and profiles."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from benchbrief.compiler.compile import check
from benchbrief.compiler.registry import TOOL_SPECS
from benchbrief.model.plan import Plan

SPEC = """\
param when = 1 min
hardware eco { hosts = "eco-[1-2].lab" }
hardware old { hosts = "old.lab" }
client load { hosts = "load.lab"  tool = ycsb }
database mongo { engine = mongodb  uri = "mongodb://{hosts}/ycsb" }
workload b from ycsb.c { records = 1M }
experiment outage {
  hardware = [eco, old]  workloads = b  threads = 8  measure = 5 min  repeats = 2
  @EVENTS@
}
experiment again from outage { measure = 6 min }
profile smoke { override experiment { at 2 min "Short" { command("true", on: each) } } }
"""
EVENTS = """at when "Stopped" { command("kill -STOP 1", on: first) }
  at 3 min "Cut off" { command("cut", on: load, timeout: 5 s)  data = kept }"""


def planned(tmp_path: Path, events: str = EVENTS, **options: str) -> Plan:
    spec = tmp_path / "events.bench"
    spec.write_text(SPEC.replace("@EVENTS@", events), encoding="utf-8")
    profile = options.pop("profile", None)
    found = check(spec, profile=profile, params=options)
    assert found.plan is not None, found.diagnostics
    return found.plan


def test_each_cell_has_its_events_on_its_own_hosts_in_the_order_of_time(tmp_path: Path) -> None:
    plan = planned(tmp_path)
    told = {cell.hardware: [(e.at_s, e.label, e.hosts) for e in cell.events] for cell in plan.cells}
    cut = (180.0, "Cut off", ("load.lab",))
    assert told == {
        "eco": [(60.0, "Stopped", ("eco-1.lab",)), cut],
        "old": [(60.0, "Stopped", ("old.lab",)), cut],
    }
    assert {cell.experiment for cell in plan.cells if cell.events} == {"outage", "again"}, "they are inherited"


def test_a_profile_replaces_all_events_and_a_parameter_moves_one(tmp_path: Path) -> None:
    short = planned(tmp_path, profile="smoke").cells[0].events
    assert [(e.label, e.hosts) for e in short] == [("Short", ("eco-1.lab", "eco-2.lab"))]
    assert planned(tmp_path, when="2 min").cells[0].events[0].at_s == 120.0


def test_what_an_event_does_is_part_of_the_hash_and_its_label_is_not(tmp_path: Path) -> None:
    def hashes(events: str) -> list[str]:
        return [cell.hash for cell in planned(tmp_path, events).cells]

    one = 'at when "Stopped" { command("kill -STOP 1", on: first) }'
    assert hashes(one) == hashes(one.replace("Stopped", "Halted").replace("first)", "first)  window = 10 s"))
    for other in (one.replace("STOP", "KILL"), one.replace("first", "load"), one.replace("when", "2 min"), ""):
        assert not set(hashes(one)) & set(hashes(other)), other


@pytest.mark.parametrize(("data", "loads"), [("", 4), ("data = kept", 2)])
def test_the_data_set_is_loaded_again_after_an_event_that_may_change_it(data: str, loads: int, tmp_path: Path) -> None:
    """The workload only reads. Without the event, one load per hardware would be enough."""
    events = f'at when "Stopped" {{ command("kill -STOP 1", on: first)  {data} }}'
    plan = planned(tmp_path, events)
    steps = [step for cell in plan.cells if cell.experiment == "outage" for step in cell.steps]
    assert len([step for step in steps if step.kind == "load" and step.seconds > 30]) == loads


def test_a_tool_without_a_time_series_has_no_events(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    silent = replace(TOOL_SPECS.own["ycsb"], time_series=False, advice={"time_series": "write `status = true`"})
    monkeypatch.setattr(type(TOOL_SPECS), "usable", lambda _, name: silent if name == "ycsb" else None)
    spec = tmp_path / "events.bench"
    spec.write_text(SPEC.replace("@EVENTS@", EVENTS), encoding="utf-8")
    hints = {each.code: each.help for each in check(spec).diagnostics}
    assert hints["E0591"] == "take the event away, or write `status = true`"
