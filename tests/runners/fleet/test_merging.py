"""Tests merging lanes that ran separately: each cell counts once, in whatever order lanes are merged, and wrong folders
are refused."""

from __future__ import annotations

import errno
import fcntl
import hashlib
import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from benchbrief.runners.errors import RunnerError
from benchbrief.runners.fleet import merge_lanes
from benchbrief.runners.journal.journal_file import Journal, take_lock
from benchbrief.runners.journal.run_folder import load_plan
from tests.support.bench import PROGRAM, Bench, fresh_bench, records_of
from tests.support.made_once import made_once

SPEC = """\
hardware a { hosts = "a" }
hardware b { hosts = "b" }
hardware c { hosts = "c[1-2]" }
database mongo { engine = mongodb  uri = "mongodb://{hosts}/ycsb" }
client la { hosts = "la"  tool = ycsb }
client lb { hosts = "lb"  tool = ycsb }
client lc { hosts = "lc"  tool = ycsb }
workload w from ycsb.a { records = 10k }
experiment ea { hardware = a  client = la  workloads = w  threads = [1, 2]  measure = 1 min }
experiment eb { hardware = b  client = lb  workloads = w  threads = @KNEE@  measure = 1 min }
experiment ec { hardware = c  client = lc  workloads = w  threads = adaptive(1..16, points: 3)  measure = 1 min }
report brief "Brief" { table "T" { rows = hardware  columns = throughput by threads } }
"""
SPEC = SPEC.replace("@KNEE@", "knee(from: 1, factor: 2, to: 64, rise: 10 %, gain: 20 %)")
LANES = ("1", "2", "3")


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    with fresh_bench(tmp_path) as fresh:
        yield fresh


@pytest.fixture
def fleet(bench: Bench, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a simulated run with three lanes that has not started."""
    return copied(bench, tmp_path_factory, "fleet", ())


@pytest.fixture
def ran(bench: Bench, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the run after its lanes have run."""
    return copied(bench, tmp_path_factory, "lanes", LANES)


def copied(bench: Bench, factory: pytest.TempPathFactory, name: str, lanes: tuple[str, ...]) -> Path:
    """Return a copy of a run after these lanes have run. The run is moved away before it is copied, because otherwise
    the original would count, too."""

    def make(folder: Path) -> None:
        with fresh_bench(folder / "made") as first:
            made(first)
            for number in lanes:
                lane(first, number)
            (first.folder / "fleet").rename(folder / "fleet")

    bench.spec(SPEC)
    return shutil.copytree(made_once(factory, name, make) / "fleet", bench.folder / "fleet")


def made(bench: Bench, spec: str = SPEC, name: str = "fleet", *words: str) -> Path:
    bench.spec(spec)
    ended = bench("plan", "brief.bench", "--into", name, "--simulate", *words)
    assert ended.code == 0, ended.text
    return bench.folder / name


def lane(bench: Bench, number: str, *words: str, code: int = 0) -> str:
    ended = bench("lane", "fleet", number, *words)
    assert ended.code == code, ended.text
    return ended.text


def merged(bench: Bench, *words: str, code: int = 0) -> Any:
    ended = bench("merge", "fleet", *words, "--no-report", "--json")
    assert ended.code == code, ended.text
    return ended.json


def refused(bench: Bench, *words: str) -> str:
    """Check that merging fails without changing the run. Returns the error and its help, each on one line."""
    ended = bench(*words)
    assert ended.code == 2, ended.text
    assert ended.err.startswith("error: ") or "\nerror: " in ended.err
    assert "  help: " in ended.err
    return ended.err


def tables(run_dir: Path) -> dict[str, list[str]]:
    """Return the rows of a store without the names and times that differ between any two runs."""
    found = {}
    for path in (run_dir / "store").glob("*.parquet"):
        names = [name for name in pq.read_schema(path).names if name != "run_id" and not name.endswith("_at")]
        if path.stem != "meta":
            found[path.stem] = sorted(map(repr, pq.read_table(path, columns=names).to_pylist()))
    return found


def test_merged_lanes_have_the_store_of_one_controller(bench: Bench, ran: Path) -> None:
    merged(bench)
    alone = bench("run", "brief.bench", "--simulate", "--no-report")
    assert alone.code == 0, alone.text
    assert tables(ran) == tables(bench.run_dir)
    assert sum(map(len, tables(ran).values())) > 500
    for words in (("status", "--json"), ("report", "--html-only"), ("rebuild",), ("verify",)):
        ended = bench(words[0], "fleet", *words[1:])
        assert ended.code == 0, ended.text
    asked = bench("query", "--run", "fleet", "SELECT count(*) AS n FROM cells WHERE status = 'ok'", "--json")
    assert [row["n"] for row in asked.json] == [merged(bench)["cells"]["ok"]]


@pytest.mark.long
def test_the_order_and_the_number_of_mergings_change_nothing(bench: Bench, fleet: Path) -> None:
    folders = [str(bench.folder / f"elsewhere-{number}") for number in LANES]
    for number, folder in zip(LANES, folders, strict=True):
        lane(bench, number, "--into", folder)
    found = set()
    for order in (folders, folders[::-1], [*folders[1:], folders[0]]):
        merged(bench, *order)
        found.add((fleet / "journal.jsonl").read_bytes())
        for name in ("raw", "store"):
            shutil.rmtree(fleet / name)
        (fleet / "journal.jsonl").unlink()
    for folder in folders:  # one by one: those of before are not in the run's folder, and must be named again
        merged(bench, folder, code=130)
    merged(bench, *folders)
    found.add((fleet / "journal.jsonl").read_bytes())
    assert len(found) == 1


@pytest.mark.long
def test_merging_again_keeps_the_report_that_was_made(bench: Bench, ran: Path) -> None:
    merged(bench)
    assert bench("report", "fleet", "--html-only").code == 0
    with_report = (ran / "journal.jsonl").read_bytes()
    merged(bench)
    assert (ran / "journal.jsonl").read_bytes() == with_report
    assert records_of(ran)[-1]["type"] == "report_made"


@pytest.mark.long
@pytest.mark.usefixtures("fleet")
def test_lanes_that_are_missing_are_reported_and_what_is_there_is_merged(bench: Bench) -> None:
    lane(bench, "2")
    ended = bench("merge", "fleet", "--no-report")
    assert ended.code == 130
    assert "lane 1 is not whole; go on with: bench lane fleet 1" in ended.out
    assert "bench lane fleet 2" not in ended.out
    shown = bench("status", "fleet", "--json").json
    assert {each["status"] for each in shown["cells"] if each["cell_id"].startswith("eb/")} <= {"ok", "skipped"}
    assert {each["status"] for each in shown["cells"] if each["cell_id"].startswith("ea/")} == {"waiting"}
    lane(bench, "1")
    lane(bench, "c")
    assert merged(bench)["status"] == "done"


def test_a_lane_that_was_run_twice_counts_once_and_the_later_one(bench: Bench, ran: Path) -> None:
    lane(bench, "1", "--into", "again")
    both = merged(bench, "again")
    records = records_of(ran)
    ends = [record["cell"] for record in records if record["type"] == "cell_ended"]
    assert len(ends) == len(set(ends)) == both["cells"]["ok"]
    (start,) = (record for record in records if record["type"] == "run_started")
    assert [each["folder"] for each in start["merged"]] == ["again", "fleet-lane-2", "fleet-lane-3"]
    (text,) = (record["text"] for record in records if record["type"] == "remark" and "lane 1" in record["text"])
    assert text == ("lane 1 was run more than once: fleet-lane-1 (cells done: 2 of 2) does not count, and again does")
    assert text in [each["text"] for each in both["warnings"]]
    lane(bench, "1")  # nothing to do there: what counts does not change
    merged(bench, "again")
    assert records_of(ran) == records


@pytest.mark.long
def test_a_lane_that_got_further_counts_before_a_later_one(bench: Bench, ran: Path) -> None:
    whole = lane_dir(ran, 1)
    lane(bench, "1", "--into", "again")
    journal = bench.folder / "again" / "journal.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True)
    cut = next(at for at, line in enumerate(lines) if b'"cell_ended"' in line)
    journal.write_bytes(b"".join(lines[: cut + 1]))
    merged(bench, "again")
    assert records_of(ran)[0]["merged"][0]["folder"] == whole.name


def lane_dir(fleet: Path, number: int) -> Path:
    return fleet / "lanes" / f"fleet-lane-{number}"


def test_an_earlier_copy_of_a_lane_is_no_other_lane(bench: Bench, ran: Path) -> None:
    shutil.copytree(lane_dir(ran, 1), bench.folder / "copy")
    journal = bench.folder / "copy" / "journal.jsonl"
    journal.write_bytes(b"".join(journal.read_bytes().splitlines(keepends=True)[:4]))
    assert not [each for each in merged(bench, "copy")["warnings"] if "more than once" in each["text"]]


def test_copies_that_were_both_run_on_contradict_each_other(bench: Bench, fleet: Path) -> None:
    lane(bench, "1")
    shutil.copytree(lane_dir(fleet, 1), bench.folder / "copy")
    journal = bench.folder / "copy" / "journal.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join(lines[:4]))
    shutil.move(lane_dir(fleet, 1), bench.folder / "original")
    lane(bench, "1", "--into", "copy")
    assert json.loads((bench.folder / "copy" / "identity.json").read_text())["copied_from"] == ""
    said = refused(bench, "merge", "fleet", "original", "copy")
    assert "are copies of one folder, and both were run on" in said


def test_a_lane_that_is_not_there_is_refused_with_what_was_meant(bench: Bench, fleet: Path) -> None:
    bench.spec(SPEC.replace("hardware b ", "hardware servers ").replace("hardware = b ", "hardware = servers "))
    assert bench("plan", "brief.bench", "--into", "other", "--simulate").code == 0
    assert "did you mean `servers`?" in refused(bench, "lane", "other", "server")
    assert "from 1 to 3" in refused(bench, "lane", "fleet", "4")
    assert not (fleet / "lanes").exists()


def test_folders_of_other_plans_and_of_other_things_are_refused(bench: Bench, fleet: Path) -> None:
    lane(bench, "1")
    made(bench, SPEC.replace("threads = [1, 2]", "threads = [1, 4]"), "other")
    assert bench("lane", "other", "1").code == 0
    before = (fleet / "lanes").stat().st_mtime_ns
    other = "other/lanes/other-lane-1"
    assert "is of another plan than fleet" in refused(bench, "merge", "fleet", other)
    assert "is of another plan than fleet" in refused(bench, "lane", "fleet", "1", "--into", other)
    assert "is lane 1, not 2" in refused(bench, "lane", "fleet", "2", "--into", str(lane_dir(fleet, 1)))
    assert "is not the folder of a lane" in refused(bench, "merge", "fleet", "home")
    assert "it must be empty" in refused(bench, "lane", "fleet", "1", "--into", ".")
    assert "is a run, and not the folder of a lane" in refused(bench, "lane", "fleet", "1", "--into", "other")
    assert "is the folder of one lane" in refused(bench, "lane", str(lane_dir(fleet, 1)), "1")
    assert "is not empty" in refused(bench, "plan", "brief.bench", "--into", "fleet")
    assert (fleet / "lanes").stat().st_mtime_ns == before


def test_a_plan_of_another_version_is_refused(bench: Bench, fleet: Path) -> None:
    plan = json.loads((fleet / "plan.json").read_text())
    (fleet / "plan.json").write_text(json.dumps(plan | {"version": 2}))
    said = refused(bench, "lane", "fleet", "1")
    assert "is a plan of version 2, and this benchbrief reads version 1" in said


def test_the_folder_of_a_lane_has_its_part_of_the_plan_alone(bench: Bench, fleet: Path) -> None:
    lane(bench, "b")
    part = json.loads((lane_dir(fleet, 2) / "plan.json").read_text())
    assert {cell["hardware"] for cell in part["cells"]} == {"b"}
    assert (list(part["hardware"]), sorted(part["hosts"])) == (["b"], ["b", "lb"])
    digest = hashlib.sha256((fleet / "plan.json").read_bytes()).hexdigest()
    assert json.loads((lane_dir(fleet, 2) / "lane.json").read_text()) == {"lane": 2, "of": 3, "plan_sha256": digest}


@pytest.mark.long
def test_runs_that_keep_no_plans_for_lanes_go_on_by_their_whole_plan(bench: Bench, fleet: Path) -> None:
    lane(bench, "1")
    index = fleet / "lane-plans.json"
    kept = index.read_bytes()
    index.unlink()
    lane(bench, "2")
    assert (lane_dir(fleet, 2) / "plan.json").samefile(fleet / "plan.json")
    assert merged(bench, code=130)["status"] == "interrupted"
    index.write_bytes(kept)
    for number in LANES:  # those that have begun do nothing
        lane(bench, number)
    assert merged(bench)["status"] == "done"


def test_a_part_of_the_plan_that_was_changed_is_refused(bench: Bench, fleet: Path) -> None:
    parts = fleet / "lane-plans.parts"
    whole = parts.read_bytes()
    parts.write_bytes(whole.replace(b'"measure_s": 60.0', b'"measure_s": 61.0'))
    assert "does not have the plan of the lane" in refused(bench, "lane", "fleet", "1")
    parts.write_bytes(whole)
    lane(bench, "1")
    its = lane_dir(fleet, 1) / "plan.json"
    its.write_bytes(its.read_bytes().replace(b'"measure_s": 60.0', b'"measure_s": 61.0'))
    assert "is not the part of the plan" in refused(bench, "lane", "fleet", "1")
    assert "is not the plan that the run began with" in refused(bench, "merge", "fleet")
    assert not (fleet / "journal.jsonl").exists()


def test_a_lane_of_a_changed_part_is_refused_by_the_plan_itself(bench: Bench, fleet: Path) -> None:
    index, parts = fleet / "lane-plans.json", fleet / "lane-plans.parts"
    whole = json.loads(index.read_text())
    first = whole["lanes"][0]
    content = parts.read_bytes().replace(b'"measure_s": 60.0', b'"measure_s": 61.0')
    parts.write_bytes(content)
    first["sha256"] = hashlib.sha256(content[first["at"] : first["at"] + first["length"]]).hexdigest()
    index.write_text(json.dumps(whole))
    lane(bench, "1")
    assert "has a part of the plan that is not of" in refused(bench, "merge", "fleet")


def test_a_lane_whose_outputs_are_missing_is_refused(bench: Bench, fleet: Path) -> None:
    lane(bench, "1")
    found = next((lane_dir(fleet, 1) / "raw").rglob("stdout*"))
    found.unlink()
    said = refused(bench, "merge", "fleet")
    assert "is missing, and the lane's journal names it" in said
    assert not (fleet / "journal.jsonl").exists()
    assert not (fleet / "raw").exists()


def test_a_lane_whose_output_was_changed_is_merged_without_its_numbers_and_ends_with_3(bench: Bench, ran: Path) -> None:
    changed = min((lane_dir(ran, 2) / "raw").rglob("stdout"))
    whole, name = changed.read_bytes(), changed.relative_to(lane_dir(ran, 2))
    changed.write_bytes(whole + b"x")
    found = merged(bench, code=3)
    assert [text.startswith(f"{name} was changed after it was measured") for text in found["lost"]] == [True]
    assert found["next"][0]["type"] == "bench merge fleet"
    for words in (("merge", "fleet", "--no-report"), ("rebuild", "fleet"), ("verify", "fleet")):
        ended = bench(*words)
        assert ended.code == 3, ended.text
    asked = bench("query", "--run", "fleet", "SELECT count(*) AS n FROM cells WHERE status = 'failed'", "--json")
    assert [row["n"] for row in asked.json] == [1]
    changed.write_bytes(whole)
    assert merged(bench)["lost"] == []


def test_a_changed_journal_is_refused_and_a_torn_line_is_not(bench: Bench, ran: Path) -> None:
    journal = lane_dir(ran, 2) / "journal.jsonl"
    whole = journal.read_bytes()
    journal.write_bytes(whole + b'{"at":1.0,"type":"ru')
    assert merged(bench)["status"] == "done"
    journal.write_bytes(whole.replace(b'"status":"ok"', b'"status":"no"', 1))
    assert "was changed after it was written" in refused(bench, "merge", "fleet")


@pytest.mark.long
@pytest.mark.usefixtures("fleet")
def test_a_run_of_one_controller_has_no_lanes_of_its_own(bench: Bench) -> None:
    assert "no lane of fleet has begun" in refused(bench, "merge", "fleet")
    assert bench("resume", "fleet", "--no-report").code == 0
    for words in (("lane", "fleet", "1"), ("merge", "fleet")):
        assert "is run by one controller" in refused(bench, *words)


def test_measured_and_simulated_lanes_are_not_mixed(bench: Bench, fleet: Path) -> None:
    lane(bench, "1")
    (fleet / "simulation.json").unlink()
    assert "measured and simulated results are never mixed" in refused(bench, "merge", "fleet")


@pytest.mark.long
def test_failed_cells_of_a_lane_end_it_with_3_and_are_tried_again(bench: Bench) -> None:
    made(bench, SPEC, "fleet", "--failing", "la=60%", "--seed", "1")
    said = lane(bench, "1", code=3)
    assert "try the failed cells again with: bench lane fleet 1" in said
    for number in ("2", "3"):
        lane(bench, number)
    assert merged(bench, code=3)["status"] == "failed"
    for _ in range(20):
        if bench("lane", "fleet", "1").code == 0:
            break
    assert merged(bench)["status"] == "done"


@pytest.mark.long
@pytest.mark.timeout(240)
def test_a_hundred_lanes_make_one_run(bench: Bench) -> None:
    groups = "\n".join(f'hardware g{n} {{ hosts = "h{n}" }}' for n in range(100))
    names = ", ".join(f"g{n}" for n in range(100))
    fleet = made(
        bench,
        f"""{groups}
database rocks {{ engine = rocksdb  path = "/data" }}
workload rr from db_bench.readrandom {{ records = 1k }}
experiment e {{ hardware = [{names}]  workloads = rr  threads = [1, 2]  measure = 1 min }}
""",
    )
    shown = bench("plan", "brief.bench", "--json").json["lanes"]
    assert [(each["lane"], each["hardware"], each["cells"]) for each in shown] == [
        (number, [f"g{number - 1}"], 2) for number in range(1, 101)
    ]
    for number in range(1, 101):
        lane(bench, str(number), "--quiet")
    few = ("sh", "-c", 'ulimit -n 64 && exec "$@"', "sh", PROGRAM, "merge", "fleet", "--no-report", "--json")
    done = subprocess.run(few, cwd=bench.folder, env=bench.env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["cells"]["ok"] == 200
    alone = bench("run", "brief.bench", "--simulate", "--no-report", "--quiet")
    assert alone.code == 0, alone.text
    assert tables(fleet) == tables(bench.run_dir)


def test_two_mergings_at_once_do_not_both_write(bench: Bench, fleet: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One of them has opened the journal, which the other then replaces. The lock on the opened file is then
    useless."""
    lane(bench, "1")
    merged(bench, code=130)
    journal = fleet / "journal.jsonl"

    def replaced(fd: int, path: Path) -> bool:
        shutil.copy(path, fleet / "other")
        (fleet / "other").replace(path)
        return take_lock(fd, path)

    monkeypatch.setattr(merge_lanes, "take_lock", replaced)
    before = journal.read_bytes()
    plan = load_plan(fleet)
    with pytest.raises(RunnerError, match="is being run or merged by another process"):
        merge_lanes.merge_lanes(fleet, plan, hashlib.sha256((fleet / "plan.json").read_bytes()).hexdigest(), ())
    assert journal.read_bytes() == before


def test_what_a_merge_copies_is_flushed_before_the_journal_names_it(
    bench: Bench, fleet: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Lanes on another file system can't be linked, so their files are copied. Nothing else on the machine is
    flushed."""
    lane(bench, "1")

    def no_link(*_: object) -> None:
        raise OSError(errno.EXDEV, "another file system")

    flushed: list[str] = []
    fsync = os.fsync

    def noted(fd: int) -> None:
        flushed.append(str(Path(f"/proc/self/fd/{fd}").readlink()))
        fsync(fd)

    monkeypatch.setattr(os, "link", no_link)
    monkeypatch.setattr(os, "fsync", noted)
    monkeypatch.setattr(os, "sync", lambda: pytest.fail("all file systems were flushed"))
    digest = hashlib.sha256((fleet / "plan.json").read_bytes()).hexdigest()
    merge_lanes.merge_lanes(fleet, load_plan(fleet), digest, ())
    copies = [str(path) for path in (fleet / "raw").rglob("*")]
    assert copies
    assert {*copies, str(fleet / "raw"), str(fleet)} <= set(flushed)
    journal = next(n for n, path in enumerate(flushed) if path.endswith(f".journal.jsonl.{os.getpid()}"))
    assert journal > max(flushed.index(path) for path in copies)


def test_a_file_system_without_locks_is_distinguished_from_a_run_that_goes_on(
    fleet: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def none(_fd: int, _kind: int) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", none)
    with pytest.raises(RunnerError, match=r"can't be locked: No locks available") as raised:
        Journal(fleet)
    assert "choose a folder on a file system with locks" in raised.value.hint
