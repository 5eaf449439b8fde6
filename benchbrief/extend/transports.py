"""What a transport needs beside `common`: `JobTransport`, and `NestedTransport` for a place that a command enters."""

from benchbrief.runners.errors import ConnectionLost
from benchbrief.runners.jobs.script_host import HostEntry
from benchbrief.runners.journal.run_identity import RunName
from benchbrief.runners.session import Session
from benchbrief.runners.transports.nested_transport import NestedTransport
from benchbrief.runners.transports.transport_base import JobTransport

__all__ = ["ConnectionLost", "HostEntry", "JobTransport", "NestedTransport", "RunName", "Session"]
