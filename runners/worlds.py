"""Which world a run is of: the real one, or a simulated one. It is decided once, when the run is made."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from benchbrief.runners import journal as j
from benchbrief.runners.errors import RunnerError
from benchbrief.runners.rundir import simulation_of
from benchbrief.runners.simulated.world import SimulatedWorld
from benchbrief.runners.world import RealWorld, World


def world_for(simulated: j.Simulated | None, again: int = 0) -> World:
    """`again` is how often the run was started before."""
    return SimulatedWorld(simulated, again) if simulated else RealWorld()


def world_of(run_dir: Path, records: Sequence[j.AnyRecord]) -> World:
    """The world that a run goes on in. Raises RunnerError when the journal tells of another one."""
    simulated = simulation_of(run_dir)
    starts = [record for record in records if isinstance(record, j.RunStarted)]
    if any(start.simulated != simulated for start in starts):
        raise RunnerError(
            f"the journal of {run_dir} tells of a {'real' if simulated else 'simulated'} run, or of another simulation",
            "measured and simulated results are never mixed: run the spec again",
        )
    return world_for(simulated, len(starts))
