"""Tests that the locked requirements are complete, hashed, and free of registry addresses."""

import re
import tomllib
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
LOCKS = ["requirements.txt", "requirements-dev.txt"]


def locked(file: str) -> dict[str, str]:
    """Return the requirements in a lock file by name. Each has the rest of its entry, including the hashes."""
    entries = re.split(r"^(?=[a-z0-9])", (REPOSITORY / file).read_text(), flags=re.MULTILINE | re.IGNORECASE)
    return {entry.split("==")[0]: entry for entry in entries if "==" in entry}


@pytest.mark.parametrize("file", LOCKS)
def test_no_registry_is_named(file: str) -> None:
    assert re.findall(r"(?i)https?:|index-url|find-links", (REPOSITORY / file).read_text()) == []


@pytest.mark.parametrize("file", LOCKS)
def test_each_requirement_has_hashes(file: str) -> None:
    assert [name for name, entry in locked(file).items() if "--hash=sha256:" not in entry] == []


def test_each_declared_dependency_is_locked() -> None:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]
    run = {re.split(r"[>=<]", requirement)[0] for requirement in project["dependencies"]}
    develop = {re.split(r"[>=<]", requirement)[0] for requirement in project["optional-dependencies"]["dev"]}
    assert run - locked("requirements.txt").keys() == set(), "run `make lock`"
    assert (run | develop) - locked("requirements-dev.txt").keys() == set(), "run `make lock`"


def test_developers_run_the_versions_that_users_run() -> None:
    def versions(file: str) -> set[str]:
        return set(re.findall(r"^[\w.-]+==[^\s;]+", (REPOSITORY / file).read_text(), re.MULTILINE))

    assert versions("requirements.txt") - versions("requirements-dev.txt") == set()
