"""A power meter that writes its own log. A sampler on the controller waits until the log is long enough."""

from __future__ import annotations

import json

from benchbrief.extend.common import Job, Node, Probe
from benchbrief.extend.meters import MeterPoint, RecordedMeter, given, sampler_job

_MARGIN_S = 60.0
"""How many seconds the sampler may take beyond the wait for the log."""


class CsvLog(RecordedMeter):
    def job_after(self, points: tuple[MeterPoint, ...], since: float, until: float) -> Job:
        return _recorded(points, since, until)

    def trial(self, probe: Probe, points: tuple[MeterPoint, ...], node: Node) -> Job:
        return _recorded(points, 0.0, None, wait=0.0)


def _recorded(found: tuple[MeterPoint, ...], since: float, until: float | None, wait: float | None = None) -> Job:
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
    timeout = (patience if isinstance(patience, float) else 0.0) + _MARGIN_S
    return sampler_job(f"{__package__}.recorded_log", {"BENCH_RECORDED": json.dumps(settings)}, "power log", timeout)
