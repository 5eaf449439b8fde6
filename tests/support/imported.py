"""Helpers for tests of imports: changed copies of recorded outputs, and the reasons why outputs are refused."""

from __future__ import annotations

import random
import re
import shutil
from pathlib import Path

from benchbrief.model.measurement import Measurement, Operation
from benchbrief.model.plan import Plan
from benchbrief.results.imports.cell_matching import Where
from benchbrief.results.imports.imported_files import ImportRefused
from benchbrief.results.imports.keep_import import StatedSource
from benchbrief.results.imports.prepare_outputs import prepare_outputs
from tests.support.plans import compile_text
from tests.support.recorded import RECORDED_OUTPUTS
from tests.support.tools import REPOSITORY

PUBLISHED_OUTPUTS = REPOSITORY / "tests" / "results" / "outputs"
SOURCE = StatedSource(
    {"title": "Lab runs", "publisher": "Example Ltd", "document": "lab book 12", "licence": "internal"}
)
RAMP = """
hardware eco    { hosts = "eco-[1-2].lab" }
hardware legacy { hosts = "hdd-[1-2].lab" }
client load { hosts = "load.lab"  tool = ycsb }
database mongo { engine = mongodb  uri = "mongodb://{hosts}/ycsb" }
workload f from ycsb.f
workload b from ycsb.b { records = 75M }
experiment ramp { hardware = [eco, legacy]  workloads = [f, b]  threads = [4, 8]  measure = 1 min  repeats = 2 }
metric ratio = throughput[eco, workload: f] / throughput[legacy, workload: b]
"""
OF_ONE = """
hardware eco { hosts = "eco.lab" }
client load { hosts = "load.lab"  tool = TOOL }
database mongo { engine = mongodb  uri = "mongodb://{hosts}/ycsb" }
workload f from ycsb.WORKLOAD
experiment closed { hardware = eco  workloads = f  threads = 4  measure = 5 s }
"""
ROCKS = """
hardware eco { hosts = "eco.lab" }
database rocks { engine = rocksdb  path = "/data/db"  tool = db_bench }
workload w from db_bench.readrandom { records = RECORDS  value_size = 100 B }
experiment closed { hardware = eco  workloads = w  threads = 2  measure = 3 s }
"""
CELL = Where(cell="experiment=closed")


def plan_of(folder: Path, workload: str = "f", tool: str = "ycsb") -> Plan:
    return compile_text(OF_ONE.replace("WORKLOAD", workload).replace("TOOL", tool), folder)


def copied(folder: Path, name: str) -> dict[str, Path]:
    """Return the files of a recording, by the names under which they are kept."""
    shutil.copytree(RECORDED_OUTPUTS / name, folder, dirs_exist_ok=True)
    return {path.name: path for path in (folder / "stdout", *sorted(folder.glob("*.hdr"))) if path.exists()}


def replaced(path: Path, *pairs: tuple[str, str]) -> Path:
    """Replace everything in a file that matches the patterns. Fails if one of the patterns matches nothing."""
    text = path.read_text()
    for pattern, new in pairs:
        text, times = re.subn(pattern, new, text, flags=re.MULTILINE)
        assert times, pattern
    path.write_text(text)
    return path


def refused(kind: str, path: Path, plan: Plan) -> str:
    """Return why an output is refused, or "" if it is imported."""
    try:
        prepare_outputs(kind, [path], plan, SOURCE, CELL)
    except ImportRefused as why:
        return "\n".join(each.text for each in why.problems)
    return ""


def operation(measured: Measurement, name: str, kind: str = "service") -> Operation:
    return next(each for each in measured.operations if each.operation == name and each.kind == kind)


def raw_text(count: int = 50_000, start_ms: int = 1_700_000_000_000) -> tuple[str, list[int]]:
    """Return raw latencies among YCSB's other rows, at 10 operations per millisecond."""
    chance = random.Random(1)  # noqa: S311  # made-up latencies
    values = [int(chance.lognormvariate(6.5, 0.8)) for _ in range(count)]
    lines = [f"READ,{start_ms + i // 10},{value}\n" for i, value in enumerate(values)]
    head = (
        "Raw data measurement: will output to stdout.\n[OVERALL], RunTime(ms), 5000\n"
        "READ latency raw data: op, timestamp(ms), latency(us)\n"
    )
    tail = f"[READ], Total Operations, {count}\n[READ], Below is a summary of latency in microseconds:, -1\n"
    return head + "".join(lines) + "READ-FAILED,1700000001000,99\n" + tail, values
