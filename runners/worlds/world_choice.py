"""The world of a run: real, or simulated. It is decided once, when the run is made."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from benchbrief.runners.errors import RunnerError
from benchbrief.runners.journal import events as j
from benchbrief.runners.journal.run_folder import simulation_of
from benchbrief.runners.session.session import Session
from benchbrief.runners.simulated.simulated_world import SimulatedWorld
from benchbrief.runners.world_seams import World
from benchbrief.runners.worlds.real_world import RealWorld


def world_for(simulated: j.Simulated | None, again: int = 0, session: Session | None = None) -> World:
    """Return the world. `again` is how often the run started before."""
    return SimulatedWorld(simulated, again) if simulated else RealWorld(session=session or Session())


def world_of(run_dir: Path, starts: Sequence[j.RunStarted], session: Session | None = None) -> World:
    """Return the world of a run that continues. Raises RunnerError when the journal names another one."""
    simulated = simulation_of(run_dir)
    if any(start.simulated != simulated for start in starts):
        raise RunnerError(
            f"the journal of {run_dir} is of a {'real' if simulated else 'simulated'} run, or of another simulation",
            "measured and simulated results are never mixed: run the spec again",
        )
    return world_for(simulated, len(starts), session)
