"""Tests that benchbrief works without its own extensions, on a spec for another package's engine."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.extensions.test_engines import written
from tests.support.environment import Environment, copy_sources
from tests.support.made_once import made_once

SQLITE = Path(__file__).with_name("sqlite")


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """Install a wheel that was built without our extensions, and a package with an engine."""

    def install(folder: Path) -> None:
        sources = copy_sources(folder)
        shutil.rmtree(sources / "extensions")
        (sources / "benchbrief" / "extensions").unlink()
        package = shutil.copytree(SQLITE, folder / "sqlite", ignore=shutil.ignore_patterns("*.egg-info", "build"))
        Environment(folder / "venv").install(str(sources), str(package))

    return Environment(made_once(tmp_path_factory, "bare", install) / "venv")


@pytest.mark.long
def test_a_spec_of_another_package_is_checked_and_simulated(bare: Environment, tmp_path: Path) -> None:
    def bench(*words: str) -> str:
        done = subprocess.run((bare.bin / "bench", *words), cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    listed = json.loads(bench("extensions", "--json"))
    assert {each["name"] for each in listed} - {"plain"} == {"sqlite", "sqlite_load"}
    spec = str(written(tmp_path, '"box.lab"'))
    bench("check", spec)
    bench("run", spec, "--simulate")
    assert len(list(tmp_path.rglob("*.html"))) >= 2
