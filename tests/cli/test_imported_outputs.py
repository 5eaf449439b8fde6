"""Tests that a brief about imported outputs of tools says only what the outputs show."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.support.bench import Bench
from tests.support.recorded import RECORDED_OUTPUTS

OUTPUTS = RECORDED_OUTPUTS
SAID = ("--title", "Lab runs", "--publisher", "Example Ltd", "--document", "1", "--licence", "internal")
OFFERED = """
hardware eco { hosts = "eco.lab" }
client load { hosts = "load.lab"  tool = ycsb }
database mongo { engine = mongodb  uri = "mongodb://{hosts}/ycsb" }
workload f from ycsb.f
experiment offered { hardware = eco  workloads = f  threads = 4  target = 500 ops/s  measure = 4 s }
report brief "Offered" {
  table "Latency" { rows = workload  columns = latency.p99[read] }
  disclosure = automatic
}
"""


def text_of(bench: Bench, run: str) -> str:
    """Return the text of a run's brief and of its disclosure."""
    done = bench("report", run, "--html-only")
    assert done.code == 0, done.text
    paths = [line for line in done.out.split() if line.endswith(".html")]
    assert ["-disclosure" in path for path in paths] == [False, True]
    pages = "\n".join((bench.folder / path).read_text() for path in paths)
    return " ".join(re.sub("<[^>]+>", "", pages).replace("\u00a0", " ").split())


def imported(bench: Bench, spec: str, kind: str, *more: str) -> str:
    """Import files, and return the run."""
    name = bench.spec(spec).name
    done = bench("import", kind, *more, "--spec", name, *SAID, "--json")
    assert done.code == 0, done.text
    return str(done.json["run"])


@pytest.mark.long
def test_a_kind_of_latency_that_an_output_does_not_name_is_reported_as_unknown(tmp_path: Path) -> None:
    lines = (OUTPUTS / "ycsb" / "intended-only" / "stdout").read_text().splitlines(keepends=True)
    stock = lines[0].replace("workloadb -P ../j4.properties -p measurement.interval=intended -threads 4", "workloadf")
    unknown = "does not tell from when it counts latency at an offered load"
    footnote = "does not tell whether latency at an offered load is service time or intended latency"
    for name, head in {"whole": lines[0], "headless": ""}.items():
        bench = Bench(tmp_path / name)
        (bench.folder / "out.txt").write_text("".join([head, *lines[1:]]))
        text = text_of(bench, imported(bench, OFFERED, "ycsb", "out.txt", "--cell", "experiment=offered"))
        assert (unknown in text, footnote in text) == (name == "headless", name == "headless"), name
        assert ("is intended latency" in text) == (name == "whole"), name
        assert "has no intended latency" not in text
    bench = Bench(tmp_path / "stock")
    (bench.folder / "out.txt").write_text("".join([stock, *lines[1:]]))
    bench.spec(OFFERED)
    refused = bench("import", "ycsb", "out.txt", "--cell", "experiment=offered", "--spec", "brief.bench", *SAID)
    assert refused.code == 2, "service times as long as these do not fit into the threads' time"
    assert "its latencies add up to" in refused.err


@pytest.mark.long
def test_own_logs_need_no_publisher_and_no_licence_and_the_brief_says_what_was_imported(bench: Bench) -> None:
    (bench.folder / "out.txt").write_text((OUTPUTS / "ycsb" / "intended-only" / "stdout").read_text())
    spec = bench.spec(OFFERED).name
    asked = ("import", "ycsb", "out.txt", "--cell", "experiment=offered", "--spec", spec)
    assert "for what you measured yourself, --mine is enough" in bench(*asked).err
    both = bench(*asked, "--mine", "--licence", "internal")
    assert both.code == 2
    assert "the numbers have a licence, and are said to be your own" in both.err
    done = bench(*asked, "--mine")
    assert done.code == 0, done.text
    assert "from own measurements\n" in done.out
    run = bench.run_dirs()[0].name
    assert "(imported, not measured here: own measurements)" in bench("status", run).out
    text = text_of(bench, run)
    assert "Imported: measured outside benchbrief" in text
    assert "by others" not in text
    assert "licence: )" not in text
    assert "None: the one planned measurement is among what was imported." in text
    assert "succeeded" not in text
