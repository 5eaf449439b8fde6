"""The `redfish` meter: a sampler on the controller logs in to a BMC and reads it."""

from __future__ import annotations

import json
import math

from benchbrief.extend.common import CommandWord, Job, Node, Probe
from benchbrief.extend.meters import MeterPoint, SampledMeter, given, sampler_job, secret


class Redfish(SampledMeter):
    def job(self, probe: Probe, points: tuple[MeterPoint, ...], node: Node, rounds: int | None = None) -> Job:
        env: dict[str, CommandWord] = {}
        described: list[dict[str, object]] = []
        for number, point in enumerate(points):
            options = point.meter.options
            env[f"BENCH_USER_{number}"] = given(point.meter, "user")
            env[f"BENCH_PASSWORD_{number}"] = secret(point.meter, "password", point.address)
            known: dict[str, object] = {
                key: options[key] for key in ("auth", "control", "ca_file", "verify") if key in options
            }
            pinned = given(point.meter, "fingerprint").split()
            described.append({"address": point.address, "chassis": point.part, "fingerprints": pinned, **known})
        most = math.ceil(24 * 3600 / probe.every_s)
        settings = {"points": described, "every_s": probe.every_s, "rounds": rounds or most}
        env["BENCH_REDFISH"] = json.dumps(settings)
        return sampler_job(f"{__package__}.redfish_meter", env, "power probe", 24 * 3600.0)
