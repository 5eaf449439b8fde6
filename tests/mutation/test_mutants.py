"""Tests that the list of mutants fits the code, and that the script reports the results of tests correctly."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.mutation.mutants import Mutant, Stale, mutated_source, read_mutants
from tests.mutation.run_mutants import Result, passes, run_mutants, score

ROOT = Path(__file__).resolve().parents[2]
MUTANTS = read_mutants()


def test_every_mutant_applies_to_the_code_and_names_tests_that_are_there() -> None:
    for each in MUTANTS:
        mutated_source(ROOT, each)
        assert each.tests
        for test in each.tests:
            assert (ROOT / test).is_file(), f"{each.name} names {test}, which is not there"


def test_no_mutant_is_there_twice_and_there_are_enough() -> None:
    assert len({(each.file, each.old, each.new) for each in MUTANTS}) == len(MUTANTS) >= 150


def mutant(old: str, new: str, equivalent: str = "") -> Mutant:
    return Mutant(f"sums.py:{old}", "sums.py", old, new, ("test_sums.py",), equivalent)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "sums.py").write_text("def total(a, b):\n    return a + b + 0\n", encoding="utf-8")
    (tmp_path / "test_sums.py").write_text("import sums\n\ndef test_sum():\n    assert sums.total(1, 2) == 3\n")
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    return tmp_path


def test_each_mutant_is_killed_or_survives_in_a_copy(tree: Path) -> None:
    told: list[Result] = []
    mutants = [
        mutant("a + b", "a - b"),
        mutant("+ 0", "- 0"),
        mutant("a * b", "a / b"),
        mutant("(a, b)", "(a, b"),
        mutant("return", "yield", equivalent="for a test"),
    ]
    results = run_mutants(tree, mutants, 2, told.append)
    assert [each.state for each in results] == [
        "killed",
        "survived",
        "no longer applies",
        "no longer applies",
        "equivalent",
    ]
    assert results[0].detail == "test_sums.py::test_sum"
    assert "is not in it any more: 'a * b'" in results[2].detail
    assert "is no Python any more" in results[3].detail
    assert len(told) == 4
    assert "a + b + 0" in (tree / "sums.py").read_text(), "the tree itself is not changed"
    assert score(results) == pytest.approx(1 / 4)
    assert not passes(results)


def test_tests_that_fail_by_themselves_say_nothing_of_a_mutant(tree: Path) -> None:
    (tree / "test_sums.py").write_text("def test_sum():\n    assert False\n")
    (result,) = run_mutants(tree, [mutant("a + b", "a - b")], 1)
    assert result.state == "tests fail"
    assert not passes([result])


def test_nineteen_of_twenty_must_be_killed() -> None:
    killed, survived = Result(mutant("a", "b"), "killed"), Result(mutant("c", "d"), "survived")
    equivalent = Result(mutant("e", "f", equivalent="for a test"), "equivalent")
    assert passes([*[killed] * 19, survived, equivalent])
    assert not passes([*[killed] * 18, survived, equivalent])


def test_a_mutant_of_moved_code_says_what_to_do(tree: Path) -> None:
    with pytest.raises(Stale, match=r"there is no gone\.py\. Move its table in tests/mutation/mutants"):
        mutated_source(tree, Mutant("gone.py:1", "gone.py", "a", "b", ()))
    with pytest.raises(Stale, match="is in it 2 times"):
        mutated_source(tree, mutant("b", "a"))
