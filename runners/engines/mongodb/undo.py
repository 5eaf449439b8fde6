"""Deleting what cells have inserted (`reset = undo`), by the keys that the load generator numbers on from the load."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import cycle

from benchbrief.model.message import Message, PrintedNumber, figure
from benchbrief.model.plan import Cell, Database, Dataset
from benchbrief.runners.engines.mongodb import mongo_uri
from benchbrief.runners.engines.mongodb.mongo_client import Address, Connection
from benchbrief.runners.engines.mongodb.mongo_data import Data
from benchbrief.runners.engines.mongodb.mongo_messages import say
from benchbrief.runners.engines.mongodb.mongo_uri import MongoUri
from benchbrief.runners.errors import Interrupted, RunnerError, ServerFailed
from benchbrief.runners.execution.driver_contexts import loading_hosts
from benchbrief.runners.plugins import driver
from benchbrief.runners.seams import Hosts, NamesKeys, Stopping


@dataclass(frozen=True)
class Routes:
    """The data set as each of the senders reaches it, and from where that is, in words."""

    data: tuple[Data, ...]
    described: Message


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


_LONGEST = 64
"""The most digits that keys are padded to with zeros."""
_LOOKED_AT = 1000
"""So many of the first records are looked through for the shortest key, which shows the padding best."""


def find_naming(data: Data, dataset: Dataset, names: NamesKeys) -> Callable[[int], str] | None:
    """Return the function from the number of a record to its key; None when the load's keys are not of this tool's.

    Raises ServerFailed.
    """
    for ordered in (False, True):
        key = partial(names.key, ordered=ordered)
        first = range(min(dataset.records, _LOOKED_AT))
        shortest = min(first, key=lambda number: len(key(number)))
        found = data.present([key(shortest, padding=digits) for digits in range(1, _LONGEST + 1)])
        if len(found) != 1:
            continue
        digits = _digits(found[0], key(shortest))
        named = partial(key, padding=digits)
        ends = {named(0), named(dataset.records - 1)}
        if set(data.present(sorted(ends))) == ends:
            return named
    return None


def _digits(padded: str, plain: str) -> int:
    """Return to how many digits the key is padded; 1 when it is as long as without."""
    return 1 if padded == plain else sum(character.isdigit() for character in padded)


_BATCH = 1000
"""So many keys are named in some milliseconds, far faster than a server deletes them."""
_AT_ONCE = 2
"""So many batches are under way on each route: the keys of one are named while the server deletes another."""
_EMPTY_BATCHES = 10
"""So many batches in a row without a record end the search. Inserts that failed leave gaps between the numbers."""


def can_delete(data: Data, cell: Cell) -> bool:
    """Return whether cells only inserted and updated records of the data set, by keys that we know.

    Raises ServerFailed.
    """
    if cell.dataset is None or not isinstance(driver(cell.tool.driver), NamesKeys):
        return False
    kept = data.kept(cell.dataset)
    return kept is not None and kept.changes == "inserts" and not data.foreign_changes(cell.dataset)


def delete(data: Data, cell: Cell, routes: Routes, stopping: Stopping) -> tuple[bool, str]:
    """Delete what cells inserted, over all routes. Returns whether the load's records are left, and a sentence on it.

    Raises ServerFailed, Interrupted.
    """
    names, dataset = driver(cell.tool.driver), cell.dataset
    if dataset is None or not isinstance(names, NamesKeys):
        return False, ""
    key = find_naming(data, dataset, names)
    if key is None:
        return False, say.keys_unknown(name=data.name, tool=names.name)
    deleted = _delete(data, routes, dataset, key, stopping)
    if deleted is None:
        return False, say.not_undone(name=data.name, found=_figure(data.count(dataset)), n=_figure(dataset.records))
    return True, say.undone(deleted=_figure(deleted), n=_figure(dataset.records), sent=routes.described)


def _figure(count: int) -> PrintedNumber:
    return figure(count, ",")


def _delete(data: Data, routes: Routes, dataset: Dataset, key: Callable[[int], str], stopping: Stopping) -> int | None:
    """Delete the records after those of the load. `key` returns the key of the record with a number, from 0.

    Returns how many were deleted; None when the data set has not as many records afterwards as were loaded. Until it
    has, our note says that anything may have changed. Raises ServerFailed, Interrupted.
    """
    kept = data.kept(dataset)
    if kept is None:
        return None
    data.undoing(dataset, kept)
    deleted = empty = 0
    number, at_once = dataset.records, _AT_ONCE * len(routes.data)

    def batch(of: Data, first: int) -> int:
        return of.delete([key(each) for each in range(first, first + _BATCH)])

    with ThreadPoolExecutor(at_once) as pool:
        while empty < _EMPTY_BATCHES:
            if stopping.is_set():
                raise Interrupted
            firsts = range(number, number + at_once * _BATCH, _BATCH)
            for gone in pool.map(batch, cycle(routes.data), firsts):
                deleted, empty = deleted + gone, 0 if gone else empty + 1
            number = firsts.stop
    if data.count(dataset) != dataset.records:
        return None
    data.undone(dataset, kept)
    return deleted
