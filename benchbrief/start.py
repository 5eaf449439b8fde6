"""Where the `bench` command begins: a Ctrl-C, or a terminal that is closed, is heeded before the rest is imported."""

from __future__ import annotations

import gc
import os
import signal
from types import FrameType
from typing import NoReturn

_INTERRUPTED = 130


def _end(_number: int, _frame: FrameType | None) -> None:
    """There is nothing to clean up yet. An exception could be lost in what is being imported."""
    try:
        os.write(2, b"interrupted\n")
    finally:
        os._exit(_INTERRUPTED)


def main() -> NoReturn:
    """The console command. What is ignored, as under `nohup`, stays so."""
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
