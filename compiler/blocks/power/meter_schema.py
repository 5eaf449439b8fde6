"""The values that `power` of the hardware may have."""

from __future__ import annotations

from collections.abc import Mapping

from benchbrief.compiler.extensions import MeterSpec
from benchbrief.compiler.extensions.meter_spec import Boundary
from benchbrief.compiler.extensions.registry import METER_SPECS
from benchbrief.compiler.shapes.shapes import Special

METERS: Mapping[str, MeterSpec] = METER_SPECS.own
"""Benchbrief's own power meters."""

BOUNDARIES: tuple[Boundary, ...] = ("wall", "node", "cpu")

POWER = Special("a power meter such as `ipmi(...)` or `rapl`, a list of those, or a declared quantity such as `250 W`")
