"""Tests that every attribute's example, as shown in editors and the reference, is valid in the attribute's place."""

from __future__ import annotations

from pathlib import Path

import docx
import pptx
import pytest
from PIL import Image

from benchbrief.compiler.compile import check
from benchbrief.compiler.registry import METER_SPECS
from benchbrief.compiler.schemas import BLOCKS, DATABASE_OPTIONS, ELEMENTS
from benchbrief.model.value_shapes import Key
from tests.compiler.samples import completed
from tests.docs.samples import base_spec
from tests.support.longer import one_in

_RAW = "database raw { engine = raw_storage  size = 1 GiB"
_STARTED = 'database mongo { server = start  path = "/data/mongo"  topology = replica_set("rs0")'
_VARIED = """
factor codec { none = "none"  lz4 = "lz4" }
factor vsize { levels = [100 B, 1 kB] }
database rocks { options { compression = codec } }
workload rr from db_bench.readrandom { value_size = vsize }
workload rww from db_bench.readwhilewriting { value_size = vsize }
experiment ramp"""
_CLAIM = 'claim speedup "{value:.0f}% more than {legacy}"'
_SAID = "report brief { headline = speedup }"
PLACES = {
    "hardware": ("mongodb", "hardware eco { @ }"),
    "variant": (
        "rocksdb",
        'hardware box { variant disk { @ } variant nvme { tier = "hot" } } database rocks { path = "/data" }',
    ),
    "ssh": ("mongodb", "hardware eco { ssh { @ } }"),
    "client": ("mongodb", "client load { @ }"),
    "database": ("mongodb", "database mongo { @ }"),
    "database for raw_storage": ("rocksdb", _RAW + '  path = "/data/raw"  @ } experiment ramp { database = rocks }'),
    "database destroys": ("rocksdb", _RAW + "  @ } experiment ramp { database = rocks }"),
    "database size": ("rocksdb", "database rocks { @ }"),
    "database for rocksdb": ("rocksdb", "database rocks { @ }"),
    "database binary": ("mongodb", _STARTED + "  @ }"),
    "database config": ("mongodb", _STARTED + "  @ }"),
    "database port": ("mongodb", _STARTED + "  @ }"),
    "database certificate": ("mongodb", _STARTED + '  ca = "/etc/ssl/ca.pem"  @ }'),
    "database ca": ("mongodb", _STARTED + '  certificate = "/etc/ssl/mongod.pem"  @ }'),
    "database user": ("mongodb", _STARTED + '  password = secret("P")  key = secret("K")  @ }'),
    "database password": ("mongodb", _STARTED + '  user = "bench"  key = secret("K")  @ }'),
    "database key": ("mongodb", _STARTED + '  user = "bench"  password = secret("P")  @ }'),
    "database path": ("rocksdb", "database rocks { @ }"),
    "options for mongodb": ("mongodb", "database mongo { options { @ } }"),
    "options for rocksdb": ("rocksdb", "database rocks { options { @ } }"),
    "workload": ("mongodb", "workload a from ycsb.a { @ }"),
    "workload scan_length": ("mongodb", "workload a from ycsb.e { @ }"),
    "workload for db_bench": ("rocksdb", "workload rr from db_bench.readrandom { @ }"),
    "workload for fio": ("rocksdb", "workload disk from fio.randrw { @ }"),
    "workload write_rate": ("rocksdb", "workload rww from db_bench.readwhilewriting { @ }"),
    "probe": ("mongodb", "probe disk { every = 2 s @ } experiment ramp { probes = [disk] }"),
    "probe interface": ("mongodb", "probe network { every = 2 s  @ } experiment ramp { probes = [network] }"),
    "probe every": ("mongodb", "probe disk { @ } experiment ramp { probes = [disk] }"),
    "experiment": ("mongodb", "experiment ramp { @ }"),
    "factor levels": (
        "rocksdb",
        (
            "factor vsize { @ } workload rr from db_bench.readrandom { value_size = vsize } "
            "experiment ramp { workloads = rr  vary = vsize }"
        ),
    ),
    "factor default": (
        "rocksdb",
        (
            'factor codec { none = "none"  lz4 = "lz4"  @ } database rocks { options { compression = codec } } '
            "experiment ramp { vary = codec }"
        ),
    ),
    "experiment vary": ("rocksdb", f"{_VARIED} {{ @ }}"),
    "experiment when": ("rocksdb", f"{_VARIED} {{ vary = [codec, vsize]  @ }}"),
    "experiment target": ("mongodb", "experiment ramp { threads = 64  @ }"),
    "at": ("mongodb", 'experiment ramp { at 2 min "Stopped" { command("true", on: first)  @ } }'),
    "at command": ("mongodb", 'experiment ramp { at 2 min "Stopped" { @ } }'),
    "scheduler": ("mongodb", "scheduler slurm { @ }"),
    "profile": ("mongodb", "profile smoke { @ }"),
    "claim": ("mongodb", f"{_CLAIM} {{ value = gain[threads: 8, a]  @ }} {_SAID}"),
    "claim held_out": ("mongodb", f"{_CLAIM} {{ value = max(gain over threads, workload)  @ }} {_SAID}"),
    "claim value": ("mongodb", f"{_CLAIM} {{ @ }} {_SAID}"),
    "report": ("mongodb", "report brief { @ }"),
    "theme": ("mongodb", "report brief { theme { @ } }"),
    "palette": ("mongodb", "report brief { theme { palette { @ } } }"),
    "section": ("mongodb", "report brief { section { @ } }"),
    "each": ("mongodb", "report brief { each workload { @ } }"),
    "callout": ("mongodb", "report brief { callout { rows = workload  columns = gain[threads: 8]  @ } }"),
    "experiment arrivals": (
        "mongodb",
        "client load { tool = openload } experiment ramp { threads = 8  target = 1k ops/s  @ }",
    ),
    "callout rows": ("mongodb", "report brief { callout { columns = gain[threads: 8]  @ } }"),
    "callout columns": ("mongodb", "report brief { callout { rows = workload  @ } }"),
    "table": ("mongodb", "report brief { table { rows = workload  columns = throughput[threads: 8] by hardware  @ } }"),
    "table rows": ("mongodb", "report brief { table { columns = gain[threads: 8]  @ } }"),
    "table columns": ("mongodb", "report brief { table { rows = workload  @ } }"),
    "compare": (
        "mongodb",
        "report brief { compare { rows = workload  columns = throughput[threads: 8] by hardware  @ } }",
    ),
    "compare rows": ("mongodb", "report brief { compare { columns = throughput[threads: 8] by hardware  @ } }"),
    "compare columns": ("mongodb", "report brief { compare { rows = workload  @ } }"),
    "figure": ("mongodb", "experiment ramp { threads = [8, 96] } report brief { each workload { figure { @ } } }"),
    "figure bars": ("mongodb", "experiment ramp { threads = [8, 96] } report brief { figure { @, color hardware } }"),
    "figure bracket": (
        "mongodb",
        (
            "experiment ramp { threads = [8, 96] } "
            "report brief { figure { bars = throughput[threads: 96] by workload, color hardware  @ } }"
        ),
    ),
    "figure slope": ("mongodb", "experiment ramp { threads = [8, 96] } report brief { figure { @ } }"),
    "figure mark": (
        "mongodb",
        "report brief { each workload { figure { line = latency.p99[read] by threads, color hardware  @ } } }",
    ),
    "figure multiples": ("mongodb", "report brief { figure { line = throughput by threads, color hardware  @ } }"),
    "figure claim": ("mongodb", "report brief { each workload { figure { line = gain by threads  @ } } }"),
    "figure axes": ("mongodb", "report brief { each workload { figure { line = gain by threads  @ } } }"),
    "figure note": ("mongodb", "report brief { each workload { figure { line = gain by threads  @ } } }"),
}
"""Where each block's attributes are tried: the name of a base spec, and a text whose `@` is replaced by the attribute.
The keys are blocks, if necessary with an engine or the attribute's name."""
KEYS = [
    pytest.param(block, name, key, id=f"{block}-{name}")
    for block, keys in {
        **{name: block.keys for name, block in BLOCKS.items()},
        "options": DATABASE_OPTIONS,
        **{name: block.keys for name, block in ELEMENTS.items()},
    }.items()
    for name, key in keys.items()
]


def house_style_in(folder: Path) -> None:
    (folder / "house").mkdir()
    (folder / "logo.svg").write_text('<svg xmlns="http://www.w3.org/2000/svg"/>')
    Image.new("RGB", (4, 3)).save(folder / "cover.jpg")
    (folder / "house.css").write_text(".callout { border: 0 }")
    for weight in ("regular", "bold"):
        (folder / f"brand-{weight}.woff2").write_bytes(b"wOF2")
    pptx.Presentation().save(str(folder / "house.potx"))
    docx.Document().save(str(folder / "house.dotx"))


@pytest.mark.parametrize(("block", "name", "key"), one_in(3, KEYS))
def test_the_example_of_an_attribute_is_right_where_it_may_stand(
    block: str, name: str, key: Key, tmp_path: Path
) -> None:
    example = key.usage(name)
    assert f"{name} " in example or f"{name}(" in example
    found = (f"{block} {name}", *(f"{block} for {only}" for only in key.only), block)
    base, place = next(PLACES[each] for each in found if each in PLACES)
    path = tmp_path / "spec.bench"
    (tmp_path / "mongod.conf").write_text("storage: {directoryPerDB: true}\n")
    house_style_in(tmp_path)
    path.write_text(completed(place.replace("@", example), base_spec(base)), encoding="utf-8")
    checked = check(path, profile="smoke" if block == "profile" else None)
    assert [each for each in checked.diagnostics if each.severity == "error"] == [], path.read_text(encoding="utf-8")
    assert checked.plan is not None


@pytest.mark.parametrize("name", METER_SPECS.own)
def test_the_example_of_a_power_meter_is_right(name: str, tmp_path: Path) -> None:
    meter = METER_SPECS.own[name]
    hosts = "eco-[1-4].lab" if "[1-4]" in meter.usage else "eco-1.lab"
    sample = f'hardware eco {{ hosts = "{hosts}"  power = {meter.usage.strip("`")} }}'
    sample += "\nexperiment ramp { hardware = [eco]  probes = [power every 1 s] }\nmetric gain = throughput / power"
    path = tmp_path / "spec.bench"
    path.write_text(completed(sample, base_spec("mongodb")), encoding="utf-8")
    checked = check(path)
    assert [each for each in checked.diagnostics if each.severity == "error"] == []
