"""Tests the queueing model: laws that hold for every closed network, and an exact solution by another method."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchbrief.model.plan import Fact, Quantity
from benchbrief.runners.world.load_model import DEMANDS, Demand, Machine, QueueNetwork, mix
from tests.support.cells import box

MACHINES = st.builds(
    Machine,
    cores=st.integers(1, 128).map(float),
    disk_latency=st.floats(10e-6, 10e-3),
    disk_queue=st.integers(1, 64).map(float),
    network_latency=st.floats(0.0, 5e-3),
)
MIXES = st.floats(0.0, 1.0).flatmap(
    lambda share: st.sampled_from(sorted(DEMANDS.keys() - {"read"})).map(
        lambda other: {"read": share, other: 1.0 - share}
    )
)
NETWORKS = st.builds(
    QueueNetwork, machine=MACHINES, nodes=st.integers(1, 50), demand=MIXES.map(mix), remote=st.booleans()
)


@settings(max_examples=60, deadline=None)
@given(NETWORKS, st.integers(1, 300))
def test_littles_law_holds(network: QueueNetwork, threads: int) -> None:
    point = network.at(threads)
    assert point.ops_per_s * point.latency_s == pytest.approx(threads)


@settings(max_examples=60, deadline=None)
@given(NETWORKS, st.integers(1, 300))
def test_no_station_is_asked_for_more_than_it_has(network: QueueNetwork, threads: int) -> None:
    machine, demand, rate = network.machine, network.demand, network.at(threads).ops_per_s
    assert rate * demand.cpu_s <= network.nodes * machine.cores * (1 + 1e-9)
    accesses = (demand.reads + demand.writes) * machine.disk_latency
    assert rate * accesses <= network.nodes * machine.disk_queue * (1 + 1e-9)


@settings(max_examples=40, deadline=None)
@given(NETWORKS)
def test_more_threads_never_do_less_and_never_wait_less(network: QueueNetwork) -> None:
    points = [network.at(threads) for threads in (1, 2, 3, 10, 50, 200)]
    assert all(a.ops_per_s <= b.ops_per_s * (1 + 1e-9) for a, b in pairwise(points))
    assert all(a.latency_s <= b.latency_s * (1 + 1e-9) for a, b in pairwise(points))


@settings(max_examples=60, deadline=None)
@given(NETWORKS, st.integers(1, 200), st.floats(0.05, 3.0))
def test_an_offered_load_is_done_as_far_as_the_threads_can(network: QueueNetwork, threads: int, part: float) -> None:
    most = network.at(threads).ops_per_s
    point = network.offered(part * most, threads)
    assert point.ops_per_s == pytest.approx(min(1.0, part) * most)
    # By Little's law: no more threads are busy than there are.
    assert point.ops_per_s * point.latency_s <= threads * (1 + 1e-6)


@pytest.mark.parametrize("threads", [1, 2, 5, 20])
@pytest.mark.parametrize("network_latency", [0.0, 700e-6])
def test_throughput_is_that_of_the_convolution_algorithm(threads: int, network_latency: float) -> None:
    """Buzen's algorithm (1973) sums the weights of all states of the network, without using mean values."""
    cpu_s, disk_s = 300e-6, 200e-6
    machine = Machine(cores=1.0, disk_queue=1.0, disk_latency=disk_s, network_latency=network_latency)
    found = QueueNetwork(machine, 1, Demand(cpu_s, 1.0, 0.0), remote=True).at(threads)
    constants = [1.0]  # of the delay alone: z^n / n!
    for n in range(1, threads + 1):
        constants.append(constants[-1] * network_latency / n)
    for demand in (cpu_s, disk_s):
        for n in range(1, threads + 1):
            constants[n] += demand * constants[n - 1]
    assert found.ops_per_s == pytest.approx(constants[threads - 1] / constants[threads])


def test_twice_the_nodes_do_twice_as_much_under_twice_the_load() -> None:
    demand = mix({"read": 0.5, "update": 0.5})
    one, two = (QueueNetwork(Machine(), nodes, demand, remote=False) for nodes in (1, 2))
    assert two.at(1000).ops_per_s == pytest.approx(2 * one.at(500).ops_per_s, rel=0.01)


def test_facts_that_a_spec_declares_make_the_machine_and_others_do_not() -> None:
    facts: dict[str, Fact] = {
        "cores": Quantity(value=96.0, unit="", text="96"),
        "disk_latency": Quantity(value=80e-6, unit="s", text="80 us"),
        "idle_power": Quantity(value=0.0, unit="W", text="0 W"),
        "cpu": "64 vCPU",
    }
    assert Machine.of(box(facts)) == Machine(cores=96.0, disk_latency=80e-6)
