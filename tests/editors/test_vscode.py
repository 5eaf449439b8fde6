"""Tests the VS Code extension: its package, the program that it starts, and its snippets, which are valid specs."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import pytest

from benchbrief.compiler.compile import check
from editors import words
from tests.support.bench import PROGRAM
from tests.support.tools import REPOSITORY, built_tool, system_tool

SOURCES = REPOSITORY / "editors/vscode"
MANIFEST: dict[str, Any] = json.loads((SOURCES / "package.json").read_text(encoding="utf-8"))


def test_the_package_holds_what_the_extension_needs_and_nothing_else() -> None:
    with zipfile.ZipFile(built_tool("vscode/benchbrief.vsix")) as package:
        files = {name: package.read(name) for name in package.namelist()}
    assert set(files) == {
        "[Content_Types].xml",
        "extension.vsixmanifest",
        "extension/CHANGELOG.md",
        "extension/LICENSE.txt",
        "extension/README.md",
        "extension/dist/NOTICES.txt",
        "extension/dist/extension.js",
        "extension/language-configuration.json",
        "extension/package.json",
        "extension/snippets/bench.json",
        "extension/syntaxes/bench.tmLanguage.json",
    }
    grammar = SOURCES / "syntaxes/bench.tmLanguage.json"
    assert files["extension/syntaxes/bench.tmLanguage.json"] == grammar.read_bytes()
    for content in files.values():
        assert str(REPOSITORY).encode() not in content
        assert b"sourceMappingURL" not in content


def test_the_package_names_the_licence_of_each_library_in_its_bundle() -> None:
    with zipfile.ZipFile(built_tool("vscode/benchbrief.vsix")) as package:
        notices = package.read("extension/dist/NOTICES.txt").decode()
    named = set(re.findall(r"^([a-z-]+) \d+\.\d+\.\d+ \((?:MIT|ISC)\)$", notices, re.MULTILINE))
    assert named >= {"vscode-languageclient", "vscode-jsonrpc", "semver", "minimatch"}


def test_every_file_that_the_manifest_names_is_there_and_is_json() -> None:
    contributed = MANIFEST["contributes"]
    paths = [
        *(language["configuration"] for language in contributed["languages"]),
        *(grammar["path"] for grammar in contributed["grammars"]),
        *(snippets["path"] for snippets in contributed["snippets"]),
    ]
    assert len(paths) == 3
    for path in paths:
        json.loads((SOURCES / path).read_text(encoding="utf-8"))


def test_the_extension_has_the_version_of_the_command() -> None:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert MANIFEST["version"] == project["version"]


def test_the_lock_file_has_hashes_and_no_registrys_address() -> None:
    lock = json.loads((SOURCES / "package-lock.json").read_text(encoding="utf-8"))
    packages = {name: package for name, package in lock["packages"].items() if name}
    assert len(packages) > 100
    assert [name for name, package in packages.items() if "resolved" in package] == []
    assert [name for name, package in packages.items() if "integrity" not in package] == []


def test_the_search_for_bench_and_a_talk_with_the_server_that_it_finds() -> None:
    """Runs the extension's own tests in Node: see editors/vscode/test."""
    files = sorted(built_tool("vscode/out").glob("*.test.js"))
    command = [str(system_tool("node")), "--test", *map(str, files)]
    environment = os.environ | {"BENCH": str(PROGRAM)}
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, env=environment, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    counts = dict(re.findall(r"^(?:#|ℹ) (pass|fail|skipped) (\d+)$", done.stdout, re.MULTILINE))
    assert int(counts["pass"]) >= 28
    assert (counts["fail"], counts["skipped"]) == ("0", "0")


# --- snippets ---

SNIPPETS: dict[str, Any] = json.loads((SOURCES / "snippets/bench.json").read_text(encoding="utf-8"))


def _filled(title: str) -> str:
    """Return the snippet before anything is typed into it."""
    text = "\n".join(SNIPPETS[title]["body"])
    text = re.sub(r"\$\{\d+\|([^,|]*)[^}]*\|\}", r"\1", text)
    text = re.sub(r"\$\{\d+:([^}]*)\}", r"\1", text)
    assert "$" not in text
    return text + "\n"


# What else must be said for the snippet to be a spec: every snippet is in one of these.
@pytest.mark.parametrize(
    "titles",
    [
        ("Hardware", "RocksDB", "db_bench workload", "Experiment", "Metric", "Expectation", "Parameter", "Report"),
        ("Hardware", "RocksDB", "db_bench workload", "Experiment", "Profile", "Probe"),
    ],
    ids=lambda titles: titles[-1],
)
def test_snippets_make_a_right_spec_as_they_stand(titles: tuple[str, ...], tmp_path: Path) -> None:
    spec = tmp_path / "spec.bench"
    spec.write_text("".join(_filled(title) for title in titles), encoding="utf-8")
    found = check(spec)
    assert found.plan is not None, found.diagnostics


def test_the_other_snippets_make_one_once_the_experiment_names_them(tmp_path: Path) -> None:
    titles = ("Hardware with variants", "Client", "MongoDB", "YCSB workload", "Experiment")
    text = "".join(_filled(title) for title in titles)
    for placeholder, name in {"= box\n": "= box.variants\n", "= rocks\n": "= mongo\n", "[rr]": "[a]"}.items():
        assert placeholder in text
        text = text.replace(placeholder, name)
    spec = tmp_path / "spec.bench"
    spec.write_text(text, encoding="utf-8")
    found = check(spec)
    assert found.plan is not None, found.diagnostics


def test_the_snippet_of_a_factor_makes_one_once_the_experiment_varies_it(tmp_path: Path) -> None:
    titles = ("Hardware", "Factor", "RocksDB", "db_bench workload", "Experiment")
    text = "".join(_filled(title) for title in titles)
    for placeholder, name in {
        'compression = "none"': "compression = codec",
        "  threads": "  vary = codec  threads",
    }.items():
        assert placeholder in text
        text = text.replace(placeholder, name)
    spec = tmp_path / "spec.bench"
    spec.write_text(text, encoding="utf-8")
    found = check(spec)
    assert found.plan is not None, found.diagnostics
    assert len(found.plan.factors["codec"].levels) == 2


def test_every_choice_of_a_snippet_is_one_that_the_checker_knows() -> None:
    """The words are compared with the checker's. Checking a spec for each choice would take long, and the likely
    mistake is a misspelt word."""
    known = {*words.constants(), *words.TOOLS, *words.DIRECTIONS, "disk", "cpu", "none", "lz4", "zstd", "snappy"}
    known |= {name for names in words.WORKLOADS.values() for name in names}
    text = json.dumps(SNIPPETS)
    choices = {word for group in re.findall(r"\$\{\d+\|([^|]*)\|\}", text) for word in group.split(",")}
    assert len(choices) > 10
    assert choices - known == set()


def test_the_package_was_built_from_these_sources(tmp_path: Path) -> None:
    """The set-up installs, checks and packages the extension in a copy without modules, bundle or package."""
    built = built_tool("vscode/.setup")
    ignored = shutil.ignore_patterns("node_modules", "dist", "out", "*.vsix")
    shutil.copytree(SOURCES, tmp_path / "vscode", ignore=ignored)
    for path in (tmp_path / "vscode").rglob("*"):
        if path.is_file():
            same = built.parent / path.relative_to(tmp_path / "vscode")
            assert same.read_bytes() == path.read_bytes(), f"{same} is out of date: run `make setup`"
