"""Runs the native chart converter in a child process, so that its crashes do not harm the brief.

The class below runs in the brief's process. `_serve` runs in the child, which imports only the converter.
"""

from __future__ import annotations

import atexit
import base64
import json
import os
import re
import select
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Self

LIMIT = 120.0
"""The time limit for one drawing in seconds. A large drawing takes less than two."""
_PANIC = re.compile(r"panicked at .*\n(.+)|panicked at '(.+?)'")
_READ = 1 << 16


class NotDrawn(Exception):
    """Raised if the converter returns no drawing. The error's text is the reason, on one line."""


class Converter:
    """A child process that turns Vega-Lite specifications into SVG, and SVG into PNG.

    The child starts on the first call, which takes half a second. If it has ended, the next call starts it again. Calls
    from several threads take turns.
    """

    def __init__(self, command: tuple[str, ...] | None = None, limit: float = LIMIT) -> None:
        self._command = command or (sys.executable, "-P", str(Path(__file__)))
        self._limit = limit
        self._child: subprocess.Popen[bytes] | None = None
        self._said: IO[bytes] | None = None
        self._lock = threading.Lock()
        atexit.register(self.close)

    def svg(self, spec: Mapping[str, object]) -> str:
        """Return the drawing of a Vega-Lite specification as SVG. Raises NotDrawn if the converter refuses the
        specification, crashes, or takes too long."""
        return self._ask({"spec": spec}, "svg")

    def png(self, svg: str, scale: float = 2.0) -> bytes:
        """Return a drawing as a PNG, with `scale` pixels for each pixel of the drawing. Raises NotDrawn as
        `svg` does."""
        return base64.b64decode(self._ask({"svg": svg, "scale": scale}, "png"))

    def _ask(self, question: Mapping[str, object], wanted: str) -> str:
        with self._lock:
            try:
                answer = dict(json.loads(self._answer(json.dumps(question).encode() + b"\n")))
            except (OSError, ValueError, TypeError) as error:
                reason = self._reason(error)
                self._close()
                raise NotDrawn(reason) from error
            except BaseException:
                self._close()  # a later call must not get this call's answer
                raise
        if wanted not in answer:
            raise NotDrawn(f"the chart converter refuses it: {answer.get('error', 'without a reason')}")
        return str(answer[wanted])

    def start(self) -> None:
        """Start the child now, so that it is ready for the first drawing."""
        with self._lock, suppress(OSError):
            self._started()

    @contextmanager
    def running(self) -> Iterator[Self]:
        """Share one child among all drawings of the block, and end it afterwards."""
        try:
            yield self
        finally:
            self.close()

    def close(self) -> None:
        """End the child. The next drawing starts another one."""
        with self._lock:
            self._close()

    def _started(self) -> subprocess.Popen[bytes]:
        if self._child and self._child.poll() is not None:
            self._close()
        if self._child is None:
            self._said = tempfile.TemporaryFile()  # noqa: SIM115  # closed with the child
            self._child = subprocess.Popen(
                self._command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._said,
                bufsize=0,
                start_new_session=True,  # Ctrl-C is for the parent
            )
        return self._child

    def _answer(self, question: bytes) -> bytes:
        """Return one line of the child's answer. Raises OSError or ValueError if there is none."""
        child = self._started()
        assert child.stdin  # noqa: S101  # both are pipes
        assert child.stdout  # noqa: S101
        left = memoryview(question)
        while left:
            left = left[child.stdin.write(left) :]
        pieces: list[bytes] = []
        waiting = select.poll()
        waiting.register(child.stdout, select.POLLIN)
        until = time.monotonic() + self._limit
        while not pieces or not pieces[-1].endswith(b"\n"):
            if not waiting.poll(max(0.0, until - time.monotonic()) * 1000):
                raise TimeoutError
            piece = os.read(child.stdout.fileno(), _READ)
            if not piece:
                raise BrokenPipeError
            pieces.append(piece)
        return b"".join(pieces)

    def _reason(self, error: Exception) -> str:
        """Return why there is no readable answer, such as how the child ended."""
        child = self._child
        if child is None:
            return f"the chart converter does not start: {' '.join(self._command)}"
        try:
            code = child.wait(1.0)
        except subprocess.TimeoutExpired:
            if isinstance(error, TimeoutError):
                return f"the chart converter gave no drawing within {self._limit:g} s"
            if isinstance(error, OSError):
                return "the chart converter closed its output, and still runs"
            return "the chart converter gave an answer that is no JSON object"
        if code < 0:
            with suppress(ValueError):
                return f"the chart converter ended by {signal.Signals(-code).name}{self._last_words()}"
        return f"the chart converter ended with code {code}{self._last_words()}"

    def _last_words(self) -> str:
        """Return the end of the child's standard error."""
        if self._said is None:
            return ""
        self._said.seek(0)
        text = self._said.read(_READ).decode(errors="replace")
        panic = _PANIC.search(text)
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        said = next(filter(None, panic.groups()), "") if panic else lines[-1] if lines else ""
        return f": {' '.join(said.split())[:200]}" if said else ""

    def _close(self) -> None:
        child, said, self._child, self._said = self._child, self._said, None, None
        if child:
            child.kill()  # it has nothing to save
            child.wait()
            for pipe in (child.stdin, child.stdout):
                if pipe:
                    pipe.close()
        if said:
            said.close()


def _serve() -> None:
    """Answer each line, `{"spec": ...}` or `{"svg": ..., "scale": ...}`, with one line: `{"svg": ...}`, `{"png": ...}`
    or `{"error": ...}`."""
    import vl_convert

    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # the converter's own output is not an answer
    vl_convert.vegalite_to_svg(
        {"mark": "point", "data": {"values": []}}
    )  # most of its start, before anyone waits for it
    for line in sys.stdin.buffer:
        try:
            asked = json.loads(line)
            if "svg" in asked:
                answer = {"png": base64.b64encode(vl_convert.svg_to_png(asked["svg"], scale=asked["scale"])).decode()}
            else:
                answer = {"svg": vl_convert.vegalite_to_svg(asked["spec"])}
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


if __name__ == "__main__":
    _serve()
