"""Tests that a diagnostic disappears when its proposal is applied to the spec."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from benchbrief.compiler.compile import check
from benchbrief.dsl.diagnostics.diagnostic import Diagnostic
from tests.compiler.specs import check_fixture
from tests.support.longer import longer

SPEC = """
hardware box {{ hosts = "box.lab" }}
database rocks {{ engine = rocksdb  path = "/data"  options {{ cache = {cache} }} }}
workload rr from db_bench.readrandom {{ records = 10k }}
experiment ramp {{
  hardware = box  workloads = rr  threads = {threads}  measure = {measure}  repeats = {repeats}
  {budget}
}}
"""
RIGHT = {"threads": "[1, 8]", "measure": "1 min", "cache": "8 MiB", "repeats": "3", "budget": ""}

HERE = Path(__file__).parent
OF_THE_WRONG_FORM = {"E0101", "E0504"}


@pytest.mark.parametrize("folder", [*longer(HERE / "errors"), HERE / "metrics" / "errors"], ids=["errors", "metrics"])
def test_what_an_editor_puts_in_place_mends_the_mistake_and_has_the_right_form(tmp_path: Path, folder: Path) -> None:
    shutil.copytree(folder, tmp_path / "errors")
    mended = 0
    for path in sorted((tmp_path / "errors").glob("*.bench")):
        text, before = path.read_text(encoding="utf-8"), check_fixture(path).diagnostics
        for found in before:
            change = found.suggestion
            if found.span is None or change is None or change.span.source.text != text:
                continue
            changed = text
            for edit in sorted(change.edits, key=lambda each: each.span.start, reverse=True):
                changed = changed[: edit.span.start] + edit.replacement + changed[edit.span.end :]
            path.write_text(changed, encoding="utf-8")
            after = check_fixture(path).diagnostics
            path.write_text(text, encoding="utf-8")
            place = found.code, found.span.start
            assert place not in [(each.code, each.span.start) for each in after if each.span], (path.name, found)
            new = {(each.code, each.summary) for each in after} - {(each.code, each.summary) for each in before}
            assert not {code for code, _ in new} & OF_THE_WRONG_FORM, (path.name, found, new)
            mended += 1
    assert mended > 30


def checked(folder: Path, values: dict[str, str]) -> tuple[Diagnostic, ...]:
    (folder / "a.bench").write_text(SPEC.format(**values))
    return check(folder / "a.bench").diagnostics


@pytest.mark.parametrize(
    ("key", "wrong", "proposed"),
    [
        ("threads", "adaptive(1..8, points: 2)", ("adaptive(1..8, points: 4)", "[1, 8]")),
        ("threads", "adaptive(1..2, points: 2)", ("[1, 2]",)),
        ("threads", "adaptive(1, 8, points: 4)", ("adaptive(1..8, points: 4)",)),
        ("threads", "adaptive(1..8)", ("adaptive(1..8, points: 4)",)),
        ("threads", "adaptive(1..3)", ("adaptive(1..3, points: 3)",)),
        ("threads", "adaptive(1..8, points: 9)", ("adaptive(1..8, points: 8)",)),
        ("threads", "adaptive(0..8, points: 4)", ("adaptive(1..8, points: 4)",)),
        ("threads", "adaptive(points: 4)", ("adaptive(1..512, points: 9)",)),
        ("threads", "0..8", ("1..8",)),
        ("threads", "range(0, 8, step: 2)", ("range(1, 8, step: 2)",)),
        ("measure", "1000", ("1000 min", "1000 s")),
        ("cache", "8", ("8 B", "8 MiB")),
        ("cache", "8 mb", ("8 MB",)),
        ("budget", "budget = 2 s", ("budget = 3 min",)),
    ],
)
def test_what_a_help_proposes_mends_the_spec(tmp_path: Path, key: str, wrong: str, proposed: tuple[str, ...]) -> None:
    first, *others = checked(tmp_path, RIGHT | {key: wrong})
    assert not others
    (text,) = {help_ for help_ in (first.help,) if help_}
    written = re.findall(r"`([^`]*)`", text)
    mended = [value for each in written for value in _applied(wrong, each)]
    for value in proposed:
        assert value in mended, (text, mended)
        assert not checked(tmp_path, RIGHT | {key: value}), f"{value} is no mending"


def _applied(wrong: str, proposal: str) -> list[str]:
    """Return the possible results of writing a proposal into a wrong value. The proposal may replace the whole value,
    its argument, its first number, or its unit."""
    name, colon, _ = proposal.partition(":")
    return [
        proposal,
        proposal.partition(" = ")[2] or proposal,
        re.sub(rf"\b{re.escape(name)}: *\d+", proposal, wrong) if colon else wrong,
        re.sub(r"\b0\b", proposal, wrong, count=1),
        re.sub(r"\bmb\b", proposal, wrong),
    ]
