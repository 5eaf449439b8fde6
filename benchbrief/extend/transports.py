"""The classes for a transport, in addition to `common`: `JobTransport`, and `NestedTransport` for places (such as
containers) that a command enters."""

from benchbrief.runners.errors import ConnectionLost
from benchbrief.runners.jobs.commands import mask_command, script
from benchbrief.runners.jobs.script_host import HostEntry
from benchbrief.runners.journal.run_identity import RunName
from benchbrief.runners.journal.secret_masking import Masking
from benchbrief.runners.session import Session
from benchbrief.runners.transports.nested_transport import NestedTransport
from benchbrief.runners.transports.transport_base import JobTransport, LimitedText, MarkedEnd, ReadsByScript

__all__ = [
    "ConnectionLost",
    "HostEntry",
    "JobTransport",
    "LimitedText",
    "MarkedEnd",
    "Masking",
    "NestedTransport",
    "ReadsByScript",
    "RunName",
    "Session",
    "mask_command",
    "script",
]
