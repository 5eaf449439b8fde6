"""Tests benchbrief installed in each way that users may choose, in a fresh environment away from its sources."""

import json
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.support.environment import ROOMS, Environment, copy_sources
from tests.support.longer import longer
from tests.support.made_once import made_once

REPOSITORY = Path(__file__).resolve().parents[2]
VERSION = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]["version"]

# Run inside the fresh environment: the files of each room, and what each plugin loads as.
LIST_FILES = """
import importlib, json, pathlib, sys
rooms = {}
for room in sys.argv[1:]:
    name = "benchbrief" if room == "benchbrief" else "benchbrief." + room
    folder = pathlib.Path(importlib.import_module(name).__file__).parent
    files = [file.relative_to(folder) for file in folder.rglob("*") if file.is_file()]
    if room == "benchbrief":
        files = [file for file in files if file.parts[0] not in sys.argv[1:]]
    rooms[room] = sorted(file.as_posix() for file in files if "__pycache__" not in file.parts)
print(json.dumps(rooms))
"""
LOAD_PLUGINS = """
import json
from benchbrief.compiler.registry import ENGINE_SPECS, TOOL_SPECS
from benchbrief.runners.plugins import implementation
code = {name: implementation(each, name) for each in (ENGINE_SPECS, TOOL_SPECS) for name in each.own}
print(json.dumps({name: each.__name__ for name, each in code.items()}))
"""


def build(kind: str, sources: Path, out: Path) -> Path:
    command = [
        sys.executable,
        "-m",
        "build",
        f"--{kind}",
        "--no-isolation",
        "--outdir",
        f"{out}",
        f"{sources}",
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    (built,) = out.iterdir()
    return built


@pytest.fixture(
    scope="module",
    params=[*longer("wheel"), "sdist to wheel", *longer("editable")],
)
def environment(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Environment:
    def install(folder: Path) -> None:
        sources = copy_sources(folder)
        made = Environment(folder / "venv")
        match request.param:
            case "wheel":
                made.install(str(build("wheel", sources, folder / "dist")))
            case "sdist to wheel":
                archive = build("sdist", sources, folder / "dist")
                shutil.unpack_archive(archive, folder / "unpacked")  # our own archive
                (unpacked,) = (folder / "unpacked").iterdir()
                made.install(str(build("wheel", unpacked, folder / "wheel")))
            case "editable":
                made.install("--editable", str(sources))

    return Environment(made_once(tmp_path_factory, f"installed-{request.param}", install) / "venv")


def is_of_a_clone(file: str) -> bool:
    """Return whether a file of our extensions exists only in a clone: a page, a test, or an output that tests read."""
    return file.endswith(".md") or file.split("/")[2:3] in (["tests"], ["outputs"])


def test_every_module_and_data_file_is_installed(environment: Environment, request: pytest.FixtureRequest) -> None:
    """The pages and tests of our extensions are in the extensions' folders, but only in a clone."""
    found = json.loads(environment.output("python", "-c", LIST_FILES, *ROOMS))
    assert any(map(is_of_a_clone, found["extensions"])) == request.node.name.endswith("[editable]")
    found["extensions"] = [file for file in found["extensions"] if not is_of_a_clone(file)]
    expected = {
        room: sorted(
            file.relative_to(REPOSITORY / room).as_posix()
            for file in (REPOSITORY / room).rglob("*")
            if file.is_file() and "__pycache__" not in file.parts
        )
        for room in ROOMS
    }
    expected["extensions"] = [file for file in expected["extensions"] if not is_of_a_clone(file)]
    assert found == expected
    assert [file for file in found["dsl"] if file.endswith(".lark")]
    assert [file for file in found["reports"] if file.startswith("templates/")]
    assert [file for file in found["runners"] if file.endswith(".sh")]


def test_each_plugin_of_its_own_loads(environment: Environment) -> None:
    assert json.loads(environment.output("python", "-c", LOAD_PLUGINS)) == {
        "ycsb": "Ycsb",
        "go_ycsb": "GoYcsb",
        "db_bench": "DbBench",
        "fio": "Fio",
        "openload": "Openload",
        "openload_rocksdb": "OpenloadRocksdb",
        "mongodb": "MongoDB",
        "raw_storage": "RawStorage",
        "rocksdb": "RocksDB",
    }


def test_the_command_says_its_version(environment: Environment) -> None:
    assert VERSION in environment.output("bench", "--version")
