"""Tests how the outputs of tools are assigned to cells: by their paths, by their contents, and with the logs beside
them."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from benchbrief.model.plan import Plan
from benchbrief.results.imports.cell_matching import NoPlace, Places, Where, coordinates, given_cell
from benchbrief.results.imports.imported_files import ImportRefused, OutputProblem
from benchbrief.results.imports.importer_seams import read_output
from benchbrief.results.imports.keep_import import keep_run
from benchbrief.results.imports.prepare_outputs import prepare_outputs
from benchbrief.results.open_store import open_store
from benchbrief.results.store_errors import ResultsError
from tests.support.imported import CELL, OF_ONE, RAMP, ROCKS, SOURCE, copied, plan_of, raw_text, replaced
from tests.support.plans import compile_text
from tests.support.recorded import RECORDED_OUTPUTS

OUTPUTS = RECORDED_OUTPUTS


@pytest.fixture(scope="module")
def plan(tmp_path_factory: pytest.TempPathFactory) -> Plan:
    return compile_text(RAMP, tmp_path_factory.mktemp("spec"))


def changed(tmp_path: Path, path: Path, old: str, new: str) -> Path:
    text = path.read_text()
    assert old in text
    to = tmp_path / "changed"
    to.write_text(text.replace(old, new, 1))
    return to


def test_files_of_others_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "stdout"
    path.write_text("iteration 1: 200 ok\n")
    for kind, shown in (("ycsb", "not an output of YCSB"), ("go-ycsb", "not an output of go-ycsb")):
        with pytest.raises(OutputProblem, match=shown):
            read_output(kind, {"stdout": path}, "b")
    with pytest.raises(OutputProblem, match="not an output of db_bench"):
        read_output("db_bench", {"stdout": path}, "readrandom")
    with pytest.raises(OutputProblem, match="not a line of a histogram log"):
        read_output("hdr", {"READ.hdr": path}, "b")


def placed(tmp_path: Path) -> list[Path]:
    """Return two outputs at paths that name their cells. The first has logs."""
    folder = tmp_path / "out" / "eco"
    shutil.copytree(OUTPUTS / "ycsb" / "offered-load", folder / "f-t4")
    output = folder / "f-t4" / "stdout"
    output.write_text(output.read_text().replace(" -target 500", "", 1))
    other = tmp_path / "out" / "legacy" / "b-t4"
    other.mkdir(parents=True)
    text = (OUTPUTS / "ycsb" / "version-0.1.4" / "stdout").read_text()
    (other / "stdout").write_text(text.replace("-threads 8", "-threads 4", 1))
    return [output, *sorted(output.parent.glob("*.hdr")), other / "stdout"]


PATTERN = Where("out/{hardware}/{workload}-t{threads}/stdout")


def test_outputs_go_to_the_cells_that_their_paths_say_and_their_metrics_work(tmp_path: Path, plan: Plan) -> None:
    what = prepare_outputs("ycsb", placed(tmp_path), plan, SOURCE, PATTERN)
    run_dir = keep_run(tmp_path / "bench-out", plan, {}, what)
    with open_store(run_dir) as store:
        (metric,) = plan.metrics
        values = {row.keys: row.value for row in store.query(metric.query) if row.value is not None}
        assert values == {(4,): pytest.approx(432.65 / 1000, rel=0.01)}
        assert store.sql("SELECT status, count(*) FROM cells GROUP BY ALL ORDER BY 1").rows == (
            ("missing", 12),
            ("ok", 2),
            ("skipped", 2),
        )
        assert len(store.sql("SELECT DISTINCT file FROM sources").rows) == 10
        assert store.sql("SELECT count(*) FROM latency WHERE statistic = 'p99' AND value_s IS NULL").rows == ((0,),)
        assert store.sql("SELECT severity, text FROM notes WHERE text LIKE '%failed%'").rows == (
            ("warning", "2 of 10,000 operations failed (0.02 %, 0.00 % allowed)"),
        )
        assert store.sql("SELECT DISTINCT value FROM properties WHERE name = 'window'").rows == (
            ("the whole run: what of it was a warm-up is not known",),
        )


def test_nothing_is_kept_unless_all_is_right_and_the_rest_when_asked(tmp_path: Path, plan: Plan) -> None:
    paths = placed(tmp_path)
    bad = tmp_path / "out" / "legacy" / "b-t8" / "stdout"
    bad.parent.mkdir()
    bad.write_text("[OVERALL], RunTime(ms), 4000\n")
    other = tmp_path / "out" / "nvme" / "f-t4" / "stdout"
    with pytest.raises(ImportRefused) as caught:
        prepare_outputs("ycsb", [*paths, bad, other], plan, SOURCE, PATTERN)
    assert f"{bad}:1: its [OVERALL] block has no Throughput(ops/sec): it is cut, or a row was taken out" in str(
        caught.value
    )
    assert f"{other}: no hardware `nvme` in the plan" in str(caught.value)
    what = prepare_outputs("ycsb", [*paths, bad, other], plan, SOURCE, PATTERN, skip_bad=True)
    assert len(what.cells) == 2
    assert len(what.problems) == 2


def test_several_load_generators_of_a_cell_are_recognised_by_their_paths(tmp_path: Path, plan: Plan) -> None:
    paths = []
    for host in ("load-1", "load-2"):
        paths.append(tmp_path / f"{host}.txt")
        text = (OUTPUTS / "ycsb" / "version-0.1.4" / "stdout").read_text()
        paths[-1].write_text(f"on {host}\n" + text.replace("-threads 8", "-threads 4", 1))
    cell = "hardware=eco,workload=b,threads=8"
    with pytest.raises(ImportRefused, match="of the same cell as"):
        prepare_outputs("ycsb", paths, plan, SOURCE, Where(cell=cell))
    what = prepare_outputs("ycsb", paths, plan, SOURCE, Where("{host}.txt", cell))
    assert [job.host for each in what.cells for job in each.jobs] == ["load-1", "load-2"]
    assert what.cells[0].ops_per_s == pytest.approx(2 * 999.8)


def test_one_output_is_not_taken_for_two_repeats(tmp_path: Path, plan: Plan) -> None:
    paths = [tmp_path / f"r{repeat}.txt" for repeat in (1, 2)]
    for path in paths:
        shutil.copy(OUTPUTS / "ycsb" / "version-0.1.4" / "stdout", path)
    where = Where("r{repeat}.txt", "hardware=eco,workload=b,threads=8")
    with pytest.raises(ImportRefused, match=r"r2\.txt: the same, byte for byte, as .*r1\.txt"):
        prepare_outputs("ycsb", paths, plan, SOURCE, where)
    what = prepare_outputs("ycsb", paths, plan, SOURCE, where, skip_bad=True)
    assert [each.cell.repeat for each in what.cells] == [1]


IOSTAT = """Linux 6.1.0 (eco-1) 	11/14/2023 	_x86_64_	(2 CPU)
"""
REPORT = """
{at}
avg-cpu:  %user   %nice %system %iowait  %steal   %idle
           1.00    0.00    1.00    0.00    0.00   98.00

Device            r/s     rkB/s   r_await     w/s     wkB/s   w_await  aqu-sz  %util
nvme0n1         {reads}.00   64.00      0.50    0.00      0.00      0.00    0.10  25.00

"""
SAMPLED = (
    RAMP.replace("repeats = 2", "probes = [disk every 1 s, power every 1 s]")
    .replace("f from ycsb.f", "f from ycsb.c")
    .replace("[4, 8]", "16")
    .replace('hosts = "eco-[1-2].lab"', 'hosts = "eco-1.lab"  power = command("meter")')
    .replace('hosts = "hdd-[1-2].lab"', 'hosts = "hdd-1.lab"  power = command("meter")')
)


def test_logs_of_iostat_and_ipmitool_are_samples_inside_the_measured_window(tmp_path: Path) -> None:
    plan = compile_text(SAMPLED, tmp_path)
    raw = tmp_path / "eco-f.raw"
    raw.write_text(raw_text()[0])  # five seconds from 1_700_000_000, 22:13:20 UTC
    times = [f"2023-11-14T22:13:{second:02}+0000" for second in range(18, 28)]
    reports = [REPORT.format(at=at, reads=10 + i) for i, at in enumerate(times)]
    (tmp_path / "eco-f.iostat").write_text(IOSTAT + "".join(reports))
    watts = [f"{1_700_000_000 + second} Pwr Consumption | {200 + second}.000 | Watts | ok" for second in range(-2, 8)]
    (tmp_path / "eco-f.power").write_text("\n".join(watts) + "\n")
    logs = tuple(
        (kind, f"{tmp_path}/{{hardware}}-{{workload}}.{end}")
        for kind, end in (("iostat", "iostat"), ("ipmitool", "power"))
    )
    where = Where("{hardware}-{workload}.raw", "threads=16", samples=logs)
    what = prepare_outputs("ycsb", [raw], plan, SOURCE, where)
    with open_store(keep_run(tmp_path / "out", plan, {}, what)) as store:
        values = dict(
            store.sql("SELECT measure, avg(value) FROM samples WHERE device <> '' OR measure = 'power' GROUP BY 1").rows
        )
        assert values["power"] == pytest.approx(202, abs=0.6)
        assert values["disk.read"] == 64 * 1024
        assert values["disk.read_await"] == 0.0005
        assert values["disk.utilisation"] == 0.25
        assert "disk.write_await" not in values
        shares = dict(store.sql("SELECT probe, share FROM coverage").rows)
        assert min(shares.values()) > 0.75
    (tmp_path / "eco-f.iostat").write_text((IOSTAT + "".join(reports))[:-30])
    with pytest.raises(ImportRefused, match="not a whole line of a device"):
        prepare_outputs("ycsb", [raw], plan, SOURCE, where)


@pytest.mark.parametrize(
    "coordinate", ["threads=" + "9" * 5000, "threads=9007199254740993", "target=" + "9" * 400, "repeat=1e3"]
)
def test_a_coordinate_beyond_all_reason_is_no_place(plan: Plan, coordinate: str) -> None:
    name = coordinate.partition("=")[0]
    with pytest.raises(NoPlace, match=f"{name} is a number, and not"):
        coordinates(given_cell(coordinate, Places(plan).names), Places(plan), "ramp")


FACTORS = """
hardware box { hosts = local }
factor codec "Compression" { none = "none"  snappy = "snappy"  zstd = "zstd" }
factor vsize "Value size" { levels = [100 B, 1 kB] }
database rocks { engine = rocksdb  path = "/b/{codec}-{vsize}"  options { compression = codec } }
workload rr from db_bench.readrandom { records = 20k  value_size = vsize }
experiment matrix { hardware = box  workloads = rr  threads = [1, 2]  vary = [codec, vsize]  measure = 2 s }
"""


def test_an_output_is_of_the_only_level_with_the_settings_that_it_tells(tmp_path: Path) -> None:
    plan = compile_text(FACTORS, tmp_path)
    output = OUTPUTS / "db_bench" / "readrandom" / "stdout"
    snappy = changed(tmp_path, output, "Compression: NoCompression", "Compression: Snappy")
    for path, level in ((output, "codec=none,vsize=100"), (snappy, "codec=snappy,vsize=100")):
        kept = prepare_outputs("db_bench", [path], plan, SOURCE, Where(cell="threads=2"))
        assert [each.cell.id for each in kept.cells] == [f"matrix/box/rr/{level}/threads=2/r1"]
    unsaid = changed(tmp_path, output, "Compression: NoCompression\n", "")
    with pytest.raises(ImportRefused, match="its codec is not said") as caught:
        prepare_outputs("db_bench", [unsaid], plan, SOURCE, Where(cell="threads=2"))
    assert caught.value.hint == "it is one of none, snappy, zstd"
    with pytest.raises(ImportRefused, match="was run with Compression: NoCompression, and database rocks has"):
        prepare_outputs("db_bench", [output], plan, SOURCE, Where(cell="threads=2,codec=zstd,vsize=100"))


def test_paths_have_the_levels_of_their_outputs(tmp_path: Path) -> None:
    plan = compile_text(FACTORS, tmp_path)
    path = tmp_path / "none-100" / "t2.txt"
    path.parent.mkdir()
    shutil.copyfile(OUTPUTS / "db_bench" / "readrandom" / "stdout", path)
    kept = prepare_outputs("db_bench", [path], plan, SOURCE, Where(pattern="{codec}-{vsize}/t{threads}.txt"))
    with open_store(keep_run(tmp_path / "out", plan, {}, kept)) as store:
        assert store.sql("SELECT DISTINCT codec, vsize, threads FROM measure.throughput").rows == (("none", 100, 2),)
    with pytest.raises(ResultsError, match=r"`\{codek\}` in --as is no coordinate") as caught:
        prepare_outputs("db_bench", [path], plan, SOURCE, Where(pattern="{codek}-{vsize}/t{threads}.txt"))
    assert caught.value.hint == "did you mean {codec}?"


def test_settings_other_than_the_specs_are_refused(tmp_path: Path) -> None:
    path = copied(tmp_path / "go", "go_ycsb/timed")["stdout"]
    go = plan_of(tmp_path, tool="go_ycsb")
    assert prepare_outputs("go-ycsb", [path], go, SOURCE, CELL).cells
    replaced(path, (r'"requestdistribution"="zipfian"', '"requestdistribution"="uniform"'))
    shown = r"stdout:\d+: it was run with requestdistribution = uniform, and workload f has distribution = zipfian"
    with pytest.raises(ImportRefused, match=shown):
        prepare_outputs("go-ycsb", [path], go, SOURCE, CELL)
    path = copied(tmp_path / "java", "ycsb/read-modify-write")["stdout"]
    replaced(path, (r"-threads 4 -s", "-threads 4 -s -p requestdistribution=uniform"))
    with pytest.raises(ImportRefused, match=shown):
        prepare_outputs("ycsb", [path], plan_of(tmp_path), SOURCE, CELL)
    path = copied(tmp_path / "db", "db_bench/readrandom")["stdout"]
    rocks = compile_text(ROCKS.replace("RECORDS", "200k"), tmp_path)
    with pytest.raises(ImportRefused, match=r"it was run with 20000 entries, and workload w has records = 200000"):
        prepare_outputs("db_bench", [path], rocks, SOURCE, CELL)


def test_repeats_of_two_kinds_of_latency_are_never_reported_together(tmp_path: Path) -> None:
    """The first repeat has both kinds. The second has only service times, which do not replace the other kind."""
    spec = OF_ONE.replace("threads = 4", "threads = 4  target = 500 ops/s  repeats = 2").replace("WORKLOAD", "f")
    plan = compile_text(spec.replace("TOOL", "ycsb"), tmp_path)
    for repeat in (1, 2):
        copied(tmp_path / f"r{repeat}", "ycsb/offered-load")
    second = tmp_path / "r2" / "stdout"
    replaced(second, (r"^\[Intended-.*\n", ""), (r"measurement\.interval=both", "measurement.interval=op"))
    for log in (tmp_path / "r2").glob("*.hdr"):
        log.unlink()
    paths = [tmp_path / "r1" / "stdout", second]
    what = prepare_outputs("ycsb", paths, plan, SOURCE, Where(f"{tmp_path}/r{{repeat}}/stdout"))
    with open_store(keep_run(tmp_path / "out", plan, {}, what)) as store:
        rows = store.sql("SELECT DISTINCT kind, repeat FROM latency WHERE reported ORDER BY ALL").rows
        assert {kind for kind, _ in rows} == {"intended"}
        assert store.sql("SELECT DISTINCT kind FROM latency WHERE repeat = 2 AND value_s IS NOT NULL").rows == (
            ("service",),
        )
