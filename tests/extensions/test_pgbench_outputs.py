"""Tests pgbench's outputs and logs, recorded from version 15. They are read and summed up, and are refused if they
contradict themselves."""

from __future__ import annotations

import shutil
import subprocess
import tracemalloc
from pathlib import Path

import pytest
from bench_postgres.libpq_environment import environment
from bench_postgres.pgbench_importer import PgbenchImporter
from bench_postgres.pgbench_output import TwoRuns, against_log, contradictions, read_summary
from bench_postgres.spec import TOOL
from bench_postgres.transaction_log import LogFile, NotALog, Transactions, fold_logs, read_folded

from benchbrief.model.histogram import percentile
from benchbrief.results.imports.imported_files import OutputProblem
from benchbrief.runners.errors import RunnerError
from benchbrief.runners.journal.secret_masking import Secret
from benchbrief.runners.world import simulated_world
from tests.support import cells
from tests.support.environment import REPOSITORY
from tests.support.postgres import BIN
from tests.support.tools import system_tool

RECORDED = Path(__file__).parent / "pgbench"
AWK = REPOSITORY / "examples" / "extensions" / "postgres" / "bench_postgres" / "fold_log.awk"
RUN = AWK.with_name("run_pgbench.sh")


def output(name: str) -> list[str]:
    return (RECORDED / f"{name}.txt").read_text().splitlines()


def logs(name: str) -> dict[str, list[str]]:
    return {path.name: path.read_text().splitlines() for path in sorted(RECORDED.glob(f"{name}.4*"))}


def by_awk(folder: Path, log: Transactions, name: str, *, offered: bool) -> Transactions:
    """Fold the recorded logs as the load generator's host does."""
    start, end = (f"{each:.6f}" for each in log.window)
    given = ("-v", f"start={start}", "-v", f"end={end}", "-v", f"rate={int(offered)}", "-f", str(AWK))
    files = [str(path) for path in sorted(RECORDED.glob(f"{name}.4*"))]
    done = subprocess.run(["awk", *given, *files], capture_output=True, text=True, check=True)
    (folder / "transactions").write_text(done.stdout)
    return read_folded(folder / "transactions")


@pytest.mark.parametrize(("name", "offered"), [("closed", False), ("open", True)])
@pytest.mark.parametrize("warm_up_s", [0.0, 0.5])
def test_the_host_and_the_importer_fold_a_log_alike(tmp_path: Path, name: str, offered: bool, warm_up_s: float) -> None:
    found = read_summary(output(name))
    here = fold_logs(logs(name), found.seconds, warm_up_s, offered=offered)
    there = by_awk(tmp_path, here, name, offered=offered)
    assert there.kinds == here.kinds
    assert (there.done, there.latency, there.lag, there.longest_lag) == (
        here.done,
        here.latency,
        here.lag,
        here.longest_lag,
    )
    assert there.seconds == here.seconds
    assert list(contradictions(found)) == []
    assert list(against_log(found, there)) == []
    inside = here.kinds["service"].count
    assert inside == here.done if not warm_up_s else 0.6 * here.done < inside < 0.9 * here.done


def test_an_offered_load_s_logged_time_begins_with_its_schedule() -> None:
    """pgbench prints the mean of the logged times. This mean minus the mean lag is the mean of the service times."""
    found = read_summary(output("open"))
    log = fold_logs(logs("open"), found.seconds, 0.0, offered=True)
    assert found.mean_ms is not None
    assert found.lag_ms is not None
    assert log.kinds["intended"].mean_s * 1000 == pytest.approx(found.mean_ms, abs=0.001)
    assert log.kinds["service"].mean_s * 1000 == pytest.approx(found.mean_ms - found.lag_ms[0], abs=0.002)


def test_percentiles_of_the_fold_are_those_of_the_log() -> None:
    found = read_summary(output("closed"))
    folded = fold_logs(logs("closed"), found.seconds, 0.0, offered=False)
    times = sorted(int(line.split()[2]) for text in logs("closed").values() for line in text)
    for percent in (50, 90, 99):
        exact = times[round(percent / 100 * len(times)) - 1] / 1e6
        assert percentile(folded.kinds["service"].histogram(), percent) == pytest.approx(exact, rel=0.02)


@pytest.mark.long
def test_a_log_is_read_from_its_file_line_by_line(tmp_path: Path) -> None:
    path = tmp_path / "pgbench_log.1"
    path.write_text("".join(f"0 {n} 1500 0 1795395800 {n:06}\n" for n in range(1, 15_001)))
    tracemalloc.start()
    found = fold_logs({"log": LogFile(path)}, 1.0, 0.0, offered=False)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert found.done == 15_000
    assert most < 1 << 17, "of a file of half a megabyte"


@pytest.mark.parametrize("offered", [True, False])
def test_a_simulated_closed_loop_is_not_behind_a_schedule(offered: bool) -> None:
    said = {sample.measure for sample in simulated_world._samples(TOOL, 10.0, offered=offered)}
    assert ("pgbench.schedule_lag" in said) == offered


def test_skipped_and_failed_transactions_have_no_latency() -> None:
    text = {
        "log": [
            "0 1 1500 0 1795395800 500000 500",
            "0 2 skipped 0 1795395800 600000 0",
            "0 3 deadlock 0 1795395800 700000 0",
            "1 1 2500 0 1795395801 250000 1000",
        ]
    }
    found = fold_logs(text, 1.0, 0.0, offered=True)
    assert found.errors == 2
    assert found.failed == {"skipped": 1, "deadlock": 1}
    assert (found.kinds["service"].low, found.kinds["service"].high) == (1000, 1500)
    assert (found.kinds["intended"].low, found.kinds["intended"].high) == (1500, 2500)
    assert [(sample.time, sample.value) for sample in found.schedule_lags()] == [(1.0, 0.0005)]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("processed: 474", "processed: 470", "it did 470 transactions, and its log has 474"),
        ("latency average = 8.377", "latency average = 8.177", "its mean latency is 8.177 ms, and 8.3"),
        ("tps = 238.031510", "tps = 338.031510", "474 transactions at 338.032 a second take 1.402 s"),
        ("failed transactions: 0", "failed transactions: 3", "3 of its transactions failed, and 0 in its log"),
        ("latency average = 8.377", "latency average = 9.377", "its latencies add up to 4.444 s, and its 2 clients"),
    ],
)
def test_a_changed_number_is_found_by_what_it_contradicts(old: str, new: str, said: str) -> None:
    text = "\n".join(output("closed"))
    assert old in text
    found = read_summary(text.replace(old, new).splitlines())
    log = fold_logs(logs("closed"), read_summary(output("closed")).seconds, 0.0, offered=False)
    problems = [*contradictions(found), *against_log(found, log)]
    assert any(said in each for each in problems), problems


def test_a_cut_output_and_one_of_two_runs_are_refused(tmp_path: Path) -> None:
    text = output("open")
    with pytest.raises(NotALog, match="no line `tps`"):
        read_summary(text[:-1])
    with pytest.raises(TwoRuns) as error:
        read_summary([*text, *text])
    assert error.value.line == len(text) + 2
    path = tmp_path / "transactions"
    path.write_text("pgbench transactions 1\nwindow 1.0 2.0\n")
    with pytest.raises(NotALog, match="is cut"):
        read_folded(path)
    path.write_text("pgbench transactions 1\nlatency service 2 20 10 10\nbucket service 10 1 1\nend\n")
    with pytest.raises(NotALog, match="hold 1 of 2"):
        read_folded(path)


def imported(folder: Path, *names: str) -> None:
    files = {"stdout" if name.endswith("txt") else f"log.{number}": folder / name for number, name in enumerate(names)}
    PgbenchImporter().read(files, "select_only", {})


def test_the_importer_refuses_what_proves_nothing(tmp_path: Path) -> None:
    for path in RECORDED.iterdir():
        shutil.copy(path, tmp_path)
    imported(tmp_path, "open.txt", "open.4711", "open.4711.1")
    with pytest.raises(OutputProblem, match="it did 194 transactions, and its log has 96"):
        imported(tmp_path, "open.txt", "open.4711")
    with pytest.raises(OutputProblem, match="which is no line of a log"):
        imported(tmp_path, "open.txt", "closed.4711")
    with pytest.raises(OutputProblem, match="without its output"):
        imported(tmp_path, "open.4711")
    (tmp_path / "open.txt").write_text("pgbench: error: connection to server failed\n")
    with pytest.raises(OutputProblem, match="not an output of pgbench"):
        imported(tmp_path, "open.txt")


def test_an_empty_log_of_a_thread_is_known_by_its_name(tmp_path: Path) -> None:
    """A thread that ended no transaction leaves an empty log."""
    for path in RECORDED.glob("open*"):
        shutil.copy(path, tmp_path)
    empty = tmp_path / "open.4711.2"
    empty.touch()
    importer = PgbenchImporter()
    assert importer.kept_name(empty, {}) == "log.2"
    assert importer.outputs_of(empty, sorted(tmp_path.iterdir())) == [tmp_path / "open.txt"]
    imported(tmp_path, "open.txt", "open.4711", "open.4711.1", "open.4711.2")


def test_the_host_s_script_ends_as_pgbench_does(tmp_path: Path) -> None:
    values = {"clients": "1", "warm_up": "0", "rate": "0", "fold": AWK.read_text()}
    done = subprocess.run(
        ["sh", str(RUN), str(system_tool(str(BIN / "pgbench"))), "--time=1", "--client=1"],
        cwd=tmp_path,
        env={"PATH": "/usr/bin:/bin", "PGHOST": "127.0.0.1", "PGPORT": "1", **values},
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    assert "Connection refused" in done.stderr
    assert not (tmp_path / "transactions").exists()


def test_a_connection_string_becomes_the_environment_of_libpq() -> None:
    database = cells.attached("postgresql://ignored/x")
    word = Secret("p%3Aq", "uri", of=("p:q",))
    uri = Secret(f"postgresql://bench:{word.value}@a:5433,[::1]/shop?sslmode=require", "uri", of=("p:q",))
    found = dict(environment(uri, database))
    password = found.pop("PGPASSWORD")
    assert isinstance(password, Secret)
    assert password.value == "p:q"
    assert found["PGHOST"] == "a,::1"
    assert found["PGPORT"] == "5433,5432"
    assert (found["PGUSER"], found["PGDATABASE"], found["PGSSLMODE"]) == ("bench", "shop", "require")
    assert found["LC_ALL"] == "C"
    with pytest.raises(RunnerError, match="its parameter `sslpassword` is none that is passed on"):
        environment(Secret("postgresql://h/x?sslpassword=geheim", "uri"), database)


@pytest.mark.parametrize(("benchmark", "refused"), [("tpcb", ""), ("select_only", "it ran"), ("sql", "it ran")])
def test_scripts_are_known_by_their_names_before_9_6(benchmark: str, refused: str) -> None:
    path = RECORDED / "version-9.5.txt"
    found = read_summary(output("version-9.5"))
    assert (found.done, found.mean_ms, found.rate, found.asked_s) == (3265, 9.188, 108.832630, 30)
    assert list(contradictions(found)) == []
    of = cells.context(cells.ycsb("a"), cells.attached("postgresql://a/b"))
    workload = of.plan.workload_of(of.cell).model_copy(update={"benchmark": benchmark})
    plan = of.plan.model_copy(update={"workloads": {of.cell.workload: workload}})
    problems = [each.text for each in PgbenchImporter().contradictions(path, of.cell, plan)]
    assert [text[:6] for text in problems] == [refused][: bool(refused)]
