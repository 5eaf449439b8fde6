"""Tests how a load is divided among load generators, threads and batches."""

from __future__ import annotations

from dataclasses import replace

import pytest

from benchbrief.extensions.tools.go_ycsb.go_ycsb import GoYcsb
from benchbrief.extensions.tools.ycsb.ycsb_properties import load_part
from benchbrief.runners.driver_contexts import CellContext, Endpoint, loading_hosts
from benchbrief.runners.journal.secret_masking import Secret
from tests.support.cells import attached, context, ycsb


def contexts(records: int, hosts: int, threads: int | None = None, driver: str = "ycsb") -> list[CellContext]:
    """Return the contexts of all load generators that together load this many records."""
    workload = ycsb("a", records)
    if threads:
        properties = {**workload.properties, "load_threads": float(threads)}
        workload = workload.model_copy(update={"properties": properties})
    made = context(
        workload, attached("mongodb://db/ycsb"), driver=driver, endpoint=Endpoint(uri=Secret("mongodb://db"))
    )
    assert made.cell.dataset
    dataset = made.cell.dataset.model_copy(update={"records": records})
    names = tuple(f"load-{n}" for n in range(hosts))
    cell = made.cell.model_copy(update={"load_hosts": names, "dataset": dataset})
    return [replace(made, cell=cell, load_host=host) for host in loading_hosts(cell)]


@pytest.mark.parametrize("records", [1, 7, 999, 3000, 4001, 100_000, 75_000_001])
@pytest.mark.parametrize("hosts", [1, 2, 3, 7])
@pytest.mark.parametrize("threads", [None, 1, 5, 64])
def test_each_record_is_loaded_once_and_each_batch_becomes_full(records: int, hosts: int, threads: int | None) -> None:
    parts = [load_part(each) for each in contexts(records, hosts, threads)]
    keys = [key for part in parts for key in (part.keys.start, part.keys.stop)]
    assert (keys[0], keys[-1]) == (0, records)
    assert keys[1:-1:2] == keys[2::2], "the parts are adjacent"
    for part in parts:
        assert len(part.keys) > 0
        assert 1 <= part.threads <= len(part.keys)
        assert part.batch == 1 or len(part.keys) % (part.threads * part.batch) == 0
        assert part.properties == (
            {"insertstart": str(part.keys.start), "insertcount": str(len(part.keys))} if len(parts) > 1 else {}
        )


def test_round_numbers_of_records_are_batched_on_every_host() -> None:
    assert [load_part(each).batch for each in contexts(100_000_000, 3)] == [100, 100, 100]


def test_a_few_records_are_loaded_by_one_host() -> None:
    assert len(contexts(2_999, 3)) == 1
    assert len(contexts(3_000, 3)) == 3


def test_the_threads_of_a_load_are_those_of_all_hosts() -> None:
    assert [load_part(each).threads for each in contexts(100_000, 4, 64)] == [16] * 4
    assert [load_part(each).threads for each in contexts(100_000, 4, 2)] == [1] * 4
    assert [load_part(each).threads for each in contexts(100_000, 2)] == [8, 8]


def test_the_threads_of_go_ycsb_divide_its_records() -> None:
    for each in contexts(10_007, 2, 8, "go_ycsb"):
        job = GoYcsb().load(each)
        assert job
        words = [str(word) for word in job.command.words]
        assert len(load_part(each).keys) % int(words[words.index("--threads") + 1]) == 0
        text = str(job.files[0].content[0])
        assert f"insertcount={len(load_part(each).keys)}\n" in text
        assert "batchsize" not in text, "its MongoDB binding has no batches"
