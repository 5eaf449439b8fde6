"""What is read for one host: its meters one by one, and how each kind of them is read."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from benchbrief.compiler.plan import PowerMeter, Reference
from benchbrief.runners.errors import RunnerError
from benchbrief.runners.references import read_reference
from benchbrief.runners.seams import Node
from benchbrief.runners.tasks import File, Secret, Word

ANSWER_S = 10
"""A meter that has not answered after this long gives no reading."""


@dataclass(frozen=True)
class Point:
    """One thing that is read: of `meter`, what it calls `part` ("" for all of it) at `address` ("" for the host)."""

    meter: PowerMeter
    address: str
    part: str


@dataclass(frozen=True)
class Reader:
    """How points are read, in this order: shell commands, `header` what does not change, each of `reads` one point.

    `env` and `files` may hold secrets.
    """

    header: str
    reads: tuple[str, ...]
    env: Mapping[str, Word] = field(default_factory=dict)
    files: tuple[File, ...] = ()


def points(node: Node) -> tuple[Point, ...]:
    """All that is read for the node, or, of a shared meter, for the hardware. Raises RunnerError where nothing is."""
    hardware = node.hardware
    if not hardware.power:
        raise RunnerError(f"hardware {hardware.key} does not say how its power is read")
    return tuple(point for meter in hardware.power for point in _of(meter, hardware.hosts.index(node.host.id)))


def _of(meter: PowerMeter, index: int) -> Iterator[Point]:
    if not meter.addresses:
        parts = meter.parts[index : index + 1] if len(meter.parts) > 1 else meter.parts
        yield Point(meter, "", *(parts or ("",)))
        return
    places = list(zip(meter.addresses, meter.parts or ("",) * len(meter.addresses), strict=True))
    if not meter.shared and len(places) > 1:
        places = places[index : index + 1]
    yield from (Point(meter, address, part) for address, part in places)


def given(meter: PowerMeter, key: str) -> str:
    """An option as a text, looked up where it is a reference; "" where it was not said. Raises RunnerError."""
    value = meter.options.get(key, "")
    if isinstance(value, Reference):
        return read_reference(value, f"the power meter at {meter.origin}")
    return str(value)


def secret(meter: PowerMeter, key: str, whose: str) -> Secret:
    return Secret(given(meter, key), name=f"{key} of {whose}")


def name_and_port(text: str, port: str) -> tuple[str, str]:
    """`bmc.lab`, `bmc.lab:6230` or `[fe80::1]:6230` as a name and a port."""
    match = re.fullmatch(r"\[([^\]]*)\](?::(\d+))?|([^:]*)(?::(\d+))?", text)
    if match is None:
        return text, port  # an IPv6 address without brackets
    return match[1] or match[3], match[2] or match[4] or port
