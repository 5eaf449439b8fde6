"""benchbrief installed in each way that users install it, in a fresh environment, away from its sources."""

import json
import shutil
import subprocess
import sys
import sysconfig
import tomllib
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
ROOMS = ["dsl", "compiler", "runners", "results", "reports", "benchbrief"]
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
import importlib.metadata, json
points = importlib.metadata.distribution("benchbrief").entry_points
print(json.dumps({point.name: point.load().__name__ for point in points if point.group != "console_scripts"}))
"""


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A clean copy, since building leaves its traces beside the sources."""
    copy = tmp_path_factory.mktemp("sources") / "benchbrief"
    copy.mkdir()
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(REPOSITORY / name, copy)
    for room in ROOMS:
        shutil.copytree(REPOSITORY / room, copy / room, ignore=shutil.ignore_patterns("__pycache__"))
    return copy


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


class Environment:
    """A fresh virtual environment that sees this one's libraries, but not this one's benchbrief."""

    def __init__(self, folder: Path) -> None:
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True, timeout=60)
        self.bin = folder / "bin"
        packages = next(folder.glob("lib/python*/site-packages"))
        # Folders named in a .pth file come last; their own .pth files (the editable install) are not read.
        (packages / "libraries.pth").write_text(sysconfig.get_path("purelib") + "\n")

    def install(self, *what: str) -> None:
        command = [sys.executable, "-m", "pip", "--python", str(self.bin / "python"), "install", "--quiet"]
        command += ["--no-deps", "--no-index", "--no-build-isolation", "--ignore-installed", *what]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode == 0, done.stdout + done.stderr

    def output(self, program: str, *arguments: str) -> str:
        command = [f"{self.bin}/{program}", *arguments]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, cwd=self.bin)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout


@pytest.fixture(scope="module", params=["wheel", "sdist to wheel", "editable"])
def environment(request: pytest.FixtureRequest, sources: Path, tmp_path_factory: pytest.TempPathFactory) -> Environment:
    folder = tmp_path_factory.mktemp("installed")
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
    return made


def test_every_module_and_data_file_is_installed(environment: Environment, sources: Path) -> None:
    found = json.loads(environment.output("python", "-c", LIST_FILES, *ROOMS))
    expected = {
        room: sorted(
            file.relative_to(sources / room).as_posix()
            for file in (sources / room).rglob("*")
            if file.is_file() and "__pycache__" not in file.parts
        )
        for room in ROOMS
    }
    assert found == expected
    assert [file for file in found["dsl"] if file.endswith(".lark")]
    assert [file for file in found["reports"] if file.startswith("templates/")]


def test_each_plugin_of_its_own_loads(environment: Environment) -> None:
    assert json.loads(environment.output("python", "-c", LOAD_PLUGINS)) == {
        "ycsb": "Ycsb",
        "go_ycsb": "GoYcsb",
        "db_bench": "DbBench",
        "mongodb": "MongoDB",
        "rocksdb": "RocksDB",
        "disk": "Disk",
        "cpu": "Cpu",
        "memory": "Memory",
        "network": "Network",
        "database": "Database",
        "power": "Power",
    }


def test_the_command_says_its_version(environment: Environment) -> None:
    assert VERSION in environment.output("bench", "--version")
