"""The data set in a MongoDB server: emptied, counted, and remembered with how many cells wrote to it since its load."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from benchbrief.compiler.plan import Dataset
from benchbrief.runners.engines.mongo_client import Connection
from benchbrief.runners.engines.mongo_cluster import part
from benchbrief.runners.errors import LoadShort, RunnerError

_TABLE = "usertable"
"""The collection of all YCSB clients."""
_NOTES = ("benchbrief", "datasets")
"""Database and collection that remember which data set was loaded."""


class Data:
    """The collection of the load generators in one database. Every method raises ServerFailed."""

    def __init__(self, connection: Connection, database: str) -> None:
        self._connection = connection
        self._table = connection.collection(database, _TABLE)
        self._notes = connection.collection(*_NOTES)
        self.name = f"{database}.{_TABLE}"

    def writers(self, dataset: Dataset) -> int | None:
        """How many cells wrote to the data set since its load; None when it is not there, whole."""
        with self._connection.reaching():
            note = self._notes.find_one({"_id": self.name})
            if note is None or note.get("dataset") != dataset.hash:
                return None
            if self._table.estimated_document_count() != dataset.records:
                return None
            return int(note.get("writers", 0))

    def count_writer(self, dataset: Dataset, writers: int) -> None:
        """One more is about to write."""
        self._remember(dataset, writers + 1)

    def drop(self, sharded_by_default: bool) -> None:
        """Empty it. In a sharded cluster it is spread again by the key that it had before.

        `sharded_by_default`: by a hash of `_id` where it had none. Raises RunnerError when it is not empty then.
        """
        key = self._shard_key() or ({"_id": "hashed"} if sharded_by_default and self._routed() else None)
        with self._connection.reaching():
            self._notes.delete_one({"_id": self.name})
            self._table.drop()
            left = self._table.estimated_document_count()
        if left:
            raise RunnerError(
                f"{left} documents are still in {self.name} after it was dropped", "is another client writing to it?"
            )
        if key is not None:
            self._connection.command("enableSharding", self.name.partition(".")[0])
            self._connection.command("shardCollection", self.name, key=key)

    def loaded(self, dataset: Dataset, records: int) -> None:
        """Raises LoadShort, or RunnerError when there is more than was asked for."""
        self.require(dataset, f"the load generator says {records}", enough=records >= dataset.records)
        self._remember(dataset, 0)

    def require(self, dataset: Dataset, said: str, *, enough: bool = True) -> None:
        """Raises LoadShort, or RunnerError when there is more than the data set has."""
        asked = dataset.records
        with self._connection.reaching():
            found = self._table.estimated_document_count()
            if found != asked:  # the estimate comes from metadata, which may lag behind after an unclean stop
                found = self._table.count_documents({})
        if found < asked or not enough:
            raise LoadShort(
                f"{asked} records were to be loaded; {said}, and {self.name} holds {found}",
                "look at the load's output and the server's log, and load again",
            )
        if found > asked:
            raise RunnerError(
                f"{self.name} holds {found} documents after {asked} were loaded", "is another client writing to it?"
            )

    def sharding(self) -> str:
        """How it is spread over the shards, in a few words."""
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

    def _remember(self, dataset: Dataset, writers: int) -> None:
        note = {"dataset": dataset.hash, "records": dataset.records, "writers": writers}
        with self._connection.reaching():
            self._notes.replace_one({"_id": self.name}, note, upsert=True)
