"""A process that checks, explains and formats every file of a folder: `python -m tests.support.checked_in_bulk FOLDER`.

Prints a JSON list with an item for each file: its name, its CPU seconds, the MiB by which the process has grown since
before the first file, and the traceback or "".
"""

from __future__ import annotations

import json
import resource
import sys
import time
import traceback
from pathlib import Path

from benchbrief.compiler.compile import examine
from benchbrief.dsl.diagnostics.diagnostic import SpecError
from benchbrief.dsl.diagnostics.render import render_all
from benchbrief.dsl.formatter import format_source
from benchbrief.dsl.read_files import read_source

_MOST = 4 << 30


def treat(path: Path) -> None:
    """Do everything that `bench check` and `bench fmt` do with a file."""
    render_all(examine(path).in_context(), colour=True).encode()
    try:
        format_source(read_source(path))
    except SpecError as error:
        render_all(error.diagnostics).encode()


def peak() -> float:
    """Return the peak memory of this process in MiB. Unlike `getrusage`, leaves out the memory of its parent."""
    (line,) = [line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM")]
    return int(line.split()[1]) / 1024


def main(folder: Path) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (_MOST, _MOST))
    treat(Path(__file__).parents[2] / "examples" / "quickstart.bench")  # what is loaded and built once
    before = peak()
    found = []
    for path in sorted(folder.glob("*.bench")):
        start = time.process_time()
        try:
            treat(path)
            trouble = ""
        except Exception:  # whatever it is, the parent shows it
            trouble = traceback.format_exc()
        seconds = time.process_time() - start
        found.append({"name": path.name, "seconds": seconds, "grown": peak() - before, "traceback": trouble})
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
