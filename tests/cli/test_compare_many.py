"""Tests `bench compare` of three or more contenders: its output, files and exit codes."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from tests.cli.test_compare import suite_of
from tests.cli.test_watching import terminal
from tests.support.bench import Bench, Ended, fresh_bench
from tests.support.waiting import until

SPEC = """
hardware old { hosts = "old.lab"  cores = 4 }
hardware new { hosts = "new.lab"  cores = 8 }
hardware again { hosts = "again.lab"  cores = 8 }
client load { hosts = "load.lab"  tool = ycsb }
database mongo { engine = mongodb  uri = "mongodb://{hosts}/ycsb" }
workload a "Half & half" from ycsb.a { records = @RECORDS@ }
experiment ramp { hardware = [old, new, again]  workloads = a  threads = 16  measure = 10 s  repeats = 4 }
metric per_core "By core" in ops/s = throughput / cores, higher is better
"""
SIDES = ("simulated~1:old", "simulated~1:new", "simulated~1:again")


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    with fresh_bench(tmp_path_factory.mktemp("many")) as bench:
        for records in ("100k", "200k"):
            bench.spec(SPEC, RECORDS=records)
            assert bench("run", "brief.bench", "--simulate", "--no-report", "--quiet").code == 0
        yield bench


@pytest.fixture(scope="module")
def printed(bench: Bench) -> Ended:
    return bench("compare", *SIDES)


def test_each_point_is_ranked_with_letters_and_a_best(printed: Ended) -> None:
    assert printed.code == 4, "per_core is worse on twice the cores"
    assert re.search(
        r"a/threads=16  \S+ ops/s ±\S+ % b +\S+ ops/s ±\S+ % a +\S+ ops/s ±\S+ % a +(B, C|C, B)\n", printed.out
    )
    assert re.search(r"latency\.p99\[read\] \(lower is better\)", printed.out)
    assert re.search(r"per_core \(higher is better\)\n +a/threads=16 .* b +A\n", printed.out)


def test_it_says_which_tests_are_corrected_together(printed: Ended) -> None:
    text = " ".join(printed.out.split())
    assert "Holm's correction for all pairs at all points of a metric (tests: throughput: 3, latency.p99: 6" in text
    assert "not told apart does not say equal" in printed.out
    assert "A, B and C are simulated: nothing was measured" in printed.out


def test_what_else_differs_is_reported_of_each(printed: Ended) -> None:
    assert "what else differs, A | B | C:" in printed.out
    assert "  cores: 4 | 8 | 8" in printed.out


def test_json_has_all_pairs_with_their_p_values(bench: Bench) -> None:
    document = bench("compare", *SIDES, "--json", "--metric", "throughput").json
    assert [each["name"] for each in document["contenders"]] == ["A", "B", "C"]
    (ranking,) = document["rankings"]
    assert ranking["order"][-1] == "A"
    assert sorted(ranking["best"]) == ["B", "C"]
    assert {name: each["letters"] for name, each in ranking["values"].items()} == {"A": "b", "B": "a", "C": "a"}
    assert [(each["first"], each["second"]) for each in ranking["pairs"]] == [("A", "B"), ("A", "C"), ("B", "C")]
    assert all(0 <= each["p"] <= each["p_holm"] <= 1 for each in ranking["pairs"])
    assert document["correction"]["method"] == "holm"


@pytest.mark.long
def test_a_build_server_reads_each_contender_against_the_first(bench: Bench) -> None:
    file, summary = bench.folder / "many.xml", bench.folder / "many.md"
    assert bench("compare", *SIDES, "--junit", file, "--markdown", summary).code == 4
    cases = {case.attrib["name"]: case for case in suite_of(file)}
    assert cases["per_core (B against A)"].find("failure") is not None
    assert cases["throughput (C against A)"].find("failure") is None
    text = summary.read_text()
    assert re.search(r"\| metric +\| point +\| A +\| B +\| C +\| best +\|", text)
    assert "B against A: 1 worse" in text


@pytest.mark.long
def test_a_contender_of_another_load_has_no_ranking_and_the_reason_is_reported(bench: Bench) -> None:
    printed = bench("compare", *SIDES[:2], "simulated:again", "--metric", "throughput")
    text = " ".join(printed.out.split())
    assert re.search(r"a/threads=16 .*can't tell\n", printed.out)
    assert "can't tell: different loads: records" in text
    assert "1 of 1 point has contenders with different loads, listed above, and is not ranked" in text
    judged = bench("compare", *SIDES[:2], "simulated:again", "--metric", "throughput", "--other-load")
    assert "can't tell" not in judged.out


def test_a_narrow_terminal_has_a_line_for_each_contender(bench: Bench) -> None:
    with terminal(bench, "compare", *SIDES, "--metric", "throughput", columns=60, rows=60) as shown:
        until(lambda: shown.process.poll() is not None)
        lines = [line.rstrip() for line in shown.screen.display]
    assert any(re.fullmatch(r"  a/threads=16: (B, C|C, B)", line) for line in lines), lines
    assert any(re.fullmatch(r"    C  \S+ ops/s ±\S+ % a", line) for line in lines), lines


@pytest.mark.parametrize(
    ("sides", "message"),
    [
        (("simulated",), "a comparison takes 2 to 26 contenders, and here is 1"),
        ((*SIDES, SIDES[1]), "are the same run"),
        ((*SIDES, "simulated"), "one side is a hardware group, the other a whole run"),
        ((*SIDES, "simulated:none"), "has no hardware none"),
    ],
)
def test_what_is_no_comparison_is_refused(bench: Bench, sides: tuple[str, ...], message: str) -> None:
    printed = bench("compare", *sides)
    assert printed.code == 2
    assert message in printed.err


@pytest.mark.long
def test_a_metric_that_no_two_have_is_refused_with_a_guess(bench: Bench) -> None:
    printed = bench("compare", *SIDES, "--metric", "throughputs")
    assert printed.code == 2
    assert "no two of them have `throughputs`" in printed.err
    assert "did you mean `throughput`?" in printed.err


@pytest.mark.long
@pytest.mark.parametrize("sides", [pytest.param(SIDES, marks=pytest.mark.long), SIDES[:2]], ids=["three", "two"])
def test_a_page_has_the_comparison_and_needs_no_other_file(bench: Bench, sides: tuple[str, ...]) -> None:
    file = bench.folder / f"page-{len(sides)}.html"
    assert bench("compare", *sides, "--html", file).code == 4
    page = file.read_text()
    assert not re.search(r"<(script|link|img|iframe)\b", page)
    assert not re.search(r"(src|href)=\"(?!#)", page)
    assert "brief-simulated:new" in page
    assert ('<b class="letters">a</b>' in page) == (len(sides) > 2)
    assert "nothing was measured" in page
    assert "Half &amp; half, 16 threads" in page, "points have labels"
    assert "By core" in page
    assert bench("compare", *sides, "--html", "/dev/null/page.html").code == 2
    assert bench("compare", *sides, "--html", file, "--language", "ja").code == 4
    alone = bench("compare", *sides, "--language", "ja")
    assert alone.code == 2
    assert "say --html FILE too" in alone.err
    japanese = re.sub(r"<style>.*?</style>", "", file.read_text(), flags=re.DOTALL)
    assert '<html lang="ja"' in japanese
    assert "シミュレーションの結果で、実際には測定していません" in japanese
    assert not re.search(r"\b(the|is|are|was|of|and)\b", re.sub(r"<[^>]*>", "", japanese)), (
        "no English sentence is left"
    )
