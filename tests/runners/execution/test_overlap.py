"""Tests `overlap = loading` on real hosts: one hardware group loads while another is measured, and no two are measured
at once."""

from __future__ import annotations

import signal
from collections.abc import Iterator, Sequence
from itertools import combinations
from pathlib import Path

import pytest

from tests.support import wrapped
from tests.support.bench import Bench
from tests.support.two_hosts import two_hosts
from tests.support.waiting import until
from tests.support.warm import warm

SPEC = """\
hardware one { hosts = "one"  path = "@DATA@/one" }
hardware two { hosts = "two"  path = "@DATA@/two" }
database rocks { engine = rocksdb  tool = @TOOL@  path = "{path}"  reset = drop_and_load }
workload rr from db_bench.readrandom { records = 2k  value_size = 100 B }
experiment e {
  hardware = [one, two]  workloads = rr  threads = [1, 2]  warm_up = 0 s  measure = 2 s
  probes = [cpu every 1 s]  overlap = @OVERLAP@
}
"""
WRITING = SPEC.replace("drop_and_load", "after_writes").replace("readrandom", "readwhilewriting").replace("2 s", "8 s")
CELLS = [f"e/{hardware}/rr/threads={threads}/r1" for hardware in ("one", "two") for threads in (1, 2)]
LOAD_S = 2
Span = tuple[float, float]


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    """Yield a bench with two hosts, each with its own sshd. A load takes at least two seconds there."""
    with two_hosts(tmp_path, f"*fillrandom*|*fillseq*) sleep {LOAD_S};;") as fresh:
        yield fresh


def spans(bench: Bench, step: str) -> dict[str, Span]:
    """Return when each cell's last step of a kind began and ended."""
    begun: dict[str, float] = {}
    found: dict[str, Span] = {}
    for record in bench.journal():
        if record.get("step") == step and record["type"] == "step_started":
            begun[record["cell"]] = record["at"]
        elif record.get("step") == step and record["type"] == "step_ended":
            found[record["cell"]] = begun[record["cell"]], record["at"]
    return found


def overlapping(one: Span, other: Span) -> float:
    return min(one[1], other[1]) - max(one[0], other[0])


def assert_measured_one_at_a_time(bench: Bench) -> None:
    measured = spans(bench, "measure")
    assert sorted(measured) == CELLS
    for one, other in combinations(measured.values(), 2):
        assert overlapping(one, other) <= 0


def assert_whole(bench: Bench) -> None:
    """Check that each cell has a verdict on an attempt with its own complete load."""
    assert_measured_one_at_a_time(bench)
    good = {(record["cell"], record["attempt"]) for record in bench.journal("cell_ended") if record["status"] == "ok"}
    assert sorted(cell for cell, _ in good) == CELLS
    loads = {(each["cell"], each["attempt"]): each for each in bench.journal("job_collected") if each["step"] == "load"}
    assert {loads[attempt]["exit_code"] for attempt in good} == {0}
    assert bench.strays() == {}


def beside(bench: Bench) -> set[tuple[str, str]]:
    """Return pairs of a load and a cell that was measured while the load ran."""
    loads, measured = spans(bench, "load"), spans(bench, "measure")
    return {(load, cell) for load in loads for cell in measured if overlapping(loads[load], measured[cell]) > 0}


def loaded_beside_turn(bench: Bench) -> set[str]:
    """Return the cells that had their turn while another cell loaded. The turn begins before the measuring step, and
    ends after it."""
    loads = spans(bench, "load")
    turns: dict[str, Span] = {}
    for record in bench.journal():
        cell = record.get("cell", "")
        if record["type"] == "step_ended" and record["step"] in ("load", "wait_for_turn"):
            turns[cell] = record["at"], record["at"]
        elif record["type"] == "cell_ended":
            turns[cell] = turns[cell][0], record["at"]
    return {
        cell
        for cell, turn in turns.items()
        if any(overlapping(load, turn) > 0 for loaded, load in loads.items() if loaded != cell)
    }


def hardware(cell: str) -> str:
    return cell.split("/")[1]


def until_killed(bench: Bench, point: dict[str, str], *words: str) -> None:
    """Run `bench` until it is killed at a point (see `tests/support/killed.py`)."""
    done = warm().run(words, bench.folder, bench.env, 60, killed_at=point)
    assert done.returncode == -signal.SIGKILL, f"{point} was not reached: {done.stdout + done.stderr!r}"


@pytest.mark.long
@pytest.mark.timeout(240)
def test_a_group_loads_while_the_other_is_measured(bench: Bench) -> None:
    for overlap in ("none", "loading"):
        for folder in bench.folder.glob("bench-out"):
            folder.rename(bench.folder / "before")
        bench.spec(SPEC, TOOL=bench.tool, OVERLAP=overlap)
        ended = bench("run", "brief.bench", "--fresh")
        assert ended.code == 0, ended.text
        assert_measured_one_at_a_time(bench)
        found = beside(bench)
        assert bool(found) == (overlap == "loading")
        assert all(hardware(load) != hardware(cell) for load, cell in found)
        remarked = {
            record["cell"] for record in bench.journal("remark") if str(record["text"]).startswith("measured while ")
        }
        assert {cell for _, cell in found} <= remarked <= loaded_beside_turn(bench)


def begun_measurements(bench: Bench) -> list[str]:
    """Return the cells whose measurement has begun."""
    return [each["cell"] for each in bench.journal("step_started") if each["step"] == "measure"]


def waiting(bench: Bench) -> set[str]:
    """Return the cells that are loaded and wait for their turn."""
    if not list(bench.folder.glob("bench-out/*/journal.jsonl")):
        return set()
    at: dict[str, str] = {}
    for record in bench.journal():
        if record["type"] == "step_started":
            at[record["cell"]] = record["step"]
        elif record["type"] == "step_ended":
            at.pop(record["cell"], None)
    return {cell for cell, step in at.items() if step == "wait_for_turn"}


@pytest.mark.long
@pytest.mark.timeout(240)
def test_both_groups_are_shown_and_an_interrupt_ends_both(bench: Bench) -> None:
    bench.spec(SPEC.replace("measure = 2 s", "measure = 60 s"), TOOL=bench.tool, OVERLAP="loading")
    with bench.started("run", "brief.bench") as run:
        until(lambda: waiting(bench) and begun_measurements(bench), 60)
        (cell,) = waiting(bench)
        states = {each["cell_id"]: each["step"] for each in bench("status", "--json").json["cells"]}
        assert states[cell] == "wait_for_turn"
        assert "measure" in [step for each, step in states.items() if hardware(each) != hardware(cell)]
        run.signal(signal.SIGINT)
        run.wait()
    assert bench.journal("run_ended")[-1]["status"] == "interrupted"
    assert bench.journal("cell_ended") == []
    assert bench.strays() == {}
    shown = {each["cell_id"]: each["status"] for each in bench("status", "--json").json["cells"]}
    assert shown[cell] == "interrupted"


@pytest.mark.long
@pytest.mark.timeout(240)
def test_after_a_kill_what_was_measured_keeps_its_turn(bench: Bench) -> None:
    bench.spec(SPEC.replace("measure = 2 s", "measure = 8 s"), TOOL=bench.tool, OVERLAP="loading")
    with bench.started("run", "brief.bench", stays=True) as run:
        until(lambda: waiting(bench) and begun_measurements(bench), 60)
        (waited,) = waiting(bench)
        (first,) = begun_measurements(bench)
        until(lambda: any("readrandom" in command for command in bench.strays().values()), 60)
        run.signal(signal.SIGKILL)
        run.process.wait(60)
    ended = bench("resume")
    assert ended.code == 0, ended.text
    assert [record["cell"] for record in bench.journal("cell_resumed")] == [first]
    assert bench.journal("cell_ended")[0]["cell"] == first
    assert {record["attempt"] for record in bench.journal("cell_started") if record["cell"] == waited} == {1, 2}
    assert_whole(bench)


@pytest.mark.timeout(240)
@pytest.mark.long
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_the_load_of_a_cell_that_waited_is_used_after_a_resume(bench: Bench, how: signal.Signals) -> None:
    """This holds even if the workload writes, because the cell counts as a writer only from its turn on."""
    bench.spec(WRITING.replace("[1, 2]", "[1]"), TOOL=bench.tool, OVERLAP="loading")
    waited = interrupted_in_its_wait(bench, how)
    ended = bench("resume", "--no-report")
    assert ended.code == 0, ended.text
    assert [each["attempt"] for each in bench.journal("cell_started") if each["cell"] == waited] == [1, 2]
    assert loads_of(bench, waited) == [1]
    (again,) = [
        each
        for each in bench.journal("step_ended")
        if (each["cell"], each["step"], each["attempt"]) == (waited, "load", 2)
    ]
    assert again["skipped"]
    assert {each["status"] for each in bench.journal("cell_ended")} == {"ok"}


def interrupted_in_its_wait(bench: Bench, how: signal.Signals, cells: Sequence[str] = CELLS) -> str:
    """Start a run, and end it while one of these cells waits for its turn. Returns the cell."""
    with bench.started("run", "brief.bench", "--no-report", stays=True) as run:
        until(lambda: waiting(bench) & set(cells), 60)
        (waited,) = waiting(bench)
        run.signal(how)
        run.process.wait(60)
    return waited


def loads_of(bench: Bench, cell: str) -> list[int]:
    """Return the attempts at a cell that loaded its data set."""
    return [
        each["attempt"] for each in bench.journal("job_collected") if (each["cell"], each["step"]) == (cell, "load")
    ]


@pytest.mark.long
@pytest.mark.timeout(240)
def test_data_that_another_run_wrote_to_after_the_wait_are_loaded_again(bench: Bench) -> None:
    bench.spec(WRITING.replace("[1, 2]", "[1]"), TOOL=bench.tool, OVERLAP="loading")
    waited = interrupted_in_its_wait(bench, signal.SIGINT)
    alone = WRITING.replace("[1, 2]", "[1]").replace("[one, two]", hardware(waited)).replace("8 s", "2 s")
    other = bench.spec(alone, "other.bench", TOOL=bench.tool, OVERLAP="none")
    ended = bench("run", other.name, "--fresh", "--no-report", "--out", "elsewhere")
    assert ended.code == 0, ended.text
    ended = bench("resume", str(bench.run_dir), "--no-report")
    assert ended.code == 0, ended.text
    assert loads_of(bench, waited) == [1, 2]


@pytest.mark.long
@pytest.mark.timeout(240)
def test_data_that_another_cell_wrote_to_after_the_wait_are_loaded_again(bench: Bench) -> None:
    """In the first run, the group's first cell fails. The second run measures it before the cell that had waited."""
    failed = bench.folder / "failed"
    once = f"*/two*fillseq*) [ -e {failed} ] || {{ touch {failed}; exit 7; }};;"
    tool = wrapped.db_bench(bench.folder / "once", once)
    bench.spec(WRITING, TOOL=f'db_bench("{tool}")', OVERLAP="loading")
    first, waited = CELLS[2:]
    interrupted_in_its_wait(bench, signal.SIGKILL, [waited])
    assert [(each["cell"], each["status"]) for each in bench.journal("cell_ended")] == [(first, "failed")]
    until_killed(bench, {"type": "cell_ended", "cell": first, "status": "ok"}, "resume", "--no-report")
    assert [each["attempt"] for each in bench.journal("cell_started") if each["cell"] == waited] == [1]
    ended = bench("resume", "--no-report")
    assert ended.code == 0, ended.text
    assert loads_of(bench, waited) == [1, 2]
    assert {each["status"] for each in bench.journal("cell_ended") if each["cell"] == waited} == {"ok"}


@pytest.mark.timeout(240)
@pytest.mark.long
@pytest.mark.parametrize("step", ["load", "measure"])
def test_a_kill_beside_a_load_leaves_no_half_of_it(bench: Bench, step: str) -> None:
    bench.spec(SPEC, TOOL=bench.tool, OVERLAP="loading")
    until_killed(bench, {"type": "step_started", "step": step}, "run", "brief.bench")
    ended = bench("resume")
    assert ended.code == 0, ended.text
    assert_whole(bench)


@pytest.mark.timeout(240)
def test_a_load_that_fails_beside_a_measurement_fails_its_own_cells(bench: Bench) -> None:
    tool = wrapped.db_bench(bench.folder / "broken", "*/two*) sleep 1; echo no space >&2; exit 7;;")
    bench.spec(SPEC, TOOL=f'db_bench("{tool}")', OVERLAP="loading")
    ended = bench("run", "brief.bench")
    assert ended.code == 3, ended.text
    verdicts = {record["cell"]: record for record in bench.journal("cell_ended")}
    assert {cell for cell, record in verdicts.items() if record["status"] == "failed"} == {
        cell for cell in CELLS if hardware(cell) == "two"
    }
    assert all("no space" in str(verdicts[cell]["reason"]) for cell in CELLS if hardware(cell) == "two")
