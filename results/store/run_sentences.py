"""The sentences of a run in its store, with the codes that their English words stand for."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence

from benchbrief.model.message import Message, message_from_data, to_data
from benchbrief.results.store.store_schema import Row, SampleBlock, SampleRow, SentenceRow

SENTENCES = "SELECT text, message FROM main.sentences"


class Sentences:
    """The sentences among the fields of rows, each once. `rows` are those of the table `sentences`."""

    def __init__(self, rows: Iterable[Row] = ()) -> None:
        self._known: dict[str, Message] = {}
        for row in rows:
            self.add(row)

    def add(self, row: Row) -> None:
        if not isinstance(row, SampleRow | SampleBlock):  # the most frequent ones, which have names only
            for field in row:
                if field.__class__ is Message:
                    self._known[field] = field  # without a call for each field

    def rows(self, run_id: str) -> Iterator[SentenceRow]:
        for text in self._known.values():
            yield SentenceRow(run_id, text, text.code, json.dumps(to_data(text), ensure_ascii=False))


def read_sentences(rows: Iterable[Sequence[object]]) -> dict[str, Message]:
    """Return the sentences of a store's rows (text, message), by their English words."""
    return {str(text): message_from_data(json.loads(str(message))) for text, message in rows}
