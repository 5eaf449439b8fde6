"""From where inserted records are deleted: the load generators' hosts, which reach the server by the URI's own names.

The controller names the keys, and sends them through a port that each of these hosts forwards: so the server is asked
from there, over several connections at once, and the controller needs no way of its own to it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from benchbrief.compiler.messages.text import Text
from benchbrief.compiler.planning.plan import Cell, Database
from benchbrief.runners.engines.mongodb import mongo_uri
from benchbrief.runners.engines.mongodb.mongo_client import Address, Connection
from benchbrief.runners.engines.mongodb.mongo_data import Data
from benchbrief.runners.engines.mongodb.mongo_messages import say
from benchbrief.runners.engines.mongodb.mongo_uri import MongoUri
from benchbrief.runners.errors import RunnerError, ServerFailed
from benchbrief.runners.execution.driver_contexts import loading_hosts
from benchbrief.runners.seams import Hosts


@dataclass(frozen=True)
class Routes:
    """The data set as each of the senders reaches it, and from where that is, in words."""

    data: tuple[Data, ...]
    described: Text


@dataclass(frozen=True)
class Server:
    """Where load generators find the server: their URI, and the primary of a replica set, as it names itself, or ""."""

    database: Database
    uri: MongoUri
    primary: str

    def addresses(self) -> tuple[Address, ...]:
        return mongo_uri.parse(f"mongodb://{self.primary}").hosts if self.primary else self.uri.hosts


@contextmanager
def find_routes(own: Data, server: Server, cell: Cell, hosts: Hosts) -> Iterator[Routes]:
    """Yield routes from the hosts that load the cell's data set; from the controller where none of them can be one.

    `own` is the data set as the controller reaches it.
    """
    if server.uri.looked_up or server.uri.encrypted:
        yield Routes((own,), say.sent_by_controller(why=say.certificate_names()))
        return
    with ExitStack() as opened:
        found: dict[str, Data] = {}
        failed: list[str] = []
        for host in loading_hosts(cell):
            try:
                found[host] = Data(_through(host, hosts, server, opened), server.uri.database)
            except RunnerError as error:
                failed.append(f"{host}: {error}")
        if found:
            yield Routes(tuple(found.values()), say.sent_by_hosts(hosts=", ".join(found)))
        else:
            yield Routes((own,), say.sent_by_controller(why="; ".join(failed)))


def _through(host: str, hosts: Hosts, server: Server, opened: ExitStack) -> Connection:
    """Return a connection to the server from this host. Raises RunnerError."""
    *others, last = server.addresses()
    for address in others:
        try:
            return _connected(host, hosts, server, address, opened)
        except ServerFailed:
            continue
    return _connected(host, hosts, server, last, opened)


def _connected(host: str, hosts: Hosts, server: Server, address: Address, opened: ExitStack) -> Connection:
    with ExitStack() as tried:
        tunnel = tried.enter_context(hosts[host].forward(*address))
        connection = Connection(server.uri.direct(*tunnel).text, server.database, tunnel=tunnel, to=address)
        tried.callback(connection.close)
        opened.enter_context(tried.pop_all())
        return connection
