"""Tests `bench trend` and `bench gate` on simulated runs: how a step is noticed, measured again, and compared with a
control."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from tests.support.bench import Bench

SPEC = """
param cores = 8
hardware box { hosts = "box.lab"  path = "/data"  cores = cores }
hardware ref { hosts = "ref.lab"  path = "/data"  cores = 8  control = true }
database rocks { engine = rocksdb  path = "{path}" }
workload rr from db_bench.readrandom { records = 10k }
experiment ramp { hardware = [box, ref]  database = rocks  workloads = [rr]  threads = [16]  measure = 10 s }
"""
OF = ("--origin", "simulated")


def test_a_slower_build_is_suspect_then_an_alarm_then_accepted(bench: Bench) -> None:
    (bench.folder / "n.bench").write_text(SPEC)
    for seed in range(1, 8):
        bench("run", "n.bench", "--simulate", "--seed", str(seed), "--no-report", "-q")
    assert bench("gate", *OF).code == 0
    bench("run", "n.bench", "--simulate", "--seed", "8", "-p", "cores=6", "--no-report", "-q")
    suspect = bench("gate", *OF, "--json", "--hook", "cat > posted.json; echo $BENCH_GATE >> hooked")
    assert (suspect.code, suspect.json["outcome"]) == (6, "suspect")
    assert json.loads((bench.folder / "posted.json").read_text()) == suspect.json
    assert (bench.folder / "hooked").read_text() == "suspect\n"
    alarm = bench("gate", *OF, "--measure-again", "2", "--metric", "throughput", "--junit", "gate.xml").plainly()
    assert alarm.code == 4
    assert "alarm: throughput at ramp/box/rr/threads=16 of n.bench" in alarm.out
    assert ET.parse(bench.folder / "gate.xml").getroot().get("failures") == "1"  # noqa: S314  # ours
    assert len(list((bench.folder / "bench-out/measured-again").iterdir())) == 2
    assert bench("gate", *OF, "--accept", "--note", "two cores less").code == 0
    assert bench("gate", *OF).code == 0
    assert "verdict: accept, two cores less" in bench("gate", *OF).out
    assert "errors of n.bench" not in bench("trend", *OF).out
    assert "left out: 2 series of errors that are 0 in every run" in bench("trend", *OF).out
    assert "0 % last; 8 runs" in bench("trend", "errors", *OF, "--all").out
    unchanged = bench("trend", "throughput", *OF)
    assert unchanged.out.strip() == "none of 2 series changed, 2 did not (`--all` shows all)"
    page = Path(bench.folder / "trend.html")
    printed = bench("trend", "throughput", *OF, "--all", "--html", "trend.html").plainly()
    assert (printed.code, printed.out.count("8 runs")) == (0, 2)
    assert page.read_text().count("<svg") == 2
    assert "://" not in page.read_text().replace("http://www.w3.org/", "")


def test_what_is_not_there_is_said_without_a_traceback(bench: Bench) -> None:
    for words, said in (
        (("trend",), "is no folder"),
        (("gate", "--from", "."), "there is no finished run"),
        (("gate", "--out", "."), "there is no finished run"),
        (("gate", "--baseline", "a", "--baseline-tag", "b"), "say one"),
        (("gate", "--from", "file:///nowhere", "--measure-again", "1"), "can't be measured again"),
        (("trend", "--where", "hardware"), "is not DIM=KEY"),
    ):
        ended = bench(*words).plainly()
        assert ended.code == 2, words
        assert said in ended.err, words


@pytest.mark.long
def test_imported_runs_are_not_missing_what_their_source_does_not_tell_and_few_have_no_protection(bench: Bench) -> None:
    (bench.folder / "n.bench").write_text(SPEC)
    source = "# title: T\n# publisher: P\n# document: D\n# licence: L\nhardware, throughput (ops/s)\n"
    for night in range(2):
        (bench.folder / "t.csv").write_text(f"{source}box, {1000 + night}\nref, {2000 + night}\n")
        assert bench("import", "table", "t.csv", "--spec", "n.bench").code == 0
    gated = bench("gate", "--origin", "imported", "--markdown", "gate.md").plainly()
    assert gated.code == 0, gated.text
    assert "missing" not in gated.out
    said = "NO PROTECTION: none of the 1 series could be tested: 5 more runs at the same level are needed"
    assert gated.err == f"warning: {said}\n"
    assert f"**{said}**" in (bench.folder / "gate.md").read_text()
    assert bench("gate", "--origin", "imported", "--json").json["runs_needed"] == 5
    assert bench("gate", "--origin", "imported", "--strict").code == 4
