"""Tests logs of ipmitool that are imported with a measurement: which lines count as readings, and how times are
read."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchbrief.results.imports.importer_seams import BadLog
from benchbrief.results.imports.importer_seams import read_samples as read

WINDOW = (1_700_000_000.0, 1_700_000_005.0)


def test_a_reading_that_the_sensor_did_not_have_is_missing_and_not_zero(tmp_path: Path) -> None:
    log = tmp_path / "log"
    values = ("220.000", "na", "224.000")
    rows = (
        f"{1_700_000_000 + second} Pwr Consumption  | {value:10} | Watts | {'na' if value == 'na' else 'ok'} | na"
        for second, value in enumerate(values)
    )
    log.write_text("\n".join(rows) + "\n")
    assert [(each.time, each.value) for each in read("ipmitool", log, "eco-1", WINDOW)] == [(0, 220), (2, 224)]
    log.write_bytes(b"\x1f\x8b\x08\x00")
    with pytest.raises(BadLog, match="packed by gzip"):
        read("ipmitool", log, "eco-1", WINDOW)


@pytest.mark.parametrize(
    "stamp",
    [
        "Tue Nov 14 22:13:{second:02} 2023\n    Sampling period:                          00000001 Seconds.",
        "11/14/2023 22:13:{second:02} UTC    Sampling period:                          00000001 Seconds.",
    ],
)
@pytest.mark.parametrize("between", ["\n    Minimum during sampling period:                132 Watts\n    ", "     "])
def test_dcmi_readings_of_old_and_new_ipmitool_are_those_of_their_times(
    tmp_path: Path, stamp: str, between: str
) -> None:
    """Covers the output of 1.8.18, the output of 1.8.19 (which lacks a line end), and both outputs on one line."""
    log = tmp_path / "log"
    log.write_text(
        "".join(
            f"    Instantaneous power reading:                   {200 + second} Watts{between}"
            f"IPMI timestamp:                           {stamp.format(second=second)}\n"
            "    Power reading state is:                   activated\n\n"
            for second in range(18, 28)
        )
    )
    assert [(each.time, each.value) for each in read("ipmitool", log, "eco-1", WINDOW)] == [
        (second, 220 + second) for second in range(6)
    ]


def test_a_zone_of_ipmitool_that_is_not_known_is_refused(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text(
        "    Instantaneous power reading: 220 Watts\n    IPMI timestamp:  11/14/2023 23:13:20 CET  Sampling\n"
    )
    with pytest.raises(BadLog, match="its times are in CET") as refused:
        read("ipmitool", log, "eco-1", WINDOW)
    assert "TZ=UTC" in refused.value.hint


@pytest.mark.parametrize(
    "line",
    [
        "1700000001 Pwr Consumption | -200 Watts | ok",
        "1700000001 Pwr Consumption | -200.000  | Watts | ok",
        "    Instantaneous power reading:  -200 Watts   IPMI timestamp: Tue Nov 14 22:13:21 2023",
    ],
)
def test_watts_below_zero_are_refused_by_their_line(tmp_path: Path, line: str) -> None:
    log = tmp_path / "log"
    log.write_text(f"1700000000 Pwr Consumption | 210 Watts | ok\n{line}\n")
    with pytest.raises(BadLog, match=r"^-200 W: no power is below zero$") as refused:
        read("ipmitool", log, "eco-1", WINDOW)
    assert refused.value.line == 2


@pytest.mark.parametrize(
    ("times", "said"),
    [("0 1 2 0 1", "its times go back by 2 s"), ("0 1 1 2", "two readings of one time: 221 and 222 W"), ("0 1 2", "")],
)
def test_a_time_that_a_log_has_twice_is_refused(tmp_path: Path, times: str, said: str) -> None:
    log = tmp_path / "log"
    rows = [f"170000000{second} Pwr Consumption | {220 + n} Watts\n" for n, second in enumerate(times.split())]
    log.write_text("".join(rows))
    if not said:
        assert len(read("ipmitool", log, "eco-1", WINDOW)) == 3
        return
    with pytest.raises(BadLog, match=said):
        read("ipmitool", log, "eco-1", WINDOW)
