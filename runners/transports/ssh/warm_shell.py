"""A shell on a host that runs one script after another over one channel.

A session for every command would run the account's login shell each time, and its start-up files may take longer
than the command.
"""

from __future__ import annotations

import contextlib
import select
import time
import uuid
from collections.abc import Generator
from typing import Protocol

from benchbrief.runners.transports.bounded_output import LimitedText, MarkedEnd

_START_S = 15.0
_KILL_AFTER_S = 2.0
_STALL_S = 60.0
"""A streamed script is given up after this long, in seconds, without output."""
_PIECE = 1 << 16


class Channel(Protocol):
    """The methods of a session channel that are used here."""

    eof_received: int
    closed: bool

    def exec_command(self, command: str) -> None: ...
    def setblocking(self, blocking: bool) -> None: ...
    def fileno(self) -> int: ...
    def send(self, s: bytes) -> int: ...
    def send_ready(self) -> bool: ...
    def recv(self, nbytes: int) -> bytes: ...
    def recv_ready(self) -> bool: ...
    def recv_stderr(self, nbytes: int) -> bytes: ...
    def recv_stderr_ready(self) -> bool: ...
    def close(self) -> None: ...


class NoShell(Exception):
    """The account does not run commands. The argument is its answer."""


class TookTooLong(Exception):
    """A script was ended on the host after its time-out."""


class WarmShell:
    """A shell whose scripts are ended on the host when they take too long, even when we have lost the connection.

    Raises TimeoutError when nothing answers, and ConnectionResetError when the channel ends. The shell is unusable
    then.
    """

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        mark = uuid.uuid4().hex
        # The login shell's start-up output comes before the mark, and is dropped.
        self._end = f"\n{mark} (\\d+)\n"
        self._say = f"printf '\\n{mark} %s\\n' $?"
        channel.exec_command("sh")
        channel.setblocking(False)
        self._poll = select.poll()
        self._poll.register(channel.fileno(), select.POLLIN)
        out, err = LimitedText(), LimitedText()
        try:
            self._converse(f"{self._say}; {self._say} >&2\n", out, err, _START_S)
        except ConnectionResetError:
            raise NoShell((out.text() + err.text()).strip()) from None

    def run(self, script: str, timeout_s: float) -> tuple[int, str, str]:
        """Run a script. Returns its exit code, standard output and error. Raises TookTooLong."""
        out, err = LimitedText(), LimitedText()
        started = time.monotonic()
        text = self._asked(script, f"timeout -k {_KILL_AFTER_S:g} {timeout_s:g} ")
        code = self._converse(text, out, err, timeout_s + 2 * _KILL_AFTER_S)
        if code in (124, 137) and time.monotonic() - started >= timeout_s:
            raise TookTooLong
        return code, out.text(), err.text()

    def stream(self, script: str) -> Generator[bytes, None, tuple[int, str]]:
        """Yield a script's standard output as it arrives. Returns its exit code and standard error.

        The host sends at most the channel's window (2 MiB) ahead of the reader, which bounds the memory.
        """
        err = LimitedText()
        code = yield from self._answer(self._asked(script), err, _STALL_S, by_piece=True)
        return code, err.text()

    def close(self) -> None:
        self._channel.close()

    def _asked(self, script: str, within: str = "") -> str:
        here = uuid.uuid4().hex
        return (
            f"{within}sh <<'{here}'\n{script}\n{here}\nset -- $?; (exit $1); {self._say}; (exit $1); {self._say} >&2\n"
        )

    def _converse(self, text: str, out: LimitedText, err: LimitedText, timeout_s: float) -> int:
        answer = self._answer(text, err, timeout_s)
        while True:
            try:
                out.add(next(answer))
            except StopIteration as ended:
                return int(ended.value)

    def _answer(
        self, text: str, err: LimitedText, timeout_s: float, *, by_piece: bool = False
    ) -> Generator[bytes, None, int]:
        """Yield what the shell prints for a text, without the mark at its end. Returns the exit code.

        The time-out is for all of it, or `by_piece` for each piece.
        """
        channel = self._channel
        data = text.encode("utf-8", "surrogateescape")
        deadline = time.monotonic() + timeout_s
        out = MarkedEnd(self._end)
        while True:
            over = channel.eof_received or channel.closed  # read before the data that had arrived by then
            while channel.recv_ready():
                if piece := out.settled(channel.recv(_PIECE)):
                    yield piece
                if by_piece:
                    deadline = time.monotonic() + timeout_s
            while channel.recv_stderr_ready():
                err.add(channel.recv_stderr(_PIECE))
            code = out.code()
            if code is not None and err.ends_with(self._end) is not None:
                err.drop_end(self._end)
                yield out.rest()
                return code
            if over:
                yield out.rest()
                raise ConnectionResetError("the shell on the host has ended")
            if data:
                with contextlib.suppress(TimeoutError):
                    data = data[channel.send(data[: 1 << 15]) :]
                if data and channel.send_ready():
                    continue
            left = deadline - time.monotonic()
            if left <= 0:
                raise TimeoutError(f"no answer within {timeout_s:g} s")
            self._poll.poll(1000 * min(left, 0.05 if data else 1.0))
