"""Tests that inserts can be undone in a server that speaks MongoDB's protocol, even if undoing them is interrupted."""

from __future__ import annotations

import threading
from functools import partial

import pytest

from benchbrief.extensions.engines.mongodb import mongo_data
from benchbrief.extensions.engines.mongodb.mongo_client import Connection
from benchbrief.extensions.engines.mongodb.mongo_data import Data, Routes
from benchbrief.extensions.tools.go_ycsb.go_ycsb import GoYcsb
from benchbrief.extensions.tools.ycsb.ycsb import Ycsb
from benchbrief.model.plan import Cell, Database
from benchbrief.model.run_messages import say
from benchbrief.runners.errors import BadOutput, Interrupted, ServerFailed
from tests.support import cells
from tests.support.mongo_peer import scripted_mongod

RECORDS, INSERTED = 100, 2500


def inserted(connection: Connection, *, ordered: bool = False, padding: int = 1) -> tuple[Data, Cell]:
    """Return a data set with records that one cell has inserted."""
    database: Database = cells.attached("").model_copy(update={"reset": "undo"})
    cell = cells.context(cells.ycsb("d", RECORDS), database, reuse=True).cell
    data = Data(connection, "ycsb")
    assert cell.dataset
    key = partial(Ycsb().key, ordered=ordered, padding=padding)
    table = connection.collection("ycsb", "usertable")
    table.insert_many([{"_id": key(each)} for each in range(RECORDS)])
    data.loaded(cell.dataset, RECORDS)
    data.begin(cell.dataset, "inserts")
    table.insert_many([{"_id": key(each)} for each in range(RECORDS, RECORDS + INSERTED)])
    return data, cell


def here(data: Data) -> Routes:
    return Routes((data,), say.sent_by_hosts(hosts="load-1"))


class StopsAfter:
    """A flag that is set from its second check on."""

    def __init__(self, looks: int) -> None:
        self._looks = looks

    def is_set(self) -> bool:
        self._looks -= 1
        return self._looks < 0

    def wait(self, timeout: float | None = None) -> bool:
        return threading.Event().wait(timeout)


def test_what_was_inserted_is_deleted_in_batches_and_counted(connection: Connection) -> None:
    data, cell = inserted(connection)
    assert cell.dataset
    assert not mongo_data.can_delete(data, cell), "the cell that inserts has not ended"
    data.finish(cell.dataset, "inserts")
    assert mongo_data.can_delete(data, cell)
    done, text = mongo_data.delete(data, cell, here(data), threading.Event())
    assert done
    assert "2,500 records, was deleted by key" in text
    assert data.count(cell.dataset) == RECORDS
    assert data.usable(cell.dataset, ("nothing", "updates"))


def test_an_undo_that_was_cut_short_leaves_data_that_are_loaded_again(connection: Connection) -> None:
    data, cell = inserted(connection)
    assert cell.dataset
    data.finish(cell.dataset, "inserts")
    with pytest.raises(Interrupted):
        mongo_data.delete(data, cell, here(data), StopsAfter(1))
    assert RECORDS < data.count(cell.dataset) < RECORDS + INSERTED
    assert not mongo_data.can_delete(data, cell)
    assert not data.usable(cell.dataset, ("nothing", "updates"))


def test_a_load_s_record_that_is_missing_is_noticed_after_the_undo(connection: Connection) -> None:
    data, cell = inserted(connection)
    assert cell.dataset
    data.finish(cell.dataset, "inserts")
    data.delete([Ycsb().key(3)])
    done, text = mongo_data.delete(data, cell, here(data), threading.Event())
    assert not done
    assert "99 records, and 100 were loaded" in text
    assert not data.usable(cell.dataset, ("nothing", "updates"))


def test_a_load_s_record_that_is_deleted_while_a_cell_inserts_is_noticed_at_its_end(connection: Connection) -> None:
    data, cell = inserted(connection)
    assert cell.dataset
    data.delete([Ycsb().key(each) for each in range(INSERTED + 1)])
    with pytest.raises(BadOutput, match="was changed during this measurement, by something else than") as failed:
        data.finish(cell.dataset, "inserts")
    assert f"ycsb.usertable has {RECORDS - 1} records and was loaded with {RECORDS}" in str(failed.value)
    assert "let nothing else write to the database" in failed.value.hint
    assert not mongo_data.can_delete(data, cell), "what the data set holds is unknown"


def test_an_election_before_the_deletes_is_reported_and_leaves_data_that_are_loaded_again(
    connection: Connection,
) -> None:
    """The stand-in server has no elections, so a scripted member that has stepped down acts as the old primary."""
    data, cell = inserted(connection)
    assert cell.dataset
    data.finish(cell.dataset, "inserts")
    down = {"ok": 0, "code": 10107, "codeName": "NotWritablePrimary", "errmsg": "not primary"}
    hello = {"ismaster": True, "maxWireVersion": 17, "minWireVersion": 0, "maxBsonObjectSize": 16777216}
    with scripted_mongod({"isMaster": {**hello, "setName": "rs0"}, "delete": down}) as (host, port):
        old = Connection(f"mongodb://{host}:{port}/?directConnection=true", cells.attached(""))
        try:
            route = Routes((Data(old, "ycsb"),), say.sent_by_hosts(hosts="load-1"))
            with pytest.raises(ServerFailed, match="no longer takes writes, as another primary was elected") as failed:
                mongo_data.delete(data, cell, route, threading.Event())
        finally:
            old.close()
    assert "election" in failed.value.hint
    assert data.count(cell.dataset) == RECORDS + INSERTED
    assert not mongo_data.can_delete(data, cell), "what the data set holds is unknown"
    assert not data.usable(cell.dataset, ("nothing", "updates", "inserts"))


@pytest.mark.long
@pytest.mark.parametrize(("ordered", "padding"), [(True, 1), (True, 12), (False, 24)])
def test_keys_in_another_order_or_padded_are_known_by_those_of_the_load(
    connection: Connection, ordered: bool, padding: int
) -> None:
    data, cell = inserted(connection, ordered=ordered, padding=padding)
    assert cell.dataset
    data.finish(cell.dataset, "inserts")
    assert mongo_data.delete(data, cell, here(data), threading.Event())[0]
    assert data.count(cell.dataset) == RECORDS


def test_keys_that_are_no_tool_s_are_not_deleted_but_reported(connection: Connection) -> None:
    data, cell = inserted(connection)
    assert cell.dataset
    data.finish(cell.dataset, "inserts")
    data.delete([Ycsb().key(0)])
    done, text = mongo_data.delete(data, cell, here(data), threading.Event())
    assert not done
    assert "ycsb.usertable are not named as ycsb names them by any insertorder and zeropadding" in text
    assert data.count(cell.dataset) == RECORDS - 1 + INSERTED


def test_the_keys_are_those_of_the_tools_own_hashes() -> None:
    """The expected keys are those that YCSB 0.17 and go-ycsb wrote for their first records."""
    assert [Ycsb().key(each) for each in (0, 1)] == ["user6284781860667377211", "user8517097267634966620"]
    assert GoYcsb().key(1) == "user6284782960179005422"
