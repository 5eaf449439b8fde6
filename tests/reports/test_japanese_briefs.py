"""Tests that a Japanese brief contains none of our texts in English, wherever its numbers come from and whatever went
wrong."""

from __future__ import annotations

import re
import shutil

import pytest

from benchbrief.model.plan import Plan
from tests.reports.test_pseudo_language import texts
from tests.support.bench import Bench
from tests.support.longer import longer
from tests.support.recorded import RECORDED_OUTPUTS

OUTPUTS = RECORDED_OUTPUTS
JAPANESE = re.compile("[\u3040-\u9fff]")
SYSTEM = """\
hardware hako "箱" {
  hosts = "db-[1-2].lab"
  power = rapl
  variant ita    "ディスク" { path = "/var/tmp/benchbrief" }
  variant kioku  "メモリー" { path = "/dev/shm/benchbrief" }
}
client fuka "負荷" { hosts = "load-1.lab"  tool = ycsb }
database mongo "データベース" { engine = mongodb  uri = "mongodb://{hosts}/ycsb" }
workload fu "更新" from ycsb.f { records = 2k }
experiment dankai "段階" {
  hardware = hako.variants  workloads = fu  threads = [1, 4]  repeats = 2  warm_up = 1 s  measure = 2 s
  probes = [power every 2 s, disk every 1 s]
}
"""
SEARCH = """\
experiment tansaku "探索" {
  hardware = hako.ita  workloads = fu  threads = knee(from: 1, factor: 2, to: 4, rise: 500 %, gain: 0.1 %)
  measure = 1 s
}
experiment kekka "結果" { hardware = hako.variants  workloads = fu  threads = tansaku.knee  measure = 1 s }
"""
REPORT = """\
metric kouritsu "効率" in ops/s/W = throughput / power
metric bai "倍率" = throughput[dankai, kioku, threads: 4] / throughput[dankai, ita, threads: 4]
report houkoku "報告" {
  language = ja
  text = "値は {max(kouritsu[dankai] over hardware, threads):,.0f} と {bai:.1f} です。"
  table "表" { rows = hardware  columns = [throughput[dankai, threads: 1], latency.p99[dankai, read, threads: 4]] }
  figure "図" { line = throughput[dankai] by threads, color hardware }
  figure "図" { line = kouritsu[dankai] by threads, color hardware }
  table "構成" { rows = facts }
  disclosure = automatic
}
"""
TABLE = """\
# title: 資料
# publisher: 会社
# document: 番号
# licence: 引用
experiment,hardware,workload,threads,throughput (ops/s),bai (x)
dankai,ita,fu,4,7120.1,
dankai,kioku,fu,4,8018.3,
,,,,,1.3
"""
SOURCE = ("--title", "資料", "--publisher", "会社", "--document", "番号", "--licence", "引用")
ROCKS = """\
hardware hako "箱" { hosts = local }
database rocks "データベース" { engine = rocksdb  path = "/data/db"  tool = db_bench }
workload rr "読み取り" from db_bench.readrandom { records = 20k  value_size = 100 B }
experiment dankai "段階" { hardware = hako  workloads = rr  threads = [2, 4]  measure = 3 s }
report houkoku "報告" {
  language = ja
  figure "図" { line = throughput by threads }
  figure "図" { line = latency.p99[read] by threads }
  disclosure = automatic
}
"""


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    bench = Bench(tmp_path_factory.mktemp("japanese"))
    bench.spec(SYSTEM + REPORT, "shiyou.bench")
    bench.spec(SYSTEM + SEARCH + REPORT, "tansaku.bench")
    bench.spec(ROCKS, "rocks.bench")
    return bench


def simulated(bench: Bench) -> None:
    """Make a run with failed cells, windows that are too short for two power readings, and a search without a knee."""
    done = bench("run", "tansaku.bench", "--simulate", "--failing", "db-1.lab=30%", "--no-report")
    assert done.code == 3, done.text


def table(bench: Bench) -> None:
    (bench.folder / "hyou.csv").write_text(TABLE, "utf-8")
    done = bench("import", "table", "hyou.csv", "--spec", "shiyou.bench")
    assert done.code == 0, done.text


def outputs(bench: Bench, kind: str, name: str, spec: str, cell: str) -> None:
    shutil.copytree(OUTPUTS / name, bench.folder / kind)
    done = bench("import", kind, f"{kind}/stdout", "--spec", spec, "--cell", cell, *SOURCE)
    assert done.code == 0, done.text


def ycsb(bench: Bench) -> None:
    outputs(bench, "ycsb", "ycsb/histogram-logs-v1", "shiyou.bench", "hardware=ita,threads=4,repeat=1")


def go_ycsb(bench: Bench) -> None:
    spec = bench.folder / "shiyou.bench"
    spec.write_text(spec.read_text("utf-8").replace("records = 2k }", "records = 1k }"), "utf-8")
    outputs(bench, "go-ycsb", "go_ycsb/timed", "shiyou.bench", "hardware=ita,threads=4,repeat=1")


def db_bench(bench: Bench) -> None:
    outputs(bench, "db_bench", "db_bench/readrandom", "rocks.bench", "threads=2")


_FILES = re.compile(
    r"[\w.@\[\]-]*[/=][\w./=@*-]*|\b[\w-]+\.(?:lab|bench|csv|json|hdr|xlsx|html)\b|\bsimulated-load\b|--?\w+"
)
"""Paths, cells, addresses and settings."""
_NAMES = """
ID QR SHA UTC OS CPU CSV HDR MSER SNIA benchbrief go simulated-load bench verify ops op ms min kB MB GB MiB GiB KiB TB
µs YCSB ycsb go-ycsb db_bench RocksDB rocks mongodb mongo rapl ssh SSH coordinated omission Student Holm knee
hako ita kioku fuka fu dankai tansaku kekka kouritsu bai rr else to
records record_size fields field_length distribution zipfian read update insert scan read_modify_write
key_size value_size readrandom compression_ratio fillseq USL power disk
"""
"""Units, tools, terms beside their translation, names in the specs, and properties of workloads."""


def english(html: str, plan: Plan) -> dict[str, list[str]]:
    """Return the texts that contain Latin words which are neither names nor quoted."""
    names = {name.lower() for name in _NAMES.split()}
    formulas = sorted(set(re.findall(r'"text":"((?:[^"\\]|\\.)+)"', plan.model_dump_json())), key=len, reverse=True)
    found = {}
    for text in texts(html):
        if text.strip().startswith("出力に記載された設定"):
            continue  # a tool's own words
        left = text
        for formula in formulas:
            left = left.replace(formula, " ")
        left = _FILES.sub(" ", re.sub(r"bench run \S+( --profile \S+)?", " ", left))  # a command to type
        if bad := [w for w in re.findall(r"[A-Za-zµ][A-Za-zµ_-]+", left) if w.lower() not in names]:
            found[text.strip()] = bad
    return found


@pytest.mark.parametrize("made", [simulated, table, *longer(ycsb, go_ycsb, db_bench)], ids=lambda made: made.__name__)
def test_it_holds_no_english_of_ours(made, bench: Bench) -> None:  # type: ignore[no-untyped-def]
    before = {path.name for path in (bench.folder / "bench-out").glob("*")}
    made(bench)
    (run,) = ({path.name for path in (bench.folder / "bench-out").iterdir() if path.is_dir()}) - before
    done = bench("report", run, "--html-only")
    assert done.code == 0, done.text
    pages = sorted((bench.folder / "bench-out" / run / "reports").glob("*.html"))
    assert [page.stem.endswith("-disclosure") for page in pages] == [True, False]
    plan = Plan.model_validate_json((bench.folder / "bench-out" / run / "plan.json").read_text("utf-8"))
    for page in pages:
        html = page.read_text("utf-8")
        assert english(html, plan) == {}, page.name
        assert english(html.replace("</main>", "<p>no knee was seen</p></main>"), plan), "a word of ours would be seen"
