"""Runs the same commands on 50 real hosts by SSH with benchbrief, Ansible and pyinfra, which take turns within one run.

As root, each host is a network namespace with its own address and sshd; otherwise the hosts are servers on 50 ports.
Each tool is a separate process that starts cold: it reads its inventory, connects to all hosts, and runs a number of
commands on each, one after another. Ansible runs its raw module, which needs nothing on the host and is its fastest,
with 50 forks. By default, it keeps ssh's connections open between tasks. pyinfra also works on 50 hosts at a time.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.fan_out_ours import COMMAND
from benchmarks.figures import record
from benchmarks.timing import spread, wall_s
from tests.support.network import Network, network

PEERS = Path(__file__).parents[1] / ".tools" / "peers" / "bin"
HOSTS = 50


def _ansible(folder: Path, net: Network, commands: int) -> list[str]:
    lines = [
        f"{h.name} ansible_host={h.address} ansible_port={h.port} ansible_user={os.environ.get('USER') or 'root'}"
        for h in net.hosts
    ]
    common = f"-o UserKnownHostsFile={net.home}/.ssh/known_hosts -o ControlMaster=auto -o ControlPersist=60s"
    # A directory of sockets with a short name: the path of a socket may have some 100 bytes.
    (folder / "ansible.cfg").write_text(
        f"[defaults]\nforks = {HOSTS}\ngathering = explicit\nretry_files_enabled = False\n"
        f"[ssh_connection]\nssh_args = {common}\ncontrol_path_dir = {folder}/cp\n"
    )
    key = f"\n[all:vars]\nansible_ssh_private_key_file={net.key}\n"
    (folder / "inventory.ini").write_text("\n".join(lines) + key)
    tasks = "".join(f"    - raw: {' '.join(COMMAND)}\n" for _ in range(commands))
    (folder / "play.yml").write_text(f"- hosts: all\n  gather_facts: false\n  tasks:\n{tasks}")
    return [str(PEERS / "ansible-playbook"), "-i", str(folder / "inventory.ini"), str(folder / "play.yml")]


def _pyinfra(folder: Path, net: Network, commands: int) -> list[str]:
    user = os.environ.get("USER") or "root"
    hosts = [
        (
            h.name,
            {
                "ssh_hostname": h.address,
                "ssh_port": h.port,
                "ssh_user": user,
                "ssh_key": str(net.key),
                "ssh_known_hosts_file": f"{net.home}/.ssh/known_hosts",
            },
        )
        for h in net.hosts
    ]
    (folder / "inventory.py").write_text(f"hosts = {hosts!r}\n")
    line = f'server.shell(name="one", commands=["{" ".join(COMMAND)}"])\n'
    (folder / "deploy.py").write_text("from pyinfra.operations import server\n" + line * commands)
    return [
        str(PEERS / "pyinfra"),
        "-y",
        "--parallel",
        str(HOSTS),
        str(folder / "inventory.py"),
        str(folder / "deploy.py"),
    ]


def main(rounds: int = 5) -> bool:
    if not (PEERS / "ansible-playbook").exists():
        print("  Ansible and pyinfra are not there: run tools/setup.sh peers")
        return False
    held = True
    with network(HOSTS) as net, tempfile.TemporaryDirectory(prefix="bb") as name:
        folder = Path(name)
        kind = "network namespaces" if net.hosts[0].namespace else "ports of one host"
        print(f"  {HOSTS} sshd servers in {kind}")
        os.environ["HOME"] = str(net.home)
        os.environ["ANSIBLE_CONFIG"] = str(folder / "ansible.cfg")
        for commands in (1, 10):
            names = [h.name for h in net.hosts]
            tools = {
                "bench": [sys.executable, "-m", "benchmarks.fan_out_ours", str(commands), *names],
                "Ansible": _ansible(folder, net, commands),
                "pyinfra": _pyinfra(folder, net, commands),
            }
            times: dict[str, list[float]] = {tool: [] for tool in tools}
            for _ in range(rounds):
                for tool, command in tools.items():
                    times[tool].append(wall_s(command))
                    _end_masters(folder)
            least_of = {"Ansible": 3.0, "pyinfra": 1.0 if commands == 1 else 1.5}
            ratios = {
                peer: statistics.median(p / b for p, b in zip(times[peer], times["bench"], strict=True))
                for peer in least_of
            }
            record(
                f"{commands} command{'s' if commands > 1 else ''} on each of {HOSTS} hosts, connections included",
                f"{spread(times['bench'], 's')}: "
                + ", ".join(f"{ratio:.2f} times as fast as {peer}" for peer, ratio in ratios.items()),
                ", ".join(f"{peer} {spread(times[peer], 's')}" for peer in least_of),
            )
            for peer, ratio in ratios.items():
                least = least_of[peer]
                fast = ratio >= least
                held &= fast
                held_or_not = "holds" if fast else "DOES NOT HOLD"
                print(f"    {peer} / bench, median of rounds: {ratio:.2f}, at least {least:g}: {held_or_not}")
    return held


def _end_masters(folder: Path) -> None:
    """Close the ssh connections that Ansible left open for reuse, so that each of its rounds starts cold."""
    for socket in (folder / "cp").glob("*"):
        subprocess.run(["ssh", "-o", f"ControlPath={socket}", "-O", "exit", "any"], capture_output=True, check=False)
    deadline = time.monotonic() + 10
    while any((folder / "cp").glob("*")) and time.monotonic() < deadline:
        time.sleep(0.01)
