"""Tests hosts that refuse, hang or have changed identity. Their cells fail, and all others run. If a tool is missing,
no cell runs."""

from __future__ import annotations

import os
import signal
import socket
import tempfile
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from tests.faults.conftest import FaultyRun
from tests.faults.specs import rocks
from tests.support.bench import Bench, fresh_bench
from tests.support.longer import longer
from tests.support.sshd import Sshd, sshd
from tests.support.tools import system_tool
from tests.support.waiting import until

REASONS = {
    "refuses": ("connection refused by 127.0.0.1 port", "Is sshd running there?"),
    "hangs": ("accepts connections, but no SSH server answers within 2 s", "Is it the right port?"),
    "web": ("accepts connections, but no SSH server answers", "Is it the right port?"),
    "changed": ("the host key of 127.0.0.1 has changed", "known_hosts:", "Someone may be in between"),
    "unknown": ("the host key of 127.0.0.1 is not known", "StrictHostKeyChecking=no is not honoured", "by hand"),
    "locked": ("does not accept our keys", "name a key with `identity`"),
    "nowhere": ("no address found for 'no.such.host.invalid'",),
}
HOSTS = "\n".join(
    f'hardware {name} {{ hosts = {place}  kind = "{name}" }}'
    for name, place in {"good": "local", **{name: f'"{name}"' for name in REASONS}}.items()
)
SPEC = rocks(HOSTS, ["good", *REASONS])


@contextmanager
def home_of_odd_hosts(home: Path) -> Iterator[None]:
    """Provide a `~/.ssh` that knows all the hosts above. Each host has the fault that its name says."""
    with ExitStack() as stack:
        closed = stack.enter_context(socket.socket())
        closed.bind(("127.0.0.1", 0))  # bound and not listening: connections are refused
        silent = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        web = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        threading.Thread(target=_greet_in_http, args=(web,), daemon=True).start()
        programs = stack.enter_context(without_db_bench())
        one = stack.enter_context(sshd(config=f"SetEnv PATH={programs}"))
        two = stack.enter_context(sshd())
        (two.directory / "authorized_keys").write_text("")

        ssh = home / ".ssh"
        ssh.mkdir()
        (ssh / "id_ed25519").write_bytes(one.key.read_bytes())
        (ssh / "id_ed25519").chmod(0o600)
        # The server `two` shows its key under three names: one is known with another key, one not at all.
        (ssh / "known_hosts").write_text(
            f"[127.0.0.1]:{one.port} {one.host_key}\nlocked {two.host_key}\nchanged {one.host_key}\n"
        )
        ports = {name: port.getsockname()[1] for name, port in (("refuses", closed), ("hangs", silent), ("web", web))}
        ports |= {"bare": one.port, "changed": two.port, "unknown": two.port, "locked": two.port}
        blocks = [f"Host {name}\n  HostName 127.0.0.1\n  Port {port}\n" for name, port in ports.items()]
        blocks += [f"Host {name}\n  HostKeyAlias {name}\n" for name in ("changed", "unknown", "locked")]
        blocks += ["Host unknown\n  StrictHostKeyChecking no\n", "Host nowhere\n  HostName no.such.host.invalid\n"]
        (ssh / "config").write_text("".join([*blocks, "Host *\n  ConnectTimeout 2\n"]))
        yield


def _greet_in_http(server: socket.socket) -> None:
    while True:
        try:
            connection, _ = server.accept()
        except OSError:
            return
        with connection:
            connection.sendall(b"HTTP/1.1 400 \x1b[31mBad Request\x1b[0m\r\n\r\n" * 20)


@contextmanager
def without_db_bench() -> Iterator[Path]:
    """Yield a folder with all programs of the system except db_bench. It lies outside pytest's temporary folder, which
    other users can't read."""
    with tempfile.TemporaryDirectory(prefix="benchbrief-bin-") as folder:
        for path in [*Path("/usr/bin").iterdir(), *Path("/usr/sbin").iterdir()]:
            link = Path(folder, path.name)
            if path.name != "db_bench" and not link.is_symlink():
                link.symlink_to(path)
        yield Path(folder)


@pytest.fixture(scope="module")
def faulty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FaultyRun]:
    """Make one run with a good host and all the faulty ones, and call `bench doctor` for the same spec."""
    system_tool("db_bench")
    system_tool("sshd")
    with fresh_bench(tmp_path_factory.mktemp("hosts")) as bench, home_of_odd_hosts(bench.home):
        bench.spec(SPEC)
        yield FaultyRun(bench, bench("run", "brief.bench"))


def test_only_the_cells_of_odd_hosts_fail(faulty: FaultyRun) -> None:
    assert len(faulty.verdicts) == 1 + len(REASONS)
    faulty.fails_only(r"^e/(?!good/)")
    away = len(REASONS)
    line = next(text for text in faulty.ended.err.splitlines() if "can't be reached, or claimed" in text)
    assert "refuses, hangs, web, changed, unknown and 2 more can't be reached" in line
    assert f": {away} of {away + 1} cells fail for it" in line
    assert faulty.ended.err.index(line) < faulty.ended.err.index("FAILED"), "while there is time to do something"


@pytest.mark.parametrize("name", REASONS)
def test_the_reason_names_the_host_and_what_to_do_when_it(faulty: FaultyRun, name: str) -> None:
    faulty.says_why(f"^e/{name}/", name, *REASONS[name])


@pytest.mark.long
def test_doctor_says_the_same_of_every_host(faulty: FaultyRun) -> None:
    done = faulty.bench("doctor", "brief.bench")
    assert done.code == 3
    rows = [line.split()[:3] for line in done.out.splitlines()]
    assert ["ok", "local", "reachable"] in rows
    for name in REASONS:
        assert ["missing", name, "reachable"] in rows
        assert REASONS[name][0] in done.out


@pytest.mark.long
def test_a_host_without_its_tool_ends_the_run_before_its_first_cell_as_doctor_says(bench: Bench) -> None:
    system_tool("db_bench")
    hardware = 'hardware good { hosts = local  kind = "good" }\nhardware bare { hosts = "bare"  kind = "bare" }'
    bench.spec(rocks(hardware, ["good", "bare"]).replace("[1]", "[1, 2, 4, 8]"))
    with home_of_odd_hosts(bench.home):
        ended = bench("run", "brief.bench")
        assert ended.code == 3, ended.text
        assert ended.err.count("db_bench is not on bare: there is no such program in") == 1
        assert (
            'install it with `sudo apt-get install rocksdb-tools`, or say where: `tool = db_bench("/path")`'
            in ended.err
        )
        assert "on local" not in ended.err, "it has the tool"
        assert bench.run_dirs() == [], "nothing was begun"
        rows = [line.split()[:3] for line in bench("doctor", "brief.bench").out.splitlines()]
    assert ["missing", "bare", "db_bench"] in rows
    assert ["ok", "local", "db_bench"] in rows
    assert bench.strays() == {}


@pytest.mark.parametrize("names", [pytest.param(("nowhere", "unknown"), marks=pytest.mark.long), ("refuses", "hangs")])
def test_a_run_whose_every_host_refuses_ends_at_once_with_one_message(bench: Bench, names: tuple[str, str]) -> None:
    with home_of_odd_hosts(bench.home):
        hardware = "\n".join(f'hardware {name} {{ hosts = "{name}"  kind = "{name}" }}' for name in names)
        bench.spec(rocks(hardware, list(names)).replace("[1]", "[1, 2, 4, 8]"))
        ended = bench("run", "brief.bench")
        assert ended.code == 2, ended.text
        assert ended.err.count("error:") == 1
        assert ended.err.startswith("error: none of the 2 hosts can be used: ")
        for name in names:
            assert REASONS[name][0] in ended.err
        assert "FAILED" not in ended.err
        assert bench.run_dirs() == [], "nothing was begun"


def test_a_run_ends_at_once_when_each_cell_needs_a_host_that_is_away_though_its_client_is_there(bench: Bench) -> None:
    bench.spec(
        """\
hardware away { hosts = "nohost.invalid" }
client load { hosts = local  tool = openload }
database mongo { engine = mongodb  server = embedded }
workload a from ycsb.a { records = 200 }
experiment e { hardware = away  client = load  workloads = a  threads = [1, 2]  measure = 1 s }
"""
    )
    ended = bench("run", "brief.bench")
    assert ended.code == 2, ended.text
    said = (
        "error: no cell can be measured, as each needs a host that can't be used: nohost.invalid: no address found for "
    )
    assert ended.err.splitlines()[-2].startswith(said)
    assert "FAILED" not in ended.err
    assert bench.run_dirs() == [], "nothing was begun"
    assert bench.strays() == {}, "and the client is free again"


@pytest.mark.parametrize("lacking", [*longer("awk"), "setsid"])
def test_what_doctor_calls_unfit_is_refused_by_a_run_for_the_same_reason(bench: Bench, lacking: str) -> None:
    bench.spec(rocks('hardware here { hosts = local  kind = "here" }', ["here"]))
    (bench.folder / "bin").mkdir()
    for folder in map(Path, bench.env["PATH"].split(":")):
        for each in folder.iterdir() if folder.is_dir() else ():
            link = bench.folder / "bin" / each.name
            if each.name != lacking and not link.is_symlink():
                link.symlink_to(each)
    env = {"PATH": str(bench.folder / "bin")}
    assert f"{lacking} can't be found in the PATH" in bench("doctor", "brief.bench", env=env).out
    ended = bench("run", "brief.bench", env=env)
    assert ended.code == 2, ended.text
    assert ended.err.startswith(f"error: local: {lacking} can't be found in the PATH\n")
    assert bench.run_dirs() == []


@pytest.mark.long
def test_a_folder_for_jobs_that_is_not_ours_is_refused_alike(bench: Bench) -> None:
    bench.spec(rocks('hardware here { hosts = local  kind = "here" }', ["here"]))
    (bench.tmp / f"benchbrief-{os.getuid()}").symlink_to(bench.folder)
    why = f"{bench.tmp}/benchbrief-{os.getuid()} is not a directory of our user alone"
    assert why in bench("doctor", "brief.bench").out
    ended = bench("run", "brief.bench")
    assert ended.code == 2, ended.text
    assert ended.err.startswith(f"error: local: {why}\n")


@pytest.mark.long
def test_a_host_that_goes_away_spoils_no_other_cell_and_its_own_only_until_it_is_back(bench: Bench) -> None:
    system_tool("sshd")
    hardware = 'hardware good { hosts = local  kind = "good" }\nhardware bad { hosts = "box"  kind = "bad" }'
    more = "2 s  unattended = 30 s"
    bench.spec(rocks(hardware, ["good", "bad"]).replace("[1]", "[1, 2, 3, 4]").replace("1 s", more))
    with sshd(config=f"SetEnv BENCHBRIEF_TEST={bench.mark}") as server:
        bench.env["HOME"] = str(server.home)
        with bench.started("run", "brief.bench") as run:
            _until_ended(bench, "e/bad/load/threads=1/r1")
            _vanish(server)
            run.until_it_says("box is away, and waited for up to 30 s", 90)
            server.start_again()
            ended = run.wait(90)
    assert ended.code == 3, ended.text
    status = {cell: verdict for cell, (verdict, _) in bench.verdicts().items()}
    assert [status[f"e/good/load/threads={n}/r1"] for n in (1, 2, 3, 4)] == ["ok"] * 4
    assert [status[f"e/bad/load/threads={n}/r1"] for n in (1, 2, 3, 4)] == ["ok", "failed", "ok", "ok"]
    assert "box can be reached again" in ended.err
    assert bench.strays() == {}
    for record in bench.journal("cell_ended"):
        assert record["status"] == "ok" or record["reason"].startswith("box: ")


@pytest.mark.long
def test_a_cell_whose_host_is_away_is_tried_again_when_it_is_back(bench: Bench) -> None:
    system_tool("sshd")
    hardware = 'hardware bad { hosts = "box"  kind = "bad" }'
    more = "2 s  unattended = 60 s  retries = 1"
    bench.spec(rocks(hardware, ["bad"]).replace("[1]", "[1, 2]").replace("1 s", more))
    with sshd(config=f"SetEnv BENCHBRIEF_TEST={bench.mark}") as server:
        bench.env["HOME"] = str(server.home)
        with bench.started("run", "brief.bench", "--no-report") as run:
            run.until_it_says("e/bad/load/threads=1")
            _vanish(server)
            run.until_it_says("box is away, and waited for up to 60 s", 90)
            assert run.process.poll() is None
            server.start_again()
            ended = run.wait(90)
    assert ended.code == 0, ended.text
    one, two = ("e/bad/load/threads=1/r1", "e/bad/load/threads=2/r1")
    assert {cell: status for cell, (status, _) in bench.verdicts().items()} == {one: "ok", two: "ok"}
    failed = [record for record in bench.journal("cell_ended") if record["status"] == "failed"]
    assert failed, "it was tried while its host was away"
    assert all(record["retried"] for record in failed)
    assert ended.err.count("box can be reached again") == 1
    assert bench.strays() == {}


@pytest.mark.long
def test_one_machine_under_two_names_is_refused_before_anything_is_measured_on_it_twice_at_once(bench: Bench) -> None:
    system_tool("sshd")
    hardware = 'hardware one { hosts = "box"  kind = "one" }\nhardware other { hosts = "crate"  kind = "other" }'
    bench.spec(rocks(hardware, ["one", "other"]))
    with sshd(config=f"SetEnv TMPDIR={bench.tmp}") as server:
        server.write_config(name="box crate")
        bench.env["HOME"] = str(server.home)
        ended = bench("run", "brief.bench")
        assert ended.code == 2, ended.text
        assert "box (brief.bench:1:1) and crate (brief.bench:2:1) are one machine under two names" in ended.err
        assert "help: write box in both places" in ended.err
        assert bench.run_dirs() == []
        assert list(bench.tmp.glob("benchbrief-*")) == [], "its claim is gone"
        bench.spec(rocks(hardware, ["other"]))
        assert bench("run", "brief.bench", "--no-report").code == 0, "one of the names alone is no matter"


@pytest.mark.long
def test_a_server_that_is_restarted_in_the_middle_of_a_measurement_costs_nothing(bench: Bench) -> None:
    system_tool("sshd")
    bench.spec(rocks('hardware there { hosts = "box"  kind = "there" }', ["there"]).replace("1 s", "4 s"))
    with sshd(config=f"SetEnv BENCHBRIEF_TEST={bench.mark}") as server:
        bench.env["HOME"] = str(server.home)
        with bench.started("run", "brief.bench", "--no-report") as run:
            until(lambda: any("--benchmarks" in line for line in bench.strays().values()), 30)
            _vanish(server)
            server.start_again()
            ended = run.wait(60)
    assert ended.code == 0, ended.text
    assert list(bench.verdicts().values()) == [("ok", 1)]


def _until_ended(bench: Bench, cell: str) -> None:
    """Wait for a cell's verdict. Earlier messages about the cell do not count."""
    until(lambda: bench.run_dirs() and (bench.run_dir / "journal.jsonl").exists() and cell in bench.verdicts(), 90)


def _vanish(server: Sshd) -> None:
    """End the server and then its connections, so that nobody can connect again."""
    connections = server.sessions()
    server.process.terminate()
    server.process.wait(60)
    for pid in connections:
        os.kill(pid, signal.SIGKILL)
