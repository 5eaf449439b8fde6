"""Tests that the code of tools, engines and probes is found by name, in our own package and in others."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from benchbrief.compiler import registry
from benchbrief.compiler.registry import TOOL_SPECS
from benchbrief.extensions.engines.mongodb.mongodb import MongoDB
from benchbrief.extensions.engines.rocksdb.rocksdb import RocksDB
from benchbrief.extensions.tools.db_bench.db_bench import DbBench
from benchbrief.model.engine_spec import EngineSpec
from benchbrief.model.tool_spec import ToolSpec
from benchbrief.runners import plugins
from benchbrief.runners.engines.directory_engine import DirectoryEngine
from benchbrief.runners.engines.started_server import StartedServer
from benchbrief.runners.errors import RunnerError
from benchbrief.runners.meters.meter_base import AnyMeter, Meter
from benchbrief.runners.seams import Driver, Engine


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Yield a folder in which Python finds packages."""
    monkeypatch.syspath_prepend(tmp_path)
    registry.look_again()
    before = set(sys.modules)
    yield tmp_path
    for module in set(sys.modules) - before:
        if module.startswith("other_"):
            del sys.modules[module]
    registry.look_again()


def offer(site: Path, package: str, tools: str) -> None:
    info = site / f"{package}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[benchbrief.specs.tools]\n{tools}")


def test_our_own_are_installed() -> None:
    assert isinstance(plugins.driver("db_bench"), DbBench)
    assert plugins.engine_class("rocksdb") is RocksDB
    assert plugins.engine_class("mongodb") is MongoDB


@pytest.mark.parametrize("name", TOOL_SPECS.own)
def test_every_driver_bears_the_name_that_specs_call_it_by(name: str) -> None:
    spec = TOOL_SPECS.find(name)
    assert isinstance(spec, ToolSpec)
    assert plugins.driver(name).name == spec.word


def test_an_unknown_name_lists_those_there_are() -> None:
    with pytest.raises(RunnerError, match="there is no engine named `oracle`") as caught:
        plugins.engine_class("oracle")
    assert "mongodb, raw_storage, rocksdb" in caught.value.hint


METHODS = ("candidates", "requirements", "load", "check_load", "warm_up", "measure", "parse")
SPECS = """
from benchbrief.extend.spec import ToolSpec
SPEC = ToolSpec(3, "other", "Another.", "other_driver:Other", label="other", runs="ycsb")
BROKEN = ToolSpec(3, "broken", "A broken one.", "no_such_module:X", label="broken", runs="ycsb")
"""


def write_driver(site: Path, methods: Sequence[str], above: str = "") -> None:
    offer(site, "bench-other", "other = other_spec:SPEC\nbroken = other_spec:BROKEN\n")
    lines = ["from benchbrief.runners.seams import Driver", f"class Other({above}):", "    name = 'other'"]
    lines += [f"    def {method}(self, *given): return None" for method in methods]
    (site / "other_driver.py").write_text("\n".join(lines))
    (site / "other_spec.py").write_text(SPECS)


def test_a_third_party_s_driver_is_found_by_its_spec(site: Path) -> None:
    write_driver(site, METHODS)
    assert plugins.driver("other").name == "other"
    with pytest.raises(RunnerError, match=r"the tool `broken` \(no_such_module:X\) can't be loaded"):
        plugins.driver("broken")


@pytest.mark.parametrize(
    ("odd", "shown"), [("SystemExit(3)", "SystemExit: 3"), ("OSError('no licence')", "OSError: no licence")]
)
def test_code_that_raises_while_it_is_loaded_or_made_is_one_error(site: Path, odd: str, shown: str) -> None:
    write_driver(site, METHODS)
    with (site / "other_driver.py").open("a") as file:
        file.write(f"\n    def __init__(self): raise {odd}\n")
    (site / "other_leaves.py").write_text(f"raise {odd}\n")
    (site / "other_spec.py").write_text(SPECS.replace("no_such_module", "other_leaves"))
    with pytest.raises(RunnerError, match=rf"the tool `other` \(other_driver:Other\) can't be loaded: {shown}"):
        plugins.driver("other")
    with pytest.raises(RunnerError, match=rf"the tool `broken` \(other_leaves:X\) can't be loaded: {shown}"):
        plugins.driver("broken")


@pytest.mark.parametrize("above", ["", "Driver"], ids=["a class of its own", "below the protocol"])
def test_a_class_that_lacks_methods_is_refused_with_its_package_and_their_names(site: Path, above: str) -> None:
    write_driver(site, METHODS[:-1], above)
    wanted = r"`other` of bench-other 1\.0 can't be used: its class other_driver:Other lacks the method `parse`$"
    with pytest.raises(RunnerError, match=wanted):
        plugins.driver("other")


def test_a_reset_that_an_engine_offers_and_does_not_honour_is_named() -> None:
    made = EngineSpec(3, "e", "An engine.", "a:B", label="E", tools=("ycsb",), resets=("snapshot",))
    assert plugins.find_unhonoured(DbBench, made) == "offers the reset `snapshot`, and lacks the method `restore`"
    assert plugins.find_unhonoured(RocksDB, made) == ""
    undone = EngineSpec(3, "e", "An engine.", "a:B", label="E", tools=("ycsb",), resets=("snapshot", "undo"))
    wanted = "offers the reset `undo`, and lacks the methods `can_undo`, `undo`"
    assert plugins.find_unhonoured(RocksDB, undone) == wanted


class _TakesMethod(DirectoryEngine):
    def _entered(self) -> None:  # type: ignore[override]  # what mypy would say, and nobody asked
        """Replace a method of the base class by accident, because an author chose the same name."""


class _TakesAttribute(StartedServer):
    def ready(self) -> str:
        self._job = "mine"  # type: ignore[assignment]  # the same
        return ""


class _TakesNothing(DirectoryEngine):
    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self._mine = self.path


@pytest.mark.parametrize(
    ("made", "wanted"),
    [
        (_TakesMethod, "takes the name `_entered`, which DirectoryEngine has for itself: call yours otherwise"),
        (_TakesAttribute, "takes the name `_job`, which StartedServer has for itself: call yours otherwise"),
        (_TakesNothing, ""),
        (int, ""),
        (3, ""),
    ],
)
def test_a_name_that_a_class_of_benchbrief_has_for_itself_is_refused(made: object, wanted: str) -> None:
    assert plugins.find_private(made) == wanted


def test_an_extension_that_takes_a_private_name_is_refused_when_it_is_loaded(site: Path) -> None:
    write_driver(site, [*METHODS, "_hooks"], "StartedServer")
    driver = site / "other_driver.py"
    driver.write_text(f"from benchbrief.extend.engines import StartedServer\n{driver.read_text()}")
    wanted = r"`other` of bench-other 1.0 can't be used: its class other_driver:Other takes the name `_hooks`, which "
    with pytest.raises(RunnerError, match=wanted):
        plugins.driver("other")


def test_what_is_no_class_or_is_not_below_the_seam_s_is_no_fit() -> None:
    assert plugins.find_misfit(3, Meter) == "is no class"
    assert plugins.find_misfit(int, Meter) == "is not below Meter"
    assert plugins.find_misfit(Meter, AnyMeter) == "lacks the method `reader`"
    assert plugins.find_misfit(DbBench, Engine).startswith("lacks the methods `start`, `look`, ")
    assert plugins.find_misfit(DbBench, Driver) == ""


def test_two_packages_with_the_same_name_are_refused(site: Path) -> None:
    for package in ("one", "two"):
        offer(site, package, f"twin = {package}:SPEC\n")
    with pytest.raises(RunnerError, match=r"2 packages have a tool of that name: one 1\.0 and two 1\.0"):
        plugins.driver("twin")
