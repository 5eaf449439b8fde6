"""A power meter that reads a BMC with ipmitool: the power reading of DCMI 1.5, or a sensor in watts."""

from __future__ import annotations

import re

from benchbrief.extend.common import CommandWord, Node, quote
from benchbrief.extend.meters import ANSWER_S, Meter, MeterPoint, MeterReader, given, name_and_port, secret
from benchbrief.extend.probes import Reading

_WATTS = re.compile(r"Instantaneous power reading:\s+(-?\d{1,6}) Watts")
_ACTIVE = re.compile(r"Power reading state is:\s+activated")
_SENSOR = re.compile(r"Sensor Reading\s*:\s*(-?\d{1,6}(?:\.\d{1,6})?)(?:\s*\([^)]*\))?\s*(\S.*)?")
_LISTED = "sdr"


class Ipmi(Meter):
    tool = ("ipmitool", "ipmitool")
    answer = r"Sensor Reading(?:\s*:.*\)\s*(?P<unit>\S.*))?"
    figures = (
        r"[ \t]*Instantaneous power reading:[ \t]+-?[0-9]{1,6} Watts[ \t]*",
        r"[ \t]*Power reading state is:[ \t]+(de)?activated[ \t]*",
        r"[ \t]*Sensor Reading[ \t]*:[ \t]*-?[0-9]{1,6}([.][0-9]{1,6})?([ \t]*[(][^)]{0,40}[)])?[ \t]*(Watts)?[ \t]*",
    )
    hints = (
        (
            r"Unable to establish|RAKP|insufficient",
            "check its address, `user:` and `password:`, and that users may log in over the LAN; some want `cipher: 3`",
        ),
        (
            r"Could not open device",
            "on the host it takes root, and the modules ipmi_si and ipmi_devintf; else ask the BMC over the network",
        ),
        (
            r"[Ii]nvalid command|DCMI request failed|not supported",
            'it has no DCMI: read a sensor of it, `sensor: "..."`; `ipmitool sdr elist` shows which it has',
        ),
        (r"not found|Unable to find", "`ipmitool sdr elist` shows the sensors that it has"),
        (r"deactivated", "switch the BMC's measurement on: `ipmitool dcmi power activate`"),
    )

    def reader(self, points: tuple[MeterPoint, ...], node: Node) -> MeterReader:
        env: dict[str, CommandWord] = {"LC_ALL": "C"}
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
                # The password passes through the environment, never through a process argument.
                tool = (
                    f'IPMI_PASSWORD="$BENCH_PASSWORD_{number}" timeout {ANSWER_S} ipmitool -I lanplus '
                    f'-H "$BENCH_METER_{number}" -p "$BENCH_PORT_{number}" -U "$BENCH_USER_{number}" -E{cipher}'
                )
            else:
                tool = f"timeout {ANSWER_S} {tool}"
            if point.part:
                # A BMC takes seconds to list its sensors, so the list is read once.
                header.append(f"{tool} sdr dump {_LISTED}-{number} </dev/null >/dev/null 2>&1")
                listed = f'$([ -s {_LISTED}-{number} ] && echo "-S {_LISTED}-{number}")'
                reads.append(f"{tool} {listed} sensor get {quote(point.part)} </dev/null")
            else:
                reads.append(f"{tool} dcmi power reading </dev/null")
        return MeterReader("\n".join(header), tuple(reads), env)

    def watts(self, reading: Reading) -> float | None:
        """Return the watts from DCMI or from a sensor. Returns None if DCMI reports 0 W, since a BMC does so while its
        power reading is off."""
        text = "\n".join(reading.lines)
        sensor = _SENSOR.search(text)
        if sensor:
            return float(sensor[1]) if (sensor[2] or "").strip() == "Watts" else None
        found = _WATTS.search(text)
        return float(found[1]) if found and _ACTIVE.search(text) else None
