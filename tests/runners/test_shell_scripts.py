"""Tests that the shell scripts for hosts are separate files, work in any POSIX shell, and name the values that they
need."""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from benchbrief.runners.jobs.commands import read_script, with_values

REPOSITORY = Path(__file__).resolve().parents[2]
ROOMS = ("dsl", "model", "compiler", "runners", "results", "reports", "history", "benchbrief", "extensions")
SCRIPTS = sorted(
    path
    for room in ("runners", "extensions")
    for path in (REPOSITORY / room).rglob("*.sh")
    if path.parent.name != "parts"
)
SHELLS = [shell for shell in ("dash", "bash", "busybox") if shutil.which(shell)]


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.name)
def test_a_script_is_one_text_that_each_shell_can_read(path: Path) -> None:
    text = read_script(str(path), path.name)
    assert not re.search(r"^\. \S+\.sh$", text, re.MULTILINE), "every part is in it"
    for shell in SHELLS:
        command = [shell, "sh", "-n"] if shell == "busybox" else [shell, "-n"]
        done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, ""), shell


def test_a_part_that_several_parts_have_is_there_once(tmp_path: Path) -> None:
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "name.sh").write_text("#!/bin/sh\nname=x\n")
    (tmp_path / "parts" / "one.sh").write_text("#!/bin/sh\n. ./name.sh\none=1\n")
    (tmp_path / "parts" / "two.sh").write_text("#!/bin/sh\n# A comment.\n. ./name.sh\n\ntwo=2\n")
    (tmp_path / "all.sh").write_text('#!/bin/sh\n. parts/one.sh\n. parts/two.sh\n    # Why.\necho "$name # $one"\n')
    assert read_script(str(tmp_path / "code.py"), "all.sh") == 'name=x\none=1\ntwo=2\necho "$name # $one"\n'


def test_a_value_reaches_its_script_whatever_is_in_it() -> None:
    value = 'it\'s $(id) \\ "`id`"\n*'
    script = with_values('printf %s "$value"\n', value=value)
    assert subprocess.run(["sh"], input=script, capture_output=True, text=True, check=True).stdout == value


def test_a_script_without_a_value_that_it_needs_does_nothing() -> None:
    script = read_script(str(REPOSITORY / "runners/jobs/job_scripts.py"), "scripts/end_leftovers.sh")
    done = subprocess.run(["sh"], input=script, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "owner" in done.stderr


def test_no_python_module_holds_a_shell_script_of_several_lines() -> None:
    ends = re.compile(r"^\s*(?:fi|done|esac)\b", re.MULTILINE)
    found = [
        f"{path.relative_to(REPOSITORY)}:{node.lineno}"
        for room in ROOMS
        for path in sorted((REPOSITORY / room).rglob("*.py"))
        if path.parent.name != "tests"
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and node.value.count("\n") > 2
        and ends.search(node.value)
    ]
    assert found == [], "these belong in .sh files beside the module"
