"""Tests the commands that look at a finished run: query, status, report, rebuild."""

from __future__ import annotations

import csv
import hashlib
import io
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import benchbrief as bb
from benchbrief.compiler.compile import check
from benchbrief.dsl.bench_error import BenchError
from benchbrief.running.make_brief import note_far_hosts
from tests.cli.conftest import FinishedRun
from tests.cli.specs import SMALL
from tests.support.bench import Bench

THROUGHPUT = (
    "SELECT hardware, threads, value FROM measure.throughput WHERE phase IS NULL AND operation = 'all' ORDER BY ALL"
)
POINTS = [("one", 1), ("one", 2), ("two", 1), ("two", 2)]


# --- query ---


def test_a_query_is_answered_as_a_table(finished_run: FinishedRun) -> None:
    done = finished_run.bench("query", THROUGHPUT)
    assert done.code == 0, done.err
    head, rule, *rows = done.out.splitlines()
    assert head.split() == ["hardware", "threads", "value", "(ops/s)"]
    assert set(rule) == {"─", " "}
    assert [tuple(row.split()[:2]) for row in rows] == [(name, str(threads)) for name, threads in POINTS]


def test_a_query_is_answered_as_json_csv_and_parquet_alike(finished_run: FinishedRun, tmp_path: Path) -> None:
    bench = finished_run.bench
    rows = bench("query", THROUGHPUT, "--json").json
    assert [(row["hardware"], row["threads"]) for row in rows] == POINTS
    assert all(row["value"] > 1000 for row in rows)

    text = bench("query", THROUGHPUT, "--csv").out
    found = list(csv.DictReader(io.StringIO(text)))
    assert [float(row["value"]) for row in found] == [row["value"] for row in rows]
    assert text.endswith("\n")
    assert not text.endswith("\n\n")

    path = tmp_path / "answer.parquet"
    done = bench("query", THROUGHPUT, "--parquet", path)
    assert done.out == f"{path}: 4 rows\n"
    assert pq.read_table(path).to_pylist() == rows


def test_the_numbers_of_the_run_are_those_of_the_query(finished_run: FinishedRun) -> None:
    rows = finished_run.bench("query", THROUGHPUT, "--json").json
    printed = {record["cell"]: record["ops_per_s"] for record in finished_run.bench.journal("cell_ended")}
    asked = finished_run.bench(
        "query",
        "SELECT cell_id, ops_per_s FROM cells JOIN throughput USING (run_id, cell_id) "
        "WHERE phase IS NULL AND operation = 'all'",
        "--json",
    ).json
    assert {row["cell_id"]: row["ops_per_s"] for row in asked} == printed
    assert sorted(printed.values()) == sorted(row["value"] for row in rows)


@pytest.mark.parametrize(
    "sql",
    ["SELECT nothing FROM cells", "DROP TABLE cells", "COPY cells TO 'x.csv'", "FROM read_csv('/etc/passwd')"],
)
def test_a_bad_query_gets_one_clear_line_and_the_next_step(finished_run: FinishedRun, sql: str) -> None:
    done = finished_run.bench("query", sql)
    assert done.code == 2
    assert done.out == ""
    message, hint = done.err.splitlines()
    assert message.startswith("error: ")
    assert hint.startswith("  help: ")


@pytest.fixture(scope="module")
def opened_run(finished_run: FinishedRun) -> Iterator[bb.Run]:
    with bb.open(out=finished_run.bench.folder / "bench-out") as opened:
        yield opened


@pytest.mark.parametrize(
    ("sql", "message", "hint"),
    [
        ("FROM metric.gian", "there is no table or view `metric.gian`", "did you mean `metric.gain`?"),
        ("FROM gain", "there is no table or view `gain`", "did you mean `metric.gain`?"),
        ("FROM metric.zork", "there is no table or view `metric.zork`", "metrics of the spec: metric.gain"),
        ("SELECT mean FROM measure.sprad", "no table or view `measure.sprad`", "did you mean `measure.spread`?"),
        ("FROM spread", "there is no table or view `spread`", "did you mean `measure.spread`?"),
        ("SELECT hardwar FROM cells", "there is no column `hardwar` in `cells`", "did you mean `hardware`?"),
        ("SELECT throughput FROM measure.spread", "no column `throughput` in `measure.spread`", "repeats, mean, sd"),
        ("SELECT * FORM cells", "this is not SQL at `cells`", "did you mean `FROM` for `FORM`?"),
        ("SELCT * FROM cells", "this is not SQL at `SELCT`", "did you mean `SELECT` for `SELCT`?"),
        ("SELECT * FROM cells WHERE", "this SQL ends too early, after `WHERE`", "duckdb.org"),
        ("SELECT foo(threads) FROM cells", "there is no function `foo`", "did you mean `floor`?"),
        ("SELECT avg(throughput) FROM measure.throughput", "`avg` does not take a whole row", "name a column"),
        ("SELECT threads FROM cells GROUP BY cell_id", "must appear in the GROUP BY clause", "Either add it to the"),
        ("SELECT 1; SELECT 2", "these are 2 SQL statements", "ask one at a time"),
        ("", "the query is empty", "tables: meta, runs, factors, cells"),
    ],
)
def test_the_error_of_a_bad_query_says_what_was_meant(opened_run: bb.Run, sql: str, message: str, hint: str) -> None:
    with pytest.raises(BenchError) as refused:
        opened_run.sql(sql)
    assert message in refused.value.message
    assert hint in refused.value.hint


def test_a_parquet_file_that_can_not_be_written_is_named(finished_run: FinishedRun) -> None:
    done = finished_run.bench("query", "FROM cells", "--parquet", "no/such/folder/x.parquet")
    assert done.code == 2
    assert "error: no/such/folder/x.parquet can't be written: No such file or directory" in done.err


# --- status ---


def test_status_shows_the_last_run_and_each_of_its_cells(finished_run: FinishedRun) -> None:
    done = finished_run.bench("status")
    assert done.code == 0
    head, *cells = done.out.splitlines()
    assert re.match(rf"{finished_run.bench.run_dir.name}  done +4/4 cells done, 0 failed, \d+ s$", head)
    cells, times = cells[:4], cells[4:]
    assert all(re.fullmatch(r"  ok +[\d,]+ ops/s  ramp/\w+/rr/threads=\d/r1", line) for line in cells), cells
    assert [line.split()[0] for line in times] == ["time:", "loading", "measuring", "start-up", "rendering"]


def test_status_of_a_run_by_the_start_of_its_name_and_as_json(finished_run: FinishedRun) -> None:
    run_id = finished_run.bench.run_dir.name
    status = finished_run.bench("status", run_id[:9], "--json").json
    assert (status["run_id"], status["status"], status["done"], status["total"]) == (run_id, "done", 4, 4)
    assert [cell["status"] for cell in status["cells"]] == ["ok"] * 4
    done = finished_run.bench("status", "1999")
    assert done.code == 2
    assert done.err.startswith("error: no run 1999 in bench-out")
    assert run_id in done.err


@pytest.mark.long
def test_status_names_the_run_that_it_shows_when_a_later_one_was_not_measured(copied_run: Bench) -> None:
    first = copied_run.run_dir
    assert copied_run("status").err == ""
    assert copied_run("run", "brief.bench", "--simulate", "--no-report", "--quiet").code == 0
    later = copied_run.run_dirs()[-1]
    done = copied_run("status")
    assert done.out.startswith(first.name)
    said = f"note: {first.name} is the last run that was measured; {later.name} is later, and was simulated: "
    assert done.err == f"{said}bench status {later.name}\n"
    assert copied_run("status", later.name).err == copied_run("status", "--all").err == ""


def test_status_of_all_runs_has_one_line_for_each(copied_run: Bench) -> None:
    first = copied_run.run_dir
    shutil.copytree(first, first.with_name(first.name + "-2"))
    done = copied_run("status", "--all")
    assert [line.split()[1] for line in done.out.splitlines()] == ["done", "done"]
    assert len(copied_run("status", "--all", "--json").json) == 2

    (first / "plan.json").write_text("{}")
    done = copied_run("status", "--all")
    assert done.code == 0
    assert len(done.out.splitlines()) == 1
    assert f"warning: bench-out/{first.name}/plan.json is not the plan" in done.err
    assert Bench(copied_run.folder / "elsewhere")("status", "--all").out == ""


# --- report ---


@pytest.mark.usefixtures("paper")
def test_a_report_is_rendered_again_and_elsewhere(copied_run: Bench, tmp_path: Path) -> None:
    done = copied_run("report", "--to", tmp_path / "copy")
    assert done.code == 0, done.err
    pdf, disclosure, html, page, numbers, capsule, *data = map(Path, done.out.split())
    assert (pdf.suffix, html.suffix, numbers.suffix, capsule.suffix) == (".pdf", ".html", ".json", ".zip")
    assert (disclosure.name, page.name) == ("brief-disclosure.pdf", "brief-disclosure.html")
    figures = range(1, len(data) // 3 + 1)
    assert (
        [path.name for path in data] == [f"figure-{n}.{kind}" for n in figures for kind in ("csv", "svg", "png")] != []
    )
    assert all(path.read_text(encoding="utf-8").count("\n") > 1 for path in data[::3])
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in data[2::3])
    assert pdf.read_bytes().startswith(b"%PDF-")
    original = copied_run.run_dir / "reports" / html.name
    assert html.read_text() == original.read_text()


@pytest.mark.long
def test_a_deposit_has_data_citation_and_checksums_beside_its_brief(copied_run: Bench, tmp_path: Path) -> None:
    folder = tmp_path / "archive"
    done = copied_run("report", "--deposit", folder, "--licence", "CC-BY-4.0", "--format", "html", "--json")
    assert done.code == 0, done.err
    lines = [line.split("  ") for line in (folder / "SHA256SUMS").read_text().splitlines()]
    summed = {name: digest for digest, name in lines}
    there = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    assert set(summed) == there - {"SHA256SUMS"}
    assert {"brief.html", "brief-capsule.zip", "README.md", "LICENSE", "CITATION.cff"} <= there
    assert all(hashlib.sha256((folder / name).read_bytes()).hexdigest() == digest for name, digest in summed.items())
    assert {str(folder / name) for name in there} > set(done.json["deposit"])
    citation = (folder / "CITATION.cff").read_text()
    assert 'license: "CC-BY-4.0"' in citation
    rows = (folder / "data" / "measure.throughput.csv").read_text().splitlines()
    assert len(rows) - 1 == copied_run("query", "FROM measure.throughput", "--json").out.count('"value"') > 0
    again = copied_run("report", "--deposit", folder, "--html-only")
    assert (again.code, "is there already" in again.err) == (2, True)
    assert copied_run("report", "--licence", "CC-BY-4.0").code == 2
    assert copied_run("report", "--deposit", tmp_path / "b", "--licence", "my own").code == 2


@pytest.mark.parametrize(
    ("host", "said", "notes"),
    [('"me@db-1"', "", 1), ('"me@db-1"', "audience = internal", 0), ("local", "", 0)],
)
def test_whoever_publishes_a_brief_learns_that_its_capsule_names_hosts(
    host: str, said: str, notes: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spec = tmp_path / "brief.bench"
    spec.write_text(
        f"hardware box {{ hosts = {host} }}\n"
        'database db { engine = rocksdb  path = "/var/tmp/db" }\n'
        "workload work from db_bench.readrandom { records = 100 }\n"
        "experiment e { hardware = box  workloads = work  threads = 1  measure = 1 s }\n"
        f'report brief "Trial" {{ {said}  figure "A" {{ line = throughput by threads }} }}\n'
    )
    plan = check(spec).plan
    assert plan is not None
    note_far_hosts(plan, {"brief": [tmp_path / "brief.pdf"]})
    note_far_hosts(plan, {"brief": [tmp_path / "brief.pdf", tmp_path / "brief-capsule.zip"]})
    noted = capsys.readouterr()
    assert noted.out == ""
    assert noted.err.count("`provenance = none` leaves it out\n") == noted.err.count("\n") == notes


@pytest.mark.long
def test_a_report_takes_changed_prose_and_metrics_from_the_spec(copied_run: Bench) -> None:
    text = SMALL.replace("The best throughput was", "At its very best, it did").replace("- 1, higher", "- 2, higher")
    copied_run.spec(text, "newer.bench")
    done = copied_run("report", "--spec", "newer.bench", "--html-only", "--json")
    assert done.code == 0, done.err
    ((name, (html, disclosure, numbers, _capsule)),) = done.json["reports"].items()
    assert disclosure.endswith("/brief-disclosure.html")
    assert numbers.endswith("/brief.json")
    assert name == "brief"
    page = (copied_run.folder / html).read_text(encoding="utf-8")
    assert "At its very best, it did" in page
    assert "The best throughput was" not in page


@pytest.mark.parametrize(
    ("old", "new"),
    [("records = 2k", "records = 3k"), ("threads   = [1, 2]", "threads = [1, 4]"), ("cache = 1 MiB", "cache = 2 MiB")],
)
def test_a_spec_whose_cells_were_not_measured_is_refused(copied_run: Bench, old: str, new: str) -> None:
    assert old in SMALL
    copied_run.spec(SMALL.replace(old, new), "newer.bench")
    done = copied_run("report", "--spec", "newer.bench", "--html-only")
    assert done.code == 2
    assert re.search(r"error: \d of the 4 cells of newer.bench were not measured, first ramp/", done.err), done.err
    assert "run the spec again" in done.err


@pytest.mark.long
def test_a_spec_with_more_or_fewer_labels_only_is_taken(copied_run: Bench) -> None:
    copied_run.spec(SMALL.replace('"Second folder"', '"A roomy folder"'), "newer.bench")
    done = copied_run("report", "--spec", "newer.bench", "--html-only")
    assert done.code == 0, done.err
    assert "A roomy folder" in (copied_run.folder / done.out.splitlines()[0]).read_text(encoding="utf-8")


@pytest.mark.long
def test_a_report_says_which_expectation_does_not_hold(copied_run: Bench) -> None:
    copied_run.spec(SMALL + "expect min(throughput over threads, hardware) > 900G ops/s\n", "newer.bench")
    done = copied_run("report", "--spec", "newer.bench", "--html-only")
    assert done.code == 4
    assert (
        "warning: expect does not hold: min(throughput over threads, hardware) > 900G ops/s (for 1 of 1: " in done.err
    )
    assert done.err.count("does not hold") == 1
    assert "newer.bench:" in done.err


def test_a_run_without_a_report_says_how_to_get_one(bench: Bench) -> None:
    spec = bench.spec(SMALL.partition("metric ")[0])
    assert bench("run", spec.name, "--simulate").code == 0
    done = bench("report", "simulated")
    assert done.code == 2
    assert "has no `report` block" in done.err
    assert "bench report --spec FILE" in done.err


# --- query ---


@pytest.mark.parametrize(
    "asked", [("--json", "--csv"), ("--csv", "--parquet", "x.parquet"), ("--parquet", "x", "--json")]
)
def test_an_answer_has_one_format(finished_run: FinishedRun, asked: tuple[str, ...]) -> None:
    done = finished_run.bench("query", "FROM cells", *asked)
    assert done.code == 2
    assert done.json["error"]["code"] == "usage" if "--json" in asked else done.out == ""
    assert "are two formats for one answer" in done.err
    assert not (finished_run.bench.folder / asked[-1]).exists()


# --- rebuild ---


def test_rebuild_gives_the_same_tables_again(copied_run: Bench) -> None:
    before = copied_run("query", THROUGHPUT, "--csv").out
    store = copied_run.run_dir / "store"
    shutil.rmtree(store)
    done = copied_run("rebuild")
    assert done.code == 0
    assert done.out.strip() == str(store.relative_to(copied_run.folder))
    assert copied_run("query", THROUGHPUT, "--csv").out == before


def test_rebuild_does_not_count_a_raw_output_that_was_changed(copied_run: Bench) -> None:
    path = next((copied_run.run_dir / "raw").rglob("measure-local/stdout"))
    path.write_text(path.read_text().replace("ops/sec", "ops/sec "))
    done = copied_run("rebuild")
    problem = f"{path.relative_to(copied_run.run_dir)} was changed after it was measured"
    assert done.code == 3
    assert f"warning: {problem}" in done.err
    printed = copied_run("rebuild", "--json")
    assert (printed.code, printed.err) == (3, "")
    assert printed.json["run"] == copied_run.run_dir.name
    assert printed.json["store"] == str((copied_run.run_dir / "store").relative_to(copied_run.folder))
    (found,) = printed.json["problems"]
    assert problem in found
    rows = copied_run("query", "SELECT status, reason FROM cells ORDER BY status", "--json").json
    assert [row["status"] for row in rows] == ["failed", "ok", "ok", "ok"]
    assert "stdout" in rows[0]["reason"]


def test_a_damaged_journal_is_named_with_its_line(copied_run: Bench) -> None:
    path = copied_run.run_dir / "journal.jsonl"
    lines = path.read_text().splitlines(keepends=True)
    lines[2] = "not a record\n"
    path.write_text("".join(lines))
    done = copied_run("rebuild")
    assert done.code == 2
    assert re.search(r"error: \S+journal.jsonl:3 was changed after it was written", done.err)
