"""Tests which known word is suggested for a misspelt one, if any."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchbrief.dsl.diagnostics.suggest import _SYNONYMS, _cost, _plain, did_you_mean

KEYWORDS = (
    "hardware", "client", "database", "workload", "probe", "experiment", "metric", "expect", "report", "profile",
    "scheduler", "param", "use",
)  # fmt: skip
KEYS = ("hosts", "tool", "threads", "warm_up", "measure", "repeats", "probes", "target", "max_errors", "p99", "p999")


@pytest.mark.parametrize(
    ("word", "known", "meant"),
    [
        ("hardwre", KEYWORDS, "hardware"),
        ("hradware", KEYWORDS, "hardware"),
        ("Hardware", KEYWORDS, "hardware"),
        ("WORKLOAD", KEYWORDS, "workload"),
        ("workloads", KEYWORDS, "workload"),
        ("metrics", KEYWORDS, "metric"),
        ("expct", KEYWORDS, "expect"),
        ("exp", KEYWORDS, "expect"),
        ("parma", KEYWORDS, "param"),
        ("parameter", KEYWORDS, "param"),
        ("thread", KEYS, "threads"),
        ("thr", KEYS, "threads"),
        ("warmup", KEYS, "warm_up"),
        ("warm-up", KEYS, "warm_up"),
        ("warm_upp", KEYS, "warm_up"),
        ("maxerrors", KEYS, "max_errors"),
        ("host", KEYS, "hosts"),
        ("probe", KEYS, "probes"),
        ("p9999", KEYS, "p999"),
        ("nvm", ("hdd", "nvme"), "nvme"),
        ("hddd", ("hdd", "nvme"), "hdd"),
        ("ba", ("ab", "cd"), "ab"),
    ],
)
def test_a_slip_is_recognised(word: str, known: tuple[str, ...], meant: str) -> None:
    assert did_you_mean(word, known) == meant


@pytest.mark.parametrize(
    ("word", "known", "meant"),
    [
        ("benchmark", ("experiment", "report"), "experiment"),
        ("latency.avg", ("latency.min", "latency.mean"), "latency.mean"),
        ("run_time", ("measure", "threads"), "measure"),
        ("record_count", ("records", "record_size"), "records"),
        ("avg", ("max", "range"), None),  # what other tools call so is not there
        ("time", ("times", "measure"), "times"),  # a slip of one letter comes first
    ],
)
def test_the_words_of_other_tools_are_known(word: str, known: tuple[str, ...], meant: str | None) -> None:
    assert did_you_mean(word, known) == meant


@pytest.mark.parametrize(
    ("word", "known"),
    [
        ("gadget", KEYWORDS),
        ("zzz", KEYWORDS),
        ("x", KEYWORDS),
        ("", KEYWORDS),
        ("hdd", ("ssd", "nvme")),
        ("a", ("b", "c")),
        ("aa", ("ab",)),
        ("hosts", ()),
        ("hosts", ("hosts",)),
    ],
)
def test_what_is_like_no_known_word_is_not_guessed(word: str, known: tuple[str, ...]) -> None:
    assert did_you_mean(word, known) is None


def test_the_nearest_wins_and_the_first_of_two_equals() -> None:
    assert did_you_mean("threds", ["thread", "threads"]) == "threads"
    assert did_you_mean("p95", ["p50", "p90", "p99"]) == "p90"
    assert did_you_mean("workload_c", ["workload_a", "workload_b"]) == "workload_a"


@given(st.sampled_from(KEYWORDS), st.data())
def test_no_word_is_passed_over_that_is_like(known: str, data: st.DataObject) -> None:
    """The quick comparison of lengths and letters excludes a word only if the full comparison would, too."""
    at = data.draw(st.integers(0, len(known)))
    gone = data.draw(st.integers(0, 3))
    word = known[:at] + data.draw(st.text("abeprs_-X", max_size=3)) + known[at + gone :]
    costs = {other: _cost(word, other) for other in KEYWORDS if word and other != word}
    found = did_you_mean(word, KEYWORDS)
    like = [cost for cost in costs.values() if cost is not None]
    if found is None or not like:
        assert (found is None or word in _SYNONYMS) == (not like)
    elif _plain(word) not in _SYNONYMS:
        assert costs[found] == min(like)


def test_endless_words_and_long_lists_take_no_time() -> None:
    known = [f"name_{number}" for number in range(5000)]
    start = time.process_time()
    assert did_you_mean("x" * 1_000_000, ["y" * 1_000_000, "x" * 999_999]) is None
    assert did_you_mean("naem_4321", known) == "name_4321"
    assert time.process_time() - start < 2
