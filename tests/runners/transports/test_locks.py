"""Tests that a host is claimed by one run at a time, whatever the controllers and folders of the runs."""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import subprocess
import threading
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from benchbrief.runners.errors import HostBusy, HostError, HostFull
from benchbrief.runners.execution.held_hosts import claim_all
from benchbrief.runners.hosts.host_connections import CONTROLLER, RealTransport, open_transport
from benchbrief.runners.hosts.orphans import end_strays, find_strays, list_leftovers
from benchbrief.runners.jobs import host_claims, job_scripts
from benchbrief.runners.jobs.commands import with_values
from benchbrief.runners.jobs.detached_jobs import send_heartbeat
from benchbrief.runners.jobs.job_scripts import CLAIM
from benchbrief.runners.jobs.tasks import Command, Completed, Job
from benchbrief.runners.journal.journal_file import Journal
from benchbrief.runners.journal.run_identity import RunName, this_machine
from benchbrief.runners.seams import Transport
from tests.runners.transports.conftest import LOCAL_FIRST
from tests.support.plans import compile_spec
from tests.support.sshd import Sshd
from tests.support.waiting import until

ODD = "a 'run'; $(touch hacked)\n\"-rf *"


def sleeper(key: str) -> Job:
    return Job("sleeper", Command(("sleep", "60")), 60, key=key)


@contextmanager
def run(transport: Transport, owner: str, name: str = "first") -> Iterator[RealTransport]:
    named = RunName(owner, name, f"/runs/{name}", "lab-1", 4711)
    with closing(open_transport(transport.host, run_name=named)) as opened:
        yield opened


def test_a_second_run_is_kept_off_until_the_first_lets_go(transport: Transport, state_root: Path) -> None:
    with run(transport, "one") as first, run(transport, "two") as second:
        assert first.claim() == ""
        with pytest.raises(HostBusy, match="is held by run first of process 4711 on lab-1 since 20") as busy:
            second.claim()
        assert str(busy.value).startswith(f"{transport.host.id} is held")
        assert "bench stop /runs/first" in busy.value.hint
        assert "--wait" in busy.value.hint
        first.release()
        assert second.claim() == ""
        with pytest.raises(HostBusy):
            first.claim()
        second.release()
    assert not state_root.exists()


@LOCAL_FIRST
def test_a_resumed_run_has_its_host_again_at_once(transport: Transport) -> None:
    with run(transport, "one") as first:
        first.claim()
    with run(transport, "one") as resumed:
        assert resumed.claim() == ""
        assert resumed.claim() == ""
        resumed.release()


@LOCAL_FIRST
def test_of_many_who_claim_at_once_one_gets_the_host(transport: Transport) -> None:
    ready, won, lost = threading.Barrier(6), list[str](), list[str]()

    def try_it(owner: str) -> None:
        with run(transport, owner, owner) as mine:
            mine.run(Command(("true",)))
            ready.wait(30)
            try:
                mine.claim()
                won.append(owner)
            except HostBusy:
                lost.append(owner)

    threads = [threading.Thread(target=try_it, args=(f"owner{number}",)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(won) == 1
    assert len(lost) == 5
    with run(transport, won[0]) as winner:
        winner.release()


def test_the_claim_of_a_run_that_fell_silent_is_taken_over_with_its_jobs(
    transport: Transport, state_root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(host_claims.claim, "__defaults__", (1.0,))
    with run(transport, "silent") as gone:
        gone.claim()
        gone.start(sleeper("k"))
        with run(transport, "two") as second, pytest.raises(HostBusy):
            second.claim()
    with run(transport, "two", "second") as second:
        said: list[str] = []

        def taken() -> bool:
            try:
                said.append(second.claim())
            except HostBusy:
                return False
            return True

        until(taken, 20)
        assert "was held by run first of process 4711 on lab-1, which gave no sign of life for" in said[0]
        assert said[0].endswith("s: taken over; its jobs that still ran, 1, were ended")
        assert not list(state_root.glob("silent*"))
        second.release()


def of_another_user(jobs_dir: Path, name: str) -> Completed:
    """Let a run of another Unix user claim the host and give a sign of life once."""
    jobs_dir.chmod(0o1777)
    holder = f'{{"run": "{name}", "folder": "/theirs", "controller": "lab-2", "pid": 7, "host": "h"}}'
    claimed = f"theirs\n{holder}\n3600"
    script = with_values(CLAIM, owner="theirs", claimed=claimed, grace="1", token="word", gone="")
    done = subprocess.run(
        ["sh"],
        input=script,
        env={"TMPDIR": str(jobs_dir), "PATH": os.environ["PATH"]},
        user=54321,
        group=54321,
        extra_groups=(),
        cwd="/",
        capture_output=True,
        text=True,
        check=False,
    )
    return Completed(done.returncode, done.stdout, done.stderr, 0.0)


@LOCAL_FIRST
def test_a_host_that_a_run_of_another_user_holds_is_seen_to_be_held(
    transport: Transport, jobs_dir: Path, state_root: Path
) -> None:
    if os.getuid() != 0:
        pytest.skip("only root can be another user")
    theirs = jobs_dir / "benchbrief-54321"
    try:
        assert of_another_user(jobs_dir, "first").stdout == "free\n"
        with run(transport, "one") as ours:
            with pytest.raises(HostBusy, match="run first of process 7 on lab-2, of its user 54321, since") as busy:
                ours.claim()
            assert "ask " in busy.value.hint
            assert not state_root.exists(), "nothing of ours is left"
            (theirs / "theirs.alive").write_text("word another-boot 0.0\n")
            (theirs / "claim").write_text((theirs / "claim").read_text().replace("\n3600\n", "\n0\n"))
            assert ours.claim() == "", "it fell silent"
            assert ours.claim() == ""
            held = of_another_user(jobs_dir, "second").stdout.splitlines()
            assert held[0] == "held", "though they have a claim of their own, which fell silent"
            assert not theirs.exists()
            held = of_another_user(jobs_dir, "second").stdout.splitlines()
            assert (held[0], json.loads(held[1])["run"], held[3]) == ("held", "first", "root")
            ours.release()
    finally:
        shutil.rmtree(theirs, ignore_errors=True)


@pytest.fixture
def theirs(jobs_dir: Path) -> Iterator[Path]:
    """Yield the path of a claim that a living run of another user holds."""
    if os.getuid() != 0:
        pytest.skip("only root can be another user")
    path = jobs_dir / "benchbrief-54321"
    try:
        assert of_another_user(jobs_dir, "first").stdout == "free\n"
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


@LOCAL_FIRST
@pytest.mark.parametrize(
    ("holder", "shown"),
    [
        ("[" * 9000, "an unknown run"),
        ('{"run": ' * 2000 + "1" + "}" * 2000, "an unknown run"),
        (
            json.dumps({"run": ["a"], "pid": 10**400, "controller": "lab\r\nerror: all is lost\u2028help: rm"}),
            f"an unknown run of process 1{'0' * 199} on lab\ufffd error: all is lost\ufffdhelp: rm",
        ),
        (
            json.dumps({"run": "r\n\n", "pid": {"a": 1}, "controller": "c" * 10_000}),
            f"run r on {'c' * 200}",
        ),
    ],
)
def test_whatever_another_user_says_in_a_claim_is_one_short_line(
    transport: Transport, theirs: Path, holder: str, shown: str
) -> None:
    owner, _, *rest = (theirs / "claim").read_text().splitlines()
    (theirs / "claim").write_text("\n".join([owner, holder, *rest]) + "\n")
    with run(transport, "one") as ours, pytest.raises(HostBusy) as busy:
        ours.claim()
    assert str(busy.value).startswith(f"{transport.host.id} is held by {shown}, of its user 54321, since ")
    assert "\n" not in str(busy.value) + busy.value.hint
    assert len(busy.value.hint) < 500


@LOCAL_FIRST
def test_a_sign_of_life_without_an_end_does_not_stop_another_user_s_claim(transport: Transport, theirs: Path) -> None:
    with (theirs / "theirs.alive").open("r+b") as alive:
        alive.truncate(100 << 30)
    with run(transport, "one") as ours:
        with pytest.raises(HostBusy, match="run first of process 7"):
            ours.claim()
        (theirs / "theirs.alive").write_bytes(b"")
        with (theirs / "theirs.alive").open("r+b") as alive:
            alive.truncate(100 << 30)
        with (theirs / "claim").open("r+b") as claim:
            claim.truncate(100 << 30)
        assert ours.claim() == "", "a claim that long is none"
        ours.release()


@LOCAL_FIRST
def test_a_claim_that_was_cut_short_before_others_were_looked_for_is_checked_when_it_is_made_again(
    transport: Transport, state_root: Path, theirs: Path
) -> None:
    aside = theirs.with_name("aside")
    theirs.rename(aside)
    with run(transport, "one") as ours:
        assert ours.claim() == ""
        aside.rename(theirs)
        assert ours.claim() == "", "it was there first"
        lines = (state_root / "claim").read_text().splitlines()
        assert lines.pop() == "checked"
        (state_root / "claim").write_text("\n".join(lines) + "\n\n")
        with pytest.raises(HostBusy, match="run first of process 7"):
            ours.claim()
        assert not state_root.exists()
        with pytest.raises(HostBusy, match="run first of process 7"):
            ours.start(sleeper("k"))
        ours.end_leftovers()


@LOCAL_FIRST
def test_a_claim_is_held_for_as_long_as_its_controller_lives(
    transport: Transport, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(host_claims.claim, "__defaults__", (1.0,))
    with run(transport, "one") as first, run(transport, "two") as second:
        first.claim()
        over = threading.Event()
        threading.Timer(4, over.set).start()
        while not over.wait(0.3):
            with pytest.raises(HostBusy):
                second.claim()
        first.release()


@LOCAL_FIRST
def test_release_leaves_nothing_or_the_jobs_when_they_are_to_be_kept(transport: Transport, state_root: Path) -> None:
    with run(transport, "one") as first:
        first.claim()
        first.start(sleeper("k"))
        assert first.release(keep_jobs=True) == 0
        assert first.find("k") == "running"
        assert first.release() == 1
        assert first.find("k") is None
        assert not state_root.exists()
        assert first.release() == 0


@LOCAL_FIRST
def test_a_claim_stays_for_as_long_as_jobs_are_kept(transport: Transport, state_root: Path) -> None:
    with run(transport, "one") as first, run(transport, "two") as second:
        first.claim()
        first.start(sleeper("k"))
        first.release(keep_jobs=True)
        with pytest.raises(HostBusy):
            second.claim()
        first.claim()
        first.release()
        second.claim()
        second.release()
        second.claim()
        second.release(keep_jobs=True)
    assert not state_root.exists(), "without jobs, nothing keeps the claim"


@LOCAL_FIRST
def test_a_run_whose_claim_was_taken_away_starts_nothing_beside_the_new_holder(
    transport: Transport, state_root: Path
) -> None:
    with run(transport, "cut-off") as cut_off, run(transport, "two", "second") as second:
        cut_off.claim()
        claim = (state_root / "claim").read_text()
        assert claim.startswith("cut-off\n")
        (state_root / "claim").unlink()
        second.claim()
        with pytest.raises(HostBusy, match="is held by run second of process 4711"):
            cut_off.start(sleeper("k"))
        with pytest.raises(HostBusy):
            send_heartbeat(cut_off)
        assert cut_off.find("k") is None
        assert not list(state_root.glob("cut-off-*"))
        cut_off.release()
        assert (state_root / "claim").exists(), "another run's claim is left alone"
        second.release()


@LOCAL_FIRST
def test_a_claim_that_went_away_with_its_directory_is_made_again_by_the_next_job(
    transport: Transport, state_root: Path
) -> None:
    with run(transport, "one") as first, run(transport, "two") as second:
        first.claim()
        shutil.rmtree(state_root)
        first.start(sleeper("k"))
        with pytest.raises(HostBusy, match="is held by run first"):
            second.claim()
        first.release()
    assert not state_root.exists()


@LOCAL_FIRST
def test_a_holder_of_this_machine_that_is_gone_is_said_to_be(transport: Transport, tmp_path: Path) -> None:
    folder = tmp_path / "a run; rm *"
    folder.mkdir()
    named = RunName("killed", "killed", str(folder), socket.gethostname(), 4711)
    journal = Journal(folder)
    with closing(open_transport(transport.host, run_name=named)) as killed, run(transport, "two") as second:
        killed.claim()
        with pytest.raises(HostBusy) as alive:
            second.claim()
        assert "--wait" in alive.value.hint
        killed.start(sleeper("k"))
        journal.close()
        with pytest.raises(HostBusy, match=r"; that process is gone$") as dead:
            second.claim()
        assert f"`bench stop '{folder}'`" in dead.value.hint
        assert f"`bench resume '{folder}'`" in dead.value.hint
        void = "; else its claim is void 10 min after its last sign of life"
        assert dead.value.while_waiting == dead.value.hint + void
        assert alive.value.while_waiting == ""
        killed.end_leftovers()
        taken = second.claim()
        assert re.search(r" was held by run killed of process 4711 on \S+, whose process is gone: taken over$", taken)
        with pytest.raises(HostBusy, match="is held by run first"):
            killed.claim()
        second.release()


def ended_process() -> int:
    """Return the id of a process that has ended."""
    process = subprocess.Popen(["true"])
    process.wait()
    return process.pid


@LOCAL_FIRST
def test_another_user_s_claim_is_void_when_its_process_and_all_jobs_of_that_user_are_gone(
    transport: Transport, theirs: Path, jobs_dir: Path
) -> None:
    claim = theirs / "claim"
    owner, _, *rest = claim.read_text().splitlines()

    def claimed_by(pid: int) -> None:
        about = {"run": "first", "folder": "/the runs/first", "pid": pid, "machine": this_machine(), "owner": "theirs"}
        claim.write_text("\n".join([owner, json.dumps(about), *rest]) + "\n")

    with run(transport, "one") as ours:
        claimed_by(os.getpid())
        with pytest.raises(HostBusy, match=r", of its user 54321, since [\d: -]+$"):
            ours.claim()
        pid = ended_process()
        claimed_by(pid)
        (jobs_dir / "run").write_text("sleep 60")
        job = subprocess.Popen(["sh", "./run"], cwd=jobs_dir, user=54321, group=54321, extra_groups=())
        try:
            with pytest.raises(HostBusy) as busy:
                ours.claim()
        finally:
            job.kill()
            job.wait()
        assert f"process {pid}, of its user 54321" in str(busy.value)
        assert str(busy.value).endswith("; that process is gone, and jobs of 54321 still run")
        assert "`sudo -u 54321 bench stop '/the runs/first'`" in busy.value.hint
        (held,) = [each for each in list_leftovers(ours, foreign=True) if each.kind == "foreign"]
        assert (held.owner, held.state, held.claim["pid"]) == ("theirs", "54321", pid)
        assert list_leftovers(ours) == []
        assert find_strays(ours) == []
        assert ours.claim() == ""
        assert claim.exists(), "it is theirs"
        resumed = of_another_user(jobs_dir, "first").stdout.splitlines()
        assert (resumed[0], json.loads(resumed[1])["run"]) == ("held", "first")
        assert json.loads(resumed[1])["pid"] == 4711, "ours"
        ours.release()


@LOCAL_FIRST
def test_a_run_of_any_name_can_hold_a_host(transport: Transport) -> None:
    with run(transport, "odd", ODD) as first, run(transport, "two") as second:
        first.claim()
        with pytest.raises(HostBusy) as busy:
            second.claim()
        assert "$(touch hacked)" in str(busy.value)
        first.release()


class Both(Mapping[str, Transport]):
    """Two hosts by name. Another run has claimed one of them."""

    def __init__(self, **hosts: Transport) -> None:
        self._hosts = hosts

    def __getitem__(self, host_id: str) -> Transport:
        if host_id not in self._hosts:
            raise HostError(f"no route to {host_id}")
        return self._hosts[host_id]

    def __iter__(self) -> Iterator[str]:
        return iter(self._hosts)

    def __len__(self) -> int:
        return len(self._hosts)


@LOCAL_FIRST
def test_all_hosts_are_claimed_or_none(transport: Transport, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    with run(transport, "one") as first, run(transport, "two") as second:
        elsewhere = open_transport(CONTROLLER, run_name=RunName("two"))
        first.claim()
        if transport.host.transport == "local":
            first.release()
            pytest.skip("it needs two hosts")
        hosts = Both(free=elsewhere, held=second)
        waited: list[HostBusy] = []

        def refuse(error: HostBusy) -> None:
            assert not list(tmp_path.glob("benchbrief-*")), "the free one is let go while the other is waited for"
            waited.append(error)
            first.release()

        claimed = claim_all(hosts, ["free", "held", "unreachable"], refuse)
        assert (claimed.held, claimed.taken_over) == (["free", "held"], [])
        assert {host_id: str(error) for host_id, error in claimed.away.items()} == {
            "unreachable": "no route to unreachable"
        }
        assert len(waited) == 1
        assert list(tmp_path.glob("benchbrief-*/claim"))
        elsewhere.release()
        second.release()
        elsewhere.close()


@LOCAL_FIRST
def test_strays_are_the_jobs_and_claims_of_runs_that_no_process_drives(
    transport: Transport, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(socket, "gethostname", lambda: "lab-1")
    folder = tmp_path / "the run"
    folder.mkdir()
    named = RunName("mine", "the run", str(folder), "lab-1", 4711)
    with closing(open_transport(transport.host, run_name=named)) as killed:
        killed.claim()
        killed.start(sleeper("cell/1/measure/here"))
        journal = Journal(folder)
        assert find_strays(killed) == []
        journal.close()
        found = find_strays(killed)
        date = r"\d{4}-\d\d-\d\d [\d:]{8}"
        claim, job = found
        of = "of run the run of process 4711 on lab-1"
        assert re.fullmatch(f"the claim {of}, since {date}", claim.what)
        assert re.fullmatch(f"released the claim {of}, made {date}", claim.ended)
        assert re.fullmatch(f"job cell/1/measure/here {of}, started {date}, which still runs", job.what)
        assert re.fullmatch(f"ended job cell/1/measure/here {of}, started {date}", job.ended)
        assert {each.folder for each in found} == {str(folder)}
        monkeypatch.setattr(socket, "gethostname", lambda: "lab-2")
        assert find_strays(killed) == [], "another controller's run gave signs of life a moment ago"
        killed.release()


def test_strays_are_looked_for_on_the_controller_too(
    server: Sshd, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    spec = tmp_path / "brief.bench"
    spec.write_text(
        f'hardware there {{ hosts = "{server.host.name}" }}\n'
        'database rocks { engine = rocksdb  path = "/data" }\nworkload w from db_bench.fillrandom\n'
        "experiment e { hardware = there  workloads = w  threads = 1  measure = 1 s }\n",
        encoding="utf-8",
    )
    folder = tmp_path / "killed"
    folder.mkdir()
    named = RunName("meters", "killed", str(folder), socket.gethostname(), 4711)
    with closing(open_transport(CONTROLLER, run_name=named)) as killed:
        killed.start(sleeper("cell/1/measure/power"))
    ended, unclean = end_strays(compile_spec(spec))
    assert unclean == {}
    assert [(each.host, each.owner) for each in ended] == [("local", "meters")]
    assert not list(tmp_path.glob("benchbrief-*"))


@LOCAL_FIRST
@pytest.mark.parametrize(
    ("script", "error", "said"),
    [
        ("echo full; exit 1", HostFull, "no space left on .* to claim it"),
        ("echo odd >&2; exit 1", HostError, "can't be claimed: odd"),
        ("exit 0", HostError, "can't be claimed: the shell said nothing"),
        ("printf 'held\\n{}\\n'", HostError, "can't be claimed: held"),
    ],
)
def test_a_claim_that_the_host_does_not_confirm_is_an_error(
    transport: Transport, monkeypatch: pytest.MonkeyPatch, script: str, error: type[HostError], said: str
) -> None:
    monkeypatch.setattr(job_scripts, "CLAIM", script)
    with run(transport, "one") as first, pytest.raises(error, match=said):
        first.claim()


@LOCAL_FIRST
def test_a_claim_is_void_after_ten_minutes_of_silence(transport: Transport, state_root: Path) -> None:
    with run(transport, "one") as first:
        first.claim()
        owner, _, void_after_s, *_ = (state_root / "claim").read_text().splitlines()
        assert (owner, void_after_s) == ("one", "600")
        first.release()
