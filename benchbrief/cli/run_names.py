"""How runs are named on the command line."""

from __future__ import annotations

import shlex
from pathlib import Path

OUT = Path("bench-out")
"""The folder of runs, where none is named."""


def run_name(run_dir: Path) -> str:
    """How to name a run on the command line: by its name, or, outside the usual folder, by its own folder."""
    return run_dir.name if run_dir.parent == OUT else shlex.quote(str(run_dir))
