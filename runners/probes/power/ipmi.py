"""By a BMC, asked by ipmitool: the power reading of DCMI 1.5, or a sensor of it in watts."""

from __future__ import annotations

import re

from benchbrief.runners.commands import quote
from benchbrief.runners.probes import Reading
from benchbrief.runners.probes.power.points import ANSWER_S, Point, Reader, given, name_and_port, secret
from benchbrief.runners.seams import Node
from benchbrief.runners.tasks import Word

_WATTS = re.compile(r"Instantaneous power reading:\s+(\d{1,6}) Watts")
_ACTIVE = re.compile(r"Power reading state is:\s+activated")
_SENSOR = re.compile(r"Sensor Reading\s*:\s*(\d{1,6}(?:\.\d{1,6})?)(?:\s*\([^)]*\))?\s*(\S.*)?")
_LISTED = "sdr"


def reader(points: tuple[Point, ...], _node: Node) -> Reader:
    env: dict[str, Word] = {"LC_ALL": "C"}
    header = ["echo meter ipmi"]
    reads = []
    for number, point in enumerate(points):
        tool = "ipmitool -I open"
        if point.address:
            name, port = name_and_port(point.address, "623")
            env |= {
                f"BENCH_METER_{number}": name,
                f"BENCH_PORT_{number}": port,
                f"BENCH_USER_{number}": given(point.meter, "user"),
                f"BENCH_PASSWORD_{number}": secret(point.meter, "password", name),
            }
            suite = point.meter.options.get("cipher")
            cipher = f" -C {suite:.0f}" if isinstance(suite, float) else ""
            # The password goes from one environment to another: an assignment is no argument of a process.
            tool = (
                f'IPMI_PASSWORD="$BENCH_PASSWORD_{number}" timeout {ANSWER_S} ipmitool -I lanplus '
                f'-H "$BENCH_METER_{number}" -p "$BENCH_PORT_{number}" -U "$BENCH_USER_{number}" -E{cipher}'
            )
        else:
            tool = f"timeout {ANSWER_S} {tool}"
        if point.part:
            # A sensor is looked for in a list that takes a BMC seconds to give: it is asked for once.
            header.append(f"{tool} sdr dump {_LISTED}-{number} </dev/null >/dev/null 2>&1")
            listed = f'$([ -s {_LISTED}-{number} ] && echo "-S {_LISTED}-{number}")'
            reads.append(f"{tool} {listed} sensor get {quote(point.part)} </dev/null")
        else:
            reads.append(f"{tool} dcmi power reading </dev/null")
    return Reader("\n".join(header), tuple(reads), env)


def watts(reading: Reading) -> float | None:
    """A BMC whose power reading is not activated says 0 W, which is no power."""
    text = "\n".join(reading.lines)
    sensor = _SENSOR.search(text)
    if sensor:
        return float(sensor[1]) if (sensor[2] or "").strip() == "Watts" else None
    found = _WATTS.search(text)
    return float(found[1]) if found and _ACTIVE.search(text) else None
