"""Tests the import of finished outputs of go-ycsb. The final rows are read. An output that was cut, or that contradicts
itself or its spec, is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchbrief.model.plan import Plan
from benchbrief.results.imports.imported_files import OutputProblem
from benchbrief.results.imports.importer_seams import read_output
from tests.support.imported import copied, operation, plan_of, refused, replaced
from tests.support.recorded import RECORDED_OUTPUTS


def test_go_ycsb_is_read_from_its_final_rows(tmp_path: Path) -> None:
    stdout = RECORDED_OUTPUTS / "go_ycsb/timed/stdout"
    measured = read_output("go-ycsb", {"stdout": stdout}, "f")
    assert measured.total.count == 40267 - 13447
    assert measured.total.errors == 23
    assert dict(operation(measured, "update").printed)[99.0] == pytest.approx(0.003305)
    cut = tmp_path / "cut"
    cut.write_text(stdout.read_text().partition("Run finished")[0])
    with pytest.raises(OutputProblem, match="no final TOTAL row"):
        read_output("go-ycsb", {"stdout": cut}, "f")


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        ([(r"OPS: 8995\.2", "OPS: 8995,2")], r"is not a whole row of go-ycsb"),
        ([(r"takes 3\.98", "takes 3m3.98")], r"the run took 183\.\d+ s, and \w+, its longest row, 3 s"),
        ([(r"Takes\(s\): 3\.0, Count: 26834", "Takes(s): 30.0, Count: 26834")], r"READ has 26834 operations, and 30 s"),
        ([(r"(READ   .*)", r"\1\n\1")], r"READ has two final rows"),
        ([(r"99th\(us\): 3115", "99th(ms): 3115")], r"is not a whole row of go-ycsb"),
        ([(r"READ_MODIFY_WRITE - .*\n", "")], r"26856 of 40289 operations are READ, and it was run with"),
    ],
)
def test_an_output_of_go_ycsb_that_contradicts_itself_is_refused(
    tmp_path: Path, pairs: list[tuple[str, str]], message: str
) -> None:
    path = copied(tmp_path, "go_ycsb/timed")["stdout"]
    replaced(path, *pairs)
    with pytest.raises(OutputProblem, match=message):
        read_output("go-ycsb", {"stdout": path}, "f")


def test_keys_and_a_distribution_other_than_the_specs_are_refused_of_go_ycsb(tmp_path: Path) -> None:
    path = copied(tmp_path / "go", "go_ycsb/timed")["stdout"]

    def plan(workload: str) -> Plan:
        return plan_of(tmp_path, f"f {{ {workload} }}", "go_ycsb")

    for records in (1000, 1001):  # a careful user gives go-ycsb one record less
        assert refused("go-ycsb", path, plan(f"records = {records}")) == ""
    assert "keys up to 1000, and workload f has records = 9000" in refused("go-ycsb", path, plan("records = 9000"))
    assert "distribution 'zipfian', and workload f has" in refused("go-ycsb", path, plan("distribution = uniform"))
    replaced(path, (r"keyrange of \[0 1000\]", "keyrange of [0 9000]"))
    assert "keys up to 9000, and workload f has records = 1000" in refused("go-ycsb", path, plan("records = 1k"))
    replaced(path, ('"command"="run"', '"command"="load"'))
    assert "it was run with command = load, and workload f is a run" in refused("go-ycsb", path, plan("records = 1k"))
