"""The data set in a MongoDB server: emptying and counting it, and remembering how many cells wrote to it since its
load, and what some of its records were."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from pydantic import BaseModel, ConfigDict

from benchbrief.compiler.planning.data_states import worse
from benchbrief.model.message import Message
from benchbrief.model.plan import Dataset
from benchbrief.model.tool_spec import Change
from benchbrief.runners.engines.mongodb.mongo_client import Connection, Refused, encoded
from benchbrief.runners.engines.mongodb.mongo_cluster import part
from benchbrief.runners.engines.mongodb.mongo_messages import say
from benchbrief.runners.errors import BadOutput, LoadShort, RunnerError

if TYPE_CHECKING:
    from benchbrief.runners.engines.mongodb.mongo_client import Records

SAMPLED = 256
"""So many records are compared, if they are not too large."""
_MOST_BYTES = 16 * 2**20
"""The sample is read before and after each cell, so large records make it smaller."""


class Sample(BaseModel):
    """The keys of some records, and the SHA-256 of these records."""

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
        """Return the sample of the same keys as they are now. Raises PyMongoError."""
        found = table.find({"_id": {"$in": list(self.keys)}})
        return type(self)(keys=self.keys, digest=_digest({record["_id"]: encoded(record) for record in found}))

    @classmethod
    def noted(cls, note: Mapping[str, Any]) -> Self | None:
        """Return the sample in a note of ours; None when it has none."""
        return cls.model_validate(note["sample"]) if note.get("sample") else None


def _digest(records: Mapping[Any, bytes]) -> str:
    return _sha256(records[key] for key in sorted(records, key=str))


def _sha256(parts: Iterable[bytes]) -> str:
    whole = hashlib.sha256()
    for each in parts:
        whole.update(each)
    return whole.hexdigest()


_TABLE = "usertable"
"""The collection of all YCSB clients."""
_NOTES = ("benchbrief", "datasets")
"""The database and collection that record which data set was loaded."""


@dataclass(frozen=True)
class Kept:
    """A data set since its load: how many cells wrote to it, and what they changed.

    `after` is what they will have changed once the cell that writes now has ended well. `sample` holds some of its
    records as the last cell that ended well left them; None in a note of an older benchbrief.
    """

    writers: int
    changes: Change
    after: Change
    sample: Sample | None


class Data:
    """The load generators' collection in one database. Every method raises ServerFailed."""

    def __init__(self, connection: Connection, database: str) -> None:
        self._connection = connection
        self._table = connection.collection(database, _TABLE)
        self._notes = connection.collection(*_NOTES)
        self.name = f"{database}.{_TABLE}"

    def kept(self, dataset: Dataset) -> Kept | None:
        """Return what our note says of the data set; None when it names another, or there is none."""
        with self._connection.reaching():
            note = self._notes.find_one({"_id": self.name})
        if note is None or note.get("dataset") != dataset.hash:
            return None
        writers = int(note.get("writers", 0))
        changes: Change = note.get("changes", "anything" if writers else "nothing")
        return Kept(writers, changes, note.get("after", changes), Sample.noted(note))

    def usable(self, dataset: Dataset, changes: Sequence[Change]) -> bool:
        """Return whether it is there, with no other changes since its load than these, and no foreign ones."""
        kept = self.kept(dataset)
        if kept is None or kept.changes not in changes or self.count(dataset) != dataset.records:
            return False
        return not self._sample_changed(kept)

    def foreign_changes(self, dataset: Dataset) -> str:
        """Say how other clients have changed it; "" when its count and sample are as cells of ours left them."""
        kept = self.kept(dataset)
        if kept is None or kept.changes == "anything":
            return ""
        found = dataset.records if kept.changes == "inserts" else self.count(dataset)
        if found != dataset.records:
            return say.foreign_changes(name=self.name, found=found, n=dataset.records)
        return say.foreign_values(what=self._values_changed(kept)) if self._sample_changed(kept) else ""

    def begin(self, dataset: Dataset, changes: Change) -> int:
        """Record that one more cell is about to write. What it leaves is unknown until `finish`.

        Returns how many cells have written before it. A cell that writes `nothing` is not recorded.
        """
        kept = self.kept(dataset)
        if kept is not None and changes != "nothing":
            self._remember(dataset, kept.writers + 1, "anything", kept.sample, after=worse(kept.changes, changes))
        return kept.writers if kept else 0

    def finish(self, dataset: Dataset, changes: Change) -> None:
        """Record that the cell has ended well, and what it left in the sample.

        Raises BadOutput when there are other records than it may have left.
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
        """Record that the data set is about to be changed by us: until `undone`, anything may have changed."""
        self._remember(dataset, kept.writers, "anything", kept.sample)

    def undone(self, dataset: Dataset, kept: Kept) -> None:
        """Record that what was inserted is deleted, and nothing else."""
        self._remember(dataset, kept.writers, "updates", kept.sample)

    def delete(self, keys: Sequence[str]) -> int:
        """Delete the records with these keys. Returns how many there were."""
        with self._connection.reaching():
            return int(self._table.delete_many({"_id": {"$in": list(keys)}}).deleted_count)

    def present(self, keys: Sequence[str]) -> list[str]:
        """Return which of these keys are there."""
        with self._connection.reaching():
            return [str(each["_id"]) for each in self._table.find({"_id": {"$in": list(keys)}}, {"_id": 1})]

    def count(self, dataset: Dataset, *, may_grow: bool = False) -> int:
        """Return how many records it has now.

        `may_grow`: that there are more than were loaded is no surprise, and not worth counting each of them.
        """
        with self._connection.reaching():
            found = self._table.estimated_document_count()
            expected = found >= dataset.records if may_grow else found == dataset.records
            if not expected:  # it comes from metadata, which may lag behind after an unclean stop
                found = self._table.count_documents({})
        return int(found)

    def drop(self, sharded_by_default: bool) -> None:
        """Empty it. In a sharded cluster, shard it again by the same key.

        `sharded_by_default`: use a hash of `_id` if it had no key. Raises RunnerError when it is not empty
        afterwards.
        """
        key = self._shard_key() or ({"_id": "hashed"} if sharded_by_default and self._routed() else None)
        with self._connection.reaching():
            self._notes.delete_one({"_id": self.name})
            self._table.drop()
            left = self._table.estimated_document_count()
        if left:
            raise RunnerError(say.documents_left(n=left, collection=self.name), "is another client writing to it?")
        if key is not None:
            self._connection.command("enableSharding", self.name.partition(".")[0])
            self._connection.command("shardCollection", self.name, key=key)

    def loaded(self, dataset: Dataset, records: int) -> None:
        """Record the load. Raises LoadShort, or RunnerError when there are more records than asked for."""
        self.require(dataset, say.generator_says(n=records), enough=records >= dataset.records)
        self._remember(dataset, 0, "nothing", self._drawn())

    def brought_back(self, dataset: Dataset) -> None:
        """Check and record what the user's commands have brought back. Raises LoadShort, RunnerError."""
        self.require(dataset, "the reset commands have brought back others")
        if kept := self.kept(dataset):
            self._remember(dataset, kept.writers, kept.changes, self._drawn())

    def require(self, dataset: Dataset, said: str, *, enough: bool = True) -> None:
        """Check the record count. Raises LoadShort, or RunnerError when there are more records than the data set
        has."""
        asked = dataset.records
        found = self.count(dataset)
        if found < asked or not enough:
            raise LoadShort(
                say.load_short(n=asked, said=said, collection=self.name, found=found),
                say.hint_load_log(),
            )
        if found > asked:
            raise RunnerError(
                say.too_many_documents(collection=self.name, found=found, n=asked), "is another client writing to it?"
            )

    def sharding(self) -> str:
        """Say in a few words how it is spread over the shards."""
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

    def _drawn(self) -> Sample:
        # The `$sample` of mongo-java-server fails now and then: it sorts by a comparison that is no order.
        for _ in range(3):
            with suppress(Refused), self._connection.reaching():
                return Sample.drawn(self._table)
        with self._connection.reaching():
            return Sample.of_first(self._table)

    def _sample_changed(self, kept: Kept) -> bool:
        """Return whether the sample is not as cells of ours left it, where that is known."""
        if kept.sample is None or kept.changes == "anything":
            return False
        with self._connection.reaching():
            return kept.sample.read_again(self._table) != kept.sample

    def _values_changed(self, kept: Kept) -> Message:
        return say.values_changed(name=self.name, n=len(kept.sample.keys) if kept.sample else 0)

    def _remember(
        self, dataset: Dataset, writers: int, changes: Change, sample: Sample | None, *, after: Change | None = None
    ) -> None:
        note = {"dataset": dataset.hash, "records": dataset.records, "writers": writers, "changes": changes}
        note |= {"after": after} if after else {}
        note |= {"sample": sample.model_dump()} if sample else {}
        with self._connection.reaching():
            self._notes.replace_one({"_id": self.name}, note, upsert=True)


def _changed_meanwhile(what: Message) -> BadOutput:
    return BadOutput(say.changed_meanwhile(what=what), say.hint_changed_meanwhile())
