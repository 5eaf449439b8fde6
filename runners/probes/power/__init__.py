"""The `power` probe: what meters say that hosts draw, in watts.

    ipmi      a BMC, asked by ipmitool              redfish   a BMC, asked by a sampler of our own
    snmp      a PDU, asked by snmpget               rapl      counters of CPU packages
    command   prints one number                     csv       a log that the meter writes itself

A host, or, of a shared meter, the whole hardware, has one job that reads all its meters, and their watts are added
up: where there are several, lines of `@ 0`, `@ 1` stand before what each said. A reading of which one failed is a gap:
there is no sample for it, and what the meter said is in the probe's stderr. What runs on the controller outlives it as
any job does, and ends by itself when its directory goes.
"""

from __future__ import annotations

import json
import math
import re
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from benchbrief.compiler.plan import Probe
from benchbrief.runners.commands import quote
from benchbrief.runners.errors import BadOutput, RunnerError
from benchbrief.runners.measurement import Sample
from benchbrief.runners.probes import Reading, last_words, moments, readings, recent, sampling_job
from benchbrief.runners.probes.power import ipmi, rapl, snmp
from benchbrief.runners.probes.power.complaints import ENDED, complaint
from benchbrief.runners.probes.power.points import ANSWER_S, Point, Reader, given, points, secret
from benchbrief.runners.seams import Node, Transport
from benchbrief.runners.tasks import Command, Job, JobOutput, Word

_TRY_S = 60.0
"""The first reading of a BMC by Redfish takes several requests, each of which may take seconds."""
_MARGIN_S = 60.0
"""What is kept of a log before the measurement began, by the controller's clock."""


class Power:
    """Watts of a node, or of hardware that has its meters together; see `seams.ProbeKind` and `seams.ReadsAfter`."""

    name: ClassVar[str] = "power"

    def job(self, probe: Probe, node: Node) -> Job:
        return _job(probe, node)

    def job_after(self, probe: Probe, node: Node, window: tuple[float, float]) -> Job:
        since, until = window
        return _recorded(points(node), since - _MARGIN_S, until)

    def parse(self, probe: Probe, output: JobOutput, window: tuple[float, float]) -> tuple[Sample, ...]:
        of = _of(probe, output)
        watts = _watts(probe, output, window)
        known = [(time, value) for time, value in watts if value is not None]
        if watts and not known:
            raise BadOutput(
                f"none of {len(watts)} readings of power of {of} is a number of watts: {last_words(output)}",
                f"Look at the probe's output in {output.directory}.",
            )
        return tuple(Sample("power", of, "", time, value, "W") for time, value in known)

    def now(self, probe: Probe, text: str) -> Mapping[str, float]:
        """See `seams.TellsNow`. What the meter is stands in the header, so the last reading has to tell by itself."""
        for reading in recent(text)[-1:]:
            watts = [next(_any(each), None) for each in _apart(reading)]
            known = [each for each in watts if each is not None]
            if known and len(known) == len(watts):
                return {"power": sum(known)}
        return {}

    def gaps(self, probe: Probe, output: JobOutput, window: tuple[float, float]) -> str:
        watts = _watts(probe, output, window)
        failed = sum(value is None for _, value in watts)
        if not failed:
            return ""
        return f"{failed} of {len(watts)} readings of power of {_of(probe, output)} failed: {last_words(output)}"


def _of(probe: Probe, output: JobOutput) -> str:
    """What the watts are the power of: a host, or, of a shared meter, the hardware."""
    return probe.options.get("of", output.host)


# --- the jobs ----------------------------------------------------------------------------------------------------


def _job(probe: Probe, node: Node, rounds: int | None = None) -> Job:
    """Samples until it is stopped, or so many times. A header that fails ends the loop before it begins."""
    found = points(node)
    kind = found[0].meter.kind
    if kind == "redfish":
        return _redfish(probe, found, rounds)
    if kind not in _READERS:
        raise RunnerError(
            f"power can't be read by `{kind}` ({found[0].meter.origin})", f"use one of {', '.join(KINDS)}"
        )
    reader = _READERS[kind](found, node)
    return sampling_job(probe, _together(reader.reads), reader.header, reader.env, files=reader.files, rounds=rounds)


def _together(reads: Sequence[str]) -> str:
    """Shell commands that read everything at the same moment, as near as can be."""
    if len(reads) == 1:
        return reads[0]
    begun = " ".join(f"{{ {read}; }} >said-{number} &" for number, read in enumerate(reads))
    told = "; ".join(f"echo '@ {number}'; cat said-{number}" for number in range(len(reads)))
    return f"{begun} wait; {told}"


def _command(found: tuple[Point, ...], node: Node) -> Reader:
    """What it prints may end without a newline; how it ended is told where that was not well."""
    ran = "</dev/null; c=$?; echo; [ $c = 0 ] || echo code $c"
    reads = (f"timeout {ANSWER_S} sh -c {quote(given(each.meter, 'command'))} {ran}" for each in found)
    return Reader("echo meter command", tuple(reads), {"BENCH_HOST": node.host.name})


def _redfish(probe: Probe, found: tuple[Point, ...], rounds: int | None) -> Job:
    env: dict[str, Word] = {}
    told: list[dict[str, object]] = []
    for number, point in enumerate(found):
        options = point.meter.options
        env[f"BENCH_USER_{number}"] = given(point.meter, "user")
        env[f"BENCH_PASSWORD_{number}"] = secret(point.meter, "password", point.address)
        known: dict[str, object] = {
            key: options[key] for key in ("auth", "control", "ca_file", "verify") if key in options
        }
        pinned = given(point.meter, "fingerprint").split()
        told.append({"address": point.address, "chassis": point.part, "fingerprints": pinned, **known})
    most = math.ceil(24 * 3600 / probe.every_s)
    settings = {"points": told, "every_s": probe.every_s, "rounds": rounds or most}
    env["BENCH_REDFISH"] = json.dumps(settings)
    return _sampler("redfish", env, "power probe", 24 * 3600.0)


def _recorded(found: tuple[Point, ...], since: float, until: float | None, wait: float | None = None) -> Job:
    meter = found[0].meter
    patience = meter.options.get("wait", 60.0) if wait is None else wait
    settings = {
        "path": found[0].address,
        "time": given(meter, "time") or "time",
        "columns": [point.part or "watts" for point in found],
        "zone": given(meter, "zone"),
        "format": given(meter, "format"),
        "scale": meter.options.get("scale", 1.0),
        "since": since,
        "until": until,
        "wait": patience,
    }
    timeout = (patience if isinstance(patience, float) else 0.0) + _TRY_S
    return _sampler("recorded", {"BENCH_RECORDED": json.dumps(settings)}, "power log", timeout)


def _sampler(module: str, env: Mapping[str, Word], name: str, timeout_s: float) -> Job:
    words = (sys.executable, "-P", "-m", f"benchbrief.runners.samplers.{module}")
    return Job(name, Command(words, env), timeout_s=timeout_s, background=True)


_READERS: Mapping[str, Callable[[tuple[Point, ...], Node], Reader]] = {
    "ipmi": ipmi.reader,
    "snmp": snmp.reader,
    "rapl": rapl.reader,
    "command": _command,
}
KINDS = ("ipmi", "redfish", "snmp", "rapl", "command", "csv")
"""Meters that can be read."""


# --- what they said ----------------------------------------------------------------------------------------------


def _watts(probe: Probe, output: JobOutput, window: tuple[float, float]) -> list[tuple[float, float | None]]:
    """What was read inside the window, None for a reading that failed. Raises BadOutput."""
    header, found = readings(output)
    kind = _kind(header)
    if kind == "rapl":
        return rapl.watts(probe, output, header, found, window)
    if kind not in KINDS:
        raise BadOutput(f"the power probe on {output.host} does not say how it reads")
    return [(time, _sum(header, reading)) for time, reading in moments(probe, output, found, window)]


def _kind(header: Sequence[str]) -> str:
    return next((line.removeprefix("meter ") for line in header if line.startswith("meter ")), "")


def _sum(header: Sequence[str], reading: Reading) -> float | None:
    """The watts of all that was read together; None when one of them has none."""
    said = {"ipmi": ipmi.watts, "snmp": snmp.watts}.get(_kind(header), _printed)
    watts = [said(each) for each in _apart(reading)]
    known = [each for each in watts if each is not None]
    return sum(known) if known and len(known) == len(watts) else None


def _apart(reading: Reading) -> Iterator[Reading]:
    lines: list[str] = []
    begun = False
    for line in reading.lines:
        if re.fullmatch(r"@ \d{1,4}", line):
            if begun:
                yield Reading(reading.time, tuple(lines))
            begun, lines = True, []
        else:
            lines.append(line)
    yield Reading(reading.time, tuple(lines))


def _any(reading: Reading) -> Iterator[float]:
    """The watts as any meter tells them."""
    found = (ipmi.watts(reading), snmp.watts(reading), _printed(reading))
    return (watts for watts in found if watts is not None)


def _printed(reading: Reading) -> float | None:
    """The one number that a command printed, with or without its unit."""
    text = " ".join(line for line in reading.lines if line.strip() and not ENDED.fullmatch(line)).strip()
    match = re.fullmatch(r"(\d{1,9}(?:\.\d{1,9})?(?:[eE][+-]?\d{1,2})?)(?:\s*W(?:atts?)?)?", text)
    watts = float(match[1]) if match else math.nan
    return watts if math.isfinite(watts) else None


# --- once, before anything is measured -----------------------------------------------------------------------------


def try_meter(node: Node, transport: Transport) -> float | None:
    """Read the node's power once, as the probe will; None when a log is not there yet, which may come with the run.

    Raises RunnerError, with what the meter said and the place of its line in the spec, when it can't be read.
    """
    found = points(node)
    kind = found[0].meter.kind
    # Counters take two readings.
    probe = Probe(name="power", every_s=0.3, hosts=(node.host.id,), origin=found[0].meter.origin)
    job = _recorded(found, 0.0, None, wait=0.0) if kind == "csv" else _job(probe, node, 2 if kind == "rapl" else 1)
    with tempfile.TemporaryDirectory(prefix="benchbrief-") as folder:
        running = transport.start(job)
        ended = running.wait(_TRY_S)
        if not ended:
            running.stop()
        output = running.collect(Path(folder) / "tried")
        running.discard()
        if kind == "csv" and output.exit_code == _NOT_YET:
            return None
        try:
            watts = _once(probe, output)
        except BadOutput:
            watts = None
        if watts is None:
            raise complaint(node, output, ended)
    return watts


_NOT_YET = 3
"""How a sampler ends that found no log."""


def _once(probe: Probe, output: JobOutput) -> float | None:
    header, found = readings(output)
    if _kind(header) == "rapl":
        return next((watts for _, watts in rapl.watts(probe, output, header, found, (0.0, math.inf))), None)
    return _sum(header, found[-1])
