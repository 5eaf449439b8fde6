"""Tests logs of iostat that are imported with a measurement: which disks count, and how times and dates are read."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from benchbrief.results.imports.importer_seams import BadLog
from benchbrief.results.imports.importer_seams import read_samples as read

WINDOW = (1_700_000_000.0, 1_700_000_005.0)
BANNER = "Linux 6.1.0 (eco-1) 	11/14/2023 	_x86_64_	(2 CPU)\n"


def of_devices(*names: str, at: str = "2023-11-14T22:13:{second:02}+0000") -> str:
    """Return a log of these devices. Each reads a thousand blocks per second."""
    head = "\n{at}\nDevice r/s rkB/s\n"
    reports = (
        head.format(at=at.format(second=second)) + "".join(f"{n} 9.00 1000.00\n" for n in names) + "\n"
        for second in range(18, 28)
    )
    return BANNER + "".join(reports)


@pytest.mark.parametrize(
    ("device", "names", "counted"),
    [
        ("", ("sda", "sda1", "sda2", "dm-0", "loop0", "md127"), {"sda"}),
        ("", ("nvme0n1", "nvme0n1p1", "nvme1n1", "zram0"), {"nvme0n1", "nvme1n1"}),
        ("/dev/nvme1n1", ("nvme0n1", "nvme1n1"), {"nvme1n1"}),
        ("/dev/dm-0", ("sda", "dm-0"), {"dm-0"}),
        ("/data", ("sda", "sda1", "dm-0"), {"sda"}),
    ],
)
def test_a_disk_of_iostat_counts_once_and_only_the_probes_own(
    tmp_path: Path, device: str, names: tuple[str, ...], counted: set[str]
) -> None:
    log = tmp_path / "log"
    log.write_text(of_devices(*names))
    samples = read("iostat", log, "eco-1", WINDOW, device)
    assert {sample.device for sample in samples} == counted
    assert {sample.value for sample in samples if sample.measure == "disk.read"} == {1_024_000}


@pytest.mark.parametrize(
    ("device", "names", "said"),
    [
        ("/dev/sdc", ("sda", "sdb"), "it has no /dev/sdc, which the probe is of, but sda, sdb"),
        ("/data", ("sda", "sdb"), "which of sda, sdb holds /data is not clear"),
        ("", ("sda1", "dm-0"), "it has no whole disk, but sda1, dm-0"),
        ("", ("sda", "vg0-root"), "whether vg0-root is a disk or a part of one is not clear"),
    ],
)
def test_a_log_of_iostat_without_the_probes_disk_is_refused(
    tmp_path: Path, device: str, names: tuple[str, ...], said: str
) -> None:
    log = tmp_path / "log"
    log.write_text(of_devices(*names))
    with pytest.raises(BadLog, match=said):
        read("iostat", log, "eco-1", WINDOW, device)


def test_dates_of_iostat_are_read_as_the_measurements_time_confirms_or_refused(tmp_path: Path) -> None:
    log = tmp_path / "log"
    for at, start in (
        ("05/06/26 22:13:{second:02}", datetime(2026, 5, 6, 22, 13, 20, tzinfo=UTC)),
        ("05/06/26 22:13:{second:02}", datetime(2026, 6, 5, 22, 13, 20, tzinfo=UTC)),
        ("21/11/2026 22:13:{second:02}", datetime(2026, 11, 21, 22, 13, 20, tzinfo=UTC)),
        ("11/21/2026 10:13:{second:02} PM", datetime(2026, 11, 21, 22, 13, 20, tzinfo=UTC)),
    ):
        log.write_text(of_devices("sda", at=at))
        window = (start.timestamp(), start.timestamp() + 5)
        times = [s.time for s in read("iostat", log, "eco-1", window) if s.measure == "disk.read"]
        assert times == [1, 2, 3, 4, 5]
    log.write_text(of_devices("sda", at="05/06/26 22:13:{second:02}"))
    with pytest.raises(BadLog, match="month or the day first is not known"):
        read("iostat", log, "eco-1", WINDOW)


def test_a_log_in_local_time_is_refused_with_both_times(tmp_path: Path) -> None:
    """The log is nine hours ahead and has no time zone, so none of it is in the measured time."""
    log = tmp_path / "log"
    log.write_text(of_devices("sda", at="2023-11-15T07:13:{second:02}"))
    shown = (
        r"nothing of it lies in the measured time: it is from 2023-11-15 07:13:\d\d to .* and that 2023-11-14 22:13:20"
    )
    with pytest.raises(BadLog, match=shown) as refused:
        read("iostat", log, "eco-1", WINDOW)
    assert "TZ=UTC" in refused.value.hint


@pytest.mark.parametrize("at", ["14.11.2023 22:13:{second:02}", "2023年11月14日 22時13分{second:02}秒"])
def test_iostats_times_of_other_languages_are_read(tmp_path: Path, at: str) -> None:
    log = tmp_path / "log"
    log.write_text(of_devices("sda", at=at), encoding="utf-8")
    samples = read("iostat", log, "eco-1", WINDOW)
    assert {sample.time for sample in samples} == set(range(1, 6))


def test_rates_of_iostat_are_those_of_their_intervals_as_far_as_these_are_measured(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text(of_devices("sda", at="2023-11-14T22:13:{second:02}Z"))
    start, end = WINDOW
    samples = [s for s in read("iostat", log, "eco-1", (start + 0.5, end - 0.75)) if s.measure == "disk.read"]
    found = [(sample.time, sample.seconds) for sample in samples]
    assert found == [(0.5, 0.5), (1.5, 1.0), (2.5, 1.0), (3.5, 1.0), (3.75, 0.25)]
