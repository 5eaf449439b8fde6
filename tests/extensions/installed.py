"""Calls a `bench` that is installed together with other packages."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from tests.support.environment import Environment
from tests.support.warm import warm
from tests.support.wrapped import PROGRAMS

TESTS = Path(__file__).parents[1]


def bench(
    installed: Environment, folder: Path, *words: str, env: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Call `bench` in `folder` with its own TMPDIR, so that it sees neither the claims nor the jobs of other runs.

    A different environment may be given, with its own TMPDIR.

    Like most commands of the tests, `bench` is forked from a process that runs the environment's own Python. That
    process has loaded no package with extensions and draws no PDFs. Editors and killed runs start the installed program
    instead.
    """
    path = f"{PROGRAMS}:{os.environ['PATH']}"  # with tools that spare the processor
    env = env or {**os.environ, "PATH": path, "TMPDIR": str(scratch(installed))}
    done = warm(installed.bin / "python", tests_alone(installed)).run(words, folder, env, timeout=200, paper=False)
    return subprocess.CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())


def scratch(installed: Environment) -> Path:
    """Return a TMPDIR for the commands of this test process, because other processes run on the same hosts at the same
    time."""
    folder = installed.bin.parent / f"tmp-{os.getpid()}"
    folder.mkdir(exist_ok=True)
    return folder


def tests_alone(installed: Environment) -> Path:
    """Return a folder with only these tests, where no sources of benchbrief hide the installed ones."""
    folder = installed.bin.parent / "beside"
    if not folder.exists():
        made = scratch(installed) / folder.name
        made.mkdir()
        (made / TESTS.name).symlink_to(TESTS)
        with suppress(OSError):  # another process was first
            made.rename(folder)
    return folder
