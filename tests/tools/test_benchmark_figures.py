"""Tests that the page of the benchmarks is what their command writes from its stored figures."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from benchmarks import __main__ as command
from benchmarks import figures


def test_the_page_is_what_the_command_writes_from_the_stored_figures() -> None:
    assert figures.PAGE.read_text(encoding="utf-8") == figures.page(), "run python -m benchmarks.figures"


def test_each_stored_figure_is_of_a_benchmark_and_says_when_it_was_measured() -> None:
    stored = figures.stored()
    assert {each.benchmark for each in stored} <= set(command.NAMES)
    assert [each for each in stored if not (each.what and each.figure and each.measured)] == []
    assert len({(each.benchmark, each.what) for each in stored}) == len(stored)


def test_a_figure_that_is_measured_again_takes_the_place_of_the_earlier_one() -> None:
    old = [figures.Figure(name, what, "1 s", "", "then") for name, what in (("a", "x"), ("a", "y"), ("b", "x"))]
    new = [replace(old[0], figure="2 s", measured="now"), figures.Figure("a", "z", "3 s", "", "now")]
    assert figures.merged(old, new) == [new[0], old[1], new[1], old[2]]


def test_what_a_benchmark_records_is_written_to_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one = figures.stored()[0]
    monkeypatch.setattr(figures, "STORED", tmp_path / "figures.json")
    monkeypatch.setattr(figures, "PAGE", tmp_path / "README.md")
    figures.STORED.write_text(json.dumps([asdict(one)]), encoding="utf-8")
    figures.record("a | b", "1 s", "2 s")
    figures.write_recorded("startup")
    assert figures.PAGE.read_text(encoding="utf-8") == figures.page()
    assert "| `startup` | a \\| b | 1 s | 2 s | 20" in figures.page()
