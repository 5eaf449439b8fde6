"""Runs the benchmarks named on the command line, or all of them. `open_loop:lag` names one part of a benchmark.

With `--write`, the measured figures are written to `figures.json` and `README.md`.
"""

from __future__ import annotations

import importlib
import os
import sys

from benchmarks.figures import write_recorded

NAMES = (
    "startup",
    "plan_10k",
    "hcl",
    "keystroke",
    "overhead",
    "fan_out",
    "report",
    "workbook",
    "site",
    "fleet",
    "raw_import",
    "budget",
    "repeat_choice",
    "matrix",
    "overlap",
    "open_loop",
    "adaptive",
    "highest",
    "claims",
    "claim_rules",
    "reproduction",
    "ycsb_guide",
    "trends",
    "shared_store",
)


def main() -> int:
    writing = "--write" in sys.argv
    names = [word for word in sys.argv[1:] if word != "--write"] or NAMES
    unknown = [name for name in names if name.partition(":")[0] not in NAMES]
    if unknown:
        print(f"no benchmark {', '.join(unknown)}; there are: {', '.join(NAMES)}", file=sys.stderr)
        return 2
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # users have byte-code, which is not made anew at each start
    held = True
    for name in names:
        print(f"\n== {name}")
        module, _, part = name.partition(":")
        held &= importlib.import_module(f"benchmarks.{module}").main(*([part] if part else []))
        if writing:
            write_recorded(module)
    return 0 if held else 1


if __name__ == "__main__":
    sys.exit(main())
