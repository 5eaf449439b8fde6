"""The errors that drivers, engines, probes and transports may raise."""

from __future__ import annotations

# --- errors ------------------------------------------------------------------------------------------------------


class RunnerError(Exception):
    """Something went wrong that a user can act on: one line, and what to do next in `hint`."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


class HostError(RunnerError):
    """A host can't be reached, refuses, has another key than known, or a command on it can't be run."""

    lasting = False  # whether it stays until somebody mends it: the host refuses us, or has no address


class HostBusy(HostError):
    """Another run holds the host."""


class OneMachine(HostError):
    """Two names of a plan lead to one machine, on which two cells would be measured at the same time."""


class ConnectionLost(HostError):
    """The connection to a host broke. What was running there as a job still runs."""


class ToolMissing(RunnerError):
    """A tool is not on the host, or does not run there."""


class BadOutput(RunnerError):
    """A tool's output does not prove that it did what was asked: the cell has failed, whatever its exit code."""


class LoadShort(RunnerError):
    """After a load, the database holds fewer records than asked."""


class ServerFailed(RunnerError):
    """The system under test can't be reached, or went away."""


class TeardownFailed(RunnerError):
    """What a database declares for its end went wrong: its cells are none the worse, and it is told."""


class DiskFull(RunnerError):
    """The controller could not write a file for want of space. Nothing more can be kept: the run stops."""


class HostFull(RunnerError):
    """There was no space on a host: the cell has failed, and the run goes on."""


class Interrupted(Exception):
    """The run was asked to stop while something was waited for: no failure, and no verdict."""
