"""Calls `bench` as it is installed with other packages."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from tests.support.environment import Environment
from tests.support.warm import warm

TESTS = Path(__file__).parents[1]


def bench(installed: Environment, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Call `bench` in `folder`, with a TMPDIR of its own: it sees neither the claims nor the jobs of other runs.

    It is forked, as most of ours are, from a process of the environment's own Python, which has loaded no package with
    extensions. Editors and killed runs start the installed program.
    """
    scratch = installed.bin.parent / "tmp"
    scratch.mkdir(exist_ok=True)
    env = {**os.environ, "TMPDIR": str(scratch)}
    done = warm(installed.bin / "python", tests_alone(installed)).run(words, folder, env, timeout=120)
    return subprocess.CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())


def tests_alone(installed: Environment) -> Path:
    """A folder with these tests, where no sources of benchbrief come before the installed ones."""
    folder = installed.bin.parent / "beside"
    if not folder.exists():
        folder.mkdir()
        (folder / TESTS.name).symlink_to(TESTS)
    return folder
