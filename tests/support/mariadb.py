"""A real MariaDB server for tests, which is not started by a run. It has a user, a password and an empty database."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.support.ports import free_port
from tests.support.tools import system_tool
from tests.support.waiting import until

USER, PASSWORD, DATABASE = "bench", "s3cret/+ %'", "shop"
"""The login of the tests. The password must be escaped wherever it is used."""

_SQL = f"""FLUSH PRIVILEGES;
CREATE DATABASE {DATABASE};
CREATE USER {USER}@'%' IDENTIFIED BY '{PASSWORD.replace("'", "''")}';
GRANT ALL ON {DATABASE}.* TO {USER}@'%';
"""


@contextmanager
def mariadb() -> Iterator[int]:
    """Yield the port of a server on the loopback interface."""
    program, port = str(system_tool("mariadbd")), free_port()
    folder = Path(tempfile.mkdtemp(prefix="bb-my-", dir="/tmp"))  # the path of a socket is short
    as_root = ["--user=root"] if os.getuid() == 0 else []
    data = f"--datadir={folder}/data"
    try:
        subprocess.run(
            ["mariadb-install-db", "--no-defaults", "--skip-test-db", data, *as_root], check=True, capture_output=True
        )
        made = [program, "--no-defaults", data, *as_root]
        subprocess.run([*made, "--bootstrap"], input=_SQL, text=True, check=True, capture_output=True)
        at = (f"--port={port}", "--bind-address=127.0.0.1", f"--socket={folder}/socket")
        with subprocess.Popen([*made, *at], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
            try:
                until(lambda: server.poll() is not None or _answers(port), within_s=60)
                yield port
            finally:
                server.kill()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _answers(port: int) -> bool:
    at = ("--no-defaults", "--protocol=tcp", "--host=127.0.0.1", f"--port={port}", f"--user={USER}")
    asked = ["mariadb", *at, "--execute=SELECT 1"]
    env = {**os.environ, "MYSQL_PWD": PASSWORD}
    return subprocess.run(asked, env=env, capture_output=True, check=False).returncode == 0
