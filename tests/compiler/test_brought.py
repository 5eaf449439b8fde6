"""Tests that everything a stranger's plan may run or reach is listed, so that nothing runs without being shown."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path
from typing import get_args, get_origin, get_type_hints

import pytest

from benchbrief.compiler.plan_elsewhere import on_hosts
from benchbrief.compiler.planning.plan_commands import Brought, brought_by, not_allowed
from benchbrief.compiler.registry import SNAPSHOT_SPECS
from benchbrief.model import plan as p
from benchbrief.model.node import Node
from benchbrief.reports.capsule.same_settings import measured_otherwise
from tests.compiler.specs import check_fixture
from tests.compiler.test_plans import FIXTURES

ALL = """\
hardware box {
  hosts   = ["root@db-1.lab:2222", "root@db-2.lab:2222"]
  path    = "/data/one"
  prepare = command("prepare of the hardware")
  power   = command("command of a meter", on: node)
  ssh { jump = "gate.lab"  identity = "/home/me/.ssh/key" }
}
client load { hosts = "load.lab"  tool = ycsb("/opt/other/ycsb") }
database mongo {
  engine   = mongodb
  uri      = "mongodb://{env(WHO)}:{secret(PASSWORD)}@{hosts}/ycsb"
  prepare  = command("prepare of the database", on: first)
  reset    = command("reset of the data")
  teardown = command("teardown of the database")
}
workload a from ycsb.a { records = 1k }
experiment ramp {
  hardware  = box
  client    = load
  database  = mongo
  workloads = a
  threads   = [1]
  measure   = 1 min
  at 10 s "Event" { command("command of an event", on: first) }
  probes    = [power every 1 s, disk every 1 s]
}
expect throughput > 1 ops/s
expect power < 900 W
"""


@pytest.fixture(scope="module")
def plan(tmp_path_factory: pytest.TempPathFactory) -> p.Plan:
    path = tmp_path_factory.mktemp("spec") / "all.bench"
    path.write_text(ALL)
    checked = check_fixture(path)
    assert checked.plan is not None, checked.diagnostics
    return checked.plan


def test_each_command_host_program_folder_and_secret_is_listed_with_its_place(plan: p.Plan) -> None:
    found = brought_by(plan)
    assert {(each.reach, each.text) for each in found} >= {
        ("command", "prepare of the hardware"),
        ("meter", "command command=command of a meter"),
        ("command", "prepare of the database"),
        ("command", "reset of the data"),
        ("command", "teardown of the database"),
        ("command", "command of an event"),
        ("program", "/opt/other/ycsb"),
        ("server", "mongodb://{env WHO}:{secret PASSWORD}@db-1.lab,db-2.lab/ycsb"),
        ("secret", "WHO"),
        ("secret", "PASSWORD"),
        ("host", "ssh://root@db-1.lab:2222"),
        ("host", "ssh://load.lab"),
    }
    ways = [each for each in found if each.reach in ("host", "jump", "key") and "db-1" in each.text + each.what]
    assert [(each.text, each.what) for each in ways] == [
        ("ssh://root@db-1.lab:2222", "is reached"),
        ("gate.lab", "is gone through to db-1.lab"),
        ("/home/me/.ssh/key", "is shown to db-1.lab"),
    ]
    assert all(each.place.endswith("all.bench:1:1") for each in ways)
    assert {each.reach for each in brought_by(plan, [*plan.hosts])} & {"host", "jump", "key"} == set()
    assert next(each for each in found if each.text == "WHO").place.endswith("all.bench:9:1")
    event = next(each for each in found if each.text == "command of an event")
    assert event.place.endswith("all.bench:24:6")


@pytest.mark.parametrize("path", [path for path in FIXTURES if "command(" in path.read_text()], ids=lambda p: p.stem)
def test_no_command_of_a_spec_is_missing_from_the_list(path: Path) -> None:
    checked = check_fixture(path)
    assert checked.plan is not None
    listed = " ".join(each.text for each in brought_by(checked.plan))
    for command in re.findall(r'command\("([^"]+)"', path.read_text()):
        assert command in listed


NO_REACH = {
    p.Database: {"name", "label", "engine", "package", "reset_package", "topology", "version"},
    p.ServerStart: {"config", "config_sha256"},  # a text of the capsule, which is listed by its name
    p.Auth: {"user"},
    p.Hook: {"env"},  # the levels of factors
    p.Workload: {"name", "label", "description", "family", "benchmark", "operations", "files"},
    p.Probe: {"name", "package", "hosts"},  # hosts of the plan, which are listed
    p.Tool: {"driver", "package"},
}
"""The fields whose texts neither run nor reach anything by themselves. The texts of all other fields must be listed."""


def marked(kind: type[Node], found: list[str]) -> dict[str, object]:
    """Return a node with a mark in each text field. The marks that must be listed are added to `found`."""
    marks: dict[str, object] = {}
    for name, hint in get_type_hints(kind).items():
        mark = f"{kind.__name__}.{name}"
        inner = [each for each in (hint, *get_args(hint)) if isinstance(each, type) and issubclass(each, Node)]
        if hint is p.Template:
            marks[name] = (mark,)
        elif get_origin(hint) is dict:
            marks[name] = {"an_option": mark}
        elif get_origin(hint) is tuple and inner:
            marks[name] = (made(inner[0], found),)
        elif inner and inner[0] not in (p.Origin, p.Reference):
            marks[name] = made(inner[0], found)
        elif str in (hint, *get_args(hint)):
            marks[name] = mark
        else:
            continue
        if name not in NO_REACH.get(kind, ()) and not inner:
            found.append(mark)
    return marks


def made(kind: type[Node], found: list[str]) -> object:
    blank: dict[str, object] = dict.fromkeys(each.name for each in fields(kind))
    node = object.__new__(kind)
    node.__dict__.update(blank, **marked(kind, found))
    return node


def test_every_text_of_databases_workloads_probes_and_tools_is_listed(plan: p.Plan) -> None:
    """A field that is added later must be listed as well, or be named in `NO_REACH`."""
    wanted: list[str] = []
    ((key, database),), ((load, workload),) = plan.databases.items(), plan.workloads.items()
    cell = plan.cells[0]
    database = database.model_copy(update=marked(p.Database, wanted) | {"server": "start"})
    workload = workload.model_copy(update=marked(p.Workload, wanted) | {"files": {}})
    probe = p.Probe(name="x", every_s=1, hosts=(), origin=cell.origin).model_copy(update=marked(p.Probe, wanted))
    tool = cell.tool.model_copy(update=marked(p.Tool, wanted))
    changed = plan.model_copy(
        update={
            "databases": {key: database},
            "workloads": {load: workload},
            "cells": (cell.model_copy(update={"probes": (probe,), "tool": tool}),),
        }
    )
    listed = " ".join(each.text for each in brought_by(changed))
    assert [mark for mark in wanted if mark not in listed] == []
    assert len(wanted) > 10


def test_what_overwrites_or_needs_root_is_listed(plan: p.Plan) -> None:
    ((key, database),) = plan.databases.items()
    reaching = {"drop_caches": True, "settings": {"destroys": "/dev/nvme1n1"}, "options": {"threads": 3}}
    for reset in SNAPSHOT_SPECS.own:
        changed = database.model_copy(update={**reaching, "reset": reset})
        found = brought_by(plan.model_copy(update={"databases": {key: changed}}))
        assert {(each.reach, each.text) for each in found} >= {
            ("command", "drop_caches"),
            ("command", f"reset={reset}"),
            ("device", "destroys=/dev/nvme1n1"),
        }
        assert not any("threads" in each.text for each in found)
        assert not_allowed(found, ["/dev/nvme1n1"]) == found


def test_each_is_allowed_by_its_own_text_alone(plan: p.Plan) -> None:
    found = brought_by(plan)
    left = not_allowed(found, ["reset of the data", "PASS", "*"])
    assert {each.text for each in found} - {each.text for each in left} == {"reset of the data"}
    assert not_allowed(found, ["all"]) == []
    assert not_allowed([Brought("command", "x", "", "")], ["x"]) == []


def test_a_plan_on_other_hosts_names_none_of_its_own(plan: p.Plan) -> None:
    moved = on_hosts(plan, ["lab-1", "me@lab-2:2200", "local"])
    assert list(moved.hosts) == ["lab-1", "me@lab-2:2200", "local"]
    left = [text for text in texts(moved) if re.search(r"db-[12]\.lab|load\.lab|gate\.lab", text)]
    assert left == []
    assert moved.cells[0].hash != plan.cells[0].hash
    assert moved.cells[0].locks == ("lab-1", "me@lab-2:2200", "local")
    assert {each.hash for each in on_hosts(plan, ["lab-1", "me@lab-2:2200", "local"]).cells} == {moved.cells[0].hash}
    assert {probe.name for probe in plan.cells[0].probes} == {"power", "disk"}
    assert {probe.name for probe in moved.cells[0].probes} == {"disk"}
    assert measured_otherwise(plan, moved) == {("expect", "power < 900 W"): "unmetered"}
    assert measured_otherwise(plan, plan) == {}
    with pytest.raises(ValueError, match="a is named twice"):
        on_hosts(plan, ["a", "b", "a"])
    with pytest.raises(ValueError, match="the plan has 3 hosts, and 1 are named"):
        on_hosts(plan, ["lab-1"])


def texts(node: object) -> list[str]:
    """Return all texts of a plan except those of the reports."""
    if isinstance(node, str):
        return [node]
    if isinstance(node, Node):
        return [text for each in fields(node) for text in texts(getattr(node, each.name))]
    if isinstance(node, dict):
        return [text for key, value in node.items() for text in (*texts(key), *texts(value))]
    return [text for each in node for text in texts(each)] if isinstance(node, tuple) else []
