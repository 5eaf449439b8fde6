"""Tests numbers with thousands of digits, which Python refuses to read. They must count as the tool's bad output, and
not as our bug."""

from __future__ import annotations

import re
import shutil
from contextlib import suppress
from pathlib import Path

import pytest

from benchbrief.extensions.tools.db_bench.db_bench import DbBench
from benchbrief.extensions.tools.go_ycsb.go_ycsb import GoYcsb
from benchbrief.extensions.tools.ycsb.ycsb import Ycsb
from benchbrief.model.plan import Workload
from benchbrief.runners.errors import BadOutput
from benchbrief.runners.seams import Driver
from tests.support.cells import attached, context, db_bench, recorded, rocksdb, ycsb
from tests.support.recorded import RECORDED_OUTPUTS

OUTPUTS = RECORDED_OUTPUTS
MONGO = attached("mongodb://db-1/ycsb")
CHANGED = 8
"""How many numbers of an output are changed, one after another."""


@pytest.mark.parametrize(
    ("driver", "name", "workload"),
    [
        (DbBench(), "db_bench/readrandom", db_bench("readrandom")),
        (Ycsb(), "ycsb/millisecond-histogram", ycsb("c")),
        (GoYcsb(), "go_ycsb/timed", ycsb("f")),
    ],
    ids=["db_bench", "ycsb", "go_ycsb"],
)
def test_a_number_of_any_length_is_read_or_refused(
    driver: Driver, name: str, workload: Workload, tmp_path: Path
) -> None:
    shutil.copytree(OUTPUTS / name, tmp_path, dirs_exist_ok=True)
    cell = context(
        workload, rocksdb("/data/db") if workload.family == "db_bench" else MONGO, driver=driver.name, measure_s=3.0
    )
    for file in ("stdout", "stderr"):
        text = (tmp_path / file).read_text()
        numbers = list(re.finditer(r"\d+", text))
        for number in numbers[:: max(1, len(numbers) // CHANGED)]:
            (tmp_path / file).write_text(f"{text[: number.start()]}{'9' * 5000}{text[number.end() :]}")
            with suppress(BadOutput):
                driver.parse(cell, recorded(tmp_path, exit_code=124 if name.startswith("go_ycsb") else 0))
        (tmp_path / file).write_text(text)
