"""Tests that a check with the memory of the last check has the same findings as a fresh check."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from benchbrief.compiler.blocks.experiments import read_experiments
from benchbrief.compiler.briefs import lower_report
from benchbrief.compiler.compile import CheckMemory, Examined, examine
from benchbrief.compiler.metrics.expressions import Typer
from benchbrief.dsl.source import Source
from benchbrief.dsl.syntax import ast
from benchbrief.dsl.syntax.parse import parse
from benchbrief.model import plan

ROOT = Path(__file__).parents[2]
SPECS = [*sorted((ROOT / "examples").rglob("*.bench")), *sorted((ROOT / "tests" / "compiler").rglob("*.bench"))]
SPEC = """\
hardware box { hosts = local  variant one { path = "/a"  price = 1 USD }  variant two { path = "/b"  price = 2 USD } }
database rocks { engine = rocksdb  path = "{path}" }
workload rr from db_bench.readrandom
experiment ramp { hardware = box.variants  workloads = rr  threads = [1, 2]  measure = 1 s }
metric gain = throughput[two] / throughput[one]
metric wrong = throughput + price
metric unused "Unused" = gain - 1
report first "First" { text = "{range(gain over threads):.0f}" }
report second "Second" { text = "{max(wrong over threads):.0f}"  each workload { text = "{gain}" } }
"""
CHANGES = [
    (
        '}" }\nreport second',
        '}"  section "A" { text = "{gain:.0f}" }  text = "{max(gain over threads)}" }\nreport second',
    ),
    ('"First"', '"{gian}"'),
    ("{gain:.0f}", "{gian:.0f}"),
    ('"{gian}"', '"First"'),
    ("{gian:.0f}", "{max(wrong over threads):.0f}"),
    ("{max(gain over threads)}", "{max(gain over threads)} {max(wrong over threads):.0f}"),
    ("{max(wrong over threads):.0f}", "{gain:.0f}"),
    ("throughput + price", "throughput"),
    ("metric wrong = throughput", "metric wrong = throughput + price"),
    (" {max(wrong over threads):.0f}", ""),
    ("metric gain =", "metric gain in ops/s ="),
    ("metric gain in ops/s =", "metric gain ="),
    ("First", "A first"),
    ("{range(gain", "{range(gian"),
    ("{range(gian", "{range(gain"),
    ("throughput[two] /", "throughput[tow] /"),
    ("throughput[tow] /", "throughput[two] /"),
    ("{max(wrong over threads):.0f}", ""),
    ("throughput + price", "throughput"),
    ("metric gain =", 'metric gain "Gain" ='),
    ('"Unused" = gain', '"No more used" = gian'),
    ("metric unused", "metric gian"),
    ("= gian - 1", "= gain - 1"),
    ("range(gain over", "range(gian over"),
    ("= gain - 1", "= wrong - 1"),
    ("threads = [1, 2]", "threads = [1, 2, 4]"),
    ("measure = 1 s", "measure = 1 s  budget = 1 s"),
    ("- 1", "- 2"),
    ("  budget = 1 s", ""),
    ("workload rr", "workload other"),
    ("workload other", "workload rr"),
]


class Typed:
    """A file as in an editor. If the text of a declaration has not changed, the declaration remains the same object."""

    def __init__(self) -> None:
        self.text = SPEC
        self._known: dict[str, tuple[Source, tuple[ast.Declaration, ...]]] = {}

    def is_file(self, path: Path) -> bool:
        return True

    def tree(self, path: Path, name: str) -> ast.File:
        for line in self.text.splitlines():
            if line not in self._known:
                source = Source(name, line)
                self._known[line] = source, parse(source).declarations
        declarations = tuple(each for line in self.text.splitlines() for each in self._known[line][1])
        return ast.File(parse(Source(name, self.text)).span, declarations)


def found(examined: Examined) -> list[str]:
    return sorted(f"{each.code} {each.summary} {each.span.text if each.span else ''}" for each in examined.diagnostics)


SOME = [pytest.param(path, marks=[pytest.mark.long] if number % 12 else []) for number, path in enumerate(SPECS)]
"""Every twelfth spec. The others use the memory in the same way."""


@pytest.mark.parametrize("path", SOME, ids=lambda path: path.stem)
def test_a_first_check_with_a_memory_finds_the_same(path: Path) -> None:
    memory = CheckMemory()
    afresh = found(examine(path))
    assert found(examine(path, memory=memory)) == afresh
    assert found(examine(path, memory=memory)) == afresh


def test_every_change_is_found_as_by_a_check_without_memory() -> None:
    memory, files = CheckMemory(), Typed()
    for old, new in [("", ""), *CHANGES]:
        assert old in files.text
        files.text = files.text.replace(old, new, 1) if old else files.text
        path = Path("typed.bench")
        assert found(examine(path, files=files, memory=memory)) == found(examine(path, files=files)), (old, new)


def test_what_no_expression_sees_costs_no_report() -> None:
    memory, files = CheckMemory(), Typed()
    examine(Path("typed.bench"), files=files, memory=memory)
    before = memory.reports.reports
    files.text = files.text.replace("db_bench.readrandom", "db_bench.readrandom { records = 5k }")
    examine(Path("typed.bench"), files=files, memory=memory)
    assert all(findings is earlier for (_, findings), (_, earlier) in zip(memory.reports.reports, before, strict=True))


@pytest.mark.parametrize(
    ("old", "new", "again"),
    [
        ("First", "A first", ["first"]),
        ('"Unused"', '"No more used"', []),
        ("metric wrong =", 'metric wrong "Sum" =', ["second"]),
        ("throughput[one]", "(throughput[one] + 1 ops/s)", ["first", "second"]),
    ],
)
def test_only_a_report_that_reads_what_changed_is_lowered_again(
    old: str, new: str, again: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    memory, files = CheckMemory(), Typed()
    examine(Path("typed.bench"), files=files, memory=memory)
    lowered: list[str] = []

    def note(_typer: Typer, block: ast.Block, *_sound: object) -> None:
        lowered.append(block.name.text if block.name else "")

    monkeypatch.setattr("benchbrief.compiler.briefs.lower_report._report", note)
    files.text = files.text.replace(old, new)
    examine(Path("typed.bench"), files=files, memory=memory)
    assert lowered == again


@pytest.mark.parametrize(("old", "new", "again"), [("gain - 1", "gain - 2", 0), ("measure = 1 s", "measure = 2 s", 1)])
def test_blocks_are_read_again_only_if_one_of_them_changes(
    old: str, new: str, again: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory, files = CheckMemory(), Typed()
    examine(Path("typed.bench"), files=files, memory=memory)
    read = Mock(wraps=read_experiments)
    monkeypatch.setattr("benchbrief.compiler.resolve.read_experiments", read)
    files.text = files.text.replace(old, new)
    examine(Path("typed.bench"), files=files, memory=memory)
    assert read.call_count == again


def test_only_the_changed_part_of_a_report_is_lowered_again(monkeypatch: pytest.MonkeyPatch) -> None:
    memory, files = CheckMemory(), Typed()
    sections = "".join(f'  section "{name}" {{ text = "{{range(gain over threads):.0f}} {name}" }}' for name in "abc")
    files.text = files.text.replace('" }\nreport second', f'"{sections} }}\nreport second')
    examine(Path("typed.bench"), files=files, memory=memory)
    lowered: list[str] = []
    lower = lower_report._element

    def note(typer: Typer, item: ast.Item, *more: Any) -> list[plan.Element]:
        lowered.append(item.span.text)
        return lower(typer, item, *more)

    monkeypatch.setattr("benchbrief.compiler.briefs.lower_report._element", note)
    for old, new in (("over threads):.0f} b", "over thread):.0f} b"), ("over thread):.0f} b", "over threads):.1f} b")):
        files.text = files.text.replace(old, new)
        lowered.clear()
        examine(Path("typed.bench"), files=files, memory=memory)
        assert [each[:11] for each in lowered if each.startswith("section")] == ['section "b"']
