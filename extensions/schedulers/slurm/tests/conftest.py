"""Provides a cluster of four nodes, each with its own sshd, and a `bench` that reaches them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.bench import Bench
from tests.support.slurm import Slurm, slurm
from tests.support.slurm_runs import NODES, spec
from tests.support.two_hosts import two_hosts


@pytest.fixture(scope="session")
def shared_cluster() -> Iterator[Slurm]:
    with slurm(NODES) as fresh:
        yield fresh


@pytest.fixture
def cluster(shared_cluster: Slurm) -> Slurm:
    shared_cluster.until_idle()
    return shared_cluster


@pytest.fixture
def slurm_bench(tmp_path: Path, cluster: Slurm) -> Iterator[Bench]:
    with two_hosts(tmp_path, names=tuple(NODES)) as fresh:
        fresh.env.update(cluster.env)
        spec(fresh)
        yield fresh
