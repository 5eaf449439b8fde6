"""A server for a test that speaks MongoDB's wire protocol."""

import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from selectors import EVENT_READ, DefaultSelector

from tests.support.tools import built_tool

START_TIMEOUT_S = 30.0
STOP_TIMEOUT_S = 15.0


@contextmanager
def running_stand_in(tools_dir: Path, data: Path | None = None) -> Iterator[tuple[str, int]]:
    """Start the server on a free port, and yield (host, port). At the end, stop the server and check its exit code.

    With `data`, documents are kept in that folder. Otherwise, they are in memory.
    """
    command = [str(tools_dir / "mongo-stand-in/bin/mongo-stand-in"), "--port", "0"]
    if data is not None:
        command += ["--data", str(data)]
    with tempfile.TemporaryFile() as errors:
        server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors)
        try:
            yield _address(server)
            server.terminate()
            assert server.wait(STOP_TIMEOUT_S) == 0
        except BaseException as failure:
            errors.seek(0)
            failure.add_note(f"the server's standard error: {errors.read().decode()!r}")
            raise
        finally:
            if server.poll() is None:
                server.kill()
                server.wait()
            assert server.stdout is not None
            server.stdout.close()


@contextmanager
def mortal_stand_in(tools_dir: Path) -> Iterator[tuple[str, int, subprocess.Popen[bytes]]]:
    """Start the server in memory, and yield (host, port, process). A test may kill the process."""
    command = [str(tools_dir / "mongo-stand-in/bin/mongo-stand-in"), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as server:
        try:
            yield *_address(server), server
        finally:
            server.kill()


def _address(server: subprocess.Popen[bytes]) -> tuple[str, int]:
    assert server.stdout is not None
    with DefaultSelector() as selector:
        selector.register(server.stdout, EVENT_READ)
        if not selector.select(START_TIMEOUT_S):
            raise TimeoutError(f"the server said nothing in {START_TIMEOUT_S:.0f} s")
    line = server.stdout.readline().decode()
    if not line.startswith("listening "):
        raise RuntimeError(f"the server did not start: {line!r}")
    host, port = line.removeprefix("listening ").strip().rsplit(":", 1)
    return host, int(port)


def as_mongod(folder: Path) -> str:
    """Return the path of a program that starts the server and has mongod's command line."""
    stand_in = built_tool("mongo-stand-in") / "bin/mongo-stand-in"
    program = folder / "mongod"
    program.write_text(
        "#!/bin/sh\nwhile [ $# -gt 0 ]; do case $1 in\n--dbpath) data=$2 ;; --port) port=$2 ;; esac; shift; done\n"
        f'exec \'{stand_in}\' --port "$port" --data "$data"\n'
    )
    program.chmod(0o755)
    return str(program)
