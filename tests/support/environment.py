"""Makes fresh virtual environments within a second."""

from __future__ import annotations

import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
ROOMS = ["dsl", "model", "compiler", "runners", "results", "reports", "history", "benchbrief", "extensions"]

MAKE_METADATA = """
import os, sys
from setuptools.build_meta import prepare_metadata_for_build_editable
for package in sys.argv[1:]:
    os.chdir(package)
    prepare_metadata_for_build_editable(package)
"""


def copy_sources(into: Path) -> Path:
    """Make a clean copy, because building leaves files beside the sources."""
    copy = into / "benchbrief"
    copy.mkdir()
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(REPOSITORY / name, copy)
    for folder in (*ROOMS, "src"):
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(REPOSITORY / folder, copy / folder, symlinks=True, ignore=ignored)
    return copy


class Environment:
    """A fresh virtual environment that has access to the libraries of this one, but not to its benchbrief."""

    def __init__(self, folder: Path) -> None:
        """Open the environment in `folder`, and make it if it does not exist."""
        self.bin = folder / "bin"
        if folder.exists():
            return
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True, timeout=60)
        packages = next(folder.glob("lib/python*/site-packages"))
        # Folders named in a .pth file come last; their own .pth files (the editable install) are not read.
        (packages / "libraries.pth").write_text(sysconfig.get_path("purelib") + "\n")

    def install(self, *what: str) -> None:
        command = [sys.executable, "-m", "pip", "--python", str(self.bin / "python"), "install", "--quiet"]
        command += ["--no-deps", "--no-index", "--no-build-isolation", "--ignore-installed", "--no-compile", *what]
        done = subprocess.run(command, capture_output=True, text=True, timeout=220, check=False)
        assert done.returncode == 0, done.stdout + done.stderr

    def link(self, *packages: Path) -> None:
        """Make packages importable from where they are, and write beside them the metadata that pip would give them.
        One process does this for all packages, whereas pip would start three processes for each."""
        (found,) = self.bin.parent.glob("lib/python*/site-packages")
        command = [sys.executable, "-c", MAKE_METADATA, *map(str, packages)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=220, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        (found / "linked.pth").write_text("".join(f"{package}\n" for package in packages))

    def output(self, program: str, *arguments: str) -> str:
        command = [f"{self.bin}/{program}", *arguments]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, cwd=self.bin)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout
