"""Computes the address at which a server listens, and the address at which other hosts reach it.

The plan's name for a host may be known only to this machine, through ~/.ssh/config. Other hosts then use the address at
which SSH reached the host.
"""

from __future__ import annotations

from benchbrief.model.plan import Database, Plan
from benchbrief.runners.jobs.commands import read_script
from benchbrief.runners.jobs.connection_retry import run_persistently
from benchbrief.runners.jobs.tasks import Command
from benchbrief.runners.seams import Transport

LOOPBACK = "127.0.0.1"

_ADDRESS = read_script(__file__, "server_address.sh")


def address_of(transport: Transport) -> str:
    """Return the plan's name for the host if the host itself knows the name, otherwise its address. Raises
    HostError."""
    name = transport.host.name
    done = run_persistently(transport, Command(("sh", "-c", _ADDRESS, "sh", name)))
    return done.stdout.strip() or name


def listening_address(plan: Plan, database: Database, transport: Transport) -> str:
    """Return the address on which the database's server must listen. It is the loopback if all load generators run on
    its host.

    Raises HostError.
    """
    keys = {key for key, each in plan.databases.items() if each == database}
    clients = {host for cell in plan.cells if cell.database in keys for host in cell.load_hosts}
    return LOOPBACK if clients <= {transport.host.id} else address_of(transport)
