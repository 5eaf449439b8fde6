"""Where the `bench` command begins: it handles Ctrl-C and a closed terminal before the rest is imported."""

from __future__ import annotations

import gc
import os
import signal
from types import FrameType
from typing import NoReturn

_INTERRUPTED = 130


def _end(_number: int, _frame: FrameType | None) -> None:
    """End at once: there is nothing to clean up, and an exception could be lost in an import."""
    try:
        os.write(2, b"interrupted\n")
    finally:
        os._exit(_INTERRUPTED)


def main() -> NoReturn:
    """The console command. Signals that are ignored, as under `nohup`, stay so."""
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
