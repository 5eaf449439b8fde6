"""Drivers, engines and probes are found by name, whoever provides them."""

from __future__ import annotations

from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from benchbrief.runners import plugins
from benchbrief.runners.drivers.db_bench import DbBench
from benchbrief.runners.engines.mongodb import MongoDB
from benchbrief.runners.engines.rocksdb import RocksDB
from benchbrief.runners.errors import RunnerError


def test_our_own_are_installed() -> None:
    assert isinstance(plugins.driver("db_bench"), DbBench)
    assert plugins.engine_class("rocksdb") is RocksDB
    assert plugins.engine_class("mongodb") is MongoDB
    assert {"ycsb", "go_ycsb", "db_bench"} <= set(plugins.names("drivers"))


def test_every_driver_bears_the_name_it_is_found_by() -> None:
    for name in plugins.names("drivers"):
        assert plugins.driver(name).name == name


def test_an_unknown_name_lists_those_there_are() -> None:
    with pytest.raises(RunnerError, match="there is no engine named `oracle`") as caught:
        plugins.engine_class("oracle")
    assert "mongodb, rocksdb" in caught.value.hint
    assert "benchbrief.engines" in caught.value.hint


def test_a_third_party_s_driver_is_found_by_its_entry_point(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    info = tmp_path / "other-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: other\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[benchbrief.drivers]\nother = other_driver:Other\nbroken = no_such_module:X\n"
    )
    (tmp_path / "other_driver.py").write_text("class Other:\n    name = 'other'\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert plugins.driver("other").name == "other"
    with pytest.raises(RunnerError, match=r"the driver `broken` \(no_such_module:X\) can't be loaded"):
        plugins.driver("broken")


def test_two_packages_with_the_same_name_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    points = [EntryPoint("twin", f"package_{n}:Twin", "benchbrief.drivers") for n in (1, 2)]
    monkeypatch.setattr(plugins, "entry_points", lambda **_: points)
    with pytest.raises(RunnerError, match="`twin` is the name of 2 drivers: package_1:Twin, package_2:Twin"):
        plugins.driver("twin")
