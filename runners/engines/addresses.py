"""Where a server on a host listens, and is reached by other hosts.

The plan's name of a host may be known to this machine alone, by ~/.ssh/config: then the address takes its place that
the host itself was reached at through SSH.
"""

from __future__ import annotations

from benchbrief.runners.patience import run_persistently
from benchbrief.runners.seams import Transport
from benchbrief.runners.tasks import Command

# SSH_CONNECTION is: the client's address and port, the server's address and port. An IPv6 address may need a zone.
_ADDRESS = """\
if getent hosts "$1" >/dev/null 2>&1; then echo "$1"; exit; fi
at=$1
set -- $SSH_CONNECTION
case $3 in ''|*:*) echo "$at";; *) echo "$3";; esac
"""


def address_of(transport: Transport) -> str:
    """The plan's name where the host knows itself by it. Raises HostError."""
    name = transport.host.name
    done = run_persistently(transport, Command(("sh", "-c", _ADDRESS, "sh", name)))
    return done.stdout.strip() or name
