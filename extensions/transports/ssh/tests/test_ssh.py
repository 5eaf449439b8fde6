"""Tests how connections are made: which host keys count, which route is taken, and what errors say."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchbrief.model.plan import Host
from benchbrief.runners.errors import HostError
from benchbrief.runners.hosts.host_connections import open_transport
from benchbrief.runners.jobs.tasks import Command, Job
from benchbrief.runners.seams import Transport
from tests.support.sshd import Sshd, sshd, system_user

HELLO = Command(("echo", "hello"))


def hello(host: Host) -> str:
    transport = open_transport(host)
    try:
        return transport.run(HELLO).stdout
    finally:
        transport.close()


def test_reaching_a_host_brings_no_records_of_journals_along() -> None:
    modules = "benchbrief.runners.hosts.host_connections, benchbrief.extensions.transports.ssh.ssh_transport"
    asked = f"import sys, {modules}; print(*{{'pydantic', 'benchbrief.model.events'}} & sys.modules.keys())"
    assert subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True).stdout == "\n"


def failure(host: Host) -> HostError:
    with pytest.raises(HostError) as raised:
        hello(host)
    error = raised.value
    assert str(error).startswith(f"{host.id}")
    assert error.hint
    assert "\n" not in str(error)
    assert "Traceback" not in str(error)
    return error


# --- the configuration -------------------------------------------------------------------------------------------


def test_a_name_is_looked_up_in_the_ssh_configuration(server: Sshd) -> None:
    assert hello(server.host) == "hello\n"


def test_what_the_plan_says_of_a_host_goes_before_the_configuration(server: Sshd, tmp_path: Path) -> None:
    key = tmp_path / "my key"
    key.write_bytes(server.key.read_bytes())
    key.chmod(0o600)
    server.key.rename(server.key.with_name("elsewhere"))
    try:
        server.write_config("Port 1", "IdentitiesOnly yes")
        text = (server.home / ".ssh" / "config").read_text().replace(f"User {server.user}", "User nobody-at-all")
        (server.home / ".ssh" / "config").write_text(text.replace(f"Port {server.port}\n", ""))
        host = server.host.model_copy(update={"user": server.user, "port": server.port, "identity": str(key)})
        assert hello(host) == "hello\n"
    finally:
        server.key.with_name("elsewhere").rename(server.key)


@pytest.mark.parametrize("written", ["config.d/*", '"config.d/the lab"', 'none "config.d/the lab" "other one"'])
def test_included_files_are_read(server: Sshd, written: str) -> None:
    config = server.home / ".ssh" / "config"
    (server.home / ".ssh" / "config.d").mkdir(exist_ok=True)
    config.rename(server.home / ".ssh" / "config.d" / "the lab")
    config.write_text(f"Include {written}\nHost other\n    Port 1\n")
    try:
        assert hello(server.host) == "hello\n"
    finally:
        (server.home / ".ssh" / "config.d" / "the lab").unlink()


def test_a_configuration_given_by_path_is_used_in_place_of_the_users(server: Sshd, tmp_path: Path) -> None:
    (server.home / ".ssh" / "config").rename(tmp_path / "mine")
    transport = open_transport(server.host, tmp_path / "mine")
    try:
        assert transport.run(HELLO).stdout == "hello\n"
    finally:
        transport.close()


def test_a_configuration_that_can_not_be_read_is_said(server: Sshd) -> None:
    (server.home / ".ssh" / "config").write_text("Host box\n    Port many\n")
    assert "can't read the SSH configuration" in str(failure(server.host))


# --- host keys ---------------------------------------------------------------------------------------------------


def test_a_host_whose_key_is_not_known_is_refused(server: Sshd) -> None:
    server.write_known_hosts("# nothing")
    error = failure(server.host)
    assert "the host key of 127.0.0.1 is not known (ssh-ed25519 SHA256:" in str(error)
    assert f"ssh-keyscan -p {server.port} 127.0.0.1" in error.hint


def test_the_fingerprint_shown_is_the_one_that_openssh_shows(server: Sshd) -> None:
    server.write_known_hosts("# nothing")
    shown = subprocess.check_output(["ssh-keygen", "-lf", server.directory / "host_key.pub"], text=True).split()[1]
    assert shown in str(failure(server.host))


@pytest.mark.parametrize("value", ["no", "off", "accept-new"])
def test_asking_not_to_check_keys_is_not_honoured(server: Sshd, value: str) -> None:
    server.write_config(f"StrictHostKeyChecking {value}", "UserKnownHostsFile /dev/null")
    error = failure(server.host)
    assert "is not known" in str(error)
    assert ("StrictHostKeyChecking=no is not honoured" in str(error)) == (value != "accept-new")


def test_a_host_whose_key_has_changed_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with sshd() as server:
        monkeypatch.setenv("HOME", str(server.home))
        assert hello(server.host) == "hello\n"
        server.change_host_key()
        error = failure(server.host)
    assert "the host key of 127.0.0.1 has changed" in str(error)
    assert f"{server.home}/.ssh/known_hosts:1" in str(error)
    assert f"ssh-keygen -R '[127.0.0.1]:{server.port}'" in error.hint


def test_a_key_of_another_port_of_the_same_machine_is_not_enough(server: Sshd) -> None:
    server.write_known_hosts(f"127.0.0.1 {server.host_key}", f"[127.0.0.1]:1 {server.host_key}")
    assert "is not known" in str(failure(server.host))


def test_a_revoked_key_is_refused(server: Sshd) -> None:
    name = f"[127.0.0.1]:{server.port}"
    server.write_known_hosts(f"{name} {server.host_key}", f"@revoked {name} {server.host_key}")
    assert "is revoked" in str(failure(server.host))


def test_hashed_names_are_known(server: Sshd) -> None:
    known_hosts = server.home / ".ssh" / "known_hosts"
    subprocess.run(["ssh-keygen", "-q", "-H", "-f", known_hosts], check=True, capture_output=True)
    assert known_hosts.read_text().startswith("|1|")
    assert hello(server.host) == "hello\n"


def test_another_known_hosts_file_and_an_alias_are_honoured(server: Sshd, tmp_path: Path) -> None:
    (tmp_path / "known").write_text(f"the-box {server.host_key}\n")
    server.write_known_hosts("# nothing")
    server.write_config(f"UserKnownHostsFile {tmp_path}/none {tmp_path}/known", "HostKeyAlias the-box")
    assert hello(server.host) == "hello\n"


def test_a_host_with_keys_of_several_types_is_asked_for_the_one_that_is_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for kind in ("rsa", "ecdsa"):
        command = ["ssh-keygen", "-q", "-t", kind, "-N", "", "-f", str(tmp_path / kind)]
        subprocess.run(command, check=True, stdin=subprocess.DEVNULL)
    with sshd(config=f"HostKey {tmp_path}/rsa\nHostKey {tmp_path}/ecdsa") as server:
        monkeypatch.setenv("HOME", str(server.home))
        for kind in ("rsa", "ecdsa"):
            key = " ".join((tmp_path / f"{kind}.pub").read_text().split()[:2])
            server.write_known_hosts(f"[127.0.0.1]:{server.port} {key}")
            assert hello(server.host) == "hello\n"


# --- failures ----------------------------------------------------------------------------------------------------


def test_a_refused_connection_is_said() -> None:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))  # nobody listens
        port = sock.getsockname()[1]
        error = failure(Host(id="rocks", transport="ssh", name="127.0.0.1", port=port))
    assert str(error) == f"rocks: connection refused by 127.0.0.1 port {port}"
    assert f"ssh -p {port}" in error.hint


def test_a_port_of_another_protocol_is_said_to_have_no_ssh_server(server: Sshd) -> None:
    def answer(listening: socket.socket) -> None:
        caller, _ = listening.accept()
        with caller:
            caller.recv(256)
            caller.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n" * 200)

    with socket.create_server(("127.0.0.1", 0)) as other:
        threading.Thread(target=answer, args=(other,), daemon=True).start()
        error = failure(server.host.model_copy(update={"port": other.getsockname()[1]}))
    assert "accepts connections, but no SSH server answers" in str(error)
    assert "Is it the right port?" in error.hint


def test_a_port_that_accepts_and_says_nothing_is_given_up_in_time(server: Sshd) -> None:
    server.write_config("ConnectTimeout 1")
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        started = time.monotonic()
        error = failure(server.host.model_copy(update={"port": port}))
        assert time.monotonic() - started < 9, "without the setting it would be ten seconds"
    assert f"127.0.0.1 port {port} accepts connections, but no SSH server answers within 1 s" in str(error)


def test_a_connection_that_is_not_even_accepted_is_given_up_in_time(server: Sshd) -> None:
    server.write_config("ConnectTimeout 1")
    with socket.socket() as full:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        port = full.getsockname()[1]
        waiting = []
        for _ in range(3):  # the queue of connections fills, and the next ones wait for ever
            waiting.append(socket.socket())
            waiting[-1].setblocking(False)
            waiting[-1].connect_ex(("127.0.0.1", port))
        started = time.monotonic()
        error = failure(server.host.model_copy(update={"port": port}))
        assert time.monotonic() - started < 9, "without the setting it would be ten seconds"
        for sock in waiting:
            sock.close()
    assert f"no answer from 127.0.0.1 port {port} within 1 s" in str(error)


def test_a_name_without_an_address_is_said() -> None:
    error = failure(Host(id="rocks", transport="ssh", name="no-such-host.invalid", user="me"))
    assert str(error) == "rocks: no address found for 'no-such-host.invalid'"


def test_a_key_that_is_not_accepted_is_said_with_what_was_tried(server: Sshd, tmp_path: Path) -> None:
    other = tmp_path / "other"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", other], check=True)
    server.write_config("IdentitiesOnly yes", f"IdentityFile {tmp_path}/absent")
    error = failure(server.host.model_copy(update={"identity": str(other)}))
    assert "does not accept our keys" in str(error)
    assert f"tried {other}; no such file: {tmp_path}/absent" in str(error)


def test_an_identity_file_that_is_missing_is_said(server: Sshd) -> None:
    error = failure(server.host.model_copy(update={"identity": "~/.ssh/absent"}))
    assert str(error) == f"box: no such identity file: {server.home}/.ssh/absent"


def test_a_key_under_a_passphrase_is_said(server: Sshd, tmp_path: Path) -> None:
    locked = tmp_path / "locked"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "sesame", "-f", locked], check=True)
    server.write_config("IdentitiesOnly yes")
    error = failure(server.host.model_copy(update={"identity": str(locked)}))
    assert "passphrase" in str(error)
    assert "ssh-add" in error.hint


def test_an_account_that_runs_no_commands_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    with sshd(config="ForceCommand echo This account is not available; exit 1") as server:
        monkeypatch.setenv("HOME", str(server.home))
        error = failure(server.host)
    assert str(error) == "box: the account does not run commands: This account is not available"


def test_what_a_login_shell_prints_does_not_get_into_the_output(monkeypatch: pytest.MonkeyPatch) -> None:
    noisy = 'ForceCommand echo "Welcome!"; echo "Beware!" >&2; exec $SSH_ORIGINAL_COMMAND'
    with sshd(config=noisy) as server:
        monkeypatch.setenv("HOME", str(server.home))
        transport = open_transport(server.host)
        done = transport.run(HELLO)
        transport.close()
    assert (done.stdout, done.stderr) == ("hello\n", "")


# --- jumps and users ---------------------------------------------------------------------------------------------


@pytest.fixture
def behind(server: Sshd) -> Iterator[Sshd]:
    """Yield a second server, to be reached through the first one. It only accepts connections with its own key."""
    with sshd(config="MaxStartups 10") as target:
        (server.home / ".ssh" / "target_key").write_bytes(target.key.read_bytes())
        (server.home / ".ssh" / "target_key").chmod(0o600)
        server.write_known_hosts(
            f"[127.0.0.1]:{server.port} {server.host_key}", f"[127.0.0.1]:{target.port} {target.host_key}"
        )
        yield target


def write_two(server: Sshd, target: Sshd, *lines: str) -> None:
    server.write_config()
    config = server.home / ".ssh" / "config"
    more = [
        "Host inner",
        "HostName 127.0.0.1",
        f"Port {target.port}",
        f"User {target.user}",
        f"IdentityFile {server.home}/.ssh/target_key",
        *lines,
    ]
    config.write_text(config.read_text() + "\n    ".join(more) + "\n")


def test_a_host_is_reached_through_a_jump_host(server: Sshd, behind: Sshd) -> None:
    write_two(server, behind)
    transport = open_transport(Host(id="inner", transport="ssh", name="inner", jump="box"))
    try:
        done = transport.run(Command(("sh", "-c", "echo $SSH_CONNECTION")))
        assert done.stdout.split()[3] == str(behind.port)
        assert len(server.sessions()) >= 1
    finally:
        transport.close()


def test_a_jump_host_may_be_named_with_user_and_port_or_in_the_configuration(server: Sshd, behind: Sshd) -> None:
    write_two(server, behind)
    jump = f"{server.user}@127.0.0.1:{server.port}"
    assert hello(Host(id="inner", transport="ssh", name="inner", jump=jump)) == "hello\n"
    write_two(server, behind, "ProxyJump box")
    assert hello(Host(id="inner", transport="ssh", name="inner")) == "hello\n"


def test_the_key_of_a_jump_host_is_verified_too(server: Sshd, behind: Sshd) -> None:
    server.write_known_hosts(f"[127.0.0.1]:{behind.port} {behind.host_key}")
    for lines, jump in (((), "box"), (("ProxyJump box",), None)):
        write_two(server, behind, *lines)
        error = failure(Host(id="inner", transport="ssh", name="inner", jump=jump))
        assert str(error).startswith("inner (jump host box): the host key of 127.0.0.1 is not known")


def test_a_host_that_the_jump_host_can_not_reach_is_said(server: Sshd, behind: Sshd) -> None:
    write_two(server, behind)
    error = failure(Host(id="inner", transport="ssh", name="inner", jump="box", port=1))
    assert "inner: the jump host can't reach 127.0.0.1 port 1" in str(error)


def test_jump_hosts_in_a_circle_are_an_error(server: Sshd) -> None:
    server.write_config("ProxyJump box")
    assert "circle" in str(failure(server.host))


@pytest.mark.skipif(os.getuid() != 0, reason="only root can make another user")
def test_another_user_than_root_runs_jobs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with system_user() as user, sshd(user=user) as server:
        monkeypatch.setenv("HOME", str(server.home))
        transport = open_transport(server.host)
        assert transport.run(Command(("id", "-un"))).stdout == f"{user}\n"
        running = transport.start(Job("test", Command(("sh", "-c", "id -un; pwd")), 30))
        assert running.wait(10)
        who, where = running.collect(tmp_path / "kept").stdout.read_text().split()
        assert who == user
        uid = transport.run(Command(("id", "-u"))).stdout.strip()
        assert where.startswith(f"{server.directory}/tmp/benchbrief-{uid}/")
        transport.close()


def test_files_are_fetched_from_a_server_without_sftp(
    monkeypatch: pytest.MonkeyPatch, opened: list[Transport], tmp_path: Path
) -> None:
    with sshd() as server:
        config = server.directory / "sshd_config"
        config.write_text(config.read_text().replace("Subsystem sftp internal-sftp\n", ""))
        server.change_host_key()  # it reads its configuration anew
        server.write_known_hosts()
        monkeypatch.setenv("HOME", str(server.home))
        transport = open_transport(server.host)
        opened.append(transport)
        command = Command(("sh", "-c", "cat /proc/version; echo >kept"))
        running = transport.start(Job("test", command, 30, collect=("k*",)))
        assert running.wait(30)
        output = running.collect(tmp_path)
        assert output.stdout.read_text() == Path("/proc/version").read_text()
        assert (tmp_path / "kept").read_text() == "\n"
