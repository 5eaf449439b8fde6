"""Tests the probe of the processors, run for real on this machine and with output from other machines."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from benchbrief.extensions.probes.cpu.cpu_probe import Cpu
from benchbrief.runners.errors import BadOutput
from benchbrief.runners.seams import Transport
from tests.support.probe_readings import output, printed, probe, sampled, values


@pytest.mark.long
def test_the_cpu_probe_sees_this_process_burn_a_core(here: Transport, tmp_path: Path) -> None:
    samples = sampled(Cpu(), probe("cpu", 0.2), here, 3.0, tmp_path / "kept")  # some may be late
    busy = values(samples, "cpu")
    cores = os.cpu_count() or 1
    assert len(busy) >= 5
    assert all(0 <= value <= cores for value in busy)
    assert sum(busy) / len(busy) > 0.5
    for measure in ("cpu.utilisation", "cpu.iowait", "cpu.steal"):
        assert all(0 <= value <= 1 for value in values(samples, measure))
    assert [b * cores for b in values(samples, "cpu.utilisation")] == pytest.approx(busy)
    assert {(sample.node, sample.device) for sample in samples} == {("local", "")}


def stat(*ticks: int) -> str:
    return "cpu  " + " ".join(map(str, ticks))


def test_processor_time_becomes_busy_cores_and_shares(tmp_path: Path) -> None:
    # user nice system idle iowait irq softirq steal guest guest_nice; the guest's time is in user already
    before = stat(100, 0, 50, 1000, 10, 0, 0, 0, 0, 0)
    after = stat(200, 10, 80, 1200, 30, 5, 15, 20, 50, 0)
    text = printed("processors 4", (100.0, before), (101.0, after))
    samples = Cpu().parse(probe("cpu"), output(tmp_path, text), (100, 101))
    assert [(s.measure, s.node, s.device, s.time, s.unit) for s in samples] == [
        ("cpu", "node1", "", 1.0, "cores"),
        ("cpu.utilisation", "node1", "", 1.0, ""),
        ("cpu.iowait", "node1", "", 1.0, ""),
        ("cpu.steal", "node1", "", 1.0, ""),
    ]
    assert [s.value for s in samples] == pytest.approx([4 * 160 / 400, 160 / 400, 20 / 400, 20 / 400])


def test_processor_time_that_goes_backwards_leaves_a_gap(tmp_path: Path) -> None:
    ticks = [(0, 0), (100, 5), (200, 4), (300, 6)]
    readings = [(100.0 + i, stat(0, 0, 0, idle, iowait, 0, 0, 0)) for i, (idle, iowait) in enumerate(ticks)]
    samples = Cpu().parse(probe("cpu"), output(tmp_path, printed("processors 1", *readings)), (100, 103))
    assert [sample.time for sample in samples if sample.measure == "cpu"] == [1.0, 3.0]


def test_a_host_that_does_not_count_its_processors_is_an_error(tmp_path: Path) -> None:
    text = printed("processors ", (100.0, stat(*range(8))), (101.0, stat(*range(8))))
    with pytest.raises(BadOutput, match="how many processors"):
        Cpu().parse(probe("cpu"), output(tmp_path, text), (100, 101))
