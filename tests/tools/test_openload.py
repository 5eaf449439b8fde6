"""Tests the load generator in loadgen/: with its own tests in Go, and by running its programs against real servers."""

import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.longer import longer
from tests.support.mongo import mortal_stand_in, running_stand_in
from tests.support.openload import JUDGED_GENTLY, Ended, command, invariants_hold, openload
from tests.support.tools import REPOSITORY, built_tool, system_tool, tools_dir

RECORDS = 1000


@pytest.fixture(scope="module")
def uri() -> Iterator[str]:
    """Yield the address of a server with the records of `ycsb.usertable`."""
    built_tool("mongo-stand-in/bin/mongo-stand-in")
    with running_stand_in(tools_dir()) as (host, port):
        yield f"mongodb://{host}:{port}/"


@pytest.fixture(scope="module")
def loaded(uri: str, tmp_path_factory: pytest.TempPathFactory) -> str:
    output = tmp_path_factory.mktemp("load") / "load"
    done = openload(f"load --uri {uri} --record-count {RECORDS} --workers 2 --output {output}")
    assert done.code == 0, done.errors
    assert (done.final["completed"], done.final["failed"], done.final["complete"]) == (RECORDS, 0, True)
    assert done.final == json.loads((output / "record.json").read_text())
    return uri


@pytest.mark.timeout(900)  # its queues run by the clock, beside whatever else the machine does
@pytest.mark.parametrize("short", ["true", pytest.param("false", marks=pytest.mark.long)])
def test_the_go_code_passes_vet_and_its_own_tests(short: str) -> None:
    system_tool("go")
    variables = os.environ | {"CGO_ENABLED": "0", "GOFLAGS": "-trimpath -buildvcs=false"}  # as the set-up builds it
    for words in (["vet", "./..."], ["test", f"-short={short}", "-parallel", "3", "./..."]):
        done = subprocess.run(
            ["go", *words], cwd=REPOSITORY / "loadgen", env=variables, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("workload", ["a", *longer(*"bcdf")])
def test_each_workload_runs_and_its_record_holds_what_is_promised(loaded: str, workload: str, tmp_path: Path) -> None:
    database = f"--uri {loaded} --database run-{workload} --record-count {RECORDS} --insert-order ordered"
    assert openload(f"load {database} --output {tmp_path}/load").code == 0
    done = openload(
        f"run {database} --workload {workload} --arrivals constant --rate 300 --warm-up 1 --duration 2 {JUDGED_GENTLY}"
        f" --output {tmp_path}/run"
    )
    assert done.code == 0, done.errors
    final = done.final
    invariants_hold(final, tmp_path / "run")
    assert (final["offered"], final["warm_up"]["offered"], final["window_s"]) == (600, 300, 2)
    assert final["completed"] == 600
    assert [line["kind"] for line in done.lines] == ["second"] * (len(done.lines) - 1) + ["final"]
    assert sum(line["completed"] for line in done.lines[:-1]) == 900


def ycsb(phase: str, uri: str, database: str, *properties: str) -> str:
    home = built_tool("ycsb")
    words = [home / "bin/ycsb.sh", phase, "mongodb", "-P", home / "workloads/workloada", "-threads", "2"]
    for assignment in (f"mongodb.url={uri}{database}", f"recordcount={RECORDS}", *properties):
        words += ["-p", assignment]
    return subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=60, check=True).stdout


@pytest.mark.long
def test_ycsb_reads_and_writes_what_openload_loaded(loaded: str) -> None:
    output = ycsb("run", loaded, "ycsb", "operationcount=500", "dataintegrity=false")
    assert "FAILED" not in output
    assert "Return=ERROR" not in output
    assert "Return=NOT_FOUND" not in output


@pytest.mark.long
def test_openload_reads_and_writes_what_ycsb_loaded(uri: str, tmp_path: Path) -> None:
    ycsb("load", uri, "by-ycsb")
    done = openload(
        f"run --uri {uri} --database by-ycsb --record-count {RECORDS} --workload f --arrivals closed --workers 2"
        f" --operations 500 {JUDGED_GENTLY} --output {tmp_path}/run"
    )
    assert done.code == 0, done.errors
    invariants_hold(done.final, tmp_path / "run")
    assert [operation["not_found"] for operation in done.final["operations"].values()] == [0, 0]
    assert done.final["completed"] == 500


def test_records_that_are_not_there_are_errors(uri: str, tmp_path: Path) -> None:
    database = f"--uri {uri} --database gone --insert-order ordered"
    assert openload(f"load {database} --record-count {RECORDS} --output {tmp_path}/load").code == 0
    records = f"--record-count {RECORDS * 9 // 8}"
    run = f"run {database} {records} --arrivals closed --workers 2 --operations 900 {JUDGED_GENTLY}"
    done = openload(f"{run} --read 0.4 --update 0.3 --read-modify-write 0.3 --output {tmp_path}/run")
    assert done.code == 1
    assert [refusal["code"] for refusal in done.final["refusals"]] == ["errors", "not-found"]
    for operation in done.final["operations"].values():
        assert operation["not_found"] == operation["failed"] > 0
    assert done.final["failed"] / done.final["started"] == pytest.approx(1 / 9, abs=0.05)
    invariants_hold(done.final, tmp_path / "run")


def test_what_was_just_inserted_may_be_missing_where_reads_may_be_stale(uri: str, tmp_path: Path) -> None:
    """The stand-in has no secondaries. Records that were never inserted stand for those that have not reached a
    secondary yet."""
    database = f"--uri '{uri}?readPreference=secondaryPreferred' --database stale --insert-order ordered"
    assert openload(f"load {database} --record-count {RECORDS} --output {tmp_path}/load").code == 0
    run = f"run {database} --arrivals closed --operations 400 --distribution latest {JUDGED_GENTLY}"
    done = openload(f"{run} --record-count {RECORDS} --read 0.5 --insert 0.5 --output {tmp_path}/run")
    assert (done.code, done.final["failed"]) == (0, 0), done.errors
    done = openload(f"{run} --record-count {RECORDS * 2} --read 1 --output {tmp_path}/loaded")
    assert done.code == 1, "the records of the load must be there"
    assert done.final["operations"]["read"]["failed"] > 0


def test_the_schedule_is_the_same_for_the_same_seed_and_is_what_is_run(tmp_path: Path) -> None:
    flags = "--record-count 100 --workload d --arrivals poisson --rate 500 --duration 2"
    schedules = [
        subprocess.run(command(f"schedule {flags} --seed {seed}"), capture_output=True, text=True, check=True).stdout
        for seed in (7, 7, 8)
    ]
    assert schedules[0] == schedules[1] != schedules[2]
    lines = [line.split("\t") for line in schedules[0].splitlines()]
    done = openload(f"run {flags} --seed 7 --target null {JUDGED_GENTLY} --output {tmp_path}/run")
    assert {name: operation["completed"] for name, operation in done.final["operations"].items()} == {
        kind: sum(line[2] == kind for line in lines) for kind in ("read", "insert")
    }


RUN = "run --target null --record-count 10 --workload a --output OUT"


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ("", "no command: load, run, schedule or version"),
        ("rnu", 'there is no command "rnu"'),
        (RUN, '--arrivals ""'),
        (f"{RUN} --arrivals constant --rate 0 --duration 1", "the rate is 0 throughout"),
        (f"{RUN} --arrivals constant --rate 1e9 --duration 1", "--rate 1e+09: it must be from 0 to 1e+07"),
        (f"{RUN} --arrivals constant --rate NaN --duration 1", "--rate NaN: it must be"),
        (f"{RUN} --arrivals constant --rate 9", "--duration or --operations is missing"),
        (f"{RUN} --arrivals constant --rate 9 --rate 10 --duration 1", "--rate is there twice"),
        (f"{RUN} --arrivals closed --rate 9 --duration 1", "--rate has no meaning with --arrivals closed"),
        (f"{RUN} --arrivals steps --steps 100x", 'step "100x" is not a rate and seconds'),
        (f"{RUN} --arrivals steps --steps 10x2 --warm-up 3", "the run ends after 2 s, within its warm-up"),
        (
            f"{RUN} --arrivals burst --rate 1 --burst-rate 9 --burst-every 2 --burst-length 3 --duration 9",
            "must be shorter",
        ),
        (f"{RUN} --arrivals trace --trace /nowhere", "/nowhere: no such file"),
        (f"{RUN} --read 1 --arrivals closed --duration 1", "--read has no meaning with --workload"),
        (f"{RUN} --judge p99 --arrivals closed --duration 1", "percentiles above 0 and below 100"),
        (f"{RUN} --workers 1000000 --arrivals closed --duration 1", "--workers 1e+06: it must be from 1 to"),
        (
            f"{RUN} --arrivals closed --duration 99 --steady-within 0.1 --steady-from 49",
            "--steady-from 49: it must be at",
        ),
        (f"{RUN} --arrivals closed --duration 99 --steady-within 0.1 --steady-from 99", "it must be below --duration"),
        (f"{RUN} --arrivals closed --duration 99 --steady-within 2", "--steady-within 2: it must be above 0"),
        (f"{RUN} extra", '"extra" is no flag'),
        (f"{RUN} --rat 5", "flag provided but not defined: -rat"),
        ("load --target null --record-count 9 --insert-count 10 --output OUT", "--insert-count 10"),
        (f"{RUN.replace('null', 'cassandra')} --arrivals closed --duration 1", '--target "cassandra"'),
    ],
)
def test_a_wrong_command_line_ends_with_code_2_and_one_line(arguments: str, error: str, tmp_path: Path) -> None:
    done = openload(arguments.replace("OUT", f"{tmp_path}/out"))
    assert done.code == 2
    assert error in done.errors
    assert done.errors.startswith("openload-mongodb: ")
    assert done.errors.count("\n") == 1
    assert done.lines == []


def test_a_trace_out_of_order_is_refused_by_its_line(tmp_path: Path) -> None:
    (tmp_path / "trace").write_text("0.1\n0.3\n0.2\n")
    done = openload(f"{RUN} --arrivals trace --trace {tmp_path}/trace".replace("OUT", f"{tmp_path}/out"))
    assert done.code == 2
    assert "line 3 of the trace: 0.2 s is before the line above it (0.3 s)" in done.errors


QUICK = f"--record-count 10 --workload a --arrivals constant --rate 200 --duration 1 {JUDGED_GENTLY}"


def test_a_folder_with_a_record_is_not_written_over(tmp_path: Path) -> None:
    assert openload(f"run --target null {QUICK} --output {tmp_path}").code == 0
    done = openload(f"run --target null {QUICK} --output {tmp_path}")
    assert done.code == 2
    assert "has a record.json already" in done.errors


def test_a_server_that_is_not_there_is_said_and_no_password_shown(tmp_path: Path) -> None:
    uri = "mongodb://user:swordfish@127.0.0.1:1/"
    done = openload(f"run --uri {uri} --timeout 0.5 {QUICK} --output {tmp_path}")
    assert done.code == 3
    assert "the server does not answer" in done.errors
    assert "swordfish" not in done.errors
    assert not (tmp_path / "record.json").exists()


def test_a_collection_without_the_records_is_refused(uri: str, tmp_path: Path) -> None:
    done = openload(f"run --uri {uri} --database empty {QUICK} --output {tmp_path}")
    assert done.code == 3
    assert "collection empty.usertable has none of the first records, such as user6284781860667377211" in done.errors


def test_records_that_are_there_already_make_a_load_fail(loaded: str, tmp_path: Path) -> None:
    done = openload(f"load --uri {loaded} --record-count {RECORDS + 10} --output {tmp_path}")
    assert done.code == 1
    assert (done.final["completed"], done.final["failed"]) == (10, RECORDS)
    assert [refusal["code"] for refusal in done.final["refusals"]] == ["errors"]


@pytest.mark.long
@pytest.mark.parametrize("how", [*longer("stopped"), "killed"])
def test_a_server_that_is_lost_for_good_ends_the_run_with_code_4(how: str, tmp_path: Path) -> None:
    built_tool("mongo-stand-in/bin/mongo-stand-in")
    with mortal_stand_in(tools_dir()) as (host, port, server):
        uri = f"--uri mongodb://{host}:{port}/ --record-count 10 --workers 4"
        assert openload(f"load {uri} --output {tmp_path}/load").code == 0
        flags = "--workload c --arrivals constant --rate 500 --duration 60 --queue 100 --give-up 2 --timeout 30"
        words = command(f"run {uri} {flags} --output {tmp_path}/run")
        with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as client:
            assert client.stdout is not None
            first = client.stdout.readline()
            server.send_signal(signal.SIGSTOP if how == "stopped" else signal.SIGKILL)
            output, errors = client.communicate(timeout=30)
        server.kill()
    assert client.returncode == 4
    assert "nothing succeeded for 2 s, so the run was cut" in errors
    final = Ended(client.returncode, errors, first + output).final
    assert (final["ended"], final["complete"]) == ("gave-up", False)
    assert final["dropped"] > 0 or final["failed"] > 0
    assert final["longest_queue"] <= 100 + 4
    invariants_hold(final, tmp_path / "run")


def test_what_a_full_queue_drops_is_counted_and_refused(loaded: str, tmp_path: Path) -> None:
    done = openload(
        f"run --uri {loaded} --record-count {RECORDS} --workload c --arrivals constant --rate 200000 --duration 1"
        f" --workers 2 --queue 50 --output {tmp_path}"
    )
    assert done.code == 1
    assert "drops" in [refusal["code"] for refusal in done.final["refusals"]]
    assert done.final["offered"] == 200_000
    assert done.final["complete"]
    invariants_hold(done.final, tmp_path)


@pytest.mark.parametrize(("sent", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupted_run_says_so(sent: signal.Signals, code: int, tmp_path: Path) -> None:
    flags = "--record-count 10 --workload a --arrivals constant --rate 100 --duration 60"
    words = command(f"run --target null {flags} --output {tmp_path}")
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as client:
        assert client.stdout is not None
        first = client.stdout.readline()
        start = time.monotonic()
        client.send_signal(sent)
        output, _ = client.communicate(timeout=30)
    assert client.returncode == code
    assert time.monotonic() - start < 5
    final = Ended(code, "", first + output).final
    assert (final["ended"], final["complete"]) == ("interrupted", False)
    invariants_hold(final, tmp_path)


@pytest.mark.parametrize("name", [*longer("histograms.hlog"), "record.json.new"])
def test_a_full_disk_ends_the_run_with_code_5(name: str, tmp_path: Path) -> None:
    (tmp_path / name).symlink_to("/dev/full")
    done = openload(f"run --target null {QUICK} --output {tmp_path}")
    assert done.code == 5
    assert "no space left on device" in done.errors
    assert not (tmp_path / "record.json").exists()
