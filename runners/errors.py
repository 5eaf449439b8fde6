"""The errors that drivers, engines, probes and transports may raise."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchbrief.dsl.bench_error import BenchError, ExitCode
from benchbrief.model.message import mapped
from benchbrief.model.run_messages import say
from benchbrief.runners.journal.secret_masking import hide

if TYPE_CHECKING:
    from benchbrief.model.events import Refused

# --- errors ------------------------------------------------------------------------------------------------------


class RunnerError(BenchError):
    """The base of the errors that a run raises. Hides this process's secrets in the message and in the hint."""

    code = "run"
    by_plan = False
    """Whether the plan itself is the cause, so that a new attempt would fail in the same way."""
    by_host = False
    """Whether a host is the cause, so that the same plan will succeed once the host is fixed."""
    is_server_lost = False
    """Whether the lane's server, or the connection to it, can no longer be relied on."""
    is_worth_another_attempt = False
    """Whether another attempt at the cell may succeed, provided that the plan is not the cause."""
    refused_by: Refused = ""
    """Why the numbers were refused: "generator" if the load generator was late, "system" if the system did not serve
    its load, and "" for any other error."""
    is_tried_once_more = False
    """Whether this error gives the cell one more attempt than its experiment's `retries`."""

    def __init__(self, message: str, hint: str = "") -> None:
        # The message may quote part of a secret that a library, a tool or a server printed.
        super().__init__(hide(message), hide(hint))

    @property
    def one_line(self) -> str:
        """Return the message and its hint as one sentence, without line ends."""
        said = say.hinted(said=self.message, hint=self.hint) if self.hint else self.message
        return mapped(said, lambda text: " ".join(text.split()))


class HostError(RunnerError):
    """A host can't be reached, refuses us, has an unknown key, or can't run a command."""

    code = "host"
    by_host = True
    is_server_lost = True
    is_worth_another_attempt = True
    lasting = False  # True when waiting does not help: the host refuses us, or has no address


class HostBusy(HostError):
    """Another run claims the host. `while_waiting` is advice on what to do besides waiting for that run."""

    code = "host_busy"
    is_worth_another_attempt = False
    while_waiting = ""


class NoHost(HostError):
    """Every host of a run refuses us or is unfit, so nothing can be measured until somebody fixes the hosts."""

    code = "no_host"


class Outdated(RunnerError):
    """Other runs ended while this run waited for its hosts. This run has not begun and might reuse their results."""

    code = "outdated"


class OneMachine(HostError):
    """Two host names of a plan lead to one machine, so two cells would be measured there at the same time."""

    code = "one_machine"


class ConnectionLost(HostError):
    """The connection to a host broke. A job that was started there continues."""

    code = "connection_lost"


class Damaged(RunnerError):
    """A file of a run was changed or cut after it was written."""

    code = "damaged"


class ToolMissing(RunnerError):
    """A tool is not on the host, or does not run there."""

    code = "tool_missing"


class NoTool(RunnerError):
    """The hosts of a run lack tools that its cells need, so the run does not begin."""

    code = "no_tool"
    ends_with = ExitCode.CELL_FAILED


class BadOutput(RunnerError):
    """A tool's output does not prove that the tool did its work. The cell has failed, whatever the exit code."""

    code = "bad_output"
    is_worth_another_attempt = True


class BeganLate(BadOutput):
    """A tool's first operation came so late that not enough of the measured time was left."""

    code = "began_late"
    is_tried_once_more = True


class NotServed(BadOutput):
    """Too many operations failed, or too many operations that were due were never sent."""

    code = "not_served"
    refused_by = "system"


class GeneratorLate(BadOutput):
    """The load generator itself was so late that the numbers would describe it instead of the database."""

    code = "generator_late"
    refused_by = "generator"


class EventFailed(BadOutput):
    """An event of the measurement failed, or did not run on time."""

    code = "event_failed"


class OptionRefused(BadOutput):
    """A tool does not know an option that the spec sets."""

    code = "option_refused"
    by_plan = True


class PlanRefused(RunnerError):
    """The plan asks for something that its tool or its engine can't do."""

    code = "plan_refused"
    by_plan = True


class NoKnee(RunnerError):
    """A search that other cells wait for has measured all its points without finding a usable knee."""

    code = "no_knee"
    by_plan = True


class LoadShort(RunnerError):
    """After a load, the database holds fewer records than the spec asks for."""

    code = "load_short"
    is_worth_another_attempt = True


class ServerFailed(RunnerError):
    """The system under test can't be reached, or has stopped."""

    code = "server_failed"
    is_server_lost = True
    is_worth_another_attempt = True


class TeardownFailed(RunnerError):
    """A teardown command that a database declares failed. The database's cells keep their results, and the run reports
    the failure."""

    code = "teardown_failed"


class NotKept(RunnerError):
    """Nothing more of a run can be saved, so the run stops."""

    ends_with = ExitCode.INTERRUPTED


class DiskFull(NotKept):
    """The controller's disk is full."""

    code = "disk_full"


class FolderMoved(NotKept):
    """A run's folder was moved or removed while its controller ran, so outputs would end up in another folder."""

    code = "folder_moved"


class HostFull(RunnerError):
    """A host's disk is full. The cell has failed, and the run continues."""

    code = "host_full"
    by_host = True


class Interrupted(Exception):
    """The run was asked to stop while it waited. This is neither a failure nor a verdict."""
