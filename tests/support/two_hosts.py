"""Hosts that are real sshds. By default, they are `one` and `two`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from tests.support import wrapped
from tests.support.bench import Bench, fresh_bench
from tests.support.sshd import sshd
from tests.support.tools import system_tool


@contextmanager
def two_hosts(folder: Path, cases: str = "", names: Sequence[str] = ("one", "two")) -> Iterator[Bench]:
    """Yield a `bench` that reaches all hosts. Its `db_bench` is wrapped in a script. `cases` are cases for the script's
    `case "$*" in`."""
    system_tool("db_bench")
    system_tool("sshd")
    with ExitStack() as stack:
        fresh = stack.enter_context(fresh_bench(folder))
        hosts = [stack.enter_context(sshd(config=f"SetEnv BENCHBRIEF_TEST={fresh.mark}")) for _ in names]
        fresh.tool = f'db_bench("{wrapped.db_bench(fresh.folder / "tool", cases)}")'
        blocks = [
            f"Host {name}\n  HostName 127.0.0.1\n  Port {each.port}\n  User {each.user}\n  IdentityFile {each.key}"
            for name, each in zip(names, hosts, strict=True)
        ]
        first = hosts[0]
        (first.home / ".ssh" / "config").write_text("\n".join(blocks) + "\n")
        first.write_known_hosts(*(f"[127.0.0.1]:{each.port} {each.host_key}" for each in hosts))
        fresh.env["HOME"] = str(first.home)
        yield fresh
