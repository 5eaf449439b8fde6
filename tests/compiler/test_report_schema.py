"""Tests that the checker agrees with the tables that editors and the reference use."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from benchbrief.compiler import word_meanings
from benchbrief.compiler.briefs.plan_figures import _OPTIONS as FIGURE_OPTIONS
from benchbrief.compiler.compile import check
from benchbrief.compiler.frontend.structure_errors import MisplacedBlock, UnknownAttribute
from benchbrief.compiler.measure_catalogue import KINDS
from benchbrief.compiler.metrics.expressions import FUNCTIONS
from benchbrief.compiler.schemas import ELEMENTS, OPTIONS
from benchbrief.model.plan import DIMENSIONS

SPEC = """\
hardware box { hosts = local  path = "/var/tmp/a" }
database rocks { engine = rocksdb  path = "{path}" }
workload rr from db_bench.readrandom
experiment ramp { hardware = box  workloads = rr  threads = [1, 2]  measure = 1 s }
metric gain = throughput[threads: 2] / throughput[threads: 1]
"""
HEADS = {"report": "report brief", "claim": 'claim gain_of_four "{value}"', "each": "each workload"}


def help_of(code: str, tmp_path: Path, report: str) -> set[str]:
    """Return the words that the help of a diagnostic with this code offers."""
    path = tmp_path / "spec.bench"
    path.write_text(SPEC + report)
    [text] = [diagnostic.help for diagnostic in check(path).diagnostics if diagnostic.code == code]
    return set(re.findall(r"`(\w+)`", text))


def in_report(kind: str, body: str) -> str:
    block = f"{HEADS.get(kind, kind)} {{ {body} }}"
    return block if kind in ("claim", "report") else f"report brief {{ {block} }}"


@pytest.mark.parametrize("kind", [kind for kind in ELEMENTS if kind not in ("formula", "palette")])
def test_each_element_has_the_attributes_of_its_table_and_no_others(kind: str, tmp_path: Path) -> None:
    offered = help_of(UnknownAttribute.code, tmp_path, in_report(kind, "qqqq = 1"))
    assert offered == set(ELEMENTS[kind].keys)


@pytest.mark.parametrize("kind", ["report", "section", "each"])
def test_each_element_holds_the_blocks_of_its_table_and_no_others(kind: str, tmp_path: Path) -> None:
    offered = help_of(MisplacedBlock.code, tmp_path, in_report(kind, "qqqq { }"))
    assert offered == set(ELEMENTS[kind].blocks)


def test_the_options_of_figures_are_documented() -> None:
    assert set(FIGURE_OPTIONS) <= set(OPTIONS)


def test_every_word_of_expressions_is_documented() -> None:
    assert all(word_meanings.measure_doc(name) for name in KINDS)
    assert set(word_meanings.DIMENSIONS) == set(DIMENSIONS)
    assert set(word_meanings.FUNCTIONS) == {*FUNCTIONS, "range"}
