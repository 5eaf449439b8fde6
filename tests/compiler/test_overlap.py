"""Tests which hardware groups may overlap, and how long a plan then takes."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from benchbrief.compiler.estimates.advice import hidden_loads, one_by_one_s
from benchbrief.compiler.estimates.budget_fit import most_s
from benchbrief.compiler.estimates.estimate import estimate, grouped_hardware, lanes, slots, time_spent
from benchbrief.model.plan import Plan
from tests.support.plans import compile_spec, compile_text

SPEC = """
{a}
{b}
client load {{ hosts = "load.lab"  tool = ycsb }}
database rocks {{ engine = rocksdb  path = "/data/db"  reset = drop_and_load }}
database mongo {{ engine = mongodb  uri = "mongodb://{{hosts}}/ycsb" }}
workload w from db_bench.readrandom {{ records = 100M }}
workload y from ycsb.a {{ records = 1M }}
experiment e {{ hardware = [a, b]  measure = 10 min  threads = [1, 2]  repeats = 2  {more} }}
"""
ROCKS = "database = rocks  workloads = w"
METER = 'power = snmp("pdu.lab", outlet: "{}", family: apc, community: secret("SNMP"))'


def planned(folder: Path, a: str = "", b: str = "", more: str = ROCKS) -> Plan:
    path = folder / "spec.bench"
    said = {name: text if "hosts" in text else f'hosts = "{name}.lab"  {text}' for name, text in (("a", a), ("b", b))}
    blocks = {name: f"hardware {name} {{ {text} }}" for name, text in said.items()}
    path.write_text(SPEC.format(**blocks, more=more), encoding="utf-8")
    return compile_spec(path)


def in_lanes(plan: Plan) -> int:
    return len(set(lanes(plan.cells).values()))


def test_groups_that_share_nothing_are_worked_on_side_by_side(tmp_path: Path) -> None:
    plan = planned(tmp_path, 'switch = "one"', 'switch = "two"')
    assert in_lanes(plan) == 2
    assert {cell.shares for cell in plan.cells} == {()}


@pytest.mark.parametrize(
    ("a", "b", "more", "shared"),
    [
        ('switch = "one"', 'switch = "one"', ROCKS, "switch one"),
        ('shared_storage = "san"', 'shared_storage = "san"', ROCKS, "storage san"),
        (METER.format(1), METER.format(1), f"{ROCKS}  probes = power every 1 s", "power meter pdu.lab ("),
        ("hosts = local", "", ROCKS, "the controller"),
        ("", "", "database = mongo  workloads = y", "client load.lab"),
        ('hosts = "both.lab"  path = "/a"', 'hosts = "both.lab"  path = "/b"', ROCKS, "host both.lab"),
    ],
    ids=["switch", "storage", "meter", "controller", "client", "host"],
)
@pytest.mark.parametrize("overlap", ["", "overlap = loading", "overlap = measuring"])
def test_groups_that_share_something_run_one_after_another(
    tmp_path: Path, a: str, b: str, more: str, shared: str, overlap: str
) -> None:
    plan = planned(tmp_path, a, b, f"{more}  {overlap}")
    assert in_lanes(plan) == 1
    (group,) = grouped_hardware(plan, "e")
    assert group.shared[0].startswith(shared)
    assert hidden_loads(plan) == ()


def test_outlets_of_one_power_strip_are_meters_of_their_own(tmp_path: Path) -> None:
    plan = planned(tmp_path, METER.format(1), METER.format(2), f"{ROCKS}  probes = power every 1 s")
    assert in_lanes(plan) == 2


def test_a_meter_that_no_probe_reads_is_not_disturbed(tmp_path: Path) -> None:
    assert in_lanes(planned(tmp_path, METER.format(1), METER.format(1))) == 2


def test_a_client_on_the_switch_of_another_group_shares_it(tmp_path: Path) -> None:
    path = tmp_path / "spec.bench"
    path.write_text(
        'hardware a { hosts = "a.lab" }\nhardware b { hosts = "b.lab"  switch = "rack 4" }\n'
        'client load { hosts = "load.lab"  tool = ycsb  switch = "rack 4" }\n'
        'database mongo { engine = mongodb  uri = "mongodb://{hosts}/ycsb" }\n'
        'database rocks { engine = rocksdb  path = "/data/db" }\n'
        "workload y from ycsb.a { records = 1M }\nworkload w from db_bench.readrandom { records = 1M }\n"
        "experiment served { hardware = a  database = mongo  workloads = y  threads = 1  measure = 1 min }\n"
        "experiment own { hardware = b  database = rocks  workloads = w  threads = 1  measure = 1 min }\n",
        encoding="utf-8",
    )
    plan = compile_spec(path)
    assert in_lanes(plan) == 1
    assert {cell.shares for cell in plan.cells} == {("switch rack 4",)}


def test_no_two_groups_are_measured_at_once_and_their_loads_cost_less(tmp_path: Path) -> None:
    loading, none, both = (
        planned(tmp_path, more=f"{ROCKS}  overlap = {word}") for word in ("loading", "none", "measuring")
    )
    found = slots(loading.cells)
    measured = sorted(slot.measured for slot in found.values())
    assert all(end <= begin for (_, end), (begin, _) in pairwise(measured))
    assert both.estimate_s < loading.estimate_s < none.estimate_s
    assert one_by_one_s(loading) == none.estimate_s
    saved = sum(load.hidden_s for load in hidden_loads(loading))
    assert saved > 0
    for load in hidden_loads(loading):
        begin, end = found[load.cell].loading
        for cell in load.beside:
            since, until = found[cell].measured
            assert cell.split("/")[1] != load.cell.split("/")[1]
            assert since < end
            assert begin < until
    # All loads but the first two, which begin together, are hidden behind longer measurements.
    assert none.estimate_s - loading.estimate_s >= saved


def test_the_timetable_of_a_plan_without_turns_is_as_long_as_its_estimate(tmp_path: Path) -> None:
    for word in ("none", "measuring"):
        plan = planned(tmp_path, more=f"{ROCKS}  cool_down = 30 s  overlap = {word}")
        assert max(slot.end for slot in slots(plan.cells).values()) == pytest.approx(estimate(plan.cells))


def test_an_experiment_that_others_join_takes_as_long_as_without_overlap(tmp_path: Path) -> None:
    """The experiment's groups share nothing, but the client of another experiment puts both groups in one lane."""
    spec = SPEC.replace("{a}", 'hardware a { hosts = "a.lab" }').replace("{b}", 'hardware b { hosts = "b.lab" }')
    spec = spec.replace("{more}", ROCKS + "  @").replace("{{", "{").replace("}}", "}")
    spec += "experiment f { hardware = [a, b]  database = mongo  workloads = y  threads = 1  measure = 1 min }"
    told = {
        overlap: most_s(compile_text(spec.replace("@", f"overlap = {overlap}"), tmp_path), "e")
        for overlap in ("loading", "measuring", "none")
    }
    assert told["loading"] == told["measuring"] == pytest.approx(told["none"])
    plan = compile_text(spec.replace("@", "overlap = loading"), tmp_path)
    assert most_s(plan) >= most_s(plan, "e")
    assert sum(time_spent(plan).experiments["e"].values()) == pytest.approx(most_s(plan, "e"), rel=0.02)
