"""Tests the import of finished outputs of YCSB, from its first version on. An output that contradicts itself or its
spec is refused."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from benchbrief.model import histogram as h
from benchbrief.model.plan import Plan
from benchbrief.results.imports.cell_matching import Where
from benchbrief.results.imports.imported_files import ImportRefused, OutputProblem
from benchbrief.results.imports.importer_seams import read_output
from benchbrief.results.imports.prepare_outputs import prepare_outputs
from tests.support.imported import PUBLISHED_OUTPUTS, RAMP, SOURCE, copied, operation, plan_of, refused, replaced
from tests.support.plans import compile_text
from tests.support.recorded import RECORDED_OUTPUTS

OUTPUTS = RECORDED_OUTPUTS / "ycsb"


@pytest.fixture(scope="module")
def plan(tmp_path_factory: pytest.TempPathFactory) -> Plan:
    return compile_text(RAMP, tmp_path_factory.mktemp("spec"))


def ycsb(name: str) -> dict[str, Path]:
    folder = OUTPUTS / name
    return {"stdout": folder / "stdout", **{path.name: path for path in folder.glob("*.hdr")}}


def test_the_first_ycsb_is_read_with_its_buckets_of_a_millisecond() -> None:
    measured = read_output("ycsb", ycsb("version-0.1.4"), "b")
    assert (measured.total.count, measured.total.errors, measured.total.seconds) == (9998, 2, 10)
    update = operation(measured, "update")
    assert (update.count, update.mean_s, update.max_s) == (500, 0.0125, 0.210)
    assert update.histogram is not None
    assert 0.012 <= h.percentile(update.histogram, 95) <= 0.013
    assert "known to 1 ms" in dict(measured.properties)["percentiles"]


def test_a_percentile_that_overflowed_buckets_do_not_have_stays_missing() -> None:
    measured = read_output("ycsb", ycsb("millisecond-histogram"), "c")
    read = operation(measured, "read")
    assert read.histogram is None or read.histogram.count == read.count
    assert 99.0 not in dict(read.printed)


def test_todays_ycsb_is_read_with_its_histogram_logs_and_their_time() -> None:
    measured = read_output("ycsb", ycsb("offered-load"), "f")
    assert measured.total.count == 1741
    assert operation(measured, "read").histogram is not None
    assert operation(measured, "read", "intended").count == 1741
    assert operation(measured, "read_modify_write").count == 858
    assert measured.window[0] > 1_600_000_000
    assert sum(each.count for each in measured.intervals) == 1741


def test_ycsb_without_logs_keeps_percentiles_as_printed() -> None:
    measured = read_output("ycsb", {"stdout": OUTPUTS / "offered-load" / "stdout"}, "f")
    read = operation(measured, "read")
    assert read.histogram is None
    assert dict(read.printed) == {95.0: pytest.approx(0.006947), 99.0: pytest.approx(0.018927)}


def test_the_kind_of_latency_is_unknown_unless_the_command_line_has_it(tmp_path: Path) -> None:
    lines = ycsb("intended-only")["stdout"].read_text().splitlines(keepends=True)
    asked = "-P ../j4.properties -p measurement.interval=intended -threads 4 "
    for old, new, kind in (
        ("", "", "intended"),
        (asked, "", "service"),
        (asked, "-P own.properties ", "service, or intended if YCSB was run with measurement.interval=intended"),
        (lines[0], "", "service, or intended"),
    ):
        path = tmp_path / "stdout"
        path.write_text("".join(lines).replace(old, new, 1))
        shown = dict(read_output("ycsb", {"stdout": path}, "a").properties)["latency"]
        assert shown.startswith(kind), (new, shown)
        assert ("the files do not tell" in shown) == ("," in kind)
    logs = {name: path for name, path in ycsb("read-modify-write").items() if name in ("READ.hdr", "UPDATE.hdr")}
    assert "the files do not tell" in dict(read_output("hdr", logs, "f").properties)["latency"]


def test_a_time_series_is_not_taken_for_a_histogram(tmp_path: Path) -> None:
    path = tmp_path / "stdout"
    path.write_text(
        "YCSB Client 0.12.0\n[OVERALL], RunTime(ms), 2000.0\n[OVERALL], Throughput(ops/sec), 50.0\n"
        "[READ], Operations, 100\n[READ], AverageLatency(us), 812.5\n[READ], MinLatency(us), 100\n"
        "[READ], MaxLatency(us), 4000\n[READ], Return=OK, 100\n[READ], 0, 700.25\n[READ], 1000, 924.75\n"
    )
    read = operation(read_output("ycsb", {"stdout": path}, "c"), "read")
    assert (read.count, read.mean_s, read.histogram, read.printed) == (100, 812.5e-6, None, ())


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (r"\[OVERALL\], Throughput.*\n", "", "has no Throughput"),
        (
            r"(\[READ\], Return=OK), 1741",
            r"\1, 1041",
            r"1741 operations by its \[OVERALL\] block .*, 1041 by the rows of operations: it is cut, or one of these",
        ),
    ],
)
def test_an_output_of_ycsb_that_lacks_something_is_refused(tmp_path: Path, old: str, new: str, message: str) -> None:
    path = replaced(copied(tmp_path, "ycsb/offered-load")["stdout"], (old, new))
    with pytest.raises(OutputProblem, match=message):
        read_output("ycsb", {"stdout": path}, "f")


def test_two_runs_in_one_file_are_refused(tmp_path: Path) -> None:
    path = copied(tmp_path, "ycsb/version-0.1.4")["stdout"]
    whole = path.read_text()
    path.write_text(whole + whole)
    with pytest.raises(OutputProblem, match="a second run of YCSB begins here") as caught:
        read_output("ycsb", {"stdout": path}, "b")
    assert caught.value.line == len(whole.splitlines()) + 4


@pytest.mark.parametrize(
    ("workload", "threads", "message"),
    [
        ("b", 4, r":2: it was run with -threads 8, and cell \S+ has threads = 4"),
        ("f", 8, r"95 % of its operations are reads, and 50 % are in workload f \(ycsb\.f\)"),
        ("f", 8, r":2: it was run with recordcount = 75000000, and workload f has records = "),
    ],
)
def test_a_cell_that_the_output_itself_contradicts_is_refused(
    plan: Plan, workload: str, threads: int, message: str
) -> None:
    path = OUTPUTS / "version-0.1.4" / "stdout"
    where = Where(cell=f"hardware=eco,workload={workload},threads={threads}")
    with pytest.raises(ImportRefused, match=message):
        prepare_outputs("ycsb", [path], plan, SOURCE, where)
    right = Where(cell="hardware=eco,workload=b,threads=8")
    assert len(prepare_outputs("ycsb", [path], plan, SOURCE, right).cells) == 1


def test_an_output_with_an_offered_load_is_not_one_at_full_speed(plan: Plan) -> None:
    path = OUTPUTS / "offered-load" / "stdout"
    with pytest.raises(ImportRefused, match=r":1: it was run with -target 500, and cell \S+ has no target"):
        prepare_outputs("ycsb", [path], plan, SOURCE, Where(cell="hardware=eco,workload=f,threads=4"))


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        ([(r"(\[READ\], 99th.*), 5179", r"\1, 517900")], r"\[READ\] has a p99 of 517900 us above its maximum of 34367"),
        ([(r"(\[READ\], 95th.*), 1989", r"\1, 6989")], r"p95 of 6989 us above its p99 of 5179 us"),
        ([(r"(\[READ\], 99thPercentileLatency)\(us\)", r"\1(ms)")], r"are in two units|above its maximum"),
        ([(r"(\[UPDATE\], AverageLatency.*), .*", r"\1, -3.5")], r"is never below 0"),
        ([(r"(\[READ\], AverageLatency.*), .*", r"\1, 9000.5")], r"mean of 9000\.5 us, and its percentiles allow"),
        (
            [(r"(RunTime\(ms\)), 6012", r"\1, 60120")],
            r"293850 operations by its \[OVERALL\] block .*, 29385 by the rows",
        ),
        ([(r"(RunTime.*), 6012", r"\1, 60120"), (r"(Throughput.*), 4887\.7", r"\1, 488.77")], r"62 ms of 60120 ms"),
        ([(r"(\[READ\], Return=OK), 29385", r"\1, 29380")], r"29385 operations, and its return codes count 29380"),
        ([(r"(\[READ\], Return=OK.*)", r"\1\n[READ], Return=ERROR, 3")], r"3 failures .* and \[READ-FAILED\] 0"),
        ([(r"(\[READ\], MinLatency.*)", r"\1\n\1")], r"\[READ\] has MinLatency\(us\) twice: 44 and 44"),
        ([(r"(\[READ\], AverageLatency.*), (\d+)\.", r"\1, \2,")], r"which is no number"),
        ([(r"\[READ-MODIFY-WRITE\].*\n", "")], r"29385 operations .* count 44034|by the rows of operations"),
    ],
)
def test_an_output_of_ycsb_that_contradicts_itself_is_refused_with_both_values(
    tmp_path: Path, pairs: list[tuple[str, str]], message: str
) -> None:
    path = copied(tmp_path, "ycsb/read-modify-write")["stdout"]
    replaced(path, *pairs)
    with pytest.raises(OutputProblem, match=message):
        read_output("ycsb", {"stdout": path}, "f")


def test_an_output_that_is_cut_before_its_latencies_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "stdout"
    head = "[OVERALL], RunTime(ms), 2000.0\n[OVERALL], Throughput(ops/sec), 50.0\n[READ], Operations, 100\n"
    path.write_text(head)
    with pytest.raises(OutputProblem, match=r"\[READ\] has 100 operations, and no AverageLatency: it was cut"):
        read_output("ycsb", {"stdout": path}, "c")


def test_failures_whose_count_is_dropped_are_missed(tmp_path: Path) -> None:
    path = tmp_path / "stdout"
    text = (PUBLISHED_OUTPUTS / "ycsb-0.12-some-failed.txt").read_text()
    path.write_text(text.replace("[READ-FAILED], Operations, 5.0\n", ""))
    with pytest.raises(OutputProblem, match=r"\[READ-FAILED\] has no count of its operations"):
        read_output("ycsb", {"stdout": path}, "a")


def test_another_stock_workload_and_another_phase_than_the_specs_are_refused_of_ycsb(tmp_path: Path) -> None:
    other = "run with -P w/workloada, where update is 0.5, and workload f (ycsb.f) has update = 0.0"
    for files, shown in (
        ("-P w/workloadf", ""),
        ("-P w/workloada", other),
        ("-P w/workloada -P own.properties", ""),
        ("-P own.properties -P w/workloada", other),  # a later file overrides an earlier one
        ("-P w/workloadf -P w/workloada", other),
        ("-P w/workloada -P own.properties -P w/workloadf", ""),
        ("-P w/workloada -p updateproportion=0 -p readmodifywriteproportion=0.5", ""),
    ):
        path = copied(tmp_path / "java", "ycsb/read-modify-write")["stdout"]
        replaced(path, ("-P .*job.properties", files))
        why = refused("ycsb", path, plan_of(tmp_path))
        assert shown in why
        assert bool(why) == bool(shown), why
    replaced(path, (r"Client -t", "Client -load"))
    assert "it was run with -load, and workload f is a run" in refused("ycsb", path, plan_of(tmp_path))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("-p threadcount=8 -threads 4", ""),
        ("-threads 8 -p threadcount=4", ""),
        ("-threads 4 -p threadcount=8", "it was run with threadcount = 8, and cell"),
        ("-p threadcount=4 -threads 8", "it was run with -threads 8, and cell"),
        ("-threads 4 -p recordcount=1000 -p recordcount=5000", "it was run with recordcount = 5000, and workload f"),
    ],
)
def test_the_later_of_two_settings_of_ycsb_holds(words: str, message: str, tmp_path: Path) -> None:
    path = copied(tmp_path / "java", "ycsb/read-modify-write")["stdout"]
    replaced(path, ("-threads 4", words))
    why = refused("ycsb", path, plan_of(tmp_path, "f { records = 1000 }"))
    assert message in why
    assert bool(why) == bool(message), why


def test_a_run_of_intended_latencies_alone_is_stored_as_that(tmp_path: Path) -> None:
    """With `measurement.interval=intended`, YCSB prints intended latencies under the plain names."""
    for files in (copied(tmp_path / "run", "ycsb/intended-only"), {"stdout": tmp_path / "run" / "stdout"}):
        of = read_output("ycsb", files, "f")
        assert {each.kind for each in of.operations} == {"intended"}
        assert dict(of.properties)["latency"] == "intended"
        assert of.total.count == 1733, "a read-modify-write is one operation"


def test_the_command_line_and_the_rows_give_the_same_kinds(tmp_path: Path) -> None:
    path = copied(tmp_path, "ycsb/offered-load")["stdout"]
    for said in ("op", "intended"):
        replaced(path, (r"measurement\.interval=\w+", f"measurement.interval={said}"))
        with pytest.raises(OutputProblem, match=f"it was run with measurement.interval = {said}, and has rows of both"):
            read_output("ycsb", {"stdout": path}, "f")


@pytest.mark.parametrize("logged", [False, True])
def test_intended_latencies_of_one_operation_and_not_of_the_next_are_refused(tmp_path: Path, *, logged: bool) -> None:
    files = copied(tmp_path, "ycsb/offered-load")
    if logged:
        kept = {name: path for name, path in files.items() if name not in ("stdout", "Intended-UPDATE.hdr")}
        with pytest.raises(OutputProblem, match=r"UPDATE has 858 operations, and Intended-UPDATE has no log"):
            read_output("hdr", kept, "f")
        return
    replaced(files["stdout"], (r"\[Intended-UPDATE\].*\n", ""))
    with pytest.raises(OutputProblem, match=r"\[UPDATE\] has 858 operations, and \[Intended-UPDATE\] has no rows"):
        read_output("ycsb", {"stdout": files["stdout"]}, "f")


@pytest.mark.parametrize(
    ("pattern", "new"),
    [(r"^\[(.*)\], (.*), ", r"[\1],\2,"), (r"^\[", "  ["), (r", ", ",\t"), (r"(?<=\S)$", "  "), (r"\], ", "] , ")],
)
def test_rows_of_ycsb_with_other_blanks_are_the_same(tmp_path: Path, pattern: str, new: str) -> None:
    path = copied(tmp_path, "ycsb/offered-load")["stdout"]
    same = read_output("ycsb", {"stdout": path}, "f")
    command, _, rows = path.read_text().partition("\n")
    path.write_text(f"{command}\n{re.sub(pattern, new, rows, flags=re.MULTILINE)}")
    assert read_output("ycsb", {"stdout": path}, "f") == same


def test_a_run_time_that_is_no_number_is_reported_as_such(tmp_path: Path) -> None:
    path = copied(tmp_path, "ycsb/offered-load")["stdout"]
    replaced(path, (r"RunTime\(ms\), 4024", "RunTime(ms), 4.024,0"))
    with pytest.raises(OutputProblem, match=r"\[OVERALL\] block has RunTime\(ms\) = 4\.024,0, which says nothing"):
        read_output("ycsb", {"stdout": path}, "f")
