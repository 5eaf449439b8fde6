"""Tests `bench stop` and what it does on a host, and the error of a second run on a claimed host."""

from __future__ import annotations

import os
import re
import shutil
import signal
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import pytest

from benchbrief.runners.jobs.claim_holders import VOID_AFTER_S
from benchbrief.runners.journal.run_identity import IDENTITY, run_name
from tests.support import wrapped
from tests.support.bench import Bench, Started
from tests.support.sshd import Sshd, sshd, system_user
from tests.support.tools import system_tool
from tests.support.waiting import until

SPEC = """\
hardware there { hosts = "box" }
database rocks { engine = rocksdb  path = "@DATA@/one"  tool = @TOOL@  options { compression = "none" } }
workload fill from db_bench.fillrandom { records = 2k }
experiment e { hardware = there  workloads = [fill]  threads = [1]  measure = 1 s  probes = [cpu every 1 s] }
"""


@pytest.fixture
def far(bench: Bench) -> Iterator[Sshd]:
    """Yield a host with a tool that takes ten minutes."""
    system_tool("sshd")
    tool = wrapped.db_bench(bench.folder / "slow", '*--num=*) set -- "$@" --duration=600;;')
    bench.spec(SPEC, TOOL=f'db_bench("{tool}")')
    with sshd() as server:
        bench.env["HOME"] = str(server.home)
        yield server


def left(server: Sshd) -> list[Path]:
    return list((server.directory / "tmp").rglob("*"))


def tools(server: Sshd) -> list[str]:
    """Return the command lines of the tools that run on the host."""
    return [line.decode() for line in commands(server) if b"db_bench" in line]


def commands(server: Sshd) -> list[bytes]:
    """Return the command lines of all processes of jobs on the host. Such a process has its job's folder in its
    environment."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        try:
            if f"{server.directory}/tmp/benchbrief-".encode() in (path / "environ").read_bytes():
                found.append((path / "cmdline").read_bytes())
        except OSError:
            continue
    return found


def jobs(server: Sshd) -> int:
    """Return how many jobs of the tool, and how many of the probe, were started on the host."""
    return sum(path.name == "pid" and bool(path.read_text()) for path in left(server))


def killed(server: Sshd, run: Started) -> None:
    until(lambda: tools(server) and jobs(server) >= 2, 60)
    run.signal(signal.SIGKILL)
    run.process.wait(60)


@contextmanager
def in_the_background() -> Iterator[None]:
    """Ignore SIGINT in the processes started here, as a shell script does for a command that ends in `&`."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@pytest.mark.long
def test_a_run_that_goes_on_is_stopped_with_nothing_left_and_a_second_one_is_kept_off(bench: Bench, far: Sshd) -> None:
    with ExitStack() as stack:
        with in_the_background():
            run = stack.enter_context(bench.started("run", "brief.bench", anew=True))
        until(lambda: tools(far), 60)
        refused = bench("run", "brief.bench", "--out", "other")
        assert refused.code == 2
        assert f"box is held by run {bench.run_dir.name} of process {run.process.pid} on " in refused.err
        assert f"bench stop {bench.run_dir}" in refused.err
        assert "--wait" in refused.err
        assert not list((bench.folder / "other").glob("*/plan.json")), "nothing was begun"
        with bench.started("run", "brief.bench", "--out", "other", "--wait") as waiting:
            waiting.until_it_says("waiting for it")
            status = bench("status", "--out", "other", bench.run_dir.name[:8])
            assert f"  waits: box is held by run {bench.run_dir.name} of process {run.process.pid} on " in status.out
            stopped = bench("stop")
            assert stopped.code == 0, stopped.text
            assert f"asked process {run.process.pid} to stop" in stopped.err
            by = "stopped by its own controller, which leaves nothing on its hosts"
            kept = f"what it has measured is kept; go on with: bench resume {bench.run_dir.name}"
            assert stopped.out == f"{bench.run_dir.name}: {by}\n{kept}\n"
            assert run.wait(60).code == 130
            until(lambda: tools(far), 30)
            waiting.signal(signal.SIGINT)
            assert waiting.wait(30).code == 130
    assert left(far) == []
    assert tools(far) == []
    again = bench("stop", bench.run_dir.name, "--json")
    assert again.code == 0
    assert again.json["how"] == "ended"
    assert bench("stop").code == 2, "no run goes on"


def test_a_run_whose_controller_is_gone_is_found_by_doctor_and_ended_by_stop(bench: Bench, far: Sshd) -> None:
    with bench.started("run", "brief.bench") as run:
        killed(far, run)
        doctor = bench("doctor", "brief.bench")
        assert doctor.code == 3
        strays = [line for line in doctor.out.splitlines() if line.startswith("stray")]
        assert any(f"the claim of run {bench.run_dir.name} of process {run.process.pid}" in line for line in strays)
        assert any("/measure/" in line or "still runs" in line for line in strays)
        assert f"end it with: bench stop {bench.run_dir}" in doctor.out

        stopped = bench("stop", "--json")
        assert stopped.code == 0, stopped.text
        assert stopped.json["how"] == "cleaned"
        assert stopped.json["jobs_ended"] >= 2, "the tool and the probe"
        assert stopped.json["not_cleaned"] == []
        assert left(far) == []
        until(lambda: tools(far) == [])
    assert bench.journal("run_ended")[-1]["status"] == "interrupted"
    assert "stray" not in bench("doctor", "brief.bench").out
    with bench.started("resume") as again:
        until(lambda: tools(far), 60)
        again.signal(signal.SIGINT)
        assert again.wait(30).code == 130
    texts = [each["text"] for each in bench.journal("remark")]
    assert any(text.endswith("from its first step: nothing is left of the measure job on box") for text in texts), texts


APART = """\
hardware there { hosts = "box"  prepare = command("MARK=prepare setsid -f sleep 600") }
database rocks {
  engine = rocksdb  path = "@DATA@/one"  tool = @TOOL@  prepare = command("MARK=database setsid -f sleep 600")
}
workload rww from db_bench.readwhilewriting { records = 2k }
experiment e {
  hardware = there  workloads = [rww]  threads = [1]  measure = 60 s
  at 5 s "Something" { command("MARK=event setsid -f sleep 600", on: first) }
}
"""


def apart(server: Sshd) -> set[str]:
    """Return those commands of the spec that have their own process on the host."""
    found = set()
    for path in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            its = (path / "environ").read_bytes().split(b"\0")
            if any(each.startswith(f"BENCHBRIEF_JOB={server.directory}/".encode()) for each in its):
                found |= {each.decode()[5:] for each in its if each.startswith(b"MARK=")}
    return found


def test_what_commands_start_in_sessions_of_their_own_ends_with_the_run(bench: Bench, far: Sshd) -> None:
    tool = wrapped.db_bench(bench.folder / "quick")
    bench.spec(APART, TOOL=f'db_bench("{tool}")')
    every = {"prepare", "database", "event"}
    with bench.started("run", "brief.bench") as run:
        until(lambda: apart(far) == every, 90)
        run.signal(signal.SIGTERM)
        assert run.wait(60).code == 130
    assert apart(far) == set()
    texts = [each["text"] for each in bench.journal("remark")]
    assert any("processes that commands of the run had left on box were ended with the run" in text for text in texts)

    with bench.started("resume") as run:
        until(lambda: apart(far) == every, 90)
        run.signal(signal.SIGKILL)
        run.process.wait(60)
        assert ", left by a job of run" in bench("doctor", "brief.bench").out
        stopped = bench("stop")
        assert re.search(r"box: ended process \d+ \(sleep\), left by a job of run", stopped.out), stopped.text
        assert re.search(r"; ended \d jobs?, ended \d processes that its jobs had left, ", stopped.out)
    assert apart(far) == set()
    assert left(far) == []


HERE = SPEC.replace('"box"', "local").replace("[cpu every 1 s]", "[]").replace("there", "here")


@pytest.mark.long
def test_a_dead_run_of_another_user_holds_the_machine_only_while_that_user_has_jobs(bench: Bench) -> None:
    system_tool("sshd")
    if os.getuid() != 0:
        pytest.skip("only root can make another user")
    with system_user() as user, sshd(user=user) as server:
        tmp = server.directory / "tmp"
        bench.env |= {"HOME": str(server.home), "TMPDIR": str(tmp)}
        slow = wrapped.db_bench(server.directory / "slow", '*--num=*) set -- "$@" --duration=600;;')
        theirs = bench.spec(SPEC, "theirs.bench", TOOL=f'db_bench("{slow}")')
        theirs.write_text(theirs.read_text().replace(f"{bench.data}/one", f"{tmp}/data/one"))
        bench.spec(HERE, TOOL=f'db_bench("{wrapped.db_bench(bench.folder / "quick")}")')
        with bench.started("run", "theirs.bench") as run:
            killed(server, run)
            refused = bench("run", "brief.bench", "--out", "other")
            assert refused.code == 2, refused.text
            since = rf"of process {run.process.pid} on \S+, of its user {user}, since [\d: -]{{19}}; "
            assert re.search(f"{since}that process is gone, and jobs of {user} still run", refused.err), refused.err
            assert f"`sudo -u {user} bench stop {bench.run_dir}`" in refused.err
            assert re.search(
                rf"^held +local .*, of its user {user}, ", bench("doctor", "brief.bench").out, re.MULTILINE
            )
            for job in tmp.glob("benchbrief-*/*/pid"):
                os.killpg(int(job.read_text()), signal.SIGKILL)
            until(lambda: not commands(server))
            taken = bench("run", "brief.bench", "--out", "other")
        assert taken.code == 0, taken.text


@pytest.mark.long
def test_a_run_whose_folder_was_moved_is_still_seen_ended_and_resumed(bench: Bench, far: Sshd) -> None:
    with bench.started("run", "brief.bench") as run:
        killed(far, run)
        moved = bench.run_dir.rename(bench.folder / "bench-out" / "moved")
        doctor = bench("doctor", "brief.bench")
        assert doctor.code == 3, doctor.text
        assert "the claim of run" in doctor.out
        assert "end it with: bench stop --strays brief.bench" in doctor.out
        refused = bench("run", "brief.bench", "--out", "other")
        assert refused.code == 2
        assert "that process is gone" in refused.err
        assert (
            "is no longer there: free the host with `bench stop` and the folder that the run is in now" in refused.err
        )

        stopped = bench("stop", moved, "--json")
        assert stopped.code == 0, stopped.text
        assert stopped.json["how"] == "cleaned"
        assert stopped.json["jobs_ended"] >= 2
        seen = {(each["host"], each["what"].split(" of run ")[0]) for each in stopped.json["ended"]}
        assert ("box", "the claim") in seen
        assert any("/measure/" in what for _, what in seen), seen
        assert left(far) == []
        assert "it had ended before; nothing of it was found on its hosts" in bench("stop", moved).out


@pytest.mark.long
def test_a_moved_run_goes_on_with_what_runs_and_strays_of_one_are_ended(bench: Bench, far: Sshd) -> None:
    with bench.started("run", "brief.bench") as run:
        killed(far, run)
        moved = bench.run_dir.rename(bench.folder / "bench-out" / "moved")
        with bench.started("resume", "moved") as again:
            again.until_it_says("attached to what began")
            doctor = bench("doctor", "brief.bench")
            assert "stray" not in doctor.out, "a process drives it, though its jobs name the folder before"
            again.signal(signal.SIGKILL)
            again.process.wait(60)
        moved.rename(bench.folder / "bench-out" / "again")
        ended = bench("stop", "--strays", "brief.bench")
        assert ended.code == 0
        assert "box: ended job " in ended.out
        assert left(far) == []


def test_a_copy_of_a_run_owns_nothing_of_what_the_original_started(bench: Bench, far: Sshd) -> None:
    with bench.started("run", "brief.bench") as run:
        until(lambda: tools(far), 60)
        original = bench.run_dir
        copy = Path(shutil.copytree(original, bench.folder / "copy"))
        stopped = bench("stop", copy)
        assert stopped.code == 0, stopped.text
        assert "its controller had gone, so it was stopped from here; nothing of it was found" in stopped.out
        assert (
            f"it is a copy, and its original's jobs are not its own; to stop those: bench stop {original}"
            in stopped.out
        )
        assert tools(far)
        refused = bench("resume", copy)
        assert refused.code == 2, refused.text
        assert f"box is held by run {original.name} of process {run.process.pid}" in refused.err
        assert bench("stop", original.name).code == 0
        assert run.wait(30).code == 130
        assert left(far) == []


@pytest.mark.long
def test_a_run_of_an_earlier_version_is_ended_and_resumed_by_its_place(bench: Bench, far: Sshd) -> None:
    with bench.started("run", "brief.bench") as run:
        killed(far, run)
        made_by_an_earlier_version(bench, far)
        with bench.started("resume") as again:
            again.until_it_says("attached to what began")
            again.signal(signal.SIGKILL)
            again.process.wait(60)
        stopped = bench("stop", "--json")
        assert stopped.code == 0, stopped.text
        assert stopped.json["jobs_ended"] >= 1
        assert left(far) == []


@pytest.mark.long
def test_a_run_of_an_earlier_version_that_was_moved_is_ended_by_what_its_jobs_tell(bench: Bench, far: Sshd) -> None:
    with bench.started("run", "brief.bench") as run:
        killed(far, run)
        made_by_an_earlier_version(bench, far)
        moved = bench.run_dir.rename(bench.folder / "bench-out" / "moved")
        stopped = bench("stop", moved, "--json")
        assert stopped.code == 0, stopped.text
        assert stopped.json["jobs_ended"] >= 2
        assert left(far) == []


def made_by_an_earlier_version(bench: Bench, server: Sshd) -> None:
    """Make the remains of a killed run look like those of a version without run identities."""
    (bench.run_dir / IDENTITY).unlink()
    (root,) = (server.directory / "tmp").glob("benchbrief-*")
    (owner,) = {path.name.partition(".")[0] for path in root.glob("*.alive")}
    by_place = run_name(bench.run_dir).owner
    for path in sorted(root.glob(f"{owner}*"), reverse=True):
        path.rename(path.with_name(path.name.replace(owner, by_place)))
    for path in [each for each in left(server) if each.name in ("about", "claim")]:
        path.write_text(re.sub(r'"machine": "[^"]*", ', "", path.read_text().replace(owner, by_place)))


@pytest.mark.long
@pytest.mark.skipif(
    float(Path("/proc/uptime").read_text().split()[0]) <= VOID_AFTER_S + 1,
    reason="a host that started just now can't have been silent for long enough",
)
def test_strays_of_any_run_are_ended_by_their_hosts(bench: Bench, far: Sshd) -> None:
    with bench.started("run", "brief.bench") as run:
        killed(far, run)
        for alive in (far.directory / "tmp").glob("benchbrief-*/*.alive"):
            alive.unlink()
        for path in [each for each in left(far) if each.name in ("about", "claim")]:
            text = path.read_text().replace('"controller": "', '"controller": "another-')
            text = text.replace('"machine": "', '"machine": "another-')
            path.write_text(text.replace('"folder": "', '"folder": "/elsewhere'))
        doctor = bench("doctor", "brief.bench")
        assert "on another-" in doctor.out
        assert doctor.code == 0, "what is not ours is only reported"
        assert bench("doctor", "brief.bench", "--strict").code == 3
        ended = bench("stop", "--strays", "brief.bench")
        assert ended.code == 0
        assert f"box: released the claim of run {bench.run_dir.name}" in ended.out
        assert left(far) == []
        assert "since ?" not in ended.out
        none = bench("stop", "--strays", "brief.bench").out
        assert none == "no dead controller left a job or a claim on the hosts of the spec\n"


def test_a_host_that_can_not_be_reached_is_named_and_cleaned_later(bench: Bench, far: Sshd) -> None:
    with bench.started("run", "brief.bench") as run:
        killed(far, run)
        config = (far.home / ".ssh" / "config").read_text()
        (far.home / ".ssh" / "config").write_text(config.replace(f"Port {far.port}", "Port 1"))
        failed = bench("stop")
        assert failed.code == 3
        assert "not cleaned up: box: connection refused by 127.0.0.1 port 1" in failed.err
        assert f"type: bench stop {bench.run_dir.name}" in failed.err
        (far.home / ".ssh" / "config").write_text(config)
        assert bench("stop", bench.run_dir.name).code == 0
        assert left(far) == []


@pytest.mark.long
def test_a_run_whose_host_was_taken_over_meanwhile_does_nothing_more_there(bench: Bench, far: Sshd) -> None:
    tool = wrapped.db_bench(bench.folder / "slower", '*--num=*) set -- "$@" --duration=2;;')
    bench.spec(SPEC.replace("threads = [1]", "threads = [1, 2]"), TOOL=f'db_bench("{tool}")')
    with bench.started("run", "brief.bench") as run:
        until(lambda: tools(far), 60)
        (claim,) = (far.directory / "tmp").glob("benchbrief-*/claim")
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        up = Path("/proc/uptime").read_text().split()[0]
        (claim.parent / "another.alive").write_text(f"word {boot} {up}\n")
        claim.write_text('another\n{"run": "second", "controller": "lab-2", "pid": 7}\n600\n1700000000\n')
        ended = run.wait(60)
    assert ended.code == 3, ended.text
    verdicts = bench.journal("cell_ended")
    assert len(verdicts) == 2, "it was not tried again"
    assert verdicts[-1]["reason"].startswith("box is held by run second of process 7 on lab-2")
    assert len({record["cell"] for record in bench.journal("job_collected")}) <= 1
    assert claim.read_text().startswith("another\n")


def test_a_teardown_after_ctrl_c_is_said_and_left_by_a_second_one_which_names_what_it_leaves(
    bench: Bench, far: Sshd
) -> None:
    spec = (bench.folder / "brief.bench").read_text()
    bench.spec(spec.replace("options {", 'teardown = command("sleep 600", timeout: 15 min)  options {'))
    with bench.started("run", "brief.bench") as run:
        until(lambda: tools(far), 60)
        run.signal(signal.SIGINT)
        run.until_it_says("waiting for the teardown command `sleep 600` on box, for up to 900 s")
        until(lambda: any(b"sleep\x00600" in command for command in commands(far)))
        run.signal(signal.SIGINT)
        ended = run.wait(20)
        assert ended.code == 130
        assert "left running: teardown-1 on box; what was measured is kept; go on with: bench resume" in ended.err
        assert ", or clear its hosts with: bench stop " in ended.err
        assert commands(far), "it goes on"
        assert bench("stop", bench.run_dir.name).code == 0
        assert left(far) == []
        until(lambda: not commands(far))
