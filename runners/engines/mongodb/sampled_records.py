"""A sample of a data set's records, by which foreign changes to values are noticed when the count is the same.

The sample is drawn at random after the load. When a share p of all records changes, one of n sampled records is among
them with probability 1 - (1 - p)^n: 0.92 for p = 1 % and n = 256.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Self

from pydantic import BaseModel, ConfigDict

from benchbrief.runners.engines.mongodb.mongo_client import encoded

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
    for part in parts:
        whole.update(part)
    return whole.hexdigest()
