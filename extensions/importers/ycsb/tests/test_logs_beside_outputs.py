"""Tests the histogram logs of a YCSB output: which logs beside it count as its own, and the messages about the others.

The outputs and the logs are those that YCSB 0.17 wrote.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from benchbrief.model.plan import Plan
from benchbrief.results.imports.cell_matching import Where
from benchbrief.results.imports.imported_files import ImportRefused
from benchbrief.results.imports.keep_import import Prepared, keep_run
from benchbrief.results.imports.prepare_outputs import prepare_outputs
from benchbrief.results.open_store import open_store
from tests.support.imported import PUBLISHED_OUTPUTS, SOURCE
from tests.support.plans import compile_text
from tests.support.recorded import RECORDED_OUTPUTS

OUTPUTS = RECORDED_OUTPUTS / "ycsb"
SPEC = """
hardware eco { hosts = "eco.lab" }
client load { hosts = "load.lab"  tool = ycsb }
database mongo { engine = mongodb  uri = "mongodb://{hosts}/ycsb" }
workload f from ycsb.f
experiment closed  { hardware = eco  workloads = f  threads = 4  measure = 1 min }
experiment offered { hardware = eco  workloads = f  threads = 4  target = 500 ops/s  measure = 1 min }
"""
CLOSED, OFFERED = OUTPUTS / "read-modify-write", OUTPUTS / "offered-load"
FILE = Where("{experiment}.txt")
ROWS = ("READ", "READ-MODIFY-WRITE", "UPDATE")


@pytest.fixture(scope="module")
def plan(tmp_path_factory: pytest.TempPathFactory) -> Plan:
    return compile_text(SPEC, tmp_path_factory.mktemp("spec"))


def copied(folder: Path, name: str, *, output: Path = CLOSED, logs: Path | None = CLOSED, before: str = "") -> Path:
    """Copy recorded files into a folder as an output and its logs, and return the output's path."""
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(output / "stdout", folder / name)
    for log in logs.glob("*.hdr") if logs else ():
        shutil.copyfile(log, folder / f"{before}{log.name}")
    return folder / name


def prepared(plan: Plan, *paths: Path, where: Where | None = None) -> Prepared:
    return prepare_outputs("ycsb", paths, plan, SOURCE, where or Where(cell="experiment=closed"))


def logs(what: Prepared) -> dict[str, str]:
    """Return the logs of the first cell, by the names under which they are kept."""
    (job,) = what.cells[0].jobs
    return {name: path.name for name, path in job.files.items() if name != "stdout"}


def test_the_logs_beside_an_output_give_it_every_percentile_with_the_intended_ones(tmp_path: Path, plan: Plan) -> None:
    what = prepared(plan, copied(tmp_path, "offered.txt", output=OFFERED, logs=OFFERED), where=FILE)
    assert set(logs(what)) == {f"{kind}{row}.hdr" for row in ROWS for kind in ("", "Intended-")}
    assert what.remarks == ()
    with open_store(keep_run(tmp_path / "out", plan, {}, what)) as store:
        rows = store.sql(
            "SELECT kind, count(value_s) FROM latency WHERE operation = 'read' AND repeat = 1 "
            "AND statistic IN ('p50', 'p99', 'p99.9') GROUP BY ALL ORDER BY 1"
        ).rows
        assert rows == (("intended", 3), ("service", 3))
        assert store.sql("SELECT value FROM properties WHERE name = 'percentiles'").rows == (
            ("from merged HDR histograms",),
        )
        assert store.sql("SELECT text FROM notes WHERE text LIKE '%log%'").rows == ()


def test_each_output_of_a_folder_has_the_logs_with_its_own_numbers(tmp_path: Path, plan: Plan) -> None:
    """The names of the outputs do not matter, even if one begins with the name of another."""
    closed = copied(tmp_path, "closed.txt", before="offered-")
    offered = copied(tmp_path, "offered.txt", output=OFFERED, logs=OFFERED, before="t4")
    what = prepared(plan, closed, offered, where=FILE)
    taken = {each.cell.experiment: set(each.jobs[0].manifest.names.values()) for each in what.cells}
    assert taken["closed"] == {str(closed), *(str(tmp_path / f"offered-{row}.hdr") for row in ROWS)}
    assert len(taken["offered"]) == 7
    assert what.remarks == ()


def test_logs_of_another_run_are_left_and_that_is_reported_and_kept_in_the_run(tmp_path: Path, plan: Plan) -> None:
    path = copied(tmp_path, "closed.txt", logs=OFFERED)
    what = prepared(plan, path)
    shown = (
        "the histogram logs beside it are not of it: it has 29385 operations in [READ], and READ.hdr has 1741; "
        "only the percentiles that YCSB printed are known"
    )
    assert logs(what) == {}
    assert what.remarks == (f"{path}: {shown}",)
    with open_store(keep_run(tmp_path / "out", plan, {}, what)) as store:
        assert ("warning", shown) in store.sql("SELECT severity, text FROM notes").rows


def test_an_output_without_logs_names_the_percentiles_that_were_printed_as_nothing(tmp_path: Path) -> None:
    path = tmp_path / "coarse.txt"
    shutil.copyfile(PUBLISHED_OUTPUTS / "ycsb-0.17-by-milliseconds.txt", path)
    shown = (
        "no histogram logs are beside it; only the percentiles that YCSB printed are known, and not those of [UPDATE] "
    )
    plan = compile_text(SPEC.replace("ycsb.f", "ycsb.a"), tmp_path)
    assert prepared(plan, path).remarks == (f"{path}: {shown}that it printed as 0",)


def test_a_damaged_log_beside_an_output_is_refused_with_its_line_unless_other_logs_are_there(
    tmp_path: Path, plan: Plan
) -> None:
    path = copied(tmp_path, "closed.txt")
    update = tmp_path / "UPDATE.hdr"
    update.write_bytes(update.read_bytes()[:-200])
    line = len(update.read_text().splitlines())
    with pytest.raises(ImportRefused, match=rf"UPDATE\.hdr:{line}: not a compressed histogram.*"):
        prepared(plan, path)
    copied(tmp_path, "closed.txt", before="own-")
    assert set(logs(prepared(plan, path)).values()) == {f"own-{row}.hdr" for row in ROWS}


def test_a_set_that_lacks_the_log_of_a_row_is_not_taken(tmp_path: Path, plan: Plan) -> None:
    path = copied(tmp_path, "closed.txt")
    (tmp_path / "UPDATE.hdr").unlink()
    (remark,) = prepared(plan, path).remarks
    assert "there is READ-MODIFY-WRITE.hdr, and none of [UPDATE]" in remark


def test_logs_that_fit_in_number_and_not_in_their_latencies_are_not_taken(tmp_path: Path, plan: Plan) -> None:
    path = copied(tmp_path, "closed.txt")
    shutil.copyfile(tmp_path / "UPDATE.hdr", tmp_path / "READ-MODIFY-WRITE.hdr")  # as many operations
    (remark,) = prepared(plan, path).remarks
    assert "[READ-MODIFY-WRITE] has a mean of " in remark


def test_logs_elsewhere_are_named_by_what_their_paths_look_like(tmp_path: Path, plan: Plan) -> None:
    path = copied(tmp_path / "out", "closed.txt", logs=OFFERED)
    copied(tmp_path / "logs", "stdout", before="closed-")
    copied(tmp_path / "logs", "stdout", logs=OFFERED, before="offered-")
    where = Where(cell="experiment=closed", options={"logs": str(tmp_path / "logs" / "{experiment}-{operation}.hdr")})
    what = prepared(plan, path, where=where)
    assert logs(what) == {f"{row}.hdr": f"closed-{row}.hdr" for row in (*ROWS, "CLEANUP")}
    other = Where(cell="experiment=closed", options={"logs": str(tmp_path / "logs" / "offered-{operation}.hdr")})
    with pytest.raises(
        ImportRefused, match=r"offered-READ\.hdr: .* 29385 operations in \[READ\], and its histogram log holds 1741"
    ):
        prepared(plan, path, where=other)
    none = Where(cell="experiment=closed", options={"logs": str(tmp_path / "log" / "{operation}.hdr")})
    with pytest.raises(ImportRefused, match=r"no log \(\.hdr\) has such a path"):
        prepared(plan, path, where=none)


def test_an_import_with_logs_needs_them_all(tmp_path: Path, plan: Plan) -> None:
    path = copied(tmp_path, "closed.txt", before="closed-")
    given = sorted(tmp_path.glob("*.hdr"))
    assert set(logs(prepared(plan, path, *given))) == {f"{row}.hdr" for row in (*ROWS, "CLEANUP")}
    with pytest.raises(ImportRefused, match=r"14649 operations in \[UPDATE\], and there is no histogram log of it"):
        prepared(plan, path, *(log for log in given if "UPDATE" not in log.name))
