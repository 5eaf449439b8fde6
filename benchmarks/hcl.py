"""Parsing and checking a spec of 10,000 lines against python-hcl2 parsing an equal HCL file, in one process.

Both files say the same, line by line: a unit of 100 lines, repeated with other names. What HCL has no syntax for stands
in quotes there (numbers with units, conditions after `when`), which spares it work. python-hcl2 only parses; ours is
checked too, as by `bench check`: names, units, dimensions, and the reports' expressions.
"""

from __future__ import annotations

import re
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import hcl2

from benchbrief.compiler.compile import examine
from benchmarks.timing import spread

LINES = 10_000
AT_LEAST = 3.0

_HEAD = """\
client load {
  hosts = "load.lab"
  tool  = ycsb("/opt/ycsb")
}

database mongo {
  engine = mongodb
  uri    = "mongodb://{hosts}/ycsb"
}

"""
_HCL_HEAD = """\
client "load" {
  hosts = "load.lab"
  tool  = ycsb("/opt/ycsb")
}

database "mongo" {
  engine = mongodb
  uri    = "mongodb://hosts/ycsb"
}

"""

_UNIT = """\
# Unit @: two groups of hosts, three loads, a ramp, what is derived, and what is said of it.
hardware new@ "New @" {
  hosts   = "new@-[1-3].lab"
  cpu     = "64 vCPU"
  memory  = 512 GiB
  storage = "1 x 1.6 TB NVMe"
  network = 25 Gbit/s
  price   = 3.2256 USD/h
}

hardware old@ "Old @" {
  hosts   = "old@-[1-3].lab"
  cpu     = "32 vCPU"
  memory  = 256 GiB
  storage = "3 x 300 GB 15K RPM HDD, RAID 0"
  network = 10 Gbit/s
  price   = 4.032 USD/h
}

workload a@ "Session store @" from ycsb.a {
  records      = 75M
  distribution = zipfian  # as in production
  field_length = 120 B
}

workload b@ "Photo tagging @" from ycsb.b {
  records      = 20M
  distribution = uniform
  read         = 90 %
  update       = 10 %
}

workload f@ "User records @" from ycsb.f {
  records      = 10M
  record_size  = 1 kB
}

experiment ramp@ "Ramp @" {
  hardware  = [new@, old@]
  workloads = [a@, b@, f@]
  threads   = [8, 16, 32, 64, 96]
  warm_up   = 5 min
  measure   = 20 min
  repeats   = 3, interleaved
  probes    = [disk every 1 s, cpu every 1 s]
}

# What the new hosts are worth.
metric gain@ "Gain @" = max(throughput[new@] over threads) / max(throughput[old@] over threads) - 1
metric cost@ "Cost @" = price / max(throughput over threads)
metric core@ "Per core @" = throughput[new@] / mean(cpu over time)

expect "No loss @" min(gain@ over workload) > 0.05

report brief@ "Brief @" {
  template = technical_brief
  subtitle = "The new hosts beside the old ones"
  legal    = "Figures are for these hosts and this software."

  callout "Gain" {
    rows = workload
    note = "The best of the ramp on both sides."
  }

  text = \"\"\"
    Both groups ran the same loads, at the same numbers of threads, one beside the other.
    Nothing but the hosts differed; the ramp ends where neither of them gained any more.

    The disk and the processors of every host were sampled beside each measurement.
  \"\"\"

  section "Throughput" {
    figure "Throughput by threads" {
      line = throughput[new@]
      line = throughput[old@]
    }
    figure "Writes" {
      line = disk.write[new@]
      line = disk.write[old@]
    }
  }

  section "Cost" {
    figure "Cost of an operation" {
      bars = cost@
    }
    table "Configuration" {
      rows = facts
    }
  }
  disclosure = automatic
}

"""


def ours() -> str:
    """The spec. Figures and tables say what they show by what; HCL is spared that."""
    unit = _UNIT
    for measure in ("throughput[new@]", "throughput[old@]", "disk.write[new@]", "disk.write[old@]"):
        unit = unit.replace(f"line = {measure}\n", f"line = {measure} by threads, color workload\n")
    unit = unit.replace("bars = cost@\n", "bars = cost@[a@] by hardware\n")
    unit = unit.replace("rows = workload\n", 'rows = workload  column "Gain" = "{gain@:+.0%}"\n')
    return _HEAD + "".join(unit.replace("@", str(number)) for number in range(_units()))


def theirs() -> str:
    """The same lines in HCL."""
    unit = _UNIT.replace('"""\n    Both', "<<EOT\n    Both").replace('measurement.\n  """', "measurement.\nEOT")
    text = "\n".join(_in_hcl(line) for line in unit.splitlines()) + "\n"
    return _HCL_HEAD + "".join(text.replace("@", str(number)) for number in range(_units()))


def _in_hcl(line: str) -> str:
    words = line.split()
    if line.startswith(("hardware", "workload", "experiment", "report")):
        return re.sub(r" from ycsb\.. \{", " {", line.replace(words[1], f'"{words[1]}"', 1))
    if line.startswith("metric"):
        head, _, value = line.partition(" = ")
        value = value.replace(" over threads", ', "threads"').replace(" over time", ', "time"')
        return head.replace(words[1], f'"{words[1]}"', 1) + f" {{ value = {value} }}"
    if line.startswith("expect"):
        return 'expect "No loss @" { value = min(gain@, "workload") > 0.05 }'
    if words and words[0] in _UNITS:
        key, _, said = line.partition(" = ")
        value, _, comment = said.partition("  #")
        return f'{key} = "{value}"' + (f"  #{comment}" if comment else "")
    return line


_UNITS = {
    *("memory", "network", "price", "records", "field_length", "read", "update", "record_size"),
    *("warm_up", "measure", "repeats", "probes"),
}
"""Attributes whose values HCL has no syntax for."""


def _units() -> int:
    return round((LINES - _HEAD.count("\n")) / _UNIT.count("\n"))


def _seconds(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def main(pairs: int = 5) -> bool:
    spec, hcl = ours(), theirs()
    lines = spec.count("\n")
    assert abs(lines - LINES) < LINES / 100, lines
    assert hcl.count("\n") == lines
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "large.bench"
        path.write_text(spec, encoding="utf-8")
        checked = examine(path)
        assert checked.model is not None
        assert not checked.failed, checked.diagnostics
        assert len(hcl2.loads(hcl)["hardware"]) == len(checked.model.hardware)
        times = [(_seconds(lambda: hcl2.loads(hcl)), _seconds(lambda: examine(path))) for _ in range(pairs)]
    ratio = statistics.median(theirs_s / ours_s for theirs_s, ours_s in times)
    print(f"  python-hcl2 parsing {lines} lines: {spread([a for a, _ in times], 's')}")
    print(f"  parsing and checking {lines} lines: {spread([b for _, b in times], 's')}")
    held = ratio >= AT_LEAST
    print(f"  {ratio:.2f} times as fast, at least {AT_LEAST:g} wanted: {'holds' if held else 'DOES NOT HOLD'}")
    return held
