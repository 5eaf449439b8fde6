"""Tests the pool of a run's hosts: connections are shared and kept, and an absent host does not hinder the others."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from benchbrief.model.plan import Host, Plan, SpecRef
from benchbrief.runners.errors import HostError
from benchbrief.runners.hosts.host_connections import HostPool
from benchbrief.runners.jobs.tasks import Command, Job
from benchbrief.runners.seams import Transport
from tests.support.sshd import Sshd
from tests.support.waiting import until


@pytest.fixture
def plan(server: Sshd) -> Plan:
    hosts = [
        server.host,
        Host(id="local", transport="local", name="local"),
        server.host.model_copy(update={"id": "away", "port": 1}),
    ]
    return Plan(
        spec=SpecRef(name="x.bench", files={}),
        hosts={host.id: host for host in hosts},
        hardware={},
        clients={},
        databases={},
        workloads={},
        experiments={},
        cells=(),
        estimate_s=0,
    )


def connections(server: Sshd) -> int:
    return server.log.count("Accepted publickey")


def test_a_host_is_connected_on_first_use_and_kept(plan: Plan, server: Sshd) -> None:
    before = connections(server)
    with HostPool(plan) as hosts:
        assert hosts["local"].run(Command(("true",))).exit_code == 0
        assert hosts["box"] is hosts["box"]
        assert connections(server) == before
        for _ in range(3):
            assert hosts["box"].run(Command(("true",))).exit_code == 0
        assert connections(server) == before + 1
    until(lambda: not server.sessions())


def test_many_threads_share_one_connection(plan: Plan, server: Sshd) -> None:
    before = connections(server)
    answers: list[str] = []

    def ask(transport: Transport, number: int) -> None:
        answers.append(transport.run(Command(("echo", str(number)))).stdout)

    with HostPool(plan) as hosts:
        threads = [threading.Thread(target=lambda n=n: ask(hosts["box"], n)) for n in range(12)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert sorted(answers) == sorted(f"{number}\n" for number in range(12))
    assert connections(server) == before + 1


def test_a_host_that_is_away_is_not_reachable_and_does_not_hinder_the_others(plan: Plan) -> None:
    with HostPool(plan) as hosts:
        assert not hosts.reachable("away")
        assert hosts.reachable("box")
        assert hosts.reachable("local")


def test_a_host_that_the_plan_does_not_have_is_an_error(plan: Plan) -> None:
    with HostPool(plan) as hosts, pytest.raises(HostError, match="no host 'elsewhere' in the plan"):
        hosts["elsewhere"]


def test_another_ssh_configuration_may_be_given(plan: Plan, server: Sshd, tmp_path: Path) -> None:
    (server.home / ".ssh" / "config").rename(tmp_path / "mine")
    with HostPool(plan, config=tmp_path / "mine") as hosts:
        assert hosts.reachable("box")


def test_nobody_connects_again_after_the_pool_was_closed(plan: Plan, server: Sshd) -> None:
    with HostPool(plan) as hosts:
        running = hosts["box"].start(Job("test", Command(("sleep", "1")), 30))
        assert not running.wait(0.1)  # someone waits for the job from now on
    with pytest.raises(HostError):
        running.wait(20)
    until(lambda: not server.sessions())
