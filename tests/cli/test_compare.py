"""Tests `bench compare`, and the files for build servers that `bench compare` and `bench run` write."""

from __future__ import annotations

import json
import math
import re
import shutil
import statistics
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from scipy import stats

from tests.cli.conftest import FinishedRun
from tests.cli.specs import SMALL
from tests.cli.test_watching import terminal
from tests.support.bench import Bench, Ended, fresh_bench
from tests.support.longer import longer
from tests.support.waiting import until

SPEC = """
hardware old { hosts = "old.lab"  cores = @CORES@ }
hardware new { hosts = "new.lab"  cores = 8 }
client load { hosts = "load.lab"  tool = ycsb }
database mongo { engine = mongodb  uri = "mongodb://{hosts}/ycsb" }
workload a from ycsb.a { records = 100k }
experiment ramp { hardware = [old, new]  workloads = a  threads = [@THREADS@]  measure = 10 s  repeats = @REPEATS@ }
metric per_core "Per core" in ops/s = throughput / cores, higher is better
metric gain = throughput[new] / throughput[old] - 1, higher is better
metric tail in ms = latency.@TAIL@[read], lower is better
metric tails in ms = 2 * tail, lower is better
metric far in ms = latency.p9999[read], lower is better
expect "Fast enough" throughput > 10 ops/s
"""


@dataclass(frozen=True)
class World:
    """Simulated runs of one spec. Each run is named after the way it differs from the others. In the run `other`, the
    old hardware has more cores."""

    bench: Bench
    runs: dict[str, str]
    printed: dict[tuple[str | Path, ...], Any] = field(default_factory=dict)
    """Cached outputs of comparisons. They can be cached because the runs never change."""

    def __call__(self, first: str, second: str, *words: str | Path) -> Ended:
        named = [self.runs.get(run.partition(":")[0], run.partition(":")[0]) for run in (first, second)]
        parts = [run.partition(":")[1] + run.partition(":")[2] for run in (first, second)]
        return self.bench("compare", *(name + part for name, part in zip(named, parts, strict=True)), *words)

    def json(self, first: str, second: str, *words: str | Path) -> Any:
        asked = (first, second, *words)
        if asked not in self.printed:
            self.printed[asked] = self(first, second, "--json", *words).json
        return self.printed[asked]

    def rows(self, first: str, second: str, *words: str | Path) -> dict[tuple[str, str, float], dict[str, Any]]:
        printed = self.json(first, second, *words)
        return {(row["metric"], row.get("hardware", ""), row["threads"]): row for row in printed["comparisons"]}


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with fresh_bench(tmp_path_factory.mktemp("compare")) as bench:
        runs = {}
        for name, seed, cores, threads, tail in (
            ("base", 0, 4, "1, 16", "p99"),
            ("other", 2, 7, "1, 16, 64", "mean"),
        ):
            bench.spec(SPEC, CORES=cores, THREADS=threads, TAIL=tail, REPEATS=4)
            before = set(bench.run_dirs())
            done = bench("run", "brief.bench", "--simulate", "--seed", str(seed), "--no-report", "--quiet")
            assert done.code == 0, done.text
            (made,) = set(bench.run_dirs()) - before
            runs[name] = made.name
        yield World(bench, runs)


COUNTS = {"tests": int, "failures": int, "errors": int, "skipped": int, "time": float}
JUNIT: dict[str, tuple[dict[str, type[str | int | float]], set[str]]] = {
    "testsuites": ({"name": str, **COUNTS}, {"testsuite"}),
    "testsuite": ({"name": str, **COUNTS}, {"testcase"}),
    "testcase": ({"classname": str, "name": str, "time": float}, {"failure", "error", "skipped"}),
    "failure": ({"message": str}, set()),
    "error": ({"message": str}, set()),
    "skipped": ({"message": str}, set()),
}
"""The elements that build servers read, each with its attributes (all required) and the contents that they allow."""


def held_to_junit(element: ET.Element) -> None:
    attributes, children = JUNIT[element.tag]
    assert element.attrib.keys() == attributes.keys(), element.tag
    for name, kind in attributes.items():
        assert kind(element.attrib[name]) or kind is not str, f"{element.tag} {name}"
    assert {child.tag for child in element} <= children, element.tag
    for child in element:
        held_to_junit(child)
    if element.tag.startswith("testsuite"):
        cases = list(element.iter("testcase"))
        printed = {name: int(element.attrib[name]) for name in ("tests", "failures", "errors", "skipped")}
        failures, errors, skipped = (len(list(element.iter(kind))) for kind in ("failure", "error", "skipped"))
        assert printed == {"tests": len(cases), "failures": failures, "errors": errors, "skipped": skipped}
    elif element.tag == "testcase":
        assert len(element) <= 1, "a verdict is one of four"


def suite_of(file: Path) -> ET.Element:
    assert file.read_bytes().startswith(b'<?xml version="1.0" encoding="UTF-8"?>')
    root = ET.parse(file).getroot()  # noqa: S314  # of our own
    assert root.tag == "testsuites"
    held_to_junit(root)
    (suite,) = root
    return suite


@pytest.mark.long
def test_what_got_better_beyond_noise_is_reported_and_what_did_not_is_noise(world: World) -> None:
    rows = world.rows("base", "other")
    assert rows["throughput", "old", 16]["verdict"] == "better"
    assert rows["latency.p99[read]", "old", 16]["verdict"] == "better"
    assert {row["verdict"] for (_, hardware, _), row in rows.items() if hardware == "new"} == {"within noise"}
    assert rows["per_core", "old", 1]["verdict"] == "worse", "the same throughput of more cores"


@pytest.mark.long
def test_percentiles_that_few_operations_decide_are_named(world: World) -> None:
    printed = "fewer than 10 operations beyond it"
    assert printed not in world("base", "other", "--metric", "tail").text
    few = world("base", "other", "--metric", "latency.p9999[read]").out
    assert printed in few
    assert "(latency.p9999[read] at " in few
    assert "(far at " in world("base", "other", "--metric", "far").out, "the same percentile by a name of the spec"


def test_each_number_is_that_of_the_repeats(world: World) -> None:
    row = world.rows("base", "other")["throughput", "old", 16]
    asked = "SELECT value FROM measure.throughput WHERE hardware = 'old' AND threads = 16 AND operation = 'all' "
    sides = [
        [each["value"] for each in world.bench("query", asked, "--run", world.runs[run], "--json").json]
        for run in ("base", "other")
    ]
    for side, values in zip((row["first"], row["second"]), sides, strict=True):
        assert sorted(side["repeats"]) == sorted(values)
        assert side["value"] == pytest.approx(statistics.mean(values))
        low, high = stats.t.interval(0.95, 3, loc=statistics.mean(values), scale=stats.sem(values))
        assert side["interval"] == pytest.approx([low, high])
    assert row["ratio"] == pytest.approx(statistics.geometric_mean(sides[1]) / statistics.geometric_mean(sides[0]))
    assert row["interval"][0] < row["ratio"] < row["interval"][1]
    logarithms = [[math.log(value) for value in values] for values in sides]
    assert row["p"] == pytest.approx(stats.ttest_ind(*logarithms, equal_var=False).pvalue)
    assert row["p_holm"] >= row["p"]


def test_a_percentile_is_that_of_the_merged_repeats_and_tested_by_those_of_each(world: World) -> None:
    row = world.rows("base", "other")["latency.p99[read]", "old", 16]
    asked = (
        "SELECT value FROM measure.latency WHERE hardware = 'old' AND threads = 16 AND operation = 'read' "
        "AND statistic = 'p99' AND repeat IS NULL AND phase IS NULL AND reported"
    )
    ((merged,),) = [
        list(each.values())[:1] for each in world.bench("query", asked, "--run", world.runs["base"], "--json").json
    ]
    assert row["first"]["value"] == merged
    assert row["first"]["interval"] == [min(row["first"]["repeats"]), max(row["first"]["repeats"])]
    logs = [[math.log(p99) for p99 in row[side]["repeats"]] for side in ("first", "second")]
    assert row["p"] == pytest.approx(stats.ttest_ind(*logs, equal_var=False).pvalue)


def test_the_exit_code_says_whether_anything_got_worse(world: World) -> None:
    assert world("base", "other", "--metric", "per_core").code == 4
    assert world("base", "other", "--metric", "throughput").code == 0
    assert world("other", "base", "--metric", "throughput").code == 4
    assert world("other", "base", "--metric", "throughput", "--threshold", "80%").code == 0


@pytest.mark.long
def test_a_strict_comparison_fails_where_nothing_can_be_judged(world: World, tmp_path: Path) -> None:
    asked = ("other", "base", "--metric", "throughput", "--threshold", "99%")
    assert world(*asked).code == 0
    strict = world(*asked, "--strict", "--junit", tmp_path / "strict.xml")
    assert strict.code == 4, "base has not measured 64 threads"
    suite = suite_of(tmp_path / "strict.xml")
    assert {case.attrib["classname"] for case in suite if case.find("failure") is not None} == {
        f"ramp/{hardware}/a/threads=64" for hardware in ("old", "new")
    }
    assert world("base", "other", *asked[2:], "--strict").code == 0, "what B has besides is no loss"


def test_hardware_of_one_run_is_compared_without_metrics_that_compare_it_themselves(world: World) -> None:
    rows = world.rows("base:old", "base:new")
    assert rows["throughput", "", 16]["verdict"] == "better"
    assert "gain" not in {metric for metric, _, _ in rows}
    printed = world.json("base:old", "base:new")
    assert {"what": "cores", "first": "4", "second": "8"} in printed["differences"]


@pytest.mark.long
def test_a_metric_that_is_defined_otherwise_is_left_out_with_all_that_are_made_of_it(world: World) -> None:
    assert {"tail", "tails"}.isdisjoint(metric for metric, _, _ in world.rows("base", "other"))
    assert {"tail", "tails"} <= {metric for metric, _, _ in world.rows("base:old", "base:new")}
    notes = world("base", "other").out.partition("note:")[2]
    tail = "latency.p99[read] in ms, lower is better in A, latency.mean[read] in ms, lower is better in B"
    assert f"`tail` is defined otherwise, and left out: {tail}" in notes
    assert f"`tails`: `tail`, which it is made of, is defined otherwise, and left out: {tail}" in notes
    refused = world("base", "other", "--metric", "tail")
    assert refused.code == 2
    assert "`tail` is defined otherwise" in refused.text


def test_what_differs_is_reported_above_the_table_and_what_one_side_lacks_below(world: World) -> None:
    out = world("base", "other").out
    assert out.index("cores of old: 4 | 7") < out.index("metric") < out.index("only B has ramp/old/a/threads=64")
    assert "A and B are simulated: nothing was measured" in out


def simulated(world: World, name: str, text: str) -> None:
    world.bench.spec(text, CORES=7, THREADS="1, 16", TAIL="p99", REPEATS=4)
    before = set(world.bench.run_dirs())
    made = world.bench("run", "brief.bench", "--simulate", "--seed", "2", "--no-report", "--quiet")
    assert made.code == 0, made.text
    (run,) = set(world.bench.run_dirs()) - before
    world.runs[name] = run.name


@pytest.mark.long
def test_a_metric_of_experiments_of_other_names_is_not_judged_over_another_load(world: World) -> None:
    simulated(world, "named", SPEC.replace("100k", "200k").replace("experiment ramp", "experiment peak"))
    done = world("base", "named", "--metric", "per_core")
    assert done.code == 0, done.text
    assert "workload a.records: 100,000 | 200,000\n" in done.out
    assert done.out.count("can't tell: different loads: records") == 1, "one reason for all points"
    assert "and 2 more)" in done.out


@pytest.mark.long
def test_points_of_another_load_are_reported_by_name_and_not_judged_unless_that_is_said(world: World) -> None:
    text = SPEC.replace("100k", "200k").replace("10 s", "20 s")
    simulated(world, "heavy", text)
    asked = ("base", "heavy", "--metric", "per_core")
    done = world(*asked)
    assert done.code == 0, done.text
    assert "workload a.records: 100,000 | 200,000\n  experiment ramp.measure: 10 s | 20 s\n" in done.out
    assert "can't tell: different loads: records" in done.out
    assert "4 of 4 comparisons have different loads, listed above, and are not judged" in done.out
    assert world(*asked, "--strict").code == 4
    judged = world(*asked, "--other-load")
    assert judged.code == 4, "worse, as printed"
    assert "4 of 4 comparisons have different loads, listed above\n" in judged.out
    of_hardware = world("base:old", "heavy:new", "--metric", "throughput")
    assert "different loads: records" in of_hardware.out
    assert "database" not in of_hardware.out, "of what is compared, no difference is printed by the plans"


@pytest.mark.long
def test_the_same_measurement_is_not_taken_for_two(world: World) -> None:
    run = world.bench.folder / "bench-out" / world.runs["base"]
    copy = run.with_name("copy-of-base")
    shutil.copytree(run, copy)
    try:
        done = world("base", "copy-of-base")
    finally:
        shutil.rmtree(copy)
    assert "same measurement" in done.out
    assert "measure anew with `bench run --fresh`" in done.out


def test_junit_has_a_case_for_each_comparison_and_markdown_the_worse_ones_first(world: World, tmp_path: Path) -> None:
    done = world("base", "other", "--junit", tmp_path / "a" / "c.xml", "--markdown", tmp_path / "c.md", "--json")
    suite, printed = suite_of(tmp_path / "a" / "c.xml"), done.json
    assert int(suite.attrib["failures"]) == printed["worse"] == len(suite.findall("testcase/failure")) > 0
    assert int(suite.attrib["tests"]) == len(suite) == len(printed["comparisons"]) + len(printed["only_second"])
    assert int(suite.attrib["skipped"]) == len(suite.findall("testcase/skipped")) == 2
    failed = {(case.attrib["classname"], case.attrib["name"]) for case in suite if case.find("failure") is not None}
    assert ("old/a/threads=1", "per_core") in failed
    assert float(suite.attrib["time"]) == 4 * 2 * 2 * 10, "four repeats of ten seconds at each of B's four points"
    page = (tmp_path / "c.md").read_text()
    assert page.index("❌ worse") < page.index("<details>") < page.index("within noise |")
    assert "| cores of old | 4 | 7 |" in page


@pytest.mark.parametrize(
    ("first", "second", "words", "message", "hint"),
    [
        ("base", "base", (), "are the same run", "name another run"),
        ("base:old", "other", (), "one side is a hardware group", ":old`"),
        ("base:odl", "base:new", (), "has no hardware odl", "did you mean `old`?"),
        ("base", "other", ("--metric", "throughputs"), "no `throughputs` in common", "did you mean `throughput`?"),
        ("base", "nothing", (), "no run nothing in bench-out", "the last ones are"),
        ("last~1", "base", (), "bench-out has no run last~1: 0 were measured", "bench status --all"),
        ("rev:HEAD", "base", (), "no run in bench-out measured the spec of HEAD", "check HEAD out"),
        ("base", "other", ("--junit", "/proc/none/x.xml"), "can't be written", "name a file that can be"),
    ],
)
def test_what_can_not_be_compared_is_refused_with_the_next_step(
    world: World, first: str, second: str, words: tuple[str, ...], message: str, hint: str
) -> None:
    done = world(first, second, *words)
    assert done.code == 2
    assert message in done.err
    assert hint in done.err


# --- real runs ---


def test_simulated_is_not_compared_with_measured_unless_that_is_said(copied_run: Bench) -> None:
    real = copied_run.run_dir.name
    assert copied_run("run", "brief.bench", "--simulate", "--no-report", "--quiet").code == 0
    (simulated,) = (path.name for path in copied_run.run_dirs() if path.name != real)
    done = copied_run("compare", "last", simulated)
    assert done.code == 2
    assert f"last was measured, and {simulated} simulated" in done.err
    mixed = copied_run("compare", "last", simulated, "--mixed")
    assert mixed.code == 0, mixed.err
    assert "B is simulated: nothing was measured" in mixed.out


@pytest.mark.long
def test_a_revision_is_the_last_run_of_its_spec_and_last_counts_back(copied_run: Bench) -> None:
    folder, first = copied_run.folder, copied_run.run_dir

    def git(*words: str) -> None:
        subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b.c", *words], cwd=folder, check=True)

    git("init", "--quiet")
    git("add", "brief.bench")
    git("commit", "--quiet", "--message", "as it was measured")
    (folder / "brief.bench").write_text((folder / "brief.bench").read_text() + "# more\n")
    git("commit", "--quiet", "--all", "--message", "changed since")
    done = copied_run("run", "brief.bench", "--no-report", "--quiet")
    assert done.code == 0, done.text
    (second,) = (path for path in copied_run.run_dirs() if path != first)
    for older in ("rev:HEAD~1", "last~1", first.name):
        printed = copied_run("compare", older, "last", "--json").json
        assert (printed["first"]["run"], printed["second"]["run"]) == (first.name, second.name)
    assert any(each["what"] == "text of brief.bench" for each in printed["differences"])
    several = copied_run("compare", "last:box", "last:one")
    assert several.code == 2
    assert "has 2 variants" in several.err
    assert "name one: `last:one`, `last:two`" in several.err
    variants = copied_run("compare", "last:one", "last:two", "--metric", "throughput")
    assert variants.code == 0
    assert "can't tell: too few repeats: 1, and a test takes 2" in variants.out
    assert "say `repeats = 3` or more in the experiment" in variants.out


@pytest.mark.long
def test_too_few_repeats_after_a_budget_ask_for_a_larger_one(bench: Bench) -> None:
    bench.spec(
        """
        hardware old { hosts = "old.lab" }
        hardware new { hosts = "new.lab" }
        database rocks { engine = rocksdb  path = "/data" }
        workload rr from db_bench.readrandom { records = 10k }
        experiment ramp {
          hardware = [old, new]  workloads = rr  threads = [1, 4]
          measure = 1 min  repeats = 5, interleaved  budget = 5 min
        }
        """
    )
    done = bench("run", "brief.bench", "--simulate", "--quiet")
    assert done.code == 0, done.text
    (run,) = (path.name for path in bench.run_dirs())
    printed = bench("compare", f"{run}:old", f"{run}:new")
    assert "two repeats" in printed.out, printed.text
    assert "run it with a larger budget" in printed.out
    assert "repeats = 3" not in printed.out, "the experiment asks for five"


def test_a_run_tells_a_build_server_what_held_and_what_failed(finished_run: FinishedRun, bench: Bench) -> None:
    bench.tool = finished_run.bench.tool
    text = SMALL.replace("[1, 2]", "[1]").partition("report ")[0]
    bench.spec(
        text
        + 'expect "Never so fast" throughput > 1G ops/s\nexpect "Fast <enough>" throughput > 1 ops/s\n'
        + 'expect "Steady" cv(throughput over repeat) < 5 %\n'
    )
    page = bench.folder / "summary.md"
    page.write_text("before\n")
    done = bench(
        "run",
        "brief.bench",
        "--junit",
        "v.xml",
        "--markdown",
        page,
        env={"GITHUB_STEP_SUMMARY": str(page)},
        timeout=110,
    )
    assert done.code == 4, done.text
    suite = suite_of(bench.folder / "v.xml")
    assert {key: suite.attrib[key] for key in ("tests", "failures", "errors", "skipped")} == {
        "tests": "4",
        "failures": "1",
        "errors": "1",
        "skipped": "0",
    }
    failure = suite.find("testcase[@name='Never so fast']/failure")
    assert failure is not None
    assert "does not hold" in failure.attrib["message"]
    assert suite.find("testcase[@name='Fast <enough>']") is not None
    assert suite[0].attrib["name"] == "all 2 cells"
    assert float(suite[0].attrib["time"]) == float(suite.attrib["time"]) > 2, "each cell measured a second or more"
    assert page.read_text().startswith("before\n## ")
    assert "| ❌ does not hold | Never so fast: throughput \\> 1G ops/s |" in page.read_text()
    assert "| ❗ can't be known | Steady: " in page.read_text()
    unknown = suite.find("testcase[@name='Steady']/error")
    assert unknown is not None
    assert "can't be known" in unknown.attrib["message"]
    assert "expect does not hold: Never so fast: throughput > 1G ops/s" in done.out
    assert "expect holds: Fast <enough>: throughput > 1 ops/s" in done.out


def test_a_simulated_runs_expectations_are_skipped(bench: Bench) -> None:
    bench.spec(SPEC, CORES=4, THREADS="1", TAIL="p99", REPEATS=1)
    done = bench("run", "brief.bench", "--simulate", "--no-report", "--json", "--junit", "v.xml")
    assert done.code == 0
    assert json.loads(done.out)["simulated"]
    suite = suite_of(bench.folder / "v.xml")
    skipped = suite.find("testcase[@name='Fast enough']/skipped")
    assert skipped is not None
    assert "nothing was measured" in skipped.attrib["message"]


@pytest.mark.parametrize("option", ["--junit", "--markdown"])
@pytest.mark.parametrize("name", ["/proc/none/x.xml", "x" * 300])
def test_a_file_of_verdicts_that_cannot_be_written_is_found_before_anything_is_measured(
    bench: Bench, option: str, name: str
) -> None:
    bench.spec(SPEC, CORES=4, THREADS="1", TAIL="p99", REPEATS=1)
    done = bench("run", "brief.bench", "--simulate", "--no-report", option, name)
    assert done.code == 2
    assert f"{name} can't be written" in done.err
    assert not list(bench.folder.glob("bench-out/*"))


def test_a_file_of_verdicts_is_left_as_it_was_when_the_run_does_not_begin(bench: Bench) -> None:
    (bench.folder / "kept.md").write_text("before")
    done = bench("run", "missing.bench", "--junit", "new.xml", "--markdown", "kept.md")
    assert done.code != 0
    assert (bench.folder / "kept.md").read_text() == "before"
    assert not (bench.folder / "new.xml").exists()


@pytest.mark.parametrize("columns", [60, *longer(80, 200)])
def test_the_table_fits_the_terminal(world: World, columns: int) -> None:
    names = world.runs["base"], world.runs["other"]
    with terminal(world.bench, "compare", *names, columns=columns, rows=60) as shown:
        until(lambda: shown.process.poll() is not None)
        assert shown.process.returncode == 4
    lines = re.sub(r"\x1b\[[0-9;]*m", "", shown.said.decode()).splitlines()
    assert max(map(len, lines)) <= columns, lines
    text = "\n".join(lines)
    assert re.search("old/a/threads=16.*\n?.*better", text)
    assert text.count("better") >= 2
    assert ("there is no room for all intervals" in " ".join(text.split())) == (columns < 200)


@pytest.mark.long
def test_a_metric_that_both_lack_is_one_sentence(copied_run: Bench) -> None:
    done = copied_run("compare", "last:one", "last:two", "--metric", "latency.p99")
    assert done.code == 0
    assert "–" not in done.out
