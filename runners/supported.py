"""What a plan may ask for that can't be done yet: refused before the first cell, so that nothing is lost by it."""

from __future__ import annotations

from benchbrief.compiler.plan import Plan
from benchbrief.runners.seams import RunnerError


def refuse_unsupported(plan: Plan) -> None:
    """Raises RunnerError for a plan that can't be run as it says."""
    for cell in plan.cells:
        hardware = plan.hardware[cell.hardware]
        for probe in cell.probes:
            if probe.name == "power" and hardware.power is not None:
                raise RunnerError(
                    f"power can't be read by `{hardware.power.kind}` yet ({hardware.power.origin})",
                    f"take `power` out of the probes of {cell.experiment}, or add `power = none` to the profile: "
                    "its power is then missing",
                )
            if probe.name == "database":
                raise RunnerError(
                    f"the probe `database` can't be run yet ({probe.origin})",
                    f"take it out of the probes of {cell.experiment}",
                )
        if len(cell.load_hosts) > 1:
            raise RunnerError(
                f"the load of {cell.experiment} can't come from {len(cell.load_hosts)} hosts yet",
                f"give the client {cell.client} one host",
            )
