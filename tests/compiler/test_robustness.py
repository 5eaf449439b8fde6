"""Tests that checking any file soon ends with diagnostics, and never with a traceback."""

from __future__ import annotations

import random
import re
import time
from pathlib import Path

import pytest

from benchbrief.compiler.compile import check
from benchbrief.compiler.explain.explain_plan import explain
from benchbrief.dsl.diagnostics.render import render_all
from tests.support.longer import one_in

HERE = Path(__file__).parent
SPECS = [HERE.parents[1] / "examples" / "quickstart.bench", *sorted((HERE / "plans").glob("*.bench"))]
VALUES = """
local | "x" | "eco-[1-3].lab" | 5 | 0 | -1 | 1e308 | 5 GB | 2 min | 3 % | [1, 2] | [] | [[1]] | 1..5 | range() | true
range(1, 5, step: 2) | eco | "{path}" | "{x.y}" | "{secret(A)}" | 6 x 10 min | f(1) | a.b.c | m[1] | 1 / 0 | not a
disk every 1 s | cpu every 1 s on device | throughput by threads | 3, interleaved | ycsb("/x", a: 1) | knee(from: 1)
command("x") | throughput | max(throughput over threads) | latency.p99[read] | 1 USD | "日本" | 1 + 2 s | 2 * 3 min
"""
_VALUE = re.compile(r"(\b\w+\s*=\s*)([^\n{}=]+?)(?=\s{2,}|\n|\s*\})")


def _altered(text: str, chance: random.Random) -> str:
    """Return the spec with up to three attributes removed, renamed, or given another value."""
    attributes = list(_VALUE.finditer(text))
    values = [value.strip() for value in re.split(r"[|\n]", VALUES) if value.strip()]
    for found in sorted(chance.sample(attributes, chance.randint(1, 3)), key=lambda m: -m.start()):
        name, value = found.group(1), found.group(2)
        match chance.randrange(4):
            case 0 | 1:
                value = chance.choice(values)
            case 2:
                name = chance.choice(attributes).group(1)
            case _:
                name = value = ""
        text = text[: found.start()] + name + value + text[found.end() :]
    return text


@pytest.mark.parametrize("seed", one_in(4, range(8)))
def test_an_altered_spec_gets_diagnostics_with_advice(seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)  # noqa: S311  # the same alterations each time
    texts = [path.read_text(encoding="utf-8") for path in SPECS]
    path = tmp_path / "spec.bench"
    (tmp_path / "parts").symlink_to(HERE / "plans" / "parts")
    wrong = 0
    for _ in range(30):
        path.write_text(_altered(chance.choice(texts), chance), encoding="utf-8")
        checked = check(path, profile=chance.choice([None, "smoke"]))
        assert render_all(checked.diagnostics) or checked.plan
        errors = [diagnostic for diagnostic in checked.diagnostics if diagnostic.severity == "error"]
        assert (checked.plan is None) == bool(errors)
        wrong += bool(errors)
        if checked.plan:
            assert explain(checked.plan)
            assert len(checked.plan.experiments) == len(re.findall("^experiment", path.read_text(), re.MULTILINE))
            assert all(cell.locks for cell in checked.plan.cells)
    assert wrong > 10


BASE = (HERE / "errors" / "parts" / "base.bench").read_text(encoding="utf-8")
EXPERIMENT = "experiment e { hardware = eco  workloads = a  threads = 1  measure = 1 s }\n"
MANY = 3000


@pytest.mark.parametrize(
    "text",
    ["1 s" + " + 1 s" * MANY, "- " * MANY + "1 s", "[" * MANY + "1" + "]" * MANY, "eco" + ".x" * MANY],
    ids=["sum", "signs", "brackets", "dots"],
)
def test_a_deep_expression_is_one_clear_mistake(text: str, tmp_path: Path) -> None:
    path = tmp_path / "spec.bench"
    path.write_text(BASE + EXPERIMENT.replace("1 s", text), encoding="utf-8")
    checked = check(path)
    assert checked.plan is None
    assert len(checked.diagnostics) == 1


LONG = {
    "a line of heirs": "workload w0 from ycsb.a\n"
    + "".join(f"workload w{i} from w{i - 1}\n" for i in range(1, MANY))
    + EXPERIMENT.replace("= a ", f"= w{MANY - 1} "),
    "heirs before their forebears": "".join(f"workload w{i} from w{i - 1}\n" for i in range(MANY, 0, -1))
    + "workload w0 from ycsb.a\n"
    + EXPERIMENT.replace("= a ", f"= w{MANY} "),
    "parameters of parameters": "param p0 = 1 ms\n"
    + "".join(f"param p{i} = p{i - 1} + 1 ms\n" for i in range(1, MANY))
    + EXPERIMENT.replace("1 s", f"p{MANY - 1}"),
    "parameters that double": "param p0 = 1 ns\n"
    + "".join(f"param p{i} = p{i - 1} + p{i - 1}\n" for i in range(1, 40))
    + EXPERIMENT.replace("1 s", "p39"),
    "parameters that stand for others": "param p0 = 1 s\n"
    + "".join(f"param p{i} = p{i - 1}\n" for i in range(1, MANY))
    + EXPERIMENT.replace("1 s", f"p{MANY - 1}"),
}
SEARCHES = "".join(
    EXPERIMENT.replace(" e ", f" e{i} ").replace("threads = 1 ", f"threads = e{i + 1}.knee ") for i in range(MANY)
)


@pytest.mark.parametrize("text", LONG.values(), ids=list(LONG))
def test_a_long_chain_is_followed_to_its_end(text: str, tmp_path: Path) -> None:
    path = tmp_path / "spec.bench"
    path.write_text(BASE + text, encoding="utf-8")
    checked = check(path)
    assert checked.plan is not None, checked.diagnostics[:3]
    assert len(checked.plan.cells) == 1


@pytest.mark.long
def test_a_long_chain_of_searches_is_followed_to_its_end(tmp_path: Path) -> None:
    path = tmp_path / "spec.bench"
    last = f"experiment e{MANY} {{ hardware = eco  workloads = a  threads = 1  measure = 1 s }}\n"
    path.write_text(BASE + SEARCHES + last, encoding="utf-8")
    errors = [diagnostic for diagnostic in check(path).diagnostics if diagnostic.severity == "error"]
    assert "does not search" in render_all(errors)


def test_a_circle_of_a_thousand_searches_is_one_mistake(tmp_path: Path) -> None:
    path = tmp_path / "spec.bench"
    path.write_text(BASE + SEARCHES.replace(f"e{MANY}.knee", "e0.knee"), encoding="utf-8")
    errors = [diagnostic for diagnostic in check(path).diagnostics if diagnostic.severity == "error"]
    assert "E0606" in {diagnostic.code for diagnostic in errors}
    assert len(render_all(errors)) < 100_000


def test_a_link_to_itself_is_one_clear_mistake(tmp_path: Path) -> None:
    path = tmp_path / "loop.bench"
    path.symlink_to(path)
    assert [diagnostic.code for diagnostic in check(path).diagnostics] == ["E0003"]


def test_lists_of_lists_do_not_grow_without_end(tmp_path: Path) -> None:
    path = tmp_path / "spec.bench"
    lists = "param p0 = [1]\n" + "".join(f"param p{i} = [p{i - 1}, p{i - 1}]\n" for i in range(1, 60))
    path.write_text(BASE + lists + EXPERIMENT.replace("threads = 1 ", "threads = p59 "), encoding="utf-8")
    assert [diagnostic.code for diagnostic in check(path).diagnostics] == ["E0504"]


@pytest.mark.long
def test_ten_thousand_cells_are_planned_in_a_moment(tmp_path: Path) -> None:
    path = tmp_path / "spec.bench"
    path.write_text(
        BASE + "experiment e { hardware = [eco, legacy]  workloads = [a, b]  threads = 1..500"
        "  measure = 1 s  repeats = 5, interleaved  probes = [disk every 1 s, cpu every 1 s] }\n",
        encoding="utf-8",
    )
    start = time.process_time()
    checked = check(path)
    assert checked.plan is not None
    assert len(checked.plan.cells) == 10_000
    assert explain(checked.plan)
    # About half a second of a processor's time: how busy the machine is makes little difference to it.
    assert time.process_time() - start < 2


def test_a_unit_that_doubles_its_powers_is_refused_before_it_is_written_down(tmp_path: Path) -> None:
    path = tmp_path / "spec.bench"
    squares = "param p0 = 1 s\n" + "".join(f"param p{i} = p{i - 1} * p{i - 1}\n" for i in range(1, 60))
    path.write_text(BASE + squares + EXPERIMENT, encoding="utf-8")
    assert {diagnostic.summary for diagnostic in check(path).diagnostics if diagnostic.severity == "error"} == {
        "this product of units is too large to compute with"
    }


@pytest.mark.long
def test_of_thousands_of_mistakes_the_first_hundred_are_reported_and_that_there_are_more(tmp_path: Path) -> None:
    path = tmp_path / "spec.bench"
    names = "".join(f"workload work_load_{i} from ycsb.a\n" for i in range(2000))
    wrong = ", ".join(f"wrok_load_{i}" for i in range(2000))
    path.write_text(BASE + names + EXPERIMENT.replace("= a ", f"= [{wrong}] "), encoding="utf-8")
    start = time.process_time()
    checked = check(path)
    assert time.process_time() - start < 5  # about one second on an idle machine
    assert checked.plan is None
    assert len(checked.diagnostics) == 100
    assert checked.diagnostics[0].suggestion
    assert checked.diagnostics[0].suggestion.replacement == "work_load_0"
    notes = [note.text for note in checked.diagnostics[-1].notes]
    assert notes[-1] == "there are more findings than these: correct these first"


def test_an_error_behind_a_hundred_warnings_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "spec.bench"
    unused = "".join(f"workload w{i} from ycsb.a\n" for i in range(150))
    path.write_text(BASE + unused + EXPERIMENT + "metric m in W = throughput\n", encoding="utf-8")
    checked = check(path)
    assert checked.plan is None
    assert [diagnostic.code for diagnostic in checked.diagnostics if diagnostic.severity == "error"] == ["E0707"]


@pytest.mark.parametrize("key", ["readproportion", "reads", "write_rates", "scan_lengths"])
def test_a_word_for_an_attribute_that_the_benchmark_lacks_is_a_mistake_of_its_own(key: str, tmp_path: Path) -> None:
    path = tmp_path / "spec.bench"
    path.write_text(f"workload w from db_bench.fillseq {{ {key} = 1 }}\n", encoding="utf-8")
    assert "E0501" in [diagnostic.code for diagnostic in check(path).diagnostics]


def test_the_error_of_repeats_written_as_a_product_says_what_to_write(tmp_path: Path) -> None:
    path = tmp_path / "spec.bench"
    path.write_text(BASE + EXPERIMENT.replace("measure", "repeats = 3x interleaved  measure"), encoding="utf-8")
    [error] = [diagnostic for diagnostic in check(path).diagnostics if diagnostic.severity == "error"]
    assert "`3, interleaved`" in error.help
