"""Why a meter can't be read, and the next step."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from benchbrief.runners.errors import RunnerError, ToolMissing
from benchbrief.runners.jobs.tasks import JobOutput
from benchbrief.runners.meters.meter_points import points_of
from benchbrief.runners.seams import Node

if TYPE_CHECKING:
    from benchbrief.runners.meters.meter_base import PowerMeter

_NOISE = ("IANA PEN registry", "Created directory: ")
"""From ipmitool 1.8.19 without its list of vendors, and from snmpget: these lines change nothing."""

ENDED = re.compile(r"code (\d{1,3})")
"""The line after the output of a command that failed."""


def below_zero_words(watts: float) -> str:
    return f"it says {watts:g} W, and no power is below zero"


def describe_failure(
    kind: PowerMeter, node: Node, output: JobOutput, ended: bool, below_zero: float | None = None
) -> RunnerError:
    """Return the error for a trial reading without watts, or with watts `below_zero`."""
    meter = points_of(node)[0].meter
    what = node.hardware.label if meter.shared else node.host.id
    said = _last_line_of(output) if ended else "it did not answer"
    if below_zero is not None:
        said = below_zero_words(below_zero)
    program, package = kind.tool
    if program and re.search(rf"{program}\W+(not found|No such file)", said):
        where = "this machine" if meter.on == "controller" else node.host.id
        return ToolMissing(
            f"the power of {what} can't be read by {meter.kind}: {said}", f"install {package} on {where}"
        )
    unit = re.search(r"Sensor Reading\s*:.*\)\s*(\S.*)", said)
    if unit:
        said = f"the sensor is in {unit[1].strip()}, not in watts"
    hint = next((each for pattern, each in kind.hints if re.search(pattern, said)), "")
    return RunnerError(
        f"the power of {what} can't be read by {meter.kind}: {said}",
        f"{f'{hint}; ' if hint else ''}mend the meter ({meter.origin}), or take the probe away",
    )


def _last_line_of(output: JobOutput) -> str:
    """Return the last line of a meter that ended with success."""
    errors = [line for line in _lines(output.stderr) if not any(noise in line for noise in _NOISE)]
    stdout = _lines(output.stdout)
    codes = [match[1] for line in stdout if (match := ENDED.fullmatch(line))]
    said = [line for line in stdout if not re.match(r"= |\.$|@ |meter |x [0-9]", line) and not ENDED.fullmatch(line)]
    reading = next((line for line in said if line.lstrip().startswith("Sensor Reading")), "")
    streams = ([reading], errors, said)
    last = next((line.strip() for stream in streams for line in reversed(stream) if line.strip()), "")
    return last[:300] or f"it printed nothing, and ended with code {codes[-1] if codes else output.exit_code}"


def _lines(path: Path) -> list[str]:
    with path.open("rb") as file:
        return file.read(20_000).decode("utf-8", "replace").splitlines()
