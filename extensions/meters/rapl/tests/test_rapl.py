"""Tests the energy counters of CPU packages, in a made-up file tree."""

from __future__ import annotations

import re
import threading
import time
from pathlib import Path

import pytest

from benchbrief.extensions.meters.rapl import rapl_meter
from benchbrief.runners.errors import RunnerError
from benchbrief.runners.meters.power_probe import Power, try_meter
from benchbrief.runners.seams import Transport
from tests.support import cells
from tests.support.metering import PROBE, meter, sampled
from tests.support.probe_readings import output, printed

RANGE = 262_143_328_850


def package(root: Path, number: int, energy: int, name: str | None = None) -> Path:
    directory = root / f"intel-rapl:{number}"
    directory.mkdir(parents=True)
    (directory / "name").write_text(f"{name or f'package-{number}'}\n")
    (directory / "max_energy_range_uj").write_text(f"{RANGE}\n")
    (directory / "energy_uj").write_text(f"{energy}\n")
    core = root / f"intel-rapl:{number}:0"
    core.mkdir()
    (core / "name").write_text("core\n")
    (core / "energy_uj").write_text("7\n")
    return directory / "energy_uj"


@pytest.fixture
def powercap(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = tmp_path / "powercap"
    monkeypatch.setattr(rapl_meter, "POWERCAP", str(root))
    return root


def test_two_packages_are_added_up_over_the_wrap_around_of_one(powercap: Path, here: Transport, tmp_path: Path) -> None:
    """The packages in the made-up tree draw 40 W and 60 W. The second counter restarts after half a second."""
    first, second = package(powercap, 0, 1_000_000), package(powercap, 1, RANGE - 30_000_000)
    package(powercap, 2, 5, name="psys")
    node = cells.node(meter("rapl", on="node"))
    over = threading.Event()
    began = time.time()

    def count() -> None:
        while not over.wait(0.005):
            microseconds = int((time.time() - began) * 1e6)
            for file, energy in (
                (first, 1_000_000 + 40 * microseconds),
                (second, (RANGE - 30_000_000 + 60 * microseconds) % (RANGE + 1)),
            ):
                new = file.with_suffix(".new")
                new.write_text(f"{energy}\n")
                new.replace(file)

    thread = threading.Thread(target=count)
    thread.start()
    try:
        samples, kept = sampled(here, node, tmp_path / "kept", readings=10)
    finally:
        over.set()
        thread.join()
    text = kept.stdout.read_text()
    counted = [int(match) for match in re.findall(r"intel-rapl:1 (\d+)", text)][1:]
    assert counted != sorted(counted), "it wrapped around meanwhile"
    values = [sample.value for sample in samples]
    assert len(values) >= 7
    # On a busy machine the tree stands still for a while and catches up: its watts are what was read of one package.
    read = re.findall(r"^= (\S+) .*\nintel-rapl:0 (\d+)$", text, re.MULTILINE)
    (began_at, first_count), (ended_at, last_count) = ((float(at), int(count)) for at, count in (read[0], read[-1]))
    watts = (last_count - first_count) / 1e6 / (ended_at - began_at) * 100 / 40
    assert sum(values) / len(values) == pytest.approx(watts, rel=0.25)
    assert 0 <= min(values) <= max(values) < 10_000, "the wrap-around is no burst"


def test_a_package_that_can_t_be_read_leaves_a_gap(tmp_path: Path) -> None:
    header = f"meter rapl\npackage intel-rapl:0 {RANGE}\npackage intel-rapl:1 {RANGE}"
    text = printed(
        header,
        (10.0, "intel-rapl:0 1000000\nintel-rapl:1 1000000"),
        (11.0, "intel-rapl:0 51000000\nintel-rapl:1 21000000"),
        (12.0, "intel-rapl:0 99000000\nintel-rapl:1 "),
        (13.0, "intel-rapl:0 150000000\nintel-rapl:1 90000000"),
        (14.0, "intel-rapl:0 200000000\nintel-rapl:1 120000000"),
    )
    samples = Power().parse(PROBE, output(tmp_path, text), (10.0, 14.0))
    assert [(sample.time, sample.value) for sample in samples] == [(1.0, 70.0), (4.0, 80.0)]


def test_without_packages_the_meter_says_so(powercap: Path, here: Transport) -> None:
    powercap.mkdir()
    with pytest.raises(RunnerError, match=r"read by rapl: there is no CPU package in .*powercap"):
        try_meter(cells.node(meter("rapl", on="node")), here)
