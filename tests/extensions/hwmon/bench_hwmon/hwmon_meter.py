"""Reads `power*_input`, in microwatts: https://www.kernel.org/doc/Documentation/hwmon/sysfs-interface."""

from __future__ import annotations

from benchbrief.extend.common import Node, quote
from benchbrief.extend.meters import Meter, MeterPoint, MeterReader, given, parse_watts
from benchbrief.extend.probes import Reading


class Hwmon(Meter):
    hints = (("No such file", "`ls /sys/class/hwmon/*/power*_input` shows the sensors that the host has"),)

    def reader(self, points: tuple[MeterPoint, ...], node: Node) -> MeterReader:
        return MeterReader("echo meter hwmon", tuple(f"cat {quote(given(each.meter, 'file'))}" for each in points))

    def watts(self, reading: Reading) -> float | None:
        microwatts = parse_watts(reading)
        return None if microwatts is None else microwatts / 1e6
