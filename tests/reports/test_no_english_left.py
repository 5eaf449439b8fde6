"""Tests a brief of a simulated run with failed cells and missing numbers, in a language that marks every word.

The brief's numbers and reasons come from a real run of the simulator and its store. Reasons in made-up rows would not
do: they would pass as words of the spec, like in the test of whole examples.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from benchbrief.model.plan import Plan
from benchbrief.reports.render.render_report import render
from benchbrief.results.open_store import open_store
from tests.reports.test_pseudo_language import _SIGNS, marked, texts, unmarked
from tests.support.bench import fresh_bench

SPEC = """\
hardware box "箱" {
  hosts = local
  variant disk "ディスク" { path = "/var/tmp/benchbrief" }
  variant ram  "メモリー" { path = "/dev/shm/benchbrief" }
}
database rocks { engine = rocksdb  path = "{path}/rocksdb" }
workload rr "読み取り" from db_bench.readrandom { records = 2k  value_size = 400 B }
experiment ramp "実験" {
  hardware = box.variants  workloads = [rr]  threads = [1, 2, 4]  repeats = 2  warm_up = 1 s  measure = 4 s
  probes = [cpu every 1 s]
}
metric fast "速さ" = max(throughput over threads, when throughput > 1G ops/s)
metric none "無" = throughput / (throughput - throughput)
report brief "報告" {
  audience = internal
  language = ja
  text = "値は {max(fast over hardware):,.0f} です。"
  table "表" { rows = hardware  columns = [fast, none[threads: 1]] }
  figure "図" { line = throughput by threads, color hardware, band confidence
               mark = knee(throughput[ram] over threads), label "膝" }
  figure "時" { line = cpu[threads: 2] by time, color hardware }
  disclosure = automatic
}
"""
NAMES = {
    *(
        "RocksDB",
        "rocksdb",
        "rocks",
        "db",
        "bench",
        "readrandom",
        "box",
        "disk",
        "ram",
        "rr",
        "ramp",
        "threads",
        "local",
    ),
    *(
        "records",
        "key",
        "size",
        "value",
        "read",
        "raw",
        "brief",
        "bench",
        "json",
        "simulated",
        "load",
        "sampler",
        "cpu",
    ),
    *("fast", "none", "throughput", "when", "over", "max", "min", "hardware", "knee", "cores", "time", "verify", "CSV"),
    *(
        "stdout",
        "stderr",
        "task",
        "measure",
        "probe",
        "options",
        "compression",
        "ratio",
        "fillseq",
        "USL",
        "s1",
        "repeat",
    ),
}
"""Names in the spec, and names of tools, of their options and of files."""


@pytest.fixture(scope="module")
def run_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    with fresh_bench(tmp_path_factory.mktemp("simulated")) as bench:
        bench.spec(SPEC)
        done = bench("run", "brief.bench", "--simulate", "--no-report", "--quiet")
        assert done.code == 0, done.text
        return next((bench.folder / "bench-out").iterdir())


def test_no_word_is_left_in_english(run_dir: Path, tmp_path: Path) -> None:
    plan = Plan.model_validate_json((run_dir / "plan.json").read_text("utf-8"))
    report = plan.reports[0].model_copy(update={"language": "xx", "words": marked()})
    plan = plan.model_copy(update={"reports": (report,)})
    with open_store(run_dir) as store:
        made = render(plan, store, report.name, tmp_path, html_only=True).files
    pages = [path.read_text("utf-8") for path in made if path.suffix == ".html"]
    html = "\n".join(pages)
    assert "⟦by a queueing model: nothing was measured⟧" in html
    assert "⟦none of the measured points fulfils the condition after" in html
    assert "⟦a divisor is zero, or the measurements give no such value⟧" in html
    known = {word.lower() for word in (*NAMES, *_SIGNS, "disclosure", "html")}
    shown = (text for page in pages for text in texts(page))
    left = {text: words for text in shown if (words := [w for w in unmarked(text) if w.lower() not in known])}
    assert left == {}
