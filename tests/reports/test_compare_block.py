"""Tests `compare` in a brief: letters beside the numbers, what the letters mean, and that a wrong letter is
detected."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.bench import Bench, fresh_bench

SPEC = """
hardware old "Old" { hosts = "old.lab"  cores = 4 }
hardware new "New" { hosts = "new.lab"  cores = 8 }
hardware again "Again" { hosts = "again.lab"  cores = 8 }
client load { hosts = "load.lab"  tool = ycsb }
database mongo { engine = mongodb  uri = "mongodb://{hosts}/ycsb" }
workload a from ycsb.a { records = 100k }
experiment ramp { hardware = [old, new, again]  workloads = a  threads = [1, 16]  measure = 10 s  repeats = 4 }
report brief "Compared" {
  language = @LANGUAGE@
  compare "By threads" { rows = threads  columns = [throughput, latency.p99[read]] by hardware }
  table "The same, marked" { rows = threads  columns = throughput by hardware  mark = best }
}
"""


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    with fresh_bench(tmp_path_factory.mktemp("compared")) as bench:
        bench.spec(SPEC, LANGUAGE="en")
        assert bench("run", "brief.bench", "--simulate", "--quiet", "--no-report").code == 0
        made = bench("report", "simulated", "--to", "made", "--format", "html,markdown")
        assert made.code == 0, made.text
        yield bench


def page(folder: Path, pattern: str = "*.html") -> str:
    found = min(folder.glob(pattern), key=lambda path: len(path.name))  # the other one is the disclosure
    return found.read_text()


def letters(html: str) -> list[list[str]]:
    rows = re.findall(r'<tr><th scope="row">.*?</tr>', html, flags=re.DOTALL)
    found = [re.findall(r'<span class="letters">(\w*)</span>', row) for row in rows]
    return [each for each in found if each]


def test_hardware_that_no_test_separates_has_a_letter_in_common(bench: Bench) -> None:
    assert letters(page(bench.folder / "made")) == [["A", "A", "A"] * 2, ["B", "A", "A"] * 2]


def test_the_test_and_the_correction_are_named_below_the_table(bench: Bench) -> None:
    text = page(bench.folder / "made")
    assert "Welch's t test on the repeats" in text.replace("&#39;", "'")
    assert "Holm's correction for all pairs in all rows of the quantity; 12 tests in all" in text.replace("&#39;", "'")


def test_markdown_has_the_letters_too(bench: Bench) -> None:
    number = r"\[[\d,]+\]\(\S+\)"
    row = rf"\| 16 \| {number} B \| {number} A \| {number} A \|"
    assert re.search(row, page(bench.folder / "made", "*.md"))


@pytest.mark.long
def test_a_japanese_brief_names_the_test_in_japanese(bench: Bench) -> None:
    bench.spec(SPEC, name="ja.bench", LANGUAGE="ja")
    assert bench("report", "simulated", "--spec", "ja.bench", "--to", "ja", "--format", "html").code == 0
    text = page(bench.folder / "ja")
    assert "反復値に対する Welch の t 検定" in text
    assert "検定は全部で 12 件" in text


def test_verify_finds_a_letter_that_the_repeats_do_not_support(bench: Bench) -> None:
    (side,) = (bench.folder / "made").glob("*.json")
    whole = side.read_text()
    assert bench("verify", side).code == 0
    numbers = json.loads(whole)
    first = next(each for each in numbers["numbers"] if each["letters"] == "b")
    first["letters"] = "a"
    side.write_text(json.dumps(numbers))
    shown = bench("verify", side)
    side.write_text(whole)
    assert shown.code != 0
    assert "the tests of its repeats tell others apart than its letters say" in shown.text


@pytest.mark.long
def test_verify_finds_a_mark_of_the_best_that_the_repeats_do_not_support(bench: Bench) -> None:
    (side,) = (bench.folder / "made").glob("*.json")
    whole = side.read_text()
    numbers = json.loads(whole)
    bare = next(each for each in numbers["numbers"] if each["place"] == "Table 2" and not each["letters"])
    bare["letters"] = "best"
    side.write_text(json.dumps(numbers))
    shown = bench("verify", side)
    side.write_text(whole)
    assert shown.code != 0
    assert "the tests of its repeats tell others apart" in shown.text


@pytest.mark.long
def test_verify_finds_that_letters_were_left_out(bench: Bench) -> None:
    (side,) = (bench.folder / "made").glob("*.json")
    whole = side.read_text()
    numbers = json.loads(whole)
    for each in numbers["numbers"]:
        each["letters"] = ""
    side.write_text(json.dumps(numbers))
    shown = bench("verify", side)
    side.write_text(whole)
    assert shown.code != 0
    assert "lacks 17 letters of its comparisons" in shown.text, "12, and 5 marks of the best"
