"""Tests power meters that read the watts printed by a command."""

from __future__ import annotations

import re
import threading
import time
from pathlib import Path

import pytest

from benchbrief.runners.errors import RunnerError
from benchbrief.runners.meters.power_probe import Power, try_meter
from benchbrief.runners.seams import Transport
from tests.support import cells
from tests.support.longer import longer
from tests.support.metering import PROBE, meter, sampled


@pytest.mark.parametrize(
    ("line", "watts"),
    [
        ("echo 312.5", 312.5),
        ("echo '87 W'", 87.0),
        *longer(("echo 90Watts", 90.0), ("echo 2.5e2", 250.0), ("printf 100", 100.0)),
    ],
)
def test_a_command_prints_watts(line: str, watts: float, here: Transport, tmp_path: Path) -> None:
    node = cells.node(meter("command", command=line))
    assert try_meter(node, here) == watts
    samples, _ = sampled(here, node, tmp_path / "kept", readings=3)
    assert {sample.value for sample in samples} == {watts}


def test_a_command_gets_the_name_of_the_host(here: Transport) -> None:
    assert try_meter(cells.node(meter("command", command='[ "$BENCH_HOST" = 127.0.0.1 ] && echo 1')), here) == 1


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("echo -5", "it says -5 W, and no power is below zero"),
        *longer(("echo nothing", "nothing"), ("echo nan", "nan"), ("echo 1 2", "1 2"), ("echo 5 kW", "5 kW")),
        ("true", "it printed nothing, and ended with code 0"),
        ("false", "it printed nothing, and ended with code 1"),
        ("echo no meter >&2; exit 3", "no meter"),
    ],
)
def test_what_is_no_number_of_watts_is_refused(line: str, why: str, here: Transport) -> None:
    with pytest.raises(RunnerError, match=rf"power of local can't be read by command: {why}") as refused:
        try_meter(cells.node(meter("command", command=line)), here)
    assert "one number, the watts" in refused.value.hint


@pytest.mark.long
def test_a_reading_that_fails_is_a_gap(here: Transport, tmp_path: Path) -> None:
    flag, began = tmp_path / "flag", time.time()
    node = cells.node(meter("command", command=f"[ -e {flag} ] && echo 50 || echo broken"))
    toggling = threading.Event()

    def toggle() -> None:
        while not toggling.wait(0.3):
            flag.unlink() if flag.exists() else flag.touch()

    thread = threading.Thread(target=toggle)
    thread.start()
    try:
        samples, kept = sampled(here, node, tmp_path / "kept", readings=12)
    finally:
        toggling.set()
        thread.join()
    good, bad = (kept.stdout.read_text().count(text) for text in ("\n50\n", "\nbroken\n"))
    assert bad > 0
    assert 0 < len(samples) <= good
    assert {sample.value for sample in samples} == {50.0}
    assert re.match(
        r"[1-9]\d* of \d+ readings of power of local failed: ", Power().gaps(PROBE, kept, (began, time.time()))
    )
