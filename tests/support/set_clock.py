"""A wall clock that tests can set. Every program that is started with `env` sees this clock, while the time since boot
remains the machine's.

A test can't set the real clock, because it belongs to the whole machine. So the programs are real, but they ask a small
library for the time. The library is loaded in front of the C library (`set_clock.c`).
"""

from __future__ import annotations

import struct
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.support.tools import system_tool

_SOURCE = Path(__file__).with_name("set_clock.c")


@dataclass(frozen=True)
class SetClock:
    """A separate clock, kept in a folder. It is right until it is set."""

    library: Path
    file: Path

    @property
    def env(self) -> Mapping[str, str]:
        return {"LD_PRELOAD": str(self.library), "SET_CLOCK_FILE": str(self.file)}

    def set(self, ahead_s: float) -> None:
        """From now on, make the clock this many seconds ahead of the machine's clock."""
        with self.file.open("r+b") as file:
            file.write(struct.pack("d", ahead_s))


def make_clock(folder: Path) -> SetClock:
    """Make a clock. Skips the test if there is no C compiler."""
    folder.mkdir(parents=True, exist_ok=True)
    made = SetClock(folder / "set_clock.so", folder / "ahead")
    made.file.write_bytes(struct.pack("d", 0.0))
    words = [str(system_tool("cc")), "-shared", "-fPIC", "-O1", "-Wall", "-Wextra", "-Werror", "-o", str(made.library)]
    subprocess.run([*words, str(_SOURCE), "-ldl", "-pthread"], check=True, timeout=60)
    return made
