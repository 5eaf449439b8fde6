"""Tests that no file outside an extension's folder names an engine, a tool, a probe, a meter, an importer, a template
or a transport."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

from benchbrief.compiler.registry import (
    ENGINE_SPECS,
    IMPORTER_SPECS,
    METER_SPECS,
    PROBE_SPECS,
    SCHEDULER_SPECS,
    SNAPSHOT_SPECS,
    TEMPLATE_SPECS,
    TOOL_SPECS,
    TRANSPORT_SPECS,
)

ROOT = Path(__file__).resolve().parents[2]
ROOMS = ("dsl", "model", "compiler", "runners", "results", "reports", "history", "benchbrief")
FOLDERS = ("results/imports/", "runners/meters/")
"""Folders for code that importers or meters share. Other extensions have no code there."""

NAMES = {*ENGINE_SPECS.own, *TOOL_SPECS.own}
PROBES = set(PROBE_SPECS.own)

OTHERS = {*METER_SPECS.own, *TEMPLATE_SPECS.own, *TRANSPORT_SPECS.own, *IMPORTER_SPECS.own} - NAMES
OTHERS_ALLOWED = {
    # A kind of page, which another package's template may have too.
    "reports/render/fill_pages.py": {"slide"},
}
AMBIGUOUS = {"command", "csv", "local", "ssh", "table"}
"""Words that also mean something else: attributes, file suffixes, words and blocks of the language."""

ALLOWED = {
    # Before it can read a spec, the parser mends `from ycsb-c`.
    "dsl/syntax/slips.py": {"ycsb", "db_bench"},
    # Words of connection strings, which no secret is.
    "runners/journal/secret_masking.py": {"mongodb", "ycsb"},
}
"""The names that must be where they are, each with the reason. This list may only become shorter."""

PROBES_ALLOWED = {
    # Words that are also something else: a fact of a host, an attribute of hardware, a figure of a simulated host.
    "memory",
    "cpu",
    "power",
    "disk",
    "network",
    "database",
}


@cache
def texts(path: Path) -> tuple[frozenset[str], frozenset[str]]:
    """Return all texts of a module and, separately, the texts that are not docstrings."""
    constants, documents = set(), set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Expr):
            documents.add(node.value)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            constants.add(node)
    all_texts, sentences = ({str(node.value) for node in nodes} for nodes in (constants, constants - documents))
    return frozenset(all_texts), frozenset(sentences)


def quoted(path: Path) -> frozenset[str]:
    """Return those texts of a module that consist of nothing but a name."""
    return texts(path)[0]


def modules() -> dict[str, Path]:
    found = {path.relative_to(ROOT).as_posix(): path for room in ROOMS for path in (ROOT / room).rglob("*.py")}
    return {name: path for name, path in found.items() if not name.startswith(FOLDERS) and not path.is_symlink()}


PRODUCT = re.compile(r"mongo\w*|rocksdb|ycsb|db_bench|go[-_]ycsb|fio|openload\w*|redfish|ipmi\w*|iostat", re.IGNORECASE)
SAMPLES = {
    # Before it can read a spec, the parser says how one is written.
    "dsl/syntax/slips.py",
    # Samples that `docs/reference` shows, and that are checked within a spec.
    "compiler/schemas.py",
    # Samples in `bench import --help`.
    "benchbrief/commands/results/import.py",
    # Words of connection strings, which no secret is.
    "runners/journal/secret_masking.py",
}
"""Modules with a product's name in a sentence. This list may only become shorter."""


def test_no_sentence_names_a_product_but_as_a_sample() -> None:
    named = {name for name, path in modules().items() if any(map(PRODUCT.search, texts(path)[1]))}
    assert named == SAMPLES


def test_no_module_names_an_engine_or_a_tool_that_is_not_in_its_folder() -> None:
    named = {name: words for name, path in modules().items() if (words := quoted(path) & NAMES)}
    assert named == ALLOWED


def test_a_probe_is_named_by_a_word_that_has_no_other_meaning_nowhere() -> None:
    """The names of our own probes are words of the language, and no other probe may be named elsewhere."""
    named = {name: words for name, path in modules().items() if (words := quoted(path) & (PROBES - PROBES_ALLOWED))}
    assert named == {}


def test_a_meter_an_importer_a_template_or_a_transport_is_named_in_its_folder_alone() -> None:
    named = {name: words for name, path in modules().items() if (words := quoted(path) & (OTHERS - AMBIGUOUS))}
    assert named == OTHERS_ALLOWED


def test_snapshots_of_a_file_system_are_named_in_their_folder_alone() -> None:
    named = {name: words for name, path in modules().items() if (words := quoted(path) & set(SNAPSHOT_SPECS.own))}
    assert named == {}


def test_a_scheduler_is_named_in_its_folder_alone() -> None:
    named = {name: words for name, path in modules().items() if (words := quoted(path) & set(SCHEDULER_SPECS.own))}
    assert named == {}


def test_no_explanation_names_a_product_outside_of_its_specs() -> None:
    """To list what exists, the explanations have holes such as `@meters@`, which are filled from the registries."""
    texts = {path.stem: path.read_text(encoding="utf-8") for path in (ROOT / "compiler/explanations").glob("*.md")}
    prose = {code: re.sub(r"```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE) for code, text in texts.items()}
    name = re.compile(
        r"\b(mongodb|rocksdb|ycsb|db_bench|fio|openload|btrfs|zfs|lvm\w*|slurm|snmp|redfish|rapl)\b", re.IGNORECASE
    )
    assert {code for code, text in prose.items() if name.search(text)} == set()
