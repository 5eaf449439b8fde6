"""Tests that the set-up clearly says what is wrong with a machine, and continues if it can."""

import os
import resource
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support.tools import REPOSITORY, built_tool


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """Return those parts of a clone that the set-up needs. Nothing is built there yet."""
    folder = tmp_path / "clone"
    for room in ("tools", "benchbrief"):
        shutil.copytree(REPOSITORY / room, folder / room, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "requirements.txt", "requirements-dev.txt"):
        shutil.copy(REPOSITORY / name, folder)
    return folder


def commands_without(folder: Path, *absent: str) -> Path:
    """Return a folder for the PATH with this machine's commands, except some of them."""
    folder.mkdir()
    for program in Path("/usr/bin").iterdir():
        if program.name not in absent:
            (folder / program.name).symlink_to(program)
    return folder


def setup(clone: Path, *arguments: str, **environment: object) -> subprocess.CompletedProcess[str]:
    variables = os.environ | {name: str(value) for name, value in environment.items()}
    command = [str(clone / "tools/setup.sh"), *arguments]
    return subprocess.run(command, env=variables, capture_output=True, text=True, timeout=60, check=False)


def test_help_names_every_part(clone: Path) -> None:
    done = setup(clone, "--help")
    assert done.returncode == 0
    made = ("python", "runtime", "stand-in", "ycsb", "go-ycsb", "openload", "gofakes3", "axe", "verapdf", "vscode")
    for part in ("all", "demo", "system", "tools", *made):
        assert f"\n  {part} " in done.stdout


@pytest.mark.long
def test_an_unknown_part_is_refused(clone: Path) -> None:
    done = setup(clone, "pyhton")
    assert done.returncode == 1
    assert done.stderr == "setup: there is no part 'pyhton'; try tools/setup.sh --help\n"


def test_setup_without_apt_lists_the_missing_packages(clone: Path, tmp_path: Path) -> None:
    path = commands_without(tmp_path / "bin", "apt-get", "db_bench", "pdftotext")
    done = setup(clone, "system", PATH=path)
    assert done.returncode == 1
    assert "rocksdb-tools: the load generator for RocksDB\n" in done.stdout
    assert "poppler-utils: the tests read the PDF briefs\n" in done.stdout
    assert done.stderr.startswith("setup: there is no apt-get here: install what these packages hold")


@pytest.mark.long
def test_a_machine_without_go_does_without_go_ycsb(clone: Path, tmp_path: Path) -> None:
    path = commands_without(tmp_path / "bin", "apt-get", "go")
    ready = setup(clone, "system", PATH=path)
    assert ready.returncode == 0, ready.stdout
    done = setup(clone, "go-ycsb", PATH=path)
    assert done.returncode == 0
    assert "could not make .tools/go-ycsb" in done.stderr
    assert "works without it" in done.stderr


@pytest.mark.long
@pytest.mark.parametrize(
    ("part", "packages"),
    [
        pytest.param("python", "requirements-dev.txt", id="all"),
        pytest.param("runtime", "requirements.txt", id="without those of tests", marks=pytest.mark.long),
    ],
)
def test_a_part_that_fails_ends_the_set_up_with_the_end_of_its_log(clone: Path, part: str, packages: str) -> None:
    (clone / packages).write_text("benchbrief-has-no-such-library==1.0\n")
    done = setup(clone, part, PIP_NO_INDEX=1)
    assert done.returncode == 1
    assert "benchbrief-has-no-such-library" in done.stderr
    assert "No such file" not in done.stderr
    assert done.stderr.endswith(f"setup: once that is mended: tools/setup.sh {part}\n")


@pytest.mark.long
def test_a_python_that_is_too_old_is_refused(clone: Path, tmp_path: Path) -> None:
    old = tmp_path / "python3.9"
    old.write_text("#!/bin/sh\nexit 1\n")  # its answer to: are you at least 3.11?
    old.chmod(0o755)
    done = setup(clone, "python", PYTHON=old)
    assert done.returncode == 1
    assert done.stderr == "setup: benchbrief needs Python 3.11 or later: set PYTHON to one\n"


def test_a_second_call_ends_at_once() -> None:
    """The test uses the clone that it runs in, where the set-up has already run."""
    if not (REPOSITORY / ".venv/.setup").exists():
        pytest.skip("this environment was not made by tools/setup.sh")
    assert setup(REPOSITORY, "python").returncode == 0
    before = _processor_s()
    assert setup(REPOSITORY, "python").stdout == ""
    assert _processor_s() - before < 1.0


def _processor_s() -> float:
    """Return the processor time of all child processes that have ended. It depends little on how busy the machine
    is."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


@pytest.mark.parametrize(
    "command",
    [("mongo-stand-in/bin/mongo-stand-in", "--port", "none"), ("ycsb/bin/ycsb.sh", "run", "mongodb", "-P", "/none")],
    ids=lambda command: command[0],
)
def test_java_starts_with_the_classes_that_the_set_up_kept(command: tuple[str, ...]) -> None:
    program, *arguments = command
    built_tool(program.split("/")[0] + "/classes.jsa")
    environment = os.environ | {"JAVA_OPTS": "-Xshare:on -Xlog:class+load:stdout"}  # Java ends when it cannot map them
    done = subprocess.run(
        [built_tool(program), *arguments], env=environment, capture_output=True, text=True, timeout=60, check=False
    )
    assert "source: shared objects file (top)" in done.stdout
