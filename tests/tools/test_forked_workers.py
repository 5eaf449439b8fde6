"""Tests the processes that run the tests: what happens if a test fails, and if a process dies."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.tools import REPOSITORY

CONFTEST = """
from collections import deque
from tests.support.forked_workers import ForkedWorkers, Share

def pytest_configure(config):
    config.pluginmanager.register(ForkedWorkers(lambda items: [Share(deque([range(len(items))]), processes=2)]))
"""
TESTS = """
import os, signal
import pytest

made = []

@pytest.fixture(scope="module")
def once():
    made.append(1)
    yield

@pytest.mark.parametrize("number", range(20))
def test_passes(number, once, tmp_path):
    assert made == [1]
    assert not list(tmp_path.iterdir())

def test_is_killed():
    os.kill(os.getpid(), signal.SIGKILL)

def test_leaves():
    os._exit(0)

def test_fails(once):
    print("what it printed")
    os.write(1, b"and its children\\n")
    assert os.getpid() == 0

@pytest.mark.skip(reason="as it is")
def test_is_skipped():
    pass

@pytest.mark.parametrize("number", range(5))
def test_after_them_passes(number, once):
    assert made == [1]
"""


@pytest.mark.long
def test_each_test_is_run_once_and_one_whose_process_dies_has_failed(tmp_path: Path) -> None:
    for name, text in (("conftest.py", CONFTEST), ("test_it.py", TESTS), ("pytest.ini", "[pytest]\n")):
        (tmp_path / name).write_text(text)
    words = [sys.executable, "-m", "pytest", "--basetemp", str(tmp_path / "temp"), "-p", "no:cacheprovider", "-rs"]
    env = {"PYTHONPATH": str(REPOSITORY), "PATH": "/usr/bin:/bin"}
    done = subprocess.run(words, cwd=tmp_path, env=env, capture_output=True, text=True, check=False, timeout=100)
    assert done.returncode == 1, done.stdout + done.stderr
    assert re.search(r"3 failed, 25 passed, 1 skipped", done.stdout), done.stdout
    for said in ("the process of the tests ended by signal 9", "the process of the tests ended by exit code 0",
                 "assert os.getpid() == 0", "what it printed\nand its children", "as it is"):  # fmt: skip
        assert said in done.stdout, done.stdout
