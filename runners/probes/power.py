"""The `power` probe: what a meter says a host draws, in watts.

    ipmi      `ipmitool ... dcmi power reading`, asked by the controller (DCMI 1.5, Get Power Reading)
    rapl      energy counters of CPU packages in /sys/class/powercap, which wrap around at max_energy_range_uj
    command   a command of the spec's, which prints one number

See https://www.kernel.org/doc/html/latest/power/powercap/powercap.html for the counters. A reading that fails is a gap:
there is no sample for it, and what the meter said is in the probe's stderr.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

from benchbrief.compiler.plan import PowerMeter, Probe, Reference
from benchbrief.runners.commands import quote, shell_line
from benchbrief.runners.measurement import Sample
from benchbrief.runners.probes import Reading, last_words, moments, readings, recent, sampling_job, steps
from benchbrief.runners.references import read_reference
from benchbrief.runners.seams import (
    BadOutput,
    Completed,
    Job,
    JobOutput,
    Node,
    RunnerError,
    Secret,
    ToolMissing,
    Transport,
    Word,
)

KINDS = ("ipmi", "rapl", "command")
"""Meters that can be read."""

POWERCAP = "/sys/class/powercap"
_ANSWER_S = 10
"""A meter that has not answered after this long gives no reading."""
_MOST_W = 1000.0
"""More than a CPU package draws: over a gap in which its counter could wrap around twice, nothing is known."""

_RAPL_HEADER = """\
echo meter rapl; found=
for d in @root@/intel-rapl:*; do
    case ${d##*:} in *[!0-9]*) continue;; esac
    case ${d#*intel-rapl:} in *:*) continue;; esac
    case $(cat "$d/name" 2>/dev/null) in package*) ;; *) continue;; esac
    found=yes
    [ -r "$d/energy_uj" ] || { echo "$d/energy_uj can be read by root only" >&2; exit 1; }
    echo "package ${d##*/} $(cat "$d/max_energy_range_uj")"
done
[ -n "$found" ] || { echo "there is no CPU package in @root@" >&2; exit 1; }"""
_RAPL_READ = 'for f in @root@/intel-rapl:*/energy_uj; do d=${f%/*}; echo "${d##*/} $(cat "$f")"; done'
_IPMI = """\
timeout @answer@ ipmitool -I lanplus -H "$BENCH_METER" -p "$BENCH_METER_PORT" -U "$BENCH_METER_USER" -E @cipher@ \
dcmi power reading"""
_NOISE = "IANA PEN registry"
"""Of ipmitool 1.8.19, when the list of vendors is not installed, which changes nothing."""
_WATTS = re.compile(r"Instantaneous power reading:\s+(\d{1,6}) Watts")
_ACTIVE = re.compile(r"Power reading state is:\s+activated")


@dataclass(frozen=True)
class _Reader:
    """Shell commands: `header` prints what does not change, `read` one reading. `env` may hold secrets."""

    header: str
    read: str
    env: Mapping[str, Word] = field(default_factory=dict)


class Power:
    """Watts of a node, by the meter of its hardware; see `seams.ProbeKind`."""

    name: ClassVar[str] = "power"

    def job(self, probe: Probe, node: Node) -> Job:
        reader = _reader(node)
        # A header that fails ends the loop before it begins.
        return sampling_job(probe, reader.read, reader.header, reader.env)

    def parse(self, probe: Probe, output: JobOutput, window: tuple[float, float]) -> tuple[Sample, ...]:
        watts = _watts(probe, output, window)
        known = [(time, value) for time, value in watts if value is not None]
        if watts and not known:
            raise BadOutput(
                f"none of {len(watts)} readings of power of {output.host} is a number of watts: {last_words(output)}",
                f"Look at the probe's output in {output.directory}.",
            )
        return tuple(Sample("power", output.host, "", time, value, "W") for time, value in known)

    def now(self, probe: Probe, text: str) -> Mapping[str, float]:
        """See `seams.TellsNow`. What the meter is stands in the header, so the last reading has to tell by itself."""
        last = recent(text)[-1:]
        watts = next(
            (found for reading in last for said in _SAID.values() if (found := said(reading)) is not None), None
        )
        return {} if watts is None else {"power": watts}

    def gaps(self, probe: Probe, output: JobOutput, window: tuple[float, float]) -> str:
        watts = _watts(probe, output, window)
        failed = sum(value is None for _, value in watts)
        if not failed:
            return ""
        return f"{failed} of {len(watts)} readings of power of {output.host} failed: {last_words(output)}"


def _watts(probe: Probe, output: JobOutput, window: tuple[float, float]) -> list[tuple[float, float | None]]:
    """What was read inside the window, None for a reading that failed. Raises BadOutput."""
    header, found = readings(output)
    kind = next((line.removeprefix("meter ") for line in header if line.startswith("meter ")), "")
    if kind == "rapl":
        return _rapl(probe, output, header, found, window)
    if kind not in _SAID:
        raise BadOutput(f"the power probe on {output.host} does not say how it reads")
    return [(time, _SAID[kind](reading)) for time, reading in moments(probe, output, found, window)]


def try_meter(node: Node, transport: Transport) -> float | None:
    """Read the node's meter once: its watts, or None from a counter, which takes two readings.

    Raises RunnerError, with what the meter said, when it can't be read.
    """
    meter = _meter(node)
    reader = _reader(node)
    command = replace(shell_line(f"{reader.header}\n{reader.read}"), env=reader.env)
    done = transport.run(command, timeout_s=_ANSWER_S + 5)
    lines = tuple(done.stdout.splitlines())
    if meter.kind == "rapl" and done.exit_code == 0:
        return None
    watts = _SAID[meter.kind](Reading(0.0, lines[1:])) if meter.kind in _SAID else None
    if watts is None:
        told = _reason(done, lines[1:])
        missing = "ipmitool: not found" in told or "ipmitool: No such file" in told
        raise (ToolMissing if missing else RunnerError)(
            f"the power of {node.host.id} can't be read by {meter.kind}: {told}",
            "install ipmitool on this machine"
            if missing
            else f"mend the meter ({meter.origin}), or take the probe away",
        )
    return watts


def _reason(done: Completed, said: Sequence[str]) -> str:
    """The last thing that a meter told, of what it printed when it took itself for successful."""
    errors = [line for line in done.stderr.splitlines() if _NOISE not in line]
    streams = (said, errors) if done.exit_code == 0 else (errors, said)
    told = next((line.strip() for stream in streams for line in reversed(stream) if line.strip()), "")
    return told[:200] or f"it printed nothing, and ended with code {done.exit_code}"


def _meter(node: Node) -> PowerMeter:
    meter = node.hardware.power
    if meter is None:
        raise RunnerError(f"hardware {node.hardware.key} does not say how its power is read")
    return meter


def _reader(node: Node) -> _Reader:
    meter = _meter(node)
    match meter.kind:
        case "rapl":
            root = quote(POWERCAP)
            return _Reader(_RAPL_HEADER.replace("@root@", root), _RAPL_READ.replace("@root@", root))
        case "command":
            line = quote(str(meter.options["command"]))
            return _Reader(
                "echo meter command", f"timeout {_ANSWER_S} sh -c {line} </dev/null", {"BENCH_HOST": node.host.name}
            )
        case "ipmi":
            return _ipmi(node, meter)
    raise RunnerError(f"power can't be read by {meter.kind} yet ({meter.origin})", f"use one of {', '.join(KINDS)}")


def _ipmi(node: Node, meter: PowerMeter) -> _Reader:
    name, port = _address(meter.addresses[node.hardware.hosts.index(node.host.id)])
    suite = meter.options.get("cipher")
    cipher = f"-C {suite:.0f}" if isinstance(suite, float) else ""
    user, password = (_read(meter, key) for key in ("user", "password"))
    env: dict[str, Word] = {
        "BENCH_METER": name,
        "BENCH_METER_PORT": port,
        "BENCH_METER_USER": user,
        "IPMI_PASSWORD": Secret(password, name=f"password of {name}"),
        "LC_ALL": "C",
    }
    read = _IPMI.replace("@answer@", str(_ANSWER_S)).replace("@cipher@", cipher)
    return _Reader("echo meter ipmi", f"{read} </dev/null", env)


def _address(text: str) -> tuple[str, str]:
    """`bmc.lab`, `bmc.lab:6230` or `[fe80::1]:6230` as a name and a port."""
    match = re.fullmatch(r"\[([^\]]*)\](?::(\d+))?|([^:]*)(?::(\d+))?", text)
    if match is None:
        return text, "623"  # an IPv6 address without brackets
    return match[1] or match[3], match[2] or match[4] or "623"


def _read(meter: PowerMeter, key: str) -> str:
    value = meter.options[key]
    if isinstance(value, Reference):
        return read_reference(value, f"the power meter at {meter.origin}")
    return str(value)


def _rapl(
    probe: Probe, output: JobOutput, header: list[str], found: list[Reading], window: tuple[float, float]
) -> list[tuple[float, float | None]]:
    """The packages' power together, over each interval between readings."""
    ranges = {}
    for line in header:
        match = re.fullmatch(r"package (\S+) (\d{1,18})", line)
        if match:
            ranges[match[1]] = int(match[2])
    watts = []
    for step in steps(probe, output, found, window):
        before, after = _counts(step.before), _counts(step.after)
        joules = [_moved(before.get(name), after.get(name), most, step.seconds) for name, most in ranges.items()]
        known = [moved for moved in joules if moved is not None]
        whole = bool(known) and len(known) == len(joules)
        watts.append((step.time, sum(known) / step.seconds if whole else None))
    return watts


def _counts(reading: Reading) -> dict[str, int]:
    found = (re.fullmatch(r"(\S+) (\d{1,18})", line) for line in reading.lines)
    return {match[1]: int(match[2]) for match in found if match}


def _moved(before: int | None, after: int | None, most: int, seconds: float) -> float | None:
    """Joules between two readings of a counter that goes up to `most` microjoules, and then begins at 0."""
    if before is None or after is None or seconds * _MOST_W > most / 1e6:
        return None
    return (after - before if after >= before else after + most + 1 - before) / 1e6


def _ipmi_watts(reading: Reading) -> float | None:
    """A BMC whose power reading is not activated says 0 W, which is no power."""
    text = "\n".join(reading.lines)
    watts = _WATTS.search(text)
    return float(watts[1]) if watts and _ACTIVE.search(text) else None


def _printed_watts(reading: Reading) -> float | None:
    """The one number that a command printed, with or without its unit."""
    text = " ".join(line for line in reading.lines if line.strip()).strip()
    match = re.fullmatch(r"(\d{1,9}(?:\.\d{1,9})?(?:[eE][+-]?\d{1,2})?)(?:\s*W(?:atts?)?)?", text)
    watts = float(match[1]) if match else math.nan
    return watts if math.isfinite(watts) else None


_SAID: Mapping[str, Callable[[Reading], float | None]] = {"ipmi": _ipmi_watts, "command": _printed_watts}
