"""Tests that cells load their data again when needed, with real go-ycsb and YCSB against the stand-in for MongoDB."""

from __future__ import annotations

import shutil
import signal
from collections.abc import Iterator
from pathlib import Path

import pymongo
import pytest

from tests.support.bench import Bench, Ended, records_of
from tests.support.mongo import running_stand_in
from tests.support.tools import built_tool, tools_dir
from tests.support.waiting import until

SPEC = """\
hardware box "This machine" { hosts = local }
client load { hosts = local  tool = @TOOL@ }
database mongo { engine = mongodb  uri = "mongodb://@SERVER@/ycsb"  RESET }
workload a from ycsb.a { records = 500 }
workload c from ycsb.c { records = 500 }
workload d from ycsb.d { records = 500 }
experiment ramp { hardware = box  workloads = [WORKLOADS]  threads = [THREADS]  measure = TIME }
"""


@pytest.fixture(scope="module")
def _stand_in() -> Iterator[str]:
    for name in ("mongo-stand-in", "ycsb", "go-ycsb"):
        built_tool(name)
    with running_stand_in(tools_dir()) as (host, port):
        yield f"{host}:{port}"


@pytest.fixture
def server(_stand_in: str) -> str:
    """Return the address of one server for all tests here. It is emptied before each test."""
    with pymongo.MongoClient[dict[str, object]](f"mongodb://{_stand_in}/") as client:
        for name in ("ycsb", "benchbrief"):
            client.drop_database(name)
    return _stand_in


def spec(
    bench: Bench,
    server: str,
    workloads: str,
    reset: str = "",
    time: str = "1 s",
    tool: str = "go_ycsb",
    threads: str = "1, 2",
) -> None:
    said = f"reset = {reset}" if reset else ""
    text = SPEC.replace("WORKLOADS", workloads).replace("TIME", time).replace("THREADS", threads).replace("RESET", said)
    bench.spec(text.replace("@SERVER@", server), TOOL=tool)


def run(bench: Bench, *more: str) -> Path:
    done: Ended = bench("run", "brief.bench", "--no-report", *more, timeout=240)
    assert done.code == 0, done.text
    return newest(bench)


def newest(bench: Bench) -> Path:
    return max((bench.folder / "bench-out").iterdir(), key=lambda run: (run / "plan.json").stat().st_mtime_ns)


def loads(run: Path) -> dict[str, str]:
    """Return how each cell got its data: "loaded", or why no load was needed."""
    ended = [each for each in records_of(run) if each["type"] == "step_ended" and each["step"] == "load"]
    return {each["cell"].split("/", 2)[2].removesuffix("/r1"): each["skipped"] or "loaded" for each in ended}


def steps_begun(bench: Bench) -> set[str]:
    journals = (bench.folder / "bench-out").glob("*/journal.jsonl")
    return {each.get("step", "") for journal in journals for each in records_of(journal.parent)}


def remarks(run: Path) -> str:
    return " ".join(each["text"] for each in records_of(run) if each["type"] == "remark")


KEPT = "data set reused"


@pytest.mark.long
def test_cells_that_read_or_update_share_one_load_also_in_the_next_run(bench: Bench, server: str) -> None:
    spec(bench, server, "c, a")
    assert loads(run(bench)) == {
        "c/threads=1": "loaded",
        "c/threads=2": KEPT,
        "a/threads=1": KEPT,
        "a/threads=2": KEPT,
    }
    assert loads(run(bench, "--fresh"))["c/threads=1"] == KEPT


@pytest.mark.long
def test_what_inserts_leaves_a_data_set_that_is_loaded_again(bench: Bench, server: str) -> None:
    spec(bench, server, "c, d")
    assert set(loads(run(bench)).items()) == {
        ("c/threads=1", "loaded"),
        ("c/threads=2", KEPT),
        ("d/threads=1", KEPT),
        ("d/threads=2", "loaded"),
    }


@pytest.mark.long
def test_records_that_another_client_deleted_are_noticed_before_the_next_cell(bench: Bench, server: str) -> None:
    spec(bench, server, "c")
    run(bench)
    with pymongo.MongoClient[dict[str, object]](f"mongodb://{server}/") as client:
        client["ycsb"]["usertable"].delete_one({})
    again = run(bench, "--fresh")
    assert loads(again) == {"c/threads=1": "loaded", "c/threads=2": KEPT}
    assert "ycsb.usertable has 499 records and was loaded with 500: something else" in remarks(again)


@pytest.mark.parametrize(("tool", "workload"), [pytest.param("ycsb", "c", marks=pytest.mark.long), ("go_ycsb", "a")])
def test_a_record_that_another_client_inserts_during_a_cell_fails_it_and_all_is_loaded_again(
    bench: Bench, server: str, tool: str, workload: str
) -> None:
    spec(bench, server, workload, time="5 s", tool=tool, threads="1")
    with bench.started("run", "brief.bench", "--no-report") as going:
        until(lambda: "measure" in steps_begun(bench), 120)
        collection(server).insert_one({"_id": "not ours"})
        done = going.wait(240)
    assert done.code == 3, done.text
    (failed,) = (each for each in records_of(newest(bench)) if each["type"] == "cell_ended")
    assert failed["status"] == "failed"
    said = " ".join(done.text.split())
    assert "the data set was changed during this measurement, by something else than this benchmark" in said
    assert "ycsb.usertable has 501 records and was loaded with 500" in said
    assert "let nothing else write to the database while it is measured, and run again" in said
    spec(bench, server, workload, tool=tool, threads="1")
    assert set(loads(run(bench)).values()) == {"loaded"}


@pytest.mark.long
def test_the_data_of_a_writing_cell_that_was_cut_short_are_loaded_again(bench: Bench, server: str) -> None:
    spec(bench, server, "a", time="60 s")
    with bench.started("run", "brief.bench", "--no-report") as going:
        until(lambda: "measure" in steps_begun(bench), 60)
        going.signal(signal.SIGINT)
        going.wait(60)
    spec(bench, server, "c")
    assert loads(run(bench))["c/threads=1"] == "loaded"


def collection(server: str) -> pymongo.collection.Collection[dict[str, object]]:
    return pymongo.MongoClient[dict[str, object]](f"mongodb://{server}/")["ycsb"]["usertable"]


def load_jobs(run: Path) -> int:
    return sum(each["type"] == "job_collected" and each["step"] == "load" for each in records_of(run))


@pytest.mark.long
@pytest.mark.parametrize("tool", [pytest.param("ycsb", marks=pytest.mark.long), "go_ycsb"])
def test_what_cells_inserted_is_deleted_and_the_records_of_the_load_are_left(
    bench: Bench, server: str, tool: str
) -> None:
    spec(bench, server, "c", "undo", tool=tool, threads="1")
    run(bench)
    loaded = {each["_id"] for each in collection(server).find({}, {"_id": 1})}
    assert len(loaded) == 500
    spec(bench, server, "d", "undo", tool=tool)
    first = run(bench)
    assert load_jobs(first) == 0
    assert collection(server).count_documents({}) > 500
    assert "was deleted by key before the measurement: the 500 records of the load are left" in remarks(first)
    spec(bench, server, "c", "undo", tool=tool, threads="1")
    second = run(bench, "--fresh")
    assert load_jobs(second) == 0
    assert {each["_id"] for each in collection(server).find({}, {"_id": 1})} == loaded


@pytest.mark.long
def test_inserts_of_a_ycsb_whose_release_orders_its_keys_are_deleted(bench: Bench, server: str) -> None:
    home = bench.folder / "ordered"
    shutil.copytree(tools_dir() / "ycsb", home)
    (home / "workloads/workloadd").open("a").write("\ninsertorder=ordered\nzeropadding=10\n")
    spec(bench, server, "d", "undo", tool=f'ycsb("{home}")')
    first = run(bench)
    assert load_jobs(first) == 1
    assert {"user0000000000", "user0000000499"} <= {each["_id"] for each in collection(server).find({}, {"_id": 1})}
    assert "was deleted by key before the measurement: the 500 records of the load are left" in remarks(first)


@pytest.mark.long
def test_an_undo_whose_controller_is_killed_is_a_load_when_the_run_is_resumed(bench: Bench, server: str) -> None:
    spec(bench, server, "d", "undo")
    with bench.started("run", "brief.bench", "--no-report", before=KILLED_AS_IT_DELETES) as going:
        going.wait(120)
    assert collection(server).count_documents({}) > 500, "the undo was not at its end"
    done = bench("resume", newest(bench).name, "--no-report", timeout=240)
    assert done.code == 0, done.text
    resumed = newest(bench)
    assert load_jobs(resumed) == 2
    assert "was deleted by key" not in remarks(resumed)


KILLED_AS_IT_DELETES = """
import os, signal
from benchbrief.extensions.engines.mongodb.mongo_data import Data
whole = Data.delete
def delete_half(self, keys):
    there = self.present(keys)
    whole(self, there[: len(there) // 2])
    os.kill(os.getpid(), signal.SIGKILL)
Data.delete = delete_half
"""


@pytest.mark.long
def test_inserts_that_are_not_all_of_ours_are_not_undone_but_loaded_again(bench: Bench, server: str) -> None:
    spec(bench, server, "d", "undo")
    run(bench)
    collection(server).insert_one({"_id": "another client's"})
    spec(bench, server, "c", "undo")
    again = run(bench)
    assert load_jobs(again) == 1
    assert "left ycsb.usertable with 501 records, and 500 were loaded: the data are loaded again" in remarks(again)
    assert collection(server).count_documents({}) == 500


def test_a_simulated_run_loads_and_undoes_as_its_plan_says(bench: Bench) -> None:
    spec(bench, "db.lab", "c, d", "undo")
    done = bench("run", "brief.bench", "--no-report", "--simulate")
    assert done.code == 0, done.text
    (found,) = (bench.folder / "bench-out").iterdir()
    assert load_jobs(found) == 1
    assert "was deleted by key before the measurement: the 500 records of the load are left" in remarks(found)
