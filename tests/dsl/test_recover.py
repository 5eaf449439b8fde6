"""Tests that reading continues after a syntax error. One check reports all syntax errors, but no errors that merely
follow from them."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from benchbrief.compiler.compile import check
from benchbrief.dsl.diagnostics.diagnostic import SpecError
from benchbrief.dsl.source import Source
from benchbrief.dsl.syntax import ast
from benchbrief.dsl.syntax.parse import ParserDriver
from benchbrief.dsl.syntax.recover import MOST, PartlyRead, parse_with_gaps


def partly(text: str) -> PartlyRead:
    with pytest.raises(PartlyRead) as raised:
        parse_with_gaps(Source("t.bench", text))
    return raised.value


@pytest.mark.parametrize(
    ("wrong", "line"),
    [
        ("hosts: local", 2),
        ("hosts local", 2),
        ('hosts = "a" "b"', 2),
        ("hosts = [a b]", 2),
        ("hosts = f(a", 2),
        ("hosts = { a: 1 }", 2),
        ("hosts = /data", 2),
        ("hosts = local;", 2),
        ('hosts = "{a +}"', 2),
        ("hosts = 1 ..", 2),
    ],
)
def test_the_attributes_and_declarations_around_a_mistake_are_read(wrong: str, line: int) -> None:
    found = partly(f"hardware h {{\n  {wrong}\n  nodes = 3\n}}\nhardware k {{ nodes = 4 }}\nmetric m = 1 + + 2\n")
    assert [diagnostic.span.line for diagnostic in found.diagnostics if diagnostic.span] == [line, 6]
    first, second, metric = found.tree.declarations
    assert isinstance(first, ast.Block)
    assert isinstance(second, ast.Block)
    assert isinstance(metric, ast.Metric)
    nodes = [item for item in first.body if isinstance(item, ast.Attribute) and item.key.text == "nodes"]
    assert [item.span.text for item in nodes] == ["nodes = 3"]
    assert second.span.text == "hardware k { nodes = 4 }"


def test_a_block_that_is_never_closed_hides_none_of_the_others() -> None:
    found = partly("hardware h {\n  nodes = 3\n\nhardware k {\n  nodes =\n}\nmetric m = 1 +\n")
    assert [diagnostic.code for diagnostic in found.diagnostics] == ["E0102", "E0101", "E0101"]


@pytest.mark.parametrize(
    "hole",
    [
        "1,000 * throughput",
        "throughput[threads: 1,,]",
        "max(throughput; over threads)",
        "100K records",
        "latency.p99[.., threads = 1]",
        "a + ",
        "",
    ],
)
@pytest.mark.parametrize(
    "text", ['report r {{ text = "{hole}" }}\n', 'report r "{hole}" {{ logo = 1 }}\nparam p = 1\n']
)
def test_a_slip_in_a_hole_is_reported_once(hole: str, text: str) -> None:
    (found,) = partly(text.format(hole=f"a {{{hole}}} b")).diagnostics
    assert found.span
    assert "{" in text.format(hole=f"a {{{hole}}} b")[: found.span.end]


def test_all_slips_in_the_holes_of_all_texts_are_reported() -> None:
    texts = 'text = """\n  {1,000} and {ok}, {a +}\n  \\q } {\n  """\n  items = ["{100K records}", "{x}", "{b +}"]'
    found = partly(f"report r {{\n  {texts}\n  logo = = 1\n}}\nmetric m = \n")
    told = [(each.code, each.span.line) for each in found.diagnostics if each.span]
    assert told == [
        ("E0118", 3), ("E0101", 3), ("E0113", 4), ("E0114", 4), ("E0114", 4), ("E0107", 6), ("E0101", 6), ("E0101", 7),
        ("E0101", 9),
    ]  # fmt: skip


def test_a_text_gets_no_more_diagnostics_than_a_spec() -> None:
    assert len(partly('report r { text = "' + "{a +}" * 500 + '" }\n').diagnostics) == MOST


@pytest.mark.parametrize(
    "text",
    [
        "hosts(a, b)\n",
        "hard@ware:\n  hosts: local\n",
        'hardware("box", hosts="local")\n',
        "param p = 1\nhosts(a, b)\n  nodes = 3\n",
    ],
)
def test_a_first_word_that_begins_nothing_is_reported_once(text: str) -> None:
    assert len(partly(text).diagnostics) == 1


def test_what_could_not_be_read_is_no_second_mistake(tmp_path: Path) -> None:
    """An attribute with an unreadable value still counts as given. So does the name of a declaration with a mistake."""
    spec = tmp_path / "s.bench"
    spec.write_text(
        "hardware h { hosts = = local  path = x y }\ndatabase d { engine = rocksdb  path: }\n"
        "workload w from db_bench.readrandom { records = 1k }\nmetric m = throughput, higher is good\n"
        "experiment e { hardware = h  workloads = w  threads = 1..  measure = 1 s }\n"
        "expect max(m over threads) > 1 ops/s/s\n"
    )
    diagnostics = check(spec).diagnostics
    assert {diagnostic.code for diagnostic in diagnostics} <= {"E0101", "E0106", "E0107"}


def test_a_fact_whose_value_could_not_be_read_is_not_unknown(tmp_path: Path) -> None:
    spec = tmp_path / "s.bench"
    spec.write_text(
        'hardware h { hosts = local  price = = 2 USD/h }\ndatabase d { engine = rocksdb  path = "/x" }\n'
        "workload w from db_bench.readrandom { records = 1k }\nmetric m = price / throughput\n"
        "experiment e { hardware = h  workloads = w  threads = 1  measure = 1 s }\n"
    )
    assert [diagnostic.code for diagnostic in check(spec).diagnostics] == ["E0101"]


def test_no_more_are_reported_than_can_be_read_and_in_good_time() -> None:
    start = time.process_time()
    with pytest.raises(SpecError) as raised:
        parse_with_gaps(Source("t.bench", "workload w { records = 1;;k }\n" * 9000))
    assert time.process_time() - start < 2
    assert len(raised.value.diagnostics) == MOST
    assert "more findings" in raised.value.diagnostics[-1].notes[-1].text


def counted(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return a list that collects the length of every text parsed from now on."""
    read: list[int] = []
    parse = ParserDriver.parse

    def noted(driver: ParserDriver, text: str, start: str, values: list[Any] | None = None) -> Any:
        read.append(len(text))
        return parse(driver, text, start, values)

    monkeypatch.setattr(ParserDriver, "parse", noted)
    return read


@pytest.mark.parametrize("place", ["first", "middle", "last"])
def test_what_is_before_and_behind_a_mistake_is_read_once(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """To get past the mistake, some text is read again, but only a limited amount."""
    blocks = [f"workload w{i} from ycsb.a {{\n  records = 1k  # {'x' * 60}\n}}\n" for i in range(7000)]
    blocks[{"first": 0, "middle": 3500, "last": -1}[place]] = "workload w from ycsb.a { records = = 1k }\n"
    read = counted(monkeypatch)
    found = partly("".join(blocks))
    assert len(found.diagnostics) == 1
    assert len(found.tree.declarations) == 7000
    whole, *rest = read
    assert whole > 600_000
    assert sum(rest) < whole + 1000
    assert sum(size for size in rest if size > 1000) == 0


def test_a_block_that_fills_the_file_is_read_anew_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The block is read again to find the parts that can be read. Attempts to get past its mistake would take too
    long."""
    text = "report r {\n" + '  section "a" { text = "b" }\n' * 9000 + "  text = = 3\n}\n"
    read = counted(monkeypatch)
    assert [each.code for each in partly(text).diagnostics] == ["E0101"]
    assert sum(read) < 2 * len(text)


@pytest.mark.parametrize(
    ("wrong", "advice"),
    [
        ("records = 1k mix { }", "read = 95 %"),
        ("threads = 1..16..2", "range(1, 16, step: 2)"),
        ("threads = 2**4", "multiply"),
        ("text = <<EOF", "a text of several lines"),
    ],
)
def test_what_other_languages_write_is_reported_with_what_to_write(wrong: str, advice: str) -> None:
    [found, *_] = partly(f"workload w {{ {wrong} }}\n").diagnostics
    assert advice in found.help


@pytest.mark.parametrize(
    ("broken", "names"),
    [
        ('hardware h {\n  hosts = "a"\n', ["h", "k"]),
        ('hardware h {\n  hosts = "a"\n}\n}\n', ["h", "k"]),
        ("metric m = throughput /\n", ["k"]),
    ],
)
def test_a_brace_or_a_value_that_is_missing_costs_no_other_block(broken: str, names: list[str]) -> None:
    found = partly(f'{broken}hardware k {{ hosts = "b" }}\n')
    assert len(found.diagnostics) == 1
    assert [each.name.text for each in found.tree.declarations if isinstance(each, ast.Block) and each.name] == names
