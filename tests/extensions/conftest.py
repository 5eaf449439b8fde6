"""Provides an environment in which packages of extensions are installed together with benchbrief."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.environment import REPOSITORY, Environment, copy_sources
from tests.support.lsp import Client, session
from tests.support.made_once import made_once
from tests.support.postgres import Postgres, postgres, standby_of

HERE = Path(__file__).parent
EXAMPLES = REPOSITORY / "examples" / "extensions"
"""The packages with which users can begin."""
PACKAGES = ("entropy", "hwmon", "memo", "netns", "sqlite", "sysbench")

BROKEN = """\
[build-system]
requires = ["setuptools>=77"]
build-backend = "setuptools.build_meta"
[project]
name = "bench-broken"
version = "9"
[project.entry-points."benchbrief.specs.probes"]
broken = "bench_broken.spec:SPEC"
[project.entry-points."benchbrief.specs.importers"]
broken = "bench_broken.spec:SPEC"
[project.entry-points."benchbrief.specs.transports"]
broken = "bench_broken.spec:SPEC"
[project.entry-points."benchbrief.specs.meters"]
broken = "bench_broken.spec:SPEC"
unfinished = "bench_broken.unfinished:SPEC"
[project.entry-points."benchbrief.specs.templates"]
broken = "bench_broken.spec:SPEC"
[tool.setuptools]
packages = ["bench_broken"]
"""
UNFINISHED = """\
from benchbrief.extend.spec import MeterSpec
SPEC = MeterSpec(3, "unfinished", "A meter.", "bench_broken.reader:Unfinished", usage="`unfinished`", boundary="node")
"""
READER = """\
from benchbrief.runners.meters.meter_base import Meter
class Unfinished(Meter):
    pass
"""


@pytest.fixture(scope="session")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """Install benchbrief, the packages of this folder and of the examples, and a broken package.

    The broken package writes the file `broken-was-loaded` wherever it is loaded.
    """
    return Environment(made_once(tmp_path_factory, "installed", _install) / "venv")


@pytest.fixture(scope="session")
def client(installed: Environment, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """Yield an editor that uses the installed program."""
    with session(tmp_path_factory.mktemp("editor"), command=(str(installed.bin / "bench"), "lsp")) as client:
        yield client


def _install(folder: Path) -> None:
    environment = Environment(folder / "venv")
    ignored = shutil.ignore_patterns("__pycache__", "*.egg-info", "build")
    packages = (*(HERE / name for name in PACKAGES), *EXAMPLES.iterdir())
    copies = [shutil.copytree(package, folder / package.name, ignore=ignored) for package in packages]
    broken = folder / "broken" / "bench_broken"
    broken.mkdir(parents=True)
    (broken.parent / "pyproject.toml").write_text(BROKEN)
    (broken / "__init__.py").touch()
    (broken / "spec.py").write_text("open('broken-was-loaded', 'w').close()\nraise RuntimeError('it is broken')\n")
    (broken / "unfinished.py").write_text(UNFINISHED)
    (broken / "reader.py").write_text(READER)
    environment.install("--editable", str(copy_sources(folder)))
    environment.link(*copies, broken.parent)


@pytest.fixture(scope="session")
def postgres_pair() -> Iterator[tuple[Postgres, Postgres]]:
    """Yield a real server, and a real standby that replicates from it."""
    with postgres() as server, standby_of(server) as standby:
        yield server, standby


@pytest.fixture(scope="session")
def postgres_server(postgres_pair: tuple[Postgres, Postgres]) -> Postgres:
    return postgres_pair[0]


@pytest.fixture(scope="session")
def postgres_standby(postgres_pair: tuple[Postgres, Postgres]) -> Postgres:
    return postgres_pair[1]
