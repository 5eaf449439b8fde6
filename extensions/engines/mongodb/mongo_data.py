"""The data set in a MongoDB server: emptying it, counting it, and noting which cells wrote to it since its load.

The note also has a sample of the records, which shows whether other clients have changed them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from itertools import cycle
from typing import TYPE_CHECKING, Any, Self

from pydantic import BaseModel, ConfigDict

from benchbrief.extend.common import (
    BadOutput,
    Cell,
    Database,
    Dataset,
    Hosts,
    Interrupted,
    LoadShort,
    Message,
    PrintedNumber,
    RunnerError,
    ServerFailed,
    Stopping,
    figure,
    joined,
    loading_hosts,
)
from benchbrief.extend.engines import Change, driver, worse
from benchbrief.extend.tools import NamesKeys
from benchbrief.extensions.engines.mongodb import mongo_layout
from benchbrief.extensions.engines.mongodb.mongo_client import Address, Connection, RefusedByServer, encoded, say
from benchbrief.extensions.engines.mongodb.mongo_cluster import part
from benchbrief.extensions.engines.mongodb.mongo_layout import MongoUri

if TYPE_CHECKING:
    from benchbrief.extensions.engines.mongodb.mongo_client import Records

SAMPLED = 256
"""The largest number of records in a sample."""
_MOST_BYTES = 16 * 2**20
"""The most bytes that all records of a sample may have together, since a sample is read before and after each cell."""


class RecordSample(BaseModel):
    """The keys of some records, with a SHA-256 of those records."""

    model_config = ConfigDict(frozen=True)

    keys: tuple[Any, ...]
    digest: str

    @classmethod
    def drawn(cls, table: Records) -> Self:
        """Draw records at random. Raises PyMongoError."""
        return cls._of(table.aggregate([{"$sample": {"size": SAMPLED}}]))

    @classmethod
    def of_first(cls, table: Records) -> Self:
        """Take the first records, for a server that does not know `$sample`. Raises PyMongoError."""
        return cls._of(table.find().limit(SAMPLED))

    @classmethod
    def _of(cls, records: Iterable[Mapping[str, Any]]) -> Self:
        drawn: dict[Any, bytes] = {}
        size = 0
        for record in records:
            stored = encoded(record)
            size += len(stored)
            if drawn and size > _MOST_BYTES:
                break
            drawn[record["_id"]] = stored
        return cls(keys=tuple(drawn), digest=_digest(drawn))

    def read_again(self, table: Records) -> Self:
        """Return a sample of the same keys, with their records as they are now. Raises PyMongoError."""
        found = table.find({"_id": {"$in": list(self.keys)}})
        return type(self)(keys=self.keys, digest=_digest({record["_id"]: encoded(record) for record in found}))

    @classmethod
    def noted(cls, note: Mapping[str, Any]) -> Self | None:
        """Return the sample that a note contains, or None if it contains no sample."""
        return cls.model_validate(note["sample"]) if note.get("sample") else None


def _digest(records: Mapping[Any, bytes]) -> str:
    return _sha256(records[key] for key in sorted(records, key=str))


def _sha256(parts: Iterable[bytes]) -> str:
    whole = hashlib.sha256()
    for each in parts:
        whole.update(each)
    return whole.hexdigest()


_TABLE = "usertable"
"""The collection that all YCSB clients use."""
_NOTES = ("benchbrief", "datasets")
"""The database and collection that hold our notes on which data set was loaded."""


@dataclass(frozen=True)
class Kept:
    """Our note on a data set since its load: how many cells wrote to it, and what they changed.

    `after` will replace `changes` when the cell that writes now has succeeded. `sample` has some records as the last
    successful cell left them. It is None in a note by an older benchbrief.
    """

    writers: int
    changes: Change
    after: Change
    sample: RecordSample | None


class Data:
    """The load generators' collection in one database. Every method raises ServerFailed."""

    def __init__(self, connection: Connection, database: str) -> None:
        self._connection = connection
        self._table = connection.collection(database, _TABLE)
        self._notes = connection.collection(*_NOTES)
        self.name = f"{database}.{_TABLE}"

    def kept(self, dataset: Dataset) -> Kept | None:
        """Return our note on the data set. Returns None if there is no note, or only a note about another data set."""
        with self._connection.reaching():
            note = self._notes.find_one({"_id": self.name})
        if note is None or note.get("dataset") != dataset.hash:
            return None
        writers = int(note.get("writers", 0))
        changes: Change = note.get("changes", "anything" if writers else "nothing")
        return Kept(writers, changes, note.get("after", changes), RecordSample.noted(note))

    def usable(self, dataset: Dataset, changes: Sequence[Change]) -> bool:
        """Return whether the data set is complete, and only our cells have changed it since its load, and only in the
        given ways."""
        kept = self.kept(dataset)
        if kept is None or kept.changes not in changes or self.count(dataset) != dataset.records:
            return False
        return not self._sample_changed(kept)

    def foreign_changes(self, dataset: Dataset) -> str:
        """Return a sentence on changes by other clients, or "" if the count and the sample are as our cells
        left them."""
        kept = self.kept(dataset)
        if kept is None or kept.changes == "anything":
            return ""
        found = dataset.records if kept.changes == "inserts" else self.count(dataset)
        if found != dataset.records:
            return say.foreign_changes(name=self.name, found=found, n=dataset.records)
        return say.foreign_values(what=self._values_changed(kept)) if self._sample_changed(kept) else ""

    def begin(self, dataset: Dataset, changes: Change) -> int:
        """Record that one more cell is about to write, and return how many cells have written before. Until `finish` is
        called, the note allows any change.

        A cell that changes `nothing` is not recorded.
        """
        kept = self.kept(dataset)
        if kept is not None and changes != "nothing":
            self._remember(dataset, kept.writers + 1, "anything", kept.sample, after=worse(kept.changes, changes))
        return kept.writers if kept else 0

    def finish(self, dataset: Dataset, changes: Change) -> None:
        """Record that the cell has succeeded, with a sample of the records as the cell left them.

        Raises BadOutput if the number of records or the sample differs from what the cell may have left.
        """
        kept = self.kept(dataset)
        if kept is None:
            return
        left = worse(kept.after, changes)
        found = dataset.records if left == "anything" else self.count(dataset, may_grow=left == "inserts")
        if found < dataset.records or (found > dataset.records and left != "inserts"):
            raise _changed_meanwhile(say.count_changed(name=self.name, found=found, n=dataset.records))
        if changes == "nothing" and self._sample_changed(kept):
            raise _changed_meanwhile(self._values_changed(kept))
        if kept.changes != kept.after:
            with self._connection.reaching():
                sample = kept.sample and kept.sample.read_again(self._table)
            self._remember(dataset, kept.writers, kept.after, sample)

    def undoing(self, dataset: Dataset, kept: Kept) -> None:
        """Record that the inserted records are about to be deleted. Until `undone` is called, the note allows any
        change."""
        self._remember(dataset, kept.writers, "anything", kept.sample)

    def undone(self, dataset: Dataset, kept: Kept) -> None:
        """Record that the inserted records are deleted. Updates are not undone."""
        self._remember(dataset, kept.writers, "updates", kept.sample)

    def delete(self, keys: Sequence[str]) -> int:
        """Delete the records with these keys. Returns how many were deleted."""
        with self._connection.reaching():
            return int(self._table.delete_many({"_id": {"$in": list(keys)}}).deleted_count)

    def present(self, keys: Sequence[str]) -> list[str]:
        """Return the given keys that are in the collection."""
        with self._connection.reaching():
            return [str(each["_id"]) for each in self._table.find({"_id": {"$in": list(keys)}}, {"_id": 1})]

    def count(self, dataset: Dataset, *, may_grow: bool = False) -> int:
        """Return the current number of records.

        With `may_grow`, the data set may have more records than were loaded, and the server's own estimate is accurate
        enough.
        """
        with self._connection.reaching():
            found = self._table.estimated_document_count()
            expected = found >= dataset.records if may_grow else found == dataset.records
            if not expected:  # it comes from metadata, which may lag behind after an unclean stop
                found = self._table.count_documents({})
        return int(found)

    def drop(self, sharded_by_default: bool) -> None:
        """Empty the collection. In a sharded cluster, shard it again by the same key.

        With `sharded_by_default`, a collection that had no shard key is sharded by a hash of `_id`. Raises RunnerError
        if the collection is not empty afterwards.
        """
        key = self._shard_key() or ({"_id": "hashed"} if sharded_by_default and self._routed() else None)
        with self._connection.reaching():
            self._notes.delete_one({"_id": self.name})
            self._table.drop()
            left = self._table.estimated_document_count()
        if left:
            raise RunnerError(say.documents_left(n=left, collection=self.name), say.hint_other_client())
        if key is not None:
            self._connection.command("enableSharding", self.name.partition(".")[0])
            self._connection.command("shardCollection", self.name, key=key)

    def loaded(self, dataset: Dataset, records: int) -> None:
        """Record the load, and check the number of loaded records. Raises LoadShort if there are fewer records than
        requested, and RunnerError if there are more."""
        self.require(dataset, say.generator_says(n=records), enough=records >= dataset.records)
        self._remember(dataset, 0, "nothing", self._drawn())

    def brought_back(self, dataset: Dataset) -> None:
        """Check and record the data that the user's reset commands have restored. Raises LoadShort and RunnerError like
        `loaded`."""
        self.require(dataset, say.reset_brought_others())
        if kept := self.kept(dataset):
            self._remember(dataset, kept.writers, kept.changes, self._drawn())

    def require(self, dataset: Dataset, said: str, *, enough: bool = True) -> None:
        """Check the data set's record count. Raises LoadShort if records are missing, and RunnerError if there are too
        many."""
        asked = dataset.records
        found = self.count(dataset)
        if found < asked or not enough:
            raise LoadShort(
                say.load_short(n=asked, said=said, collection=self.name, found=found),
                say.hint_load_log(),
            )
        if found > asked:
            raise RunnerError(
                say.too_many_documents(collection=self.name, found=found, n=asked), say.hint_other_client()
            )

    def sharding(self) -> str:
        """Describe in a few words how the collection is distributed over the shards."""
        key = self._shard_key()
        return ", ".join(f"{name}: {how}" for name, how in key.items()) if key else "not sharded"

    def _shard_key(self) -> Mapping[str, Any] | None:
        if not self._routed():
            return None
        with self._connection.reaching():
            entry = self._connection.collection("config", "collections").find_one({"_id": self.name})
        key = (entry or {}).get("key")
        return key if isinstance(key, Mapping) and not (entry or {}).get("dropped") else None

    def _routed(self) -> bool:
        return part(self._connection.hello()).topology == "sharded"

    def _drawn(self) -> RecordSample:
        # The `$sample` of mongo-java-server sometimes fails: it sorts by a comparison that is not a consistent order.
        for _ in range(3):
            with suppress(RefusedByServer), self._connection.reaching():
                return RecordSample.drawn(self._table)
        with self._connection.reaching():
            return RecordSample.of_first(self._table)

    def _sample_changed(self, kept: Kept) -> bool:
        """Return whether the sample differs from the one that our cells left. Returns False if that is unknown."""
        if kept.sample is None or kept.changes == "anything":
            return False
        with self._connection.reaching():
            return kept.sample.read_again(self._table) != kept.sample

    def _values_changed(self, kept: Kept) -> Message:
        return say.values_changed(name=self.name, n=len(kept.sample.keys) if kept.sample else 0)

    def _remember(
        self,
        dataset: Dataset,
        writers: int,
        changes: Change,
        sample: RecordSample | None,
        *,
        after: Change | None = None,
    ) -> None:
        note = {"dataset": dataset.hash, "records": dataset.records, "writers": writers, "changes": changes}
        note |= {"after": after} if after else {}
        note |= {"sample": sample.model_dump()} if sample else {}
        with self._connection.reaching():
            self._notes.replace_one({"_id": self.name}, note, upsert=True)


def _changed_meanwhile(what: Message) -> BadOutput:
    return BadOutput(say.changed_meanwhile(what=what), say.hint_changed_meanwhile())


@dataclass(frozen=True)
class Routes:
    """The data set as seen over each usable connection, and a description of the hosts that we connect from."""

    data: tuple[Data, ...]
    described: Message


@dataclass(frozen=True)
class Server:
    """The URI by which load generators reach the server, and the primary's own address ("" without a replica set)."""

    database: Database
    uri: MongoUri
    primary: str

    def addresses(self) -> tuple[Address, ...]:
        return mongo_layout.parse(f"mongodb://{self.primary}").hosts if self.primary else self.uri.hosts


@contextmanager
def find_routes(own: Data, server: Server, cell: Cell, hosts: Hosts) -> Iterator[Routes]:
    """Yield routes from the hosts that load the cell's data set, or from the controller if those hosts can't connect.

    `own` is the data set over the controller's own connection.
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
                failed.append(say.of_host(host=host, what=error))
        if found:
            yield Routes(tuple(found.values()), say.sent_by_hosts(hosts=", ".join(found)))
        else:
            yield Routes((own,), say.sent_by_controller(why=joined(failed, say.both)))


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
"""Keys may be padded with zeros to at most this many digits."""
_LOOKED_AT = 1000
"""How many records are searched for the shortest key. Whether keys are padded is best seen from that key."""


def find_naming(data: Data, dataset: Dataset, names: NamesKeys) -> Callable[[int], str] | None:
    """Return the function that computes a record's key from its number. Returns None if the loaded keys do not follow
    the driver's rules, for example because another tool made them.

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
    """Return the number of digits of a padded key, or 1 if no zeros were added."""
    return 1 if padded == plain else sum(character.isdigit() for character in padded)


_BATCH = 1000
"""How many keys are deleted in one batch. Computing them takes only milliseconds, far less than deleting them."""
_AT_ONCE = 2
"""How many batches are in progress on each route. One batch's keys are computed while the server deletes another batch.
"""
_EMPTY_BATCHES = 10
"""How many empty batches in a row end the search for inserted records. A single one does not, because failed inserts
leave gaps between the numbers."""


def can_delete(data: Data, cell: Cell) -> bool:
    """Return whether the records that cells inserted can be deleted. That is so if cells have only inserted or updated
    records and the tool's driver can compute the keys.

    Raises ServerFailed.
    """
    if cell.dataset is None or not isinstance(driver(cell.tool.driver), NamesKeys):
        return False
    kept = data.kept(cell.dataset)
    return kept is not None and kept.changes == "inserts" and not data.foreign_changes(cell.dataset)


def delete(data: Data, cell: Cell, routes: Routes, stopping: Stopping) -> tuple[bool, str]:
    """Delete the records that cells inserted, over all routes. Returns whether only the loaded records are left, and a
    sentence about the result.

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
    """Delete the records after the loaded ones. `key` returns the key of the record with the given number, counted from
    0.

    Returns how many were deleted, or None if the number of records left differs from the number loaded. Until the end,
    our note states that anything may have changed. Raises ServerFailed, Interrupted.
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
