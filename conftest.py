"""Provides what any test may use, such as golden files, which `--update-goldens` rewrites."""

from __future__ import annotations

import gc
import os
import shutil
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

from benchbrief.runners.journal.secret_masking import KNOWN
from tests.support.forked_workers import ForkedWorkers, Share
from tests.support.frozen_memory import freeze_memory
from tests.support.warm import share_among_processes, warm

if TYPE_CHECKING:
    from benchbrief.runners.seams import Transport
    from tests.support.bench import Bench
    from tests.support.snapshot_vm import Machine

# An example that takes long on a busy machine is no counterexample: pytest's own time-out ends what hangs.
settings.register_profile("benchbrief", deadline=None)
settings.load_profile("benchbrief")

# As `bench` collects garbage: the default is for programs that hold far fewer objects than thousands of tests.
gc.set_threshold(50_000, 20, 50)

# What a brief leaves out for a mistake of ours fails the test, also in the processes that tests start.
os.environ["BENCH_STRICT"] = "1"

# YCSB's processes live for seconds: half of their processor time is the optimizing compiler's. Its script reads this.
os.environ.setdefault("JAVA_OPTS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")


CLOCKED = ("cli", "docs", "examples", "extensions", "faults", "runners", "tools")
"""Folders of tests with servers, load generators and whole runs. Like the tests of our extensions, they mostly wait,
and depend on times."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--shares", action="store_true", help="run tests that wait beside those that compute: tools/check")
    parser.addoption("--long", action="store_true", help="only the tests that are marked long")
    parser.addoption("--name-failed", type=Path, help="write the names of the tests that failed, if all were run")
    parser.addoption("--update-goldens", action="store_true", help="write golden files anew; read the difference")


def _shares(items: Sequence[pytest.Item]) -> list[Share]:
    """Divide the tests into two shares that run side by side.

    The first share has the tests that start servers and load generators, which wait more than they compute, and measure
    times. The second share has all others. They and the commands that they start have a low priority, so that they do
    not disturb the first share.
    """
    modules: dict[Path, list[int]] = {}
    for number, item in enumerate(items):
        modules.setdefault(item.path, []).append(number)
    places = {True: deque[Sequence[int]](), False: deque[Sequence[int]]()}
    for path, numbers in modules.items():
        place, below = path.relative_to(Path(__file__).parent).parts[:2]
        places[place == "extensions" or below in CLOCKED].append(numbers)
    return [Share(places[True], processes=4), Share(places[False], processes=2, nice=10)]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the tests that are marked long. With `--long`, leave out all others instead. If a module is named on
    the command line, nothing is left out."""
    if any(Path(argument.partition("::")[0]).suffix == ".py" for argument in config.args):
        return
    wanted = config.getoption("--long")
    chosen: dict[bool, list[pytest.Item]] = {True: [], False: []}
    for item in items:
        chosen[item.get_closest_marker("long") is not None].append(item)
    config.hook.pytest_deselected(items=chosen[not wanted])
    items[:] = chosen[wanted]


def pytest_collection_finish() -> None:
    freeze_memory()  # the tests and their modules stay: no collection need look at them


def pytest_configure(config: pytest.Config) -> None:
    if hasattr(config, "workerinput"):
        config.add_cleanup(lambda: os._exit(0))  # the last: to take all modules apart would be a second's work
    else:  # the processes share what their parent's names
        folder = share_among_processes()
        config.add_cleanup(lambda: shutil.rmtree(folder, ignore_errors=True))
    if config.getoption("--shares"):
        warm()  # starts while the tests are collected; all processes ask it by this connection
        config.pluginmanager.register(ForkedWorkers(_shares))


def pytest_sessionfinish(session: pytest.Session) -> None:
    file: Path | None = session.config.getoption("--name-failed")
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if file and reporter and not (session.shouldfail or session.shouldstop):
        found = [each.nodeid for kind in ("failed", "error") for each in reporter.stats.get(kind, ())]
        file.write_text("".join(f"{name}\n" for name in dict.fromkeys(found)))


def pytest_unconfigure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
        gc.unfreeze()


@pytest.fixture(autouse=True)
def _no_secrets_of_other_tests() -> Iterator[None]:
    """Remember secrets only during the test that has them, so that they are not masked in messages of another one."""
    with KNOWN.apart():
        yield


@pytest.fixture
def paper(bench: Bench) -> None:
    """Let the test's `bench` draw PDFs."""
    bench.paper = True


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[Path, str], None]:
    """Return a function that compares a text with a golden file or, with `--update-goldens`, writes the file."""

    def compare(path: Path, text: str) -> None:
        if request.config.getoption("--update-goldens"):
            path.write_text(text, encoding="utf-8")
        assert path.exists(), f"no golden {path.name}: run pytest with --update-goldens, and read it"
        assert text == path.read_text(encoding="utf-8")

    return compare


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Transport]:
    """Yield this machine's transport. It keeps its jobs in a folder of this test, so that ending leftover jobs does not
    end those of other tests."""
    from benchbrief.runners.hosts.host_connections import open_transport
    from tests.support import cells

    monkeypatch.setenv("TMPDIR", str(tmp_path))
    transport = open_transport(cells.LOCAL)
    yield transport
    transport.end_leftovers()
    transport.close()


@pytest.fixture(scope="session")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    """Yield the virtual machine of `tools/snapshot-vm`, which all tests that need it share."""
    from tests.support.snapshot_vm import snapshot_vm

    with snapshot_vm(tmp_path_factory.mktemp("vm")) as running:
        yield running


@pytest.fixture
def password(monkeypatch: pytest.MonkeyPatch) -> None:
    """Set the environment variable with the password of the BMC user in `tests/support/bmc.py`."""
    from tests.support import bmc

    monkeypatch.setenv("BMC_PASSWORD", bmc.PASSWORD)
