"""Tests that a spec with too many cells, report elements or parts of expressions is refused quickly."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from benchbrief.compiler.compile import examine
from benchbrief.dsl.diagnostics.diagnostic import Diagnostic
from tests.support.longer import longer

HERE = Path(__file__).parent
BASE = (HERE / "errors" / "parts" / "base.bench").read_text(encoding="utf-8")
EXPERIMENT = "experiment e { hardware = [eco, legacy]  workloads = [a, b]  threads = [1, 2]  measure = 1 s }\n"
FIGURE = 'figure "x" { line = throughput by threads, color hardware }\n'
HOLE = "{max(throughput over threads, hardware):.0f}"
DOUBLING = "metric m0 = throughput\n" + "".join(f"metric m{i} = m{i - 1} + m{i - 1}\n" for i in range(1, 9))


def errors(text: str, tmp_path: Path, seconds: float = 4) -> list[Diagnostic]:
    """Return the errors. Fails if finding them takes more than this CPU time, which is about twice what is needed."""
    path = tmp_path / "spec.bench"
    path.write_text(BASE + text, encoding="utf-8")
    start = time.process_time()
    found = [diagnostic for diagnostic in examine(path).diagnostics if diagnostic.severity == "error"]
    assert time.process_time() - start < seconds
    return found


def workloads(count: int) -> str:
    names = [f"w{i}" for i in range(count)]
    return "".join(f"workload {name} from ycsb.a\n" for name in names) + EXPERIMENT.replace("a, b", ", ".join(names))


def test_the_elements_of_all_reports_are_counted_with_what_each_repeats(tmp_path: Path) -> None:
    body = f'each workload {{ section "s" {{ {FIGURE * 29} }} }}'
    (error,) = errors(workloads(2000) + f"report r {{ {body} }}\nreport s {{ {body} }}\n", tmp_path)
    assert error.code == "E0746"
    assert error.summary == "this `each` brings the reports to 60,000 elements; the limit is 4,000"
    assert error.label == "2,000 of workload x 30"


@pytest.mark.long
def test_an_each_in_an_each_is_counted_for_each_key_of_the_outer(tmp_path: Path) -> None:
    body = 'each workload { each hardware { figure "x" { line = throughput by threads } } }'
    assert errors(workloads(50) + f"report r {{ {body} }}\n", tmp_path) == []
    (error,) = errors(workloads(1500) + f"report r {{ {body} }}\n", tmp_path)
    assert error.code == "E0746"


@pytest.mark.long
def test_the_parts_of_all_expressions_together_are_limited(tmp_path: Path) -> None:
    some = "".join(f"metric q{i} = m8 + m7\n" for i in range(20))
    assert errors(EXPERIMENT + DOUBLING + some, tmp_path) == []
    many = "".join(f"metric q{i} = m8 + m7\n" for i in range(1000))
    (error,) = errors(EXPERIMENT + DOUBLING + many, tmp_path)
    assert error.code == "E0705"
    assert error.summary.startswith("up to here the spec is too large: ")
    assert error.summary.endswith("more than 200,000 parts")


@pytest.mark.parametrize("texts", [1, *longer(39)])
def test_the_expressions_of_a_spec_are_counted_with_what_each_repeats(texts: int, tmp_path: Path) -> None:
    line = f'text = "{HOLE * (200 // texts)}"\n'
    (error,) = errors(workloads(100) + f"report r {{ each workload {{ {line * texts} }} }}\n", tmp_path, 8)
    assert error.code == "E0705"
    assert error.summary.endswith("more than 4,000 expressions")


@pytest.mark.long
def test_a_fact_is_compared_with_no_more_others_than_can_be_usual(tmp_path: Path) -> None:
    facts = "".join(f"  fact{i} = 1\n" for i in range(10_000))
    assert errors(f"hardware z {{\n  hosts = local\n{facts}}}\n", tmp_path) == []


@pytest.mark.long
def test_an_option_is_compared_with_no_more_of_the_known_ones_than_can_be_meant(tmp_path: Path) -> None:
    options = "".join(f"  opt_{i} = {i}\n" for i in range(30_000))
    database = f'database many {{\n  engine = rocksdb\n  path = "/x"\n  options {{\n{options}}}\n}}\n'
    assert errors(database, tmp_path) == []


@pytest.mark.long
def test_many_misspelt_names_are_reported_in_good_time(tmp_path: Path) -> None:
    many = "".join(f"metric m{i} = throughputt[w{i}]\n" for i in range(6000))
    assert 1 < len(errors(EXPERIMENT + many, tmp_path)) <= 101


@pytest.mark.long
def test_the_files_of_a_spec_are_limited_together(tmp_path: Path) -> None:
    for i in range(5):
        many = "".join(f"workload w{i}_{j} from ycsb.a\n" for j in range(5000))
        (tmp_path / f"{i}.bench").write_text(many, encoding="utf-8")
    [error] = errors("".join(f'use "{i}.bench"\n' for i in range(5)), tmp_path)
    assert error.code == "E0605"
    assert error.summary == "a spec can have 100,000 words and signs in all its files at most"


@pytest.mark.long
def test_a_long_spec_with_a_syntax_error_is_only_read(tmp_path: Path) -> None:
    many = "".join(f"metric m{i} = throughputt\n" for i in range(14_000))
    found = errors(EXPERIMENT + many + "metric last = 1 +\n", tmp_path)
    assert [each.code for each in found] == ["E0101"]


@pytest.mark.long
def test_the_hosts_of_all_groups_are_counted_as_often_as_they_are_named(tmp_path: Path) -> None:
    many = "".join(f'hardware h{i} {{ hosts = "n-[1-1000]" }}\n' for i in range(2000))
    (error,) = errors(EXPERIMENT + many, tmp_path)
    assert (error.code, error.summary) == ("E0406", "more than 20,000 hosts are named in all")
