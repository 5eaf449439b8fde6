"""Tests that changes by other clients to MongoDB's records are found even if the number of records stays the same."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

import pytest
from pymongo.errors import OperationFailure

from benchbrief.extensions.engines.mongodb import mongo_data
from benchbrief.extensions.engines.mongodb.mongo_client import Connection
from benchbrief.extensions.engines.mongodb.mongo_data import SAMPLED, Data, RecordSample
from benchbrief.extensions.tools.ycsb.ycsb import Ycsb
from benchbrief.model.plan import Cell, Dataset
from benchbrief.model.tool_spec import Change
from benchbrief.runners.errors import BadOutput
from tests.support import cells
from tests.support.mongo_peer import HELLO, Answer, Document, scripted_mongod

if TYPE_CHECKING:
    from benchbrief.extensions.engines.mongodb.mongo_client import Records

RECORDS = 1000
UNNOTICED: tuple[Change, ...] = ("nothing", "updates")


@pytest.fixture
def cell() -> Cell:
    database = cells.attached("").model_copy(update={"reset": "undo"})
    return cells.context(cells.ycsb("a", RECORDS), database, reuse=True).cell


@pytest.fixture
def dataset(cell: Cell) -> Dataset:
    assert cell.dataset
    return cell.dataset


@pytest.fixture
def data(connection: Connection, dataset: Dataset) -> Data:
    """Return a data set in the state after a load."""
    table = connection.collection("ycsb", "usertable")
    table.insert_many([{"_id": Ycsb().key(each), "field0": b"loaded"} for each in range(RECORDS)])
    loaded = Data(connection, "ycsb")
    loaded.loaded(dataset, RECORDS)
    return loaded


def written(connection: Connection, first: int = 0) -> None:
    """Change the values of all records from this one on, keeping their size."""
    keys = [Ycsb().key(each) for each in range(first, RECORDS)]
    connection.collection("ycsb", "usertable").update_many({"_id": {"$in": keys}}, {"$set": {"field0": b"change"}})


@pytest.mark.parametrize("first", [0, RECORDS // 2])
def test_other_values_before_a_cell_are_noticed_and_reported(
    connection: Connection, data: Data, dataset: Dataset, first: int
) -> None:
    assert data.usable(dataset, UNNOTICED)
    assert data.foreign_changes(dataset) == ""
    written(connection, first)
    assert not data.usable(dataset, UNNOTICED)
    text = data.foreign_changes(dataset)
    assert "has as many records as before, but some of the 256 that are compared have other values" in text
    assert "so it is loaded again" in text


def test_a_draw_that_the_stand_in_refuses_now_and_then_is_made_again(
    data: Data, dataset: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    draw, refusals = RecordSample.drawn, [OperationFailure("Comparison method violates its general contract!")] * 2

    def drawn(table: Records) -> RecordSample:
        if refusals:
            raise refusals.pop()
        while True:  # how often the real stand-in refuses is not what is tested
            with suppress(OperationFailure):
                return draw(table)

    monkeypatch.setattr(RecordSample, "drawn", drawn)
    monkeypatch.setattr(RecordSample, "of_first", lambda _: pytest.fail("the first records are no sample of all"))
    data.loaded(dataset, RECORDS)
    assert refusals == []


def test_what_a_cell_of_ours_changed_is_not_foreign(connection: Connection, data: Data, dataset: Dataset) -> None:
    data.begin(dataset, "updates")
    written(connection)
    data.finish(dataset, "updates")
    assert data.usable(dataset, UNNOTICED)
    assert data.foreign_changes(dataset) == ""
    written(connection, first=RECORDS)
    assert data.usable(dataset, UNNOTICED)


def test_other_values_during_a_cell_that_only_reads_fail_it(
    connection: Connection, data: Data, dataset: Dataset
) -> None:
    data.begin(dataset, "nothing")
    data.finish(dataset, "nothing")
    written(connection)
    with pytest.raises(BadOutput, match="was changed during this measurement, by something else than") as failed:
        data.finish(dataset, "nothing")
    assert "have other values" in str(failed.value)


def test_other_values_after_inserts_are_loaded_again_instead_of_an_undo(
    connection: Connection, data: Data, dataset: Dataset, cell: Cell
) -> None:
    data.begin(dataset, "inserts")
    connection.collection("ycsb", "usertable").insert_one({"_id": Ycsb().key(RECORDS)})
    data.finish(dataset, "inserts")
    assert mongo_data.can_delete(data, cell)
    written(connection)
    assert "have other values" in data.foreign_changes(dataset)
    assert not mongo_data.can_delete(data, cell)


def test_what_commands_brought_back_is_compared_with_itself(
    connection: Connection, data: Data, dataset: Dataset
) -> None:
    written(connection)
    data.brought_back(dataset)
    data.finish(dataset, "nothing")
    assert data.foreign_changes(dataset) == ""


def test_large_records_make_the_sample_smaller(connection: Connection) -> None:
    table = connection.collection("ycsb", "large")
    table.insert_many([{"_id": each, "field0": bytes(7 * 2**20)} for each in range(4)])
    with connection.reaching():
        drawn = RecordSample.of_first(table)
        assert len(drawn.keys) == 2
        assert drawn.read_again(table) == drawn


def test_a_server_that_does_not_know_sample_gives_its_first_records(dataset: Dataset) -> None:
    refused = {"ok": 0, "code": 40324, "codeName": "Location40324", "errmsg": "Unrecognized pipeline stage: '$sample'"}
    first = [{"_id": "user1", "field0": b"loaded"}]
    found = {"ok": 1, "cursor": {"id": 0, "ns": "ycsb.usertable", "firstBatch": first}}
    noted: list[Document] = []

    def remembered(command: Document) -> Document:
        noted.extend(command["updates"])
        return {"ok": 1, "n": 1}

    answers: dict[str, Answer] = {"isMaster": HELLO, "count": {"n": RECORDS}, "update": remembered}
    answers |= {"aggregate": refused, "find": found}
    with scripted_mongod(answers) as (host, port):
        opened = Connection(f"mongodb://{host}:{port}/?directConnection=true", cells.attached(""))
        try:
            Data(opened, "ycsb").loaded(dataset, RECORDS)
        finally:
            opened.close()
    assert [each["u"]["sample"]["keys"] for each in noted] == [["user1"]]


def test_a_note_without_a_sample_is_still_read(connection: Connection, data: Data, dataset: Dataset) -> None:
    connection.collection("benchbrief", "datasets").update_one({}, {"$unset": {"sample": ""}})
    written(connection)
    assert data.usable(dataset, UNNOTICED)


def test_the_sample_is_of_so_many_records(data: Data, dataset: Dataset) -> None:
    kept = data.kept(dataset)
    assert kept
    assert kept.sample
    assert len(kept.sample.keys) == len(set(kept.sample.keys)) == SAMPLED
