"""Compares parsing and checking a spec of 10,000 lines with python-hcl2 parsing an equivalent HCL file.

Both have the same contents, line by line: `long/unit.bench` and `long/unit.hcl` are repeated with other names in place
of `@`. In HCL, numbers with units are in quotes, and the words after an expression (`by threads, color workload`) are
an object. python-hcl2 only parses, whereas benchbrief also checks names, units, dimensions, and the reports'
expressions. The two take turns. Each runs in a separate process that starts its clock after its imports, because
start-up is measured elsewhere.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

from benchmarks.figures import record
from benchmarks.timing import spread

LINES = 10_000
AT_LEAST = 3.0
LONG = Path(__file__).with_name("long")

_TIMED = """
import sys, time
from pathlib import Path
{imports}
head, whole = map(Path, sys.argv[1:])
read(head)
started = time.perf_counter()
read(whole)
print(time.perf_counter() - started)
"""
_OURS = """
from benchbrief.compiler.compile import examine
def read(path):
    found = examine(path)
    assert found.model is not None and not found.failed, found.diagnostics
"""
_THEIRS = """
import hcl2
def read(path):
    assert hcl2.loads(path.read_text(encoding="utf-8"))
"""


def written(language: str) -> str:
    """Return the long file's text as `bench` or `hcl`."""
    head, unit = ((LONG / f"{part}.{language}").read_text(encoding="utf-8") for part in ("head", "unit"))
    units = round((LINES - head.count("\n")) / unit.count("\n"))
    return head + "".join(unit.replace("@", str(number)) for number in range(units))


def _seconds(reader: str, head: Path, whole: Path) -> float:
    command = (sys.executable, "-c", _TIMED.format(imports=reader), str(head), str(whole))
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def main(pairs: int = 7) -> bool:
    lines = {language: written(language).count("\n") for language in ("bench", "hcl")}
    assert len(set(lines.values())) == 1, lines
    with tempfile.TemporaryDirectory() as folder:
        spec, hcl = (Path(folder) / f"long.{language}" for language in lines)
        for path in (spec, hcl):
            path.write_text(written(path.suffix[1:]), encoding="utf-8")
        times = [
            (_seconds(_THEIRS, LONG / "head.hcl", hcl), _seconds(_OURS, LONG / "head.bench", spec))
            for _ in range(pairs)
        ]
    ratio = statistics.median(theirs / ours for theirs, ours in times)
    record(
        f"parsing and checking {lines['bench']:,} lines",
        f"{spread([ours for _, ours in times], 's')}, {ratio:.2f} times as fast",
        f"python-hcl2 {version('python-hcl2')} parsing the same in HCL: {spread([theirs for theirs, _ in times], 's')}",
    )
    held = ratio >= AT_LEAST
    print(f"  {ratio:.2f} times as fast, at least {AT_LEAST:g} wanted: {'holds' if held else 'DOES NOT HOLD'}")
    return held
