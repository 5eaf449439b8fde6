"""Tests that another package's power meter, installed beside benchbrief, is checked and read like ours."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from benchbrief.compiler.registry import METER_SPECS
from benchbrief.model.plan import Plan
from benchbrief.model.value_shapes import Key, Text
from benchbrief.runners.meters.meter_base import AnyMeter, RecordedMeter
from benchbrief.runners.plugins import meter_kind
from tests.cli.specs import ONE_FOLDER
from tests.extensions.installed import bench
from tests.support.environment import Environment
from tests.support.tools import system_tool


@pytest.mark.parametrize("name", METER_SPECS.own)
def test_each_of_our_own_meters_is_right_and_is_what_it_says(name: str) -> None:
    spec, meter = METER_SPECS.own[name], meter_kind(name)
    assert spec.mistake(name, own=True) == ""
    assert isinstance(meter, AnyMeter)
    assert isinstance(meter, RecordedMeter) == spec.recorded


def test_what_is_wrong_with_a_spec_is_said() -> None:
    good = METER_SPECS.own["command"]
    assert "`usage`" in replace(good, usage="").mistake("command")
    assert "the argument `oid`, which it does not have" in replace(good, parts=("oid",)).mistake("command")
    assert "a `doc`" in replace(good, arguments={"x": Key(Text(), "")}).mistake("command")
    assert "none of its words" in replace(good, boundary="rack").mistake("command")  # type: ignore[arg-type]


@pytest.fixture
def sensor(tmp_path: Path) -> Path:
    path = tmp_path / "power1_input"
    path.write_text("215000000\n")
    return path


def write(folder: Path, power: str) -> None:
    system_tool("db_bench")
    text = ONE_FOLDER.replace("[1, 2]", "[1]").replace("cpu every 200 ms", "power every 200 ms")
    text = text.replace("@TOOL@", "db_bench").replace("@DATA@", str(folder / "data"))
    (folder / "brief.bench").write_text(text.replace("hosts = local", f"hosts = local  power = {power}"))


def test_a_real_run_has_its_watts(installed: Environment, tmp_path: Path, sensor: Path) -> None:
    write(tmp_path, f'hwmon(file: "{sensor}")')
    done = bench(installed, tmp_path, "run", "brief.bench", "--no-report")
    assert done.returncode == 0, done.stdout + done.stderr
    sql = "SELECT count(*) AS n, min(value) AS low, max(value) AS high FROM samples WHERE measure = 'power'"
    (row,) = json.loads(bench(installed, tmp_path, "query", "--json", sql).stdout)
    assert row["n"] >= 3
    assert (row["low"], row["high"]) == (215, 215)
    (plan,) = tmp_path.glob("**/plan.json")
    meters = [each for group in json.loads(plan.read_text())["hardware"].values() for each in group["power"] or ()]
    assert {(each["kind"], each["boundary"], each["on"]) for each in meters} == {("hwmon", "node", "node")}
    extensions = Plan.model_validate_json(plan.read_text()).extensions
    assert extensions["meter hwmon"].startswith("bench-hwmon 0.4.0+")


@pytest.mark.long
def test_a_sensor_that_is_not_there_is_reported_with_the_meter_s_own_hint(
    installed: Environment, tmp_path: Path, sensor: Path
) -> None:
    write(tmp_path, f'hwmon(file: "{sensor}-none")')
    done = bench(installed, tmp_path, "doctor", "brief.bench")
    assert done.returncode != 0
    said = " ".join((done.stdout + done.stderr).split())
    assert "can't be read by hwmon" in said
    assert "shows the sensors that the host has" in said


def test_its_arguments_are_checked_and_a_broken_one_is_named(
    installed: Environment, tmp_path: Path, sensor: Path
) -> None:
    def found(power: str) -> list[tuple[str, str]]:
        write(tmp_path, power)
        (checked,) = json.loads(bench(installed, tmp_path, "check", "brief.bench", "--format", "json").stdout)
        return [(each["code"], each["summary"]) for each in checked["diagnostics"]]

    assert found(f'hwmon(file: "{sensor}")') == []
    assert "`hwmon` takes no `fiel:`" in found(f'hwmon(fiel: "{sensor}")')[0][1]
    ((code, said),) = found("hwmon")
    assert "needs `file:`" in said, code
    ((code, said),) = found("hwmonn(1)")
    assert "`power` can't be `hwmonn`" in said, code
    ((code, said),) = found("broken")
    assert code == "E0212"
    assert "the meter `broken` of bench-broken 9 can't be used" in said


@pytest.mark.long
def test_a_class_that_lacks_a_method_is_named_with_its_package(installed: Environment, tmp_path: Path) -> None:
    write(tmp_path, "unfinished")
    done = bench(installed, tmp_path, "doctor", "brief.bench")
    said = " ".join((done.stdout + done.stderr).split())
    assert done.returncode != 0
    why = "its class bench_broken.reader:Unfinished lacks the method `reader`"
    assert f"the meter `unfinished` of bench-broken 9 can't be used: {why}" in said
    assert "Traceback" not in said
    found = json.loads(bench(installed, tmp_path, "extensions", "--json").stdout)
    problems = {each["name"]: each["problem"] for each in found if each["kind"] == "meter"}
    assert problems["unfinished"] == "`bench_broken.reader:Unfinished` lacks the method `reader`"
    assert problems["hwmon"] == ""
