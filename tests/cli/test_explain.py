"""Tests `bench explain`: one code, all codes, JSON, completion, and a guess for an unknown code."""

from __future__ import annotations

from benchbrief.compiler.diagnostic_codes import all_codes
from tests.cli.test_terminal import on_a_terminal
from tests.support.bench import Bench


def test_a_code_is_explained_with_a_wrong_sample_and_a_mended_one(bench: Bench) -> None:
    done = bench("explain", "e0703")
    assert done.code == 0
    assert done.out.startswith("error[E0703]: A metric with the name of a measure\n\n")
    assert "metric throughput in ops/s = max(throughput over threads)" in done.out
    assert "metric best_throughput" in done.out
    assert done.err == ""


def test_without_a_code_all_are_listed(bench: Bench) -> None:
    done = bench("explain")
    assert done.code == 0
    assert done.out.splitlines() == [f"{info.code}  {info.title}" for info in all_codes()]


def test_explanations_as_json(bench: Bench) -> None:
    one, every = bench("explain", "W0401", "--json").json, bench("explain", "--json").json
    assert one["severity"] == "warning"
    assert one in every
    assert len(every) == len(all_codes())
    assert set(one) == {"code", "severity", "title", "explanation_markdown"}


def test_a_code_that_is_none_gets_a_guess_or_the_way_to_the_list(bench: Bench) -> None:
    done = bench("explain", "E07003")
    assert (done.code, done.out) == (2, "")
    assert done.err == "error: no diagnostic has the code `E07003`\n  help: did you mean `E0703`?\n"
    assert "`bench explain` lists the codes" in bench("explain", "rocks").err


def test_codes_are_completed(bench: Bench) -> None:
    words = {"_BENCH_COMPLETE": "bash_complete", "COMP_WORDS": "bench explain w07", "COMP_CWORD": "2"}
    assert bench(env=words).out.split() == [f"plain,{c.code}" for c in all_codes() if c.code.startswith("W07")]


def test_a_terminal_gets_colour_and_no_marks_unless_it_wants_none(bench: Bench) -> None:
    _, coloured = on_a_terminal(bench, "explain", "E0703", columns=70)
    assert "\x1b[" in coloured
    assert "```" not in coloured
    assert "metric best_throughput" in coloured
    code, plain = on_a_terminal(bench, "explain", "E0703", env={"NO_COLOR": "1"})
    assert code == 0
    assert "\x1b[" not in plain
