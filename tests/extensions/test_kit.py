"""Tests the package that `bench extensions new` writes, and what `bench extensions try` reports about it."""

from __future__ import annotations

import os
import runpy
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Literal

import pytest

from benchbrief.compiler import registry
from benchbrief.compiler.compile import check
from benchbrief.compiler.registry import REGISTRIES, RefusedExtension
from benchbrief.extending.conformance import (
    Skipped,
    Subject,
    TrialResult,
    asked_of,
    how_it_failed,
    probe_samples_for_real,
    try_extension,
)
from benchbrief.extending.installed_code import code_problem, imported_past
from benchbrief.extending.new_package import KINDS, NotMade, new_package
from benchbrief.model.events import CellEnded, CellStarted
from benchbrief.model.extension_spec import ExtensionSpec, ProbeSpec
from benchbrief.runners.errors import RunnerError
from benchbrief.runners.journal.journal_file import Journal
from benchbrief.runners.journal.run_folder import PLAN
from benchbrief.runners.plugins import probe_kind

NAME = "my_own"


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Yield a folder in which this process and its child processes find packages."""
    package = tmp_path / "bench-my-own"
    monkeypatch.syspath_prepend(package)
    monkeypatch.setenv("PYTHONPATH", str(package), prepend=os.pathsep)
    registry.look_again()
    yield tmp_path
    for module in [each for each in sys.modules if each.startswith("bench_my_own")]:
        del sys.modules[module]
    registry.look_again()


def write(kind: str, site: Path) -> Path:
    """Write a package, with the record that `pip install --editable` would make."""
    folder = new_package(kind, NAME, site)
    project = tomllib.loads((folder / "pyproject.toml").read_text())["project"]
    info = folder / f"{project['name'].replace('-', '_')}-{project['version']}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n")
    groups = project["entry-points"].items()
    lines = (f"[{group}]\n" + "".join(f"{name} = {to}\n" for name, to in each.items()) for group, each in groups)
    (info / "entry_points.txt").write_text("".join(lines))
    registry.look_again()
    return folder


def not_held(outcomes: Iterator[TrialResult]) -> list[str]:
    return [f"{each.of}: {each.holds}: {each.said}" for each in outcomes if each.state == "broken"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_package_of_each_kind_can_be_used_as_it_is_written(kind: str, site: Path) -> None:
    write(kind, site)
    found = [each.find(name) for each in REGISTRIES for name in (NAME, f"{NAME}_load") if each.offered(name)]
    assert [each.kind for each in found if each] == (["engine", "tool"] if kind == "engine" else [kind])
    for spec in found:
        assert spec is not None
        assert not isinstance(spec, RefusedExtension), spec
        assert code_problem(spec) == ""
    assert imported_past("bench_my_own.spec:SPEC") == ()
    with pytest.raises(NotMade, match=r"is the .* of bench-my-own 0.1.0 already"):
        new_package(kind, NAME, site)


def test_the_written_test_asks_the_bench_of_its_own_python(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = write("importer", site)
    monkeypatch.setenv("PATH", str(folder))
    runpy.run_path(str(folder / "tests" / f"test_{NAME}.py"))["test_it_conforms"]()


def test_what_is_taken_from_the_top_of_benchbrief_is_past_the_surface(site: Path) -> None:
    folder = write("importer", site)
    (folder / "bench_my_own" / "more.py").write_text("from benchbrief import extend, runners\n")
    registry.look_again()
    assert imported_past("bench_my_own.spec:SPEC") == ("benchbrief.runners",)


def test_a_method_with_other_arguments_is_named_with_those_that_it_gets(site: Path) -> None:
    code = write("probe", site) / "bench_my_own" / "my_own_probe.py"
    code.write_text(code.read_text().replace("    def job(", "    def reads(self): ...\n\n    def job("))
    with pytest.raises(RunnerError, match="the probe `my_own` of bench-my-own") as refused:
        probe_kind(NAME)
    said = "`bench_my_own.my_own_probe:MyOwn` has `reads(self)`, and it is called as `reads(self, probe)`"
    spec = registry.PROBE_SPECS.usable(NAME)
    assert spec is not None
    assert code_problem(spec) == said
    assert said.partition("` ")[2] in str(refused.value)


def test_an_importer_that_takes_two_outputs_for_one_is_found_out(site: Path) -> None:
    folder = write("importer", site)
    assert not_held(try_extension(NAME)) == []
    code = folder / "bench_my_own" / "my_own_importer.py"
    code.write_text(code.read_text().replace("text.count(text[0]) > 1", "text.count(text[0]) > 100"))
    for module in [each for each in sys.modules if each.startswith("bench_my_own.")]:
        del sys.modules[module]
    (found,) = not_held(try_extension(NAME))
    assert found.endswith("it takes a doubled whole.txt for good")


def test_what_has_another_name_is_tried_with_the_engine_of_its_package_and_by_the_name_of_the_package(
    site: Path,
) -> None:
    folder = write("importer", site)
    points = next(folder.glob("*.dist-info/entry_points.txt"))
    points.write_text(points.read_text() + "[benchbrief.specs.engines]\nother = bench_my_own.nowhere:SPEC\n")
    registry.look_again()
    of_engine = {each.of for each in try_extension("other")}
    assert of_engine == {each.of for each in try_extension("bench-my-own")} == {"engine other", f"importer {NAME}"}
    assert {each.of for each in try_extension(NAME)} == {f"importer {NAME}"}


GIVEN = """
hardware here { hosts = local }
database db { engine = rocksdb  path = "/var/tmp/db" }
workload work from db_bench.readrandom { records = 100 }
experiment e { hardware = here  workloads = work  threads = 1  measure = 1 s  PROBES }
report brief "Trial" { figure "Throughput" { line = throughput by threads } }
"""


def test_a_given_spec_is_tried_as_far_as_it_goes_and_ended_when_it_hangs(
    site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write("probe", site)
    given = site / "given.bench"
    said: list[tuple[str, ...]] = []

    def bench(_: Subject, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
        said.append(words)
        if "--no-report" in words:
            raise subprocess.TimeoutExpired(words, 300)
        (folder / "brief.html").write_text('<html lang="en">')
        return subprocess.CompletedProcess(words, 0, "", "")

    monkeypatch.setattr(Subject, "bench", bench)

    def tried(probes: str, name: str = NAME) -> Sequence[tuple[str, str]]:
        given.write_text(GIVEN.replace("PROBES", probes))
        return [(each.state, each.said) for each in try_extension(name, given)][4:-1]

    unused = ("not tried", f"the spec does not use the probe `{NAME}`")
    assert tried("") == [unused, unused]
    assert said == []
    english, hung = tried(f"probes = [{NAME} every 200 ms]")
    assert english == ("not tried", "the spec has no report with a page in ja")
    assert hung == ("not tried", "it did not end within 300 s")
    assert said[-1] == ("stop",)
    assert tried("", "local") == [hung], "it is ours, and the spec uses it"
    assert tried("", "ssh") == [("not tried", "the spec does not use the transport `ssh`")]


def test_what_this_machine_lacks_is_told_and_not_taken_for_a_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    given = tmp_path / "given.bench"
    given.write_text(GIVEN.replace("rocksdb", 'rocksdb  tool = db_bench("/no/such/db_bench")').replace("PROBES", ""))
    of = registry.ENGINE_SPECS
    subject = Subject(of.own_offer("rocksdb"), of.own["rocksdb"], tmp_path, given, {})
    with pytest.raises(Skipped, match="/no/such/db_bench"):
        subject.run(subject.place())


@pytest.mark.long
@pytest.mark.timeout(900)  # thirteen commands, of which nine measure
def test_an_engine_conforms_as_it_is_written(site: Path) -> None:
    """`bench extensions try` runs the engine simulated and for real, with each reset, and killed and resumed. It also
    gives the code bad outputs."""
    write("engine", site)
    assert not_held(try_extension(NAME)) == []


def test_a_run_that_lacks_a_part_of_its_brief_is_quoted_on_that_part() -> None:
    said = (
        "run x: done, but its brief lacks a part\n  missing test disclosure of `brief`: KeyError: 'value'\nPDF x.pdf\n"
    )
    done = subprocess.CompletedProcess((), 3, said, "[2/2] e/here/work/threads=2/r1  6,680 ops/s  0.0 s\n")
    assert how_it_failed(done) == "it ended with code 3: missing test disclosure of `brief`: KeyError: 'value'"
    assert how_it_failed(subprocess.CompletedProcess((), 0, said, "")) == ""
    done = subprocess.CompletedProcess((), 3, "errors 0 of 100\n", "error: no server\n")
    assert how_it_failed(done) == "it ended with code 3: error: no server"


def test_a_measure_without_samples_is_missed_though_another_s_name_begins_alike(site: Path) -> None:
    write("probe", site)
    (found,) = [each.find(NAME) for each in REGISTRIES if each.offered(NAME)]
    assert isinstance(found, ProbeSpec)
    (name,) = found.measures
    spec = replace(found, measures={name: found.measures[name], f"{name}_more": found.measures[name]})

    class Measured(Subject):
        def run(self, folder: Path) -> str:
            return ""

        def bench(self, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
            note = f'origin,text\nprobe:{NAME}:local,"the {NAME} probe said why"\n'
            said = note if "FROM notes" in words[-1] else f"measure\n{name}_more\n"
            return subprocess.CompletedProcess(words, 0, said, "")

    (offer,) = [offer for each in REGISTRIES for offer in each.offered(NAME)]
    said = f"there are none of {name}: the {NAME} probe said why"
    assert probe_samples_for_real(Measured(offer, spec, site, None, {})) == said


@pytest.mark.parametrize("refused", ["generator", "system"])
def test_a_late_load_generator_is_the_machine_s_and_no_fault_of_the_extension(
    refused: Literal["generator", "system"], tmp_path: Path
) -> None:
    class Measured(Subject):
        def bench(self, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
            if words[0] == "run":
                run_dir = folder / "bench-out" / "20260301-100000-brief"
                run_dir.mkdir(parents=True)
                (run_dir / PLAN).write_text("{}")
                with closing(Journal(run_dir)) as journal:
                    journal.write(CellStarted(at=0, cell="e", hash="", attempt=1))
                    journal.write(CellEnded(at=1, cell="e", hash="", attempt=1, status="failed", refused=refused))
            return subprocess.CompletedProcess(words, 3, "", "failed  e: it refuses its numbers")

    of = registry.TOOL_SPECS
    subject = Measured(of.own_offer("openload"), of.own["openload"], tmp_path, None, {})
    said = "failed  e: it refuses its numbers"
    if refused == "system":
        assert said in subject.run(subject.place())
    else:
        with pytest.raises(Skipped, match=rf"this machine is too busy for the load generator, .*{said}"):
            subject.run(subject.place())


def test_a_database_probe_is_not_blamed_for_what_a_stand_in_does_not_count(tmp_path: Path) -> None:
    class Measured(Subject):
        def bench(self, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
            return subprocess.CompletedProcess(words, 0, "measure\ndatabase.inserts\n", "")

    of = registry.PROBE_SPECS
    subject = Measured(of.own_offer("database"), of.own["database"], tmp_path, None, {})
    with pytest.raises(Skipped, match=r"one engine of several has no database.connections, .* and samples of all else"):
        probe_samples_for_real(subject)


SAMPLED = [
    (each, name)
    for each in REGISTRIES
    if each.kind in ("engine", "tool", "probe", "template", "snapshot")
    for name in each.own
]


@pytest.mark.parametrize(("of", "name"), SAMPLED, ids=lambda each: each if isinstance(each, str) else each.kind)
def test_the_sample_of_each_of_our_own_is_right_and_uses_it(
    of: registry.Registry[ExtensionSpec], name: str, tmp_path: Path
) -> None:
    subject = Subject(of.own_offer(name), of.own[name], tmp_path, None, {})
    checked = check(subject.place(**asked_of(subject)) / "brief.bench")
    assert checked.plan is not None, checked.diagnostics
    assert f"{of.kind} {name}" in checked.plan.used_extensions
