"""Why a meter could not be read, and what to do about it."""

from __future__ import annotations

import re
from pathlib import Path

from benchbrief.runners.errors import RunnerError, ToolMissing
from benchbrief.runners.probes.power.points import points
from benchbrief.runners.seams import Node
from benchbrief.runners.tasks import JobOutput

_NOISE = ("IANA PEN registry", "Created directory: ")
"""Of ipmitool 1.8.19 when the list of vendors is not installed, and of snmpget: they change nothing."""
_TOOLS = {"ipmi": ("ipmitool", "ipmitool"), "snmp": ("snmpget", "snmp")}
"""What a kind of meter is asked by: the program, and the Debian package that has it."""

ENDED = re.compile(r"code (\d{1,3})")
"""A line after what a command printed that did not end well."""

_HINTS: tuple[tuple[str, str, str], ...] = (
    (
        "ipmi",
        r"Unable to establish|RAKP|insufficient",
        "check its address, `user:` and `password:`, and that users may log in over the LAN; some want `cipher: 3`",
    ),
    (
        "ipmi",
        r"Could not open device",
        "on the host itself it takes root, and the modules ipmi_si and ipmi_devintf; else ask the BMC over the network",
    ),
    (
        "ipmi",
        r"[Ii]nvalid command|DCMI request failed|not supported",
        'it has no DCMI: read a sensor of it, `sensor: "..."`; `ipmitool sdr elist` shows which it has',
    ),
    ("ipmi", r"not found|Unable to find", "`ipmitool sdr elist` shows the sensors that it has"),
    ("ipmi", r"deactivated", "switch the BMC's measurement on: `ipmitool dcmi power activate`"),
    (
        "snmp",
        r"[Tt]imeout",
        "check its address, and who asks: a PDU does not answer a community that it does not know",
    ),
    ("snmp", r"No Such|noSuch", "it has nothing there: check the `oid:`, or `outlet:` and `family:`"),
    (
        "snmp",
        r"[Uu]nknown user|[Aa]uthentication|decrypt|[Ww]rong",
        "check `user:`, `auth:` and `privacy:`, and their protocols",
    ),
    ("command", r"", "it has to print one number, the watts, and nothing else"),
)
"""What to do about what a kind of meter says."""


def complaint(node: Node, output: JobOutput, ended: bool) -> RunnerError:
    """The error for a reading that was tried and gave no watts."""
    meter = points(node)[0].meter
    what = node.hardware.label if meter.shared else node.host.id
    told = _told(output) if ended else "it did not answer"
    program, package = _TOOLS.get(meter.kind, ("", ""))
    if program and re.search(rf"{program}\W+(not found|No such file)", told):
        where = "this machine" if meter.on == "controller" else node.host.id
        return ToolMissing(
            f"the power of {what} can't be read by {meter.kind}: {told}", f"install {package} on {where}"
        )
    unit = re.search(r"Sensor Reading\s*:.*\)\s*(\S.*)", told)
    if unit:
        told = f"the sensor is in {unit[1].strip()}, not in watts"
    hint = next((each for kind, pattern, each in _HINTS if kind == meter.kind and re.search(pattern, told)), "")
    return RunnerError(
        f"the power of {what} can't be read by {meter.kind}: {told}",
        f"{f'{hint}; ' if hint else ''}mend the meter ({meter.origin}), or take the probe away",
    )


def _told(output: JobOutput) -> str:
    """The last thing that a meter told, of what it printed when it took itself for successful."""
    errors = [line for line in _lines(output.stderr) if not any(noise in line for noise in _NOISE)]
    stdout = _lines(output.stdout)
    codes = [match[1] for line in stdout if (match := ENDED.fullmatch(line))]
    said = [line for line in stdout if not re.match(r"= |\.$|@ |meter |x [0-9]", line) and not ENDED.fullmatch(line)]
    reading = next((line for line in said if line.lstrip().startswith("Sensor Reading")), "")
    streams = ([reading], errors, said)
    told = next((line.strip() for stream in streams for line in reversed(stream) if line.strip()), "")
    return told[:300] or f"it printed nothing, and ended with code {codes[-1] if codes else output.exit_code}"


def _lines(path: Path) -> list[str]:
    with path.open("rb") as file:
        return file.read(20_000).decode("utf-8", "replace").splitlines()
