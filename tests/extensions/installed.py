"""Calls `bench` as it is installed with other packages."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from tests.support.environment import Environment


def bench(installed: Environment, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Call `bench` in `folder`, with a TMPDIR of its own: it sees neither the claims nor the jobs of other runs."""
    scratch = installed.bin.parent / "tmp"
    scratch.mkdir(exist_ok=True)
    command = [str(installed.bin / "bench"), *words]
    env = {**os.environ, "TMPDIR": str(scratch)}
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, timeout=120, check=False)
