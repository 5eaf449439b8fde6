"""The number of processes that a cell starts, which does not depend on how busy the machine is."""

from __future__ import annotations

from pathlib import Path

from tests.cli.specs import ONE_FOLDER
from tests.support.bench import fresh_bench

_COUNTED = """
import subprocess
started = subprocess.Popen.__init__

def start(self, *args, **options):
    with open("started", "a") as file:
        file.write("x")
    started(self, *args, **options)

subprocess.Popen.__init__ = start
"""


def test_a_cell_starts_few_processes(tmp_path: Path) -> None:
    """There were twelve when this was written, counted as the increase from three further cells in a run on this
    machine."""
    counts = []
    with fresh_bench(tmp_path) as bench:
        for points in ("[1]", "[1, 2, 3, 4]"):
            spec = bench.spec(ONE_FOLDER.replace("[1, 2]", points))
            done = bench("run", spec, "--no-report", "--fresh", before=_COUNTED)
            assert done.code == 0, done.err
            counts.append((bench.folder / "started").stat().st_size)
            (bench.folder / "started").unlink()
    assert (counts[1] - counts[0]) / 3 <= 14, counts
