"""Tests networks that are silently cut: no packet arrives, not even a reset."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.faults.specs import rocks
from tests.support.bench import Bench
from tests.support.network import can_make_namespaces, network
from tests.support.tools import system_tool
from tests.support.waiting import until


@pytest.mark.long
@pytest.mark.timeout(300)
def test_a_host_that_comes_back_loses_nothing_and_one_that_does_not_fails_alone(bench: Bench) -> None:
    if os.getuid() != 0 or not can_make_namespaces():
        pytest.skip("only root can make networks")
    system_tool("sshd")
    hardware = "\n".join(f'hardware {name} {{ hosts = "{name}"  kind = "{name}" }}' for name in ("h01", "h02"))
    bench.spec(rocks(hardware, ["h01", "h02"]).replace("1 s", "12 s  timeout = 2 s  unattended = 20 s"))
    # Longer than a connection lives when nothing is answered, and than the measurement may take.
    with network(2) as net:
        bench.env["HOME"] = str(net.home)
        with (net.home / ".ssh" / "config").open("a") as config:
            config.write("Host *\n  ConnectTimeout 2\n")
        with bench.started("run", "brief.bench") as run:
            for host in net.hosts:
                until(lambda host=host: _measuring(host.namespace), 60)  # type: ignore[misc]  # each its own
            for host in net.hosts:
                host.cut()
            until(lambda: not _measuring(net.hosts[0].namespace), 60)  # it ends with nobody watching
            # Both are missed for longer than they may take.
            until(
                lambda: (
                    len([r for r in bench.journal("remark") if "was out of reach during measure" in r["text"]]) == 2
                ),
                90,
            )
            net.hosts[0].mend()
            ended = run.wait(120)
        net.hosts[1].mend()
    assert ended.code == 3, ended.text
    verdicts = bench.verdicts()
    assert verdicts["e/h01/load/threads=1/r1"][0] == "ok"
    [lost] = [record for record in bench.journal("cell_ended") if "/h02/" in record["cell"]]
    assert lost["status"] == "failed"
    assert lost["reason"].startswith("h02: ")
    assert "h01 was out of reach during measure, while its job went on" in ended.err
    [attempt] = [r for r in bench.journal("cell_started") if "/h01/" in r["cell"]]
    assert attempt["attempt"] == 1


def _measuring(namespace: str) -> list[int]:
    """Return the pids of db_bench processes in a namespace that run a benchmark. Those that only print a version do not
    count."""
    found = subprocess.run(["ip", "netns", "pids", namespace], capture_output=True, text=True, check=True).stdout
    pids = []
    for pid in found.split():
        try:
            program, *words = Path(f"/proc/{pid}/cmdline").read_text().split("\0")
        except OSError:  # it has ended
            continue
        if program.endswith("db_bench") and "--benchmarks=fillrandom" in words:
            pids.append(int(pid))
    return pids
