"""Tests a clock that is set while a cell is measured, by a time server or by hand. No time by that clock becomes a
number.

The clock is made by the tests (`tests/support/set_clock.py`). All programs that use it are real.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.faults.places import LATE_S, covered, readings_of, start_of_window
from tests.support import wrapped
from tests.support.bench import Bench, Ended
from tests.support.set_clock import SetClock, make_clock
from tests.support.sshd import sshd
from tests.support.waiting import until

SPEC = """\
hardware box { hosts = @HOSTS@ }
database rocks { engine = rocksdb  path = "@DATA@/clock"  tool = @TOOL@  options { compression = "none" } }
workload read from db_bench.readrandom { records = 10k }
experiment e { hardware = box  workloads = [read]  threads = [1]  measure = @SECONDS@ s
  @MORE@ }
"""


@pytest.fixture
def clock(tmp_path: Path) -> SetClock:
    return make_clock(tmp_path / "clock")


@contextmanager
def set_during(clock: SetClock, ahead_s: float, ready: Callable[[], bool]) -> Iterator[None]:
    """While the block runs, set the clock once `ready` is true."""

    def wait_and_set() -> None:
        until(ready, within_s=60)
        clock.set(ahead_s)

    setting = threading.Thread(target=wait_and_set)
    setting.start()
    yield
    setting.join()


def has_measured(tmp: Path, seconds: int) -> bool:
    """Return whether a db_bench below a folder has counted its operations for this many seconds."""
    try:
        return any(path.read_text().count("\n") > seconds for path in tmp.rglob("report.csv"))
    except FileNotFoundError:  # the folder of a job that ended was removed meanwhile
        return False


def run_on_a_host_of_its_own(bench: Bench, clock: SetClock, ahead_s: float, more: str = "") -> Ended:
    """Run on a host where all programs use the clock that is set. The controller's programs do not use it."""
    tool = wrapped.db_bench(bench.folder / "tool")
    bench.spec(SPEC, TOOL=f'db_bench("{tool}")', HOSTS='"box"', SECONDS="5", MORE=more)
    seen = " ".join(f"{name}={value}" for name, value in clock.env.items())
    with sshd(config=f"SetEnv {seen} TMPDIR={bench.tmp}") as server:
        bench.env["HOME"] = str(server.home)
        with set_during(clock, ahead_s, lambda: has_measured(bench.tmp, 2)):
            return bench("run", "brief.bench", "--no-report")


@pytest.mark.timeout(120)
@pytest.mark.parametrize(("ahead_s", "way"), [pytest.param(2.0, "forward", marks=pytest.mark.long), (-2.0, "back")])
def test_a_cell_fails_when_the_clock_of_its_load_generator_is_set(
    bench: Bench, clock: SetClock, ahead_s: float, way: str
) -> None:
    ended = run_on_a_host_of_its_own(bench, clock, ahead_s)
    (verdict,) = bench.journal("cell_ended")
    (measured,) = [record for record in bench.journal("job_collected") if record["job"] == "measure"]
    assert ended.code == 3, ended.text
    assert measured["exit_code"] == 0
    assert measured["clock_set_s"] == pytest.approx(ahead_s, abs=0.1)
    took = measured["ended_at"] - measured["started_at"]
    reason = verdict["reason"]
    said = re.match(
        rf"the clock of box was set {way} by ([\d.]+) s during the measurement(: |, and its job took)", reason
    )
    assert said, reason
    assert float(said[1]) == pytest.approx(abs(ahead_s), abs=0.1)
    (job,) = re.findall(r"its job took ([\d.]+) s by the time since boot", reason)
    assert float(job) == pytest.approx(took, abs=0.01)
    # What is measured by a clock that is set back contradicts itself in other ways, too.
    if ahead_s > 0:
        (tool,) = re.findall(r"db_bench, which times itself by it, says ([\d.]+) s", reason)
        assert float(tool) == pytest.approx(took + ahead_s, abs=1.0)
    assert bench("query", "SELECT value FROM measure.throughput WHERE value IS NOT NULL", "--json").json == []


@pytest.mark.long
@pytest.mark.timeout(120)
def test_a_cell_fails_when_a_clock_that_is_set_cuts_its_warm_up_short(bench: Bench, clock: SetClock) -> None:
    ended = run_on_a_host_of_its_own(bench, clock, 3600.0, "warm_up = 5 s")
    assert ended.code == 3, ended.text
    (verdict,) = bench.journal("cell_ended")
    assert re.match(
        r"the clock of box was set forward by 3,600\.0 s during the warm-up, and the warm-up on box took "
        r"[1-4]\.\d\d s of 5 s by the time since boot \(let time servers slew",
        verdict["reason"],
    )
    assert "measure" not in [record["job"] for record in bench.journal("job_collected")]


@pytest.mark.timeout(120)
def test_a_cell_fails_when_its_warm_up_dies(bench: Bench) -> None:
    dies = '*--seed=1000001*) echo "IO error: No space left on device" >&2; exit 1;;'
    tool = wrapped.db_bench(bench.folder / "tool", dies)
    bench.spec(SPEC, TOOL=f'db_bench("{tool}")', HOSTS="local", SECONDS="1", MORE="warm_up = 2 s")
    ended = bench("run", "brief.bench", "--no-report")
    assert ended.code == 3, ended.text
    (verdict,) = bench.journal("cell_ended")
    assert "db_bench ended with code 1: IO error: No space left on device" in verdict["reason"]


@pytest.mark.long
@pytest.mark.timeout(120)
def test_a_cell_fails_when_its_tool_says_more_seconds_than_its_job_took(bench: Bench, clock: SetClock) -> None:
    """Only the tool uses this clock, so the host's clock does not show the change."""
    words = " ".join(f"{name}='{value}'" for name, value in clock.env.items())
    tool = wrapped.db_bench(bench.folder / "tool", f"*--duration*) export {words};;")
    bench.spec(SPEC, TOOL=f'db_bench("{tool}")', HOSTS="local", SECONDS="5", MORE="")
    with set_during(clock, 3600.0, lambda: has_measured(bench.tmp, 2)):
        ended = bench("run", "brief.bench", "--no-report")
    assert ended.code == 3, ended.text
    (verdict,) = bench.journal("cell_ended")
    assert re.fullmatch(
        r"the clock of the controller is not to be believed: db_bench, which times itself by it, says 3,60\d\.\d\d s, "
        r"and its job took \d\.\d\d s by the time since boot \(let time servers .*\)",
        verdict["reason"],
    )


@pytest.mark.timeout(120)
@pytest.mark.long
@pytest.mark.parametrize("ahead_s", [-3.0, 3600.0])
def test_samples_of_another_host_stay_in_place_when_the_controller_s_clock_is_set(
    bench: Bench, clock: SetClock, ahead_s: float
) -> None:
    """All programs of the controller use the clock that is set. The host's programs do not."""
    tool = wrapped.db_bench(bench.folder / "tool")
    probes = "probes = [cpu every 0.25 s, memory every 0.25 s]"
    bench.spec(SPEC, TOOL=f'db_bench("{tool}")', HOSTS='"box"', SECONDS="5", MORE=probes)
    with sshd(config=f"SetEnv TMPDIR={bench.tmp}") as server:
        env = {**clock.env, "HOME": str(server.home)}
        with set_during(clock, ahead_s, lambda: has_measured(bench.tmp, 2)):
            ended = bench("run", "brief.bench", "--no-report", env=env)
    assert ended.code == 0, ended.text
    assert any("the clock of the controller was set" in record["text"] for record in bench.journal("remark"))
    query = "SELECT t_s FROM samples WHERE measure = 'cpu' ORDER BY t_s"
    times = [row["t_s"] for row in bench("query", query, "--json").json]
    readings = readings_of(bench.run_dir, since_boot=False)
    start = start_of_window(readings, times)
    (measured,) = [record for record in bench.journal("job_collected") if record["job"] == "measure"]
    assert measured["started_at"] - LATE_S <= start <= measured["ended_at"] - 5 + LATE_S
    assert 0 <= times[0] <= times[-1] <= 5.5, "none lies outside of the window"
    shares = {row["probe"]: row["share"] for row in bench("query", "SELECT probe, share FROM coverage", "--json").json}
    assert shares["cpu"] == pytest.approx(covered(readings, start, 5.0, 1.25), abs=0.1)
    assert 0 < shares["memory"] <= 1
    (begun,), (over,) = bench.journal("cell_started"), bench.journal("cell_ended")
    assert 5 < over["at"] - begun["at"] < 60, "no time in the journal has the step in it"
