"""Tests the quickstart on a host that is reached by SSH as an ordinary user."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.support.bench import Bench
from tests.support.sshd import Sshd, sshd, system_user
from tests.support.tools import REPOSITORY, built_tool, system_tool

QUICKSTART = REPOSITORY / "examples" / "quickstart.bench"
DATA = ("/var/tmp/benchbrief", "/dev/shm/benchbrief")


@pytest.fixture
def plain_users_host() -> Iterator[Sshd]:
    """Yield a server that is logged in to as a user other than root, even if the tests run as root."""
    system_tool("db_bench")
    built_tool("mongo-stand-in")
    built_tool("ycsb")
    system_tool("sshd")
    with ExitStack() as stack:
        user = stack.enter_context(system_user()) if os.getuid() == 0 else None
        yield stack.enter_context(sshd(user=user))


@pytest.mark.timeout(240)
def test_the_quickstart_runs_over_ssh_and_leaves_a_brief(bench: Bench, plain_users_host: Sshd) -> None:
    server = plain_users_host
    server.write_config(name="127.0.0.1")
    bench.env["HOME"] = str(server.home)
    text = QUICKSTART.read_text(encoding="utf-8")
    folders = [f"{folder}-{server.user}-{os.getpid()}" for folder in DATA]
    for folder, own in zip(DATA, folders, strict=True):
        assert f'"{folder}"' in text
        text = text.replace(f'"{folder}"', f'"{own}"')
    # Each workload once, and the session store on one folder, which no claim is about: the rest is more of the same.
    for whole, short in (
        ("repeats = 2, interleaved", "repeats = 1"),
        ("threads   = [2, 4]", "threads   = 4"),
        ("  client    = load", "  hardware  = box.ram\n  client    = load"),
    ):
        assert whole in text
        text = text.replace(whole, short)
    bench.spec(text, "quickstart.bench")
    try:
        ended = bench("run", "quickstart.bench", "--profile", "ssh", timeout=220)
        assert ended.code == 0, ended.text
        owners = {Path(folder).owner() for folder in folders}
    finally:
        for folder in folders:
            shutil.rmtree(folder, ignore_errors=True)
    assert owners == {server.user}
    verdicts = bench.verdicts()
    assert len(verdicts) == 5
    assert {status for status, _ in verdicts.values()} == {"ok"}
    assert {record["host"] for record in bench.journal("job_collected")} == {"127.0.0.1"}
    assert "note: The server is not MongoDB but a stand-in" in ended.err
    assert list((bench.run_dir / "reports").glob("*.pdf"))
