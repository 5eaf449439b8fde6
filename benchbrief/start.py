"""The entry point of the `bench` command. It handles Ctrl-C and a closed terminal before everything else is
imported."""

from __future__ import annotations

import gc
import os
import signal
from types import FrameType
from typing import NoReturn

_INTERRUPTED = 130


def _end(_number: int, _frame: FrameType | None) -> None:
    """End the process at once. Nothing needs to be cleaned up, and an import might swallow an exception."""
    try:
        os.write(2, b"interrupted\n")
    finally:
        os._exit(_INTERRUPTED)


def main() -> NoReturn:
    """Run the console command. Signals that are ignored, as under `nohup`, stay ignored."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _end)
    if signal.getsignal(signal.SIGHUP) is signal.SIG_DFL:
        signal.signal(signal.SIGHUP, _end)
    gc.set_threshold(50_000, 20, 20)  # imports and plans make many objects that stay
    try:
        from benchbrief.cli.command_line import main as bench
    except KeyboardInterrupt:  # it came before the handler was there
        _end(signal.SIGINT, None)
    bench()
