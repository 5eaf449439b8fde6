"""Tests cells: their ids, order, hashes, steps, data sets and estimates."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from benchbrief.compiler.estimates.estimate import estimate
from benchbrief.model.fingerprint import cell_hash, digest, identity
from benchbrief.model.plan import Cell, Knee, Plan
from tests.support.plans import compile_spec

SPEC = """
hardware box "The box" {
  hosts = "box.lab"  path = "/data"  memory = 16 GB  device = "/dev/sda"
  variant a "First"  { prepare = command("cache off") }
  variant b "Second" { prepare = command("cache on") }
}
client load "Load" { hosts = "load.lab"  tool = ycsb("/opt/ycsb") }
database mongo "Documents" { engine = mongodb  uri = "mongodb://{hosts}/ycsb"  path = "{path}/db" }
workload w "Updates" from ycsb.a { records = 5k }
workload v "Reads"   from ycsb.c { records = 5k }
experiment ramp "Ramp" {
  hardware  = [box.a, box.b]
  workloads = [w, v]
  threads   = [1, 2]
  warm_up   = 10 s
  measure   = 1 min
  repeats   = 2
  probes    = [disk every 1 s on device]
}
metric gain "Gain" in % = throughput[b] / throughput[a] - 1
report brief "Brief" { template = blog  text = "Fast." }
"""


def plan_of(tmp_path: Path, text: str = SPEC, *changes: tuple[str, str]) -> Plan:
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    path = tmp_path / "spec.bench"
    path.write_text(text, encoding="utf-8")
    return compile_spec(path)


def hashes(plan: Plan) -> list[str]:
    return [cell.hash for cell in plan.cells]


def places(plan: Plan) -> list[str]:
    return [cell.id.removeprefix("ramp/") for cell in plan.cells]


# --- ids and order -----------------------------------------------------------------------------------------------


def test_grouped_cells_finish_one_hardware_before_the_next(tmp_path: Path) -> None:
    assert places(plan_of(tmp_path))[:5] == [
        "a/w/threads=1/r1",
        "a/w/threads=1/r2",
        "a/w/threads=2/r1",
        "a/w/threads=2/r2",
        "a/v/threads=1/r1",
    ]


def test_interleaved_cells_put_the_hardware_side_by_side(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, SPEC, ("= 2\n", "= 2, interleaved\n"))
    assert places(plan)[:4] == ["a/w/threads=1/r1", "b/w/threads=1/r1", "a/w/threads=1/r2", "b/w/threads=1/r2"]


def test_a_random_order_is_the_same_for_the_same_seed(tmp_path: Path) -> None:
    seven = places(plan_of(tmp_path, SPEC, ("= 2\n", "= 2, random(seed: 7)\n")))
    again = places(plan_of(tmp_path, SPEC, ("= 2\n", "= 2, random(seed: 7)\n")))
    eight = places(plan_of(tmp_path, SPEC, ("= 2\n", "= 2, random(seed: 8)\n")))
    grouped = places(plan_of(tmp_path))
    assert seven == again
    assert seven != eight != grouped != seven
    assert sorted(seven) == sorted(eight) == sorted(grouped)


def test_every_cell_has_an_id_of_its_own(tmp_path: Path) -> None:
    plan = plan_of(tmp_path)
    assert len({cell.id for cell in plan.cells}) == len(plan.cells) == 16


def test_a_target_ramp_names_threads_and_target(tmp_path: Path) -> None:
    target = "threads   = 96\n  target    = range(1k ops/s, 2k ops/s, steps: 3)"
    plan = plan_of(tmp_path, SPEC, ("threads   = [1, 2]", target))
    assert [(c.threads, c.target) for c in plan.cells[:6:2]] == [(96, 1000.0), (96, 1500.0), (96, 2000.0)]
    assert plan.cells[0].id == "ramp/a/w/threads=96/target=1000/r1"
    assert plan.experiments["ramp"].axis == "target"


# --- content hashes ----------------------------------------------------------------------------------------------

SAME = {
    "label of the hardware": ('"The box"', '"Another box"'),
    "label of a variant": ('"First"', '"1st"'),
    "label of the workload": ('"Updates"', '"Writes"'),
    "description": ("{ records = 5k }\nworkload v", '{ records = 5k  description = "Other words." }\nworkload v'),
    "label of the experiment": ('"Ramp"', '"Slope"'),
    "prose of the report": ("Fast.", "Very fast."),
    "metric": ("- 1", "- 2"),
    "fact that nothing uses": ("memory = 16 GB", "memory = 32 GB"),
    "comment and white space": ("\nclient load", "\n# a comment\n\nclient  load"),
    "name of the client": ("client load", "client generator"),
    "spelling of a time": ("measure   = 1 min", "measure   = 60 s"),
    "what comes after the last cell": ('"{path}/db" }', '"{path}/db"  teardown = command("systemctl start mongod") }'),
    "how to log in": ('hosts = "load.lab"', 'hosts = "load.lab"  ssh { identity = "~/.ssh/other" }'),
}

OTHER = {
    "host under test": ('"box.lab"', '"crate.lab"'),
    "port": ('"box.lab"', '"box.lab:2222"'),
    "load generator's host": ('"load.lab"', '"lode.lab"'),
    "path of the tool": ("/opt/ycsb", "/opt/ycsb-0.17"),
    "uri": ('/ycsb"  path', '/ycsb?w=majority"  path'),
    "path of the data": ('path = "/data"', 'path = "/mnt"'),
    "reset": ('"{path}/db" }', '"{path}/db"  reset = reuse }'),
    "topology": ('"{path}/db" }', '"{path}/db"  topology = sharded }'),
    "records": ("5k", "6k"),
    "distribution": ("records = 5k", "records = 5k  distribution = uniform"),
    "core workload": ("ycsb.a {", "ycsb.b {"),
    "warm-up": ("warm_up   = 10 s", "warm_up   = 20 s"),
    "measured time": ("1 min", "2 min"),
    "phases": ("measure   = 1 min", "phases = 2 x 30 s"),
    "device of a probe": ("/dev/sda", "/dev/sdb"),
    "interval of a probe": ("every 1 s", "every 2 s"),
    "another probe": ("on device]", "on device, cpu every 1 s]"),
    "error limit": ("repeats   = 2", "repeats   = 2  max_errors = 1 %"),
    "prepare command": ("cache off", "cache drop"),
    "order": ("repeats   = 2", "repeats   = 2, interleaved"),
    "cool-down": ("measure   = 1 min", "measure   = 1 min  cool_down = 5 s"),
}


def test_another_seed_makes_another_measurement_of_each_cell(tmp_path: Path) -> None:
    """A brief discloses the seed, so it must not show measurements that were made in another order."""
    one, two = (hashes(plan_of(tmp_path, SPEC, ("= 2\n", f"= 2, random(seed: {seed})\n"))) for seed in (1, 2))
    assert not set(one) & set(two)


@pytest.mark.parametrize("change", SAME.values(), ids=list(SAME))
def test_a_change_that_only_names_things_changes_no_hash(tmp_path: Path, change: tuple[str, str]) -> None:
    assert hashes(plan_of(tmp_path, SPEC, change)) == hashes(plan_of(tmp_path))


@pytest.mark.parametrize("change", OTHER.values(), ids=list(OTHER))
def test_a_change_that_matters_changes_the_hash(tmp_path: Path, change: tuple[str, str]) -> None:
    assert hashes(plan_of(tmp_path, SPEC, change))[0] != hashes(plan_of(tmp_path))[0]


@pytest.mark.parametrize("change", OTHER.values(), ids=list(OTHER))
def test_a_stored_plan_gives_the_parts_that_its_hashes_are_of(tmp_path: Path, change: tuple[str, str]) -> None:
    plan = plan_of(tmp_path, SPEC, change)
    stored = Plan.model_validate_json(plan.model_dump_json())
    for cell in stored.cells:
        parts = identity(stored, cell)
        point = {name: parts.pop(name) for name in ("threads", "target", "repeat")}
        assert point == {"threads": cell.threads, "target": cell.target, "repeat": cell.repeat}
        assert cell_hash(digest(parts), cell.threads, cell.target, cell.repeat) == cell.hash


_PLAIN = st.characters(categories=("L", "N", "P", "S", "Zs"), exclude_characters='"\\{}')
WORDS = st.text(_PLAIN, min_size=1, max_size=40)


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(words=st.lists(WORDS, min_size=8, max_size=8), number=st.integers(1, 10**6))
def test_no_words_and_no_metric_change_a_cell(tmp_path: Path, words: list[str], number: int) -> None:
    labels = ["The box", "First", "Second", "Load", "Documents", "Updates", "Reads", "Ramp"]
    changes = [(f'"{label}"', f'"{text.strip() or label}"') for label, text in zip(labels, words, strict=True)]
    changes += [("Fast.", words[0]), ("Brief", words[1]), ("- 1", f"- {number}"), ('"Gain"', f'"{words[2].strip()}x"')]
    changed = plan_of(tmp_path, SPEC + f'expect "{words[3].strip()}x" min(gain over threads) > {number} %\n', *changes)
    plain = plan_of(tmp_path)
    assert [(cell.id, cell.hash) for cell in changed.cells] == [(cell.id, cell.hash) for cell in plain.cells]


def test_a_change_to_one_workload_leaves_the_cells_of_the_other(tmp_path: Path) -> None:
    before = {cell.id: cell.hash for cell in plan_of(tmp_path).cells}
    after = {cell.id: cell.hash for cell in plan_of(tmp_path, SPEC, ("ycsb.c {", "ycsb.c { fields = 20 ")).cells}
    assert {cell for cell in before if before[cell] != after[cell]} == {cell for cell in before if "/v/" in cell}


def test_points_and_repeats_have_hashes_of_their_own(tmp_path: Path) -> None:
    assert len(set(hashes(plan_of(tmp_path)))) == 16


def test_a_plan_is_the_same_bytes_whatever_the_hash_seed(tmp_path: Path) -> None:
    path = tmp_path / "spec.bench"
    path.write_text(SPEC, encoding="utf-8")
    script = (
        "import sys; from pathlib import Path; from benchbrief.compiler.compile import check;"
        "sys.stdout.write(check(Path(sys.argv[1])).plan.model_dump_json())"
    )

    def plan(seed: str) -> bytes:
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        command = [sys.executable, "-c", script, str(path)]
        return subprocess.run(command, env=environment, capture_output=True, check=True).stdout

    assert plan("1") == plan("2") != b""


def test_a_plan_survives_being_written_and_read(tmp_path: Path) -> None:
    plan = plan_of(tmp_path)
    assert Plan.model_validate_json(plan.model_dump_json()) == plan


# --- steps, data sets, time --------------------------------------------------------------------------------------


def step_seconds(cell: Cell) -> dict[str, float]:
    return {step.kind: step.seconds for step in cell.steps}


def test_a_cell_has_its_steps_with_declared_times(tmp_path: Path) -> None:
    cell = plan_of(tmp_path).cells[0]
    assert [step.kind for step in cell.steps] == ["prepare", "load", "warm_up", "measure", "collect"]
    assert step_seconds(cell)["warm_up"] == 10
    assert step_seconds(cell)["measure"] == 60


def test_without_a_warm_up_there_is_no_such_step(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, SPEC, ("warm_up   = 10 s", "warm_up   = 0 s"))
    assert "warm_up" not in step_seconds(plan.cells[0])


@pytest.mark.parametrize(("time", "timeout"), [("1 min", 130.0), ("1 h", 3971.0)])
def test_a_time_out_grows_with_the_declared_times(tmp_path: Path, time: str, timeout: float) -> None:
    plan = plan_of(tmp_path, SPEC, ("measure   = 1 min", f"measure   = {time}"))
    assert next(step.timeout_s for step in plan.cells[0].steps if step.kind == "measure") == timeout


def test_a_load_gets_time_for_its_records(tmp_path: Path) -> None:
    small, large = plan_of(tmp_path), plan_of(tmp_path, SPEC, ("5k", "50M"))
    loads = [next(s for s in plan.cells[0].steps if s.kind == "load") for plan in (small, large)]
    assert loads[0].seconds == 2
    assert loads[1].seconds == 10_001
    assert loads[1].timeout_s > 10 * loads[1].seconds


def test_drop_and_load_loads_before_every_cell(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, SPEC, ('"{path}/db" }', '"{path}/db"  reset = drop_and_load }'))
    assert all(step_seconds(cell)["load"] > 0 for cell in plan.cells)


def test_a_reused_data_set_is_loaded_once_in_each_place(tmp_path: Path) -> None:
    reuse = ('"{path}/db" }', '"{path}/db"  reset = reuse }')
    plan = plan_of(tmp_path, SPEC, reuse)
    # Both variants are one server, and what prepares them may shape the data: each has its own.
    loads = [cell.hardware for cell in plan.cells if step_seconds(cell)["load"] > 0]
    assert len(loads) == len(set(loads)) == 2
    apart = plan_of(tmp_path, SPEC, reuse, ('variant b "Second" {', 'variant b "Second" { path = "/mnt" '))
    assert [step_seconds(cell)["load"] > 0 for cell in apart.cells].count(True) == 2


def test_alternating_data_sets_are_loaded_each_time(tmp_path: Path) -> None:
    reuse = ('"{path}/db" }', '"{path}/db"  reset = reuse }')
    other_size = ("ycsb.c { records = 5k", "ycsb.c { records = 7k")
    plan = plan_of(tmp_path, SPEC, reuse, other_size)
    assert [step_seconds(cell)["load"] > 0 for cell in plan.cells].count(True) == 4
    assert plan.cells[0].dataset is not None
    assert plan.cells[0].dataset.records == 5000


def test_workloads_that_differ_in_their_mix_share_a_data_set(tmp_path: Path) -> None:
    sets = {(cell.hardware, cell.dataset.hash) for cell in plan_of(tmp_path).cells if cell.dataset}
    assert len(sets) == len({hardware for hardware, _ in sets})


ROCKS = """
hardware box { hosts = "box.lab"  path = "/data" }
database rocks { engine = rocksdb  path = "{path}/db"
  options { compression = "none"  cache = 8 MiB } }
workload rr from db_bench.readrandom { records = 1M }
workload fill from db_bench.fillrandom { records = 1M }
experiment ramp { hardware = box  workloads = [rr, fill]  threads = 4  measure = 1 min }
"""


def test_db_bench_runs_on_the_host_under_test(tmp_path: Path) -> None:
    cell = plan_of(tmp_path, ROCKS).cells[0]
    assert (cell.client, cell.load_hosts, cell.locks, cell.tool.driver) == (
        None,
        ("box.lab",),
        ("box.lab",),
        "db_bench",
    )


def test_a_benchmark_that_makes_its_own_data_has_no_load(tmp_path: Path) -> None:
    read, fill = plan_of(tmp_path, ROCKS).cells
    assert "load" in step_seconds(read)
    assert fill.dataset is None
    assert "load" not in step_seconds(fill)


@pytest.mark.parametrize(("change", "same"), [(("8 MiB", "16 MiB"), True), (('"none"', '"zstd"'), False)])
def test_only_options_that_shape_the_data_ask_for_a_new_load(
    tmp_path: Path, change: tuple[str, str], same: bool
) -> None:
    before, after = plan_of(tmp_path, ROCKS).cells[0], plan_of(tmp_path, ROCKS, change).cells[0]
    assert before.dataset is not None
    assert after.dataset is not None
    assert (before.dataset.hash == after.dataset.hash) is same
    assert before.hash != after.hash


def test_a_declared_size_gives_the_records(tmp_path: Path) -> None:
    plan = plan_of(
        tmp_path, ROCKS, ('{path}/db"', '{path}/db"  size = 1 TB'), ("readrandom { records = 1M }", "readrandom")
    )
    assert plan.workloads["rr"].properties["records"] == 10**12 // 116
    assert plan.workloads["fill"].properties["records"] == 10**6


def test_cells_on_different_hosts_run_side_by_side(tmp_path: Path) -> None:
    two = ROCKS.replace("experiment", 'hardware crate { hosts = "crate.lab"  path = "/data" }\nexperiment')
    alone, beside = plan_of(tmp_path, ROCKS), plan_of(tmp_path, two.replace("= box ", "= [box, crate] "))
    assert len(beside.cells) == 2 * len(alone.cells)
    assert beside.estimate_s == alone.estimate_s


def test_cells_that_share_a_host_add_up(tmp_path: Path) -> None:
    cells = plan_of(tmp_path).cells
    assert estimate(cells) == sum(step.seconds for cell in cells for step in cell.steps)
    assert cells[0].locks == ("box.lab", "load.lab")
    assert estimate(()) == 0.0


# --- searches, what they find, and measured loads ----------------------------------------------------------------

SEARCH = """
hardware one { hosts = "one.lab" }
hardware two { hosts = "two.lab" }
client load { hosts = "load.lab"  tool = ycsb("/opt/ycsb") }
database mongo { engine = mongodb  uri = "mongodb://{hosts}/ycsb" }
workload w from ycsb.a { records = 5k }
experiment found {
  hardware = [one, two]  workloads = [load(w), w]  threads = search.knee
  target = [1k ops/s, 2k ops/s]  warm_up = 30 s  measure = 1 min
}
experiment search {
  hardware = [one, two]  workloads = w  threads = knee(from: 1, factor: 2, to: 8)  measure = 1 min
}
metric best = max(throughput over target)
report brief "Brief" { template = blog  text = "Fast." }
"""


def test_a_search_comes_before_what_waits_for_it(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, SEARCH)
    assert list(plan.experiments) == ["search", "found"]
    assert plan.experiments["found"].requires == ("search",)
    assert plan.cells[0].id == "search/one/w/threads=1/r1"
    assert [cell.experiment for cell in plan.cells] == ["search"] * 8 + ["found"] * 8


def test_a_search_holds_all_that_it_may_try_and_its_whole_criterion(tmp_path: Path) -> None:
    search = plan_of(tmp_path, SEARCH).experiments["search"]
    assert search.points == (1.0, 2.0, 4.0, 8.0)
    assert search.search is not None
    assert (search.search.latency, search.search.rise, search.search.gain) == ("p99", 0.10, 0.03)


def test_a_cell_waits_for_the_knee_of_its_own_hardware(tmp_path: Path) -> None:
    cells = [cell for cell in plan_of(tmp_path, SEARCH).cells if cell.experiment == "found"]
    assert {cell.threads for cell in cells} == {None}
    assert cells[0].id == "found/one/load(w)/threads=search.knee/target=1000/r1"
    for cell in cells:
        assert cell.threads_from == Knee(experiment="search", hardware=cell.hardware, workload="w")


def test_a_knee_may_come_from_the_only_hardware_that_was_searched_with(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, SEARCH, ("[one, two]  workloads = w", "two  workloads = w"))
    assert {cell.threads_from.hardware for cell in plan.cells if cell.threads_from} == {"two"}


def test_the_hash_of_a_cell_changes_with_the_search_that_it_waits_for(tmp_path: Path) -> None:
    def found(*changes: tuple[str, str]) -> list[str]:
        return [cell.hash for cell in plan_of(tmp_path, SEARCH, *changes).cells if cell.experiment == "found"]

    plain = found()
    assert found(("to: 8", "to: 8, rise: 10 %")) == plain
    for change in (("to: 8", "to: 16"), ("to: 8", "to: 8, rise: 20 %"), ("to: 8)  measure = 1", "to: 8)  measure = 2")):
        assert not set(found(change)) & set(plain), change


def test_a_measured_load_has_no_data_set_and_no_warm_up(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, SEARCH)
    load = next(cell for cell in plan.cells if cell.workload == "load(w)")
    other = next(cell for cell in plan.cells if cell.experiment == "found" and cell.workload == "w")
    assert (load.dataset, load.warm_up_s, other.warm_up_s) == (None, 0.0, 30.0)
    assert [step.kind for step in load.steps] == ["prepare", "measure", "collect"]
    assert [step.seconds for step in load.steps if step.kind == "measure"] == [6.0], "5k records at 1k ops/s"
    assert plan.workloads["load(w)"].phase == "load"
    assert plan.workloads["load(w)"].label == "Inserts"
    assert load.hash != other.hash


def test_the_estimate_counts_that_a_search_is_waited_for_on_other_hosts(tmp_path: Path) -> None:
    plan = plan_of(
        tmp_path,
        SEARCH,
        ("[one, two]  workloads = w", "one  client = load  workloads = w"),
        ("[one, two]  workloads = [load(w), w]", "two  client = other  workloads = w"),
        ("client load", 'client other { hosts = "other.lab"  tool = ycsb("/opt/ycsb") }\nclient load'),
    )
    assert not {host for cell in plan.cells[:4] for host in cell.locks} & set(plan.cells[-1].locks)
    assert plan.estimate_s == sum(step.seconds for cell in plan.cells for step in cell.steps)


def test_a_stored_plan_gives_the_parts_of_cells_that_wait_for_a_search(tmp_path: Path) -> None:
    stored = Plan.model_validate_json(plan_of(tmp_path, SEARCH).model_dump_json())
    for cell in stored.cells:
        parts = identity(stored, cell)
        threads, target, repeat = (parts.pop(name) for name in ("threads", "target", "repeat"))
        assert isinstance(threads, dict) == (cell.experiment == "found")
        assert cell_hash(digest(parts), threads, target, repeat) == cell.hash  # type: ignore[arg-type]  # parts are of any kind


def test_a_digest_is_of_the_content_in_whatever_order_it_was_put_together() -> None:
    assert digest({"a": 1, "b": {"c": 2, "d": 3}}) == digest({"b": {"d": 3, "c": 2}, "a": 1})
