"""What one command keeps for all the hosts that it reaches."""

from __future__ import annotations

import threading

from benchbrief.runners.session.heartbeat import Heartbeats
from benchbrief.runners.session.shutdown import Underway

_OPENED_AT_ONCE = 64
"""How many connections all threads may open at a time. After a network outage, every lane of a fleet opens its own
again, perhaps through one jump host, whose sshd refuses some of many."""


class Session:
    """The heartbeats of its hosts, what it waits for, and its turns to open a connection. Each command makes one."""

    def __init__(self) -> None:
        self.heartbeats = Heartbeats()
        self.underway = Underway()
        self.opening = threading.BoundedSemaphore(_OPENED_AT_ONCE)
