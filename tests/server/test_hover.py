"""Tests the hover text of the word under the cursor, over the real protocol."""

from __future__ import annotations

import os

import pytest

from tests.server.specs import SMALL, VARIED, cursor
from tests.support.lsp import Client

MORE = """\
hardware other "Other" { hosts = "db-[1-3].lab"  price = 3 USD/h }
client load { hosts = "load.lab"  tool = ycsb("/opt/ycsb") }
database mongo { engine = mongodb  uri = "mongodb://{hosts}/ycsb" }
workload a "Half" from ycsb.a { records = 75M }
experiment more { hardware = other  client = load  database = mongo  workloads = a  threads = 8..12  measure = 20 min }
metric tail in ms = max(latency.p99[read] over threads, workload, hardware)
"""


def hover_text(client: Client, text: str) -> str:
    """Return the hover text at the cursor, which is the `|` in a spec's text."""
    whole, line, character = cursor(text)
    uri = client.open("hover.bench", whole)
    answer = client.at("hover", uri, line, character)
    return str(answer["contents"]["value"]) if answer else ""


@pytest.mark.parametrize(
    ("word", "wanted"),
    [
        pytest.param("rec|ords = 2k", ["How many records the data set has.", "left out: 1M"], id="attribute"),
        pytest.param("thr|eads   =", ["must be said", "range(1, 64, factor: 2)"], id="required attribute"),
        pytest.param("pri|ce =", ["a fact", "- `one`: 2 USD/h", "- `two`: 2 USD/h"], id="fact"),
        pytest.param("pri|ce /", ["a fact", "- `one`: 2 USD/h"], id="fact in an expression"),
        pytest.param("2| USD", ["**2 USD/h**", "USD/s"], id="money"),
        pytest.param("2|k }", ["**2,000**"], id="a plain number"),
        pytest.param("1 |s\n", ["**1 s**", "a time"], id="unit"),
        pytest.param("in |%", ["the unit `%`", "a plain number"], id="unit of a metric"),
        pytest.param("USD/M|op", ["USD"], id="second part of a unit"),
        pytest.param("throu|ghput[two]", ["Operations per second", "ops/s"], id="measure"),
        pytest.param("ran|ge(gain", ["lowest and the highest"], id="function"),
        pytest.param("over thre|ads", ["the dimension `threads`", "client threads"], id="dimension"),
        pytest.param("col|or hardware", ["One series for each key"], id="option"),
        pytest.param("figu|re", ["A chart"], id="element"),
        pytest.param("exper|iment ramp", ["Hardware by workloads by factors by a ramp"], id="block"),
        pytest.param("met|ric gain", ["A derived metric"], id="declaration"),
        pytest.param("db_bench.readr|andom", ["All threads read keys at random", "read"], id="benchmark"),
        pytest.param("o|ver threads", ["the dimensions that a reduction goes along"], id="link"),
        pytest.param("ra|mp", ["2 points × 1 repeats = **4 cells**", "threads: 1, 2"], id="experiment"),
        pytest.param("r|r \"Random", ["All threads read keys at random", "- `records`: 2,000"], id="workload"),
        pytest.param("[r|r]", ["workload **`rr`**", "- `records`: 2,000"], id="use of a workload"),
        pytest.param("bo|x.variants", ["- `one`: 1 node: local; price 2 USD/h", "- `two`"], id="hardware"),
        pytest.param("throughput[tw|o]", ["variant **`box.two`**", "- `two`: 1 node"], id="variant"),
        pytest.param("metric ga|in", ["in %, by `workload`, `threads`; higher is better"], id="metric"),
        pytest.param("{range(ga|in over", ["metric **`gain`**", "throughput[two]"], id="metric in a hole"),
    ],
)  # fmt: skip
def test_a_word_tells_what_it_is(client: Client, word: str, wanted: list[str]) -> None:
    assert word.replace("|", "") in SMALL
    found = hover_text(client, SMALL.replace(word.replace("|", ""), word, 1))
    assert [text for text in wanted if text not in found] == [], found


@pytest.mark.parametrize(
    ("word", "wanted"),
    [
        pytest.param("factor cod|ec", ["factor **`codec`**", "3 levels: No compression, LZ4, Zstandard"], id="factor"),
        pytest.param("vs|ize, tuning]", ["factor **`vsize`**", "2 levels: 100 B, 1 kB"], id="factor of numbers"),
        pytest.param("codec[no|ne", ["level **`codec.none`**", '"No compression"'], id="level"),
        pytest.param("tuning.ca|che", ["setting **`tuning.cache`**", "cache = 8 MiB"], id="setting of a bundle"),
        pytest.param("va|ry ", ["The factors whose levels it measures"], id="vary"),
        pytest.param("exper|iment matrix", ["Hardware by workloads"], id="block"),
        pytest.param("mat|rix", ["1 workloads × 6 combinations of levels × 2 points"], id="experiment"),
    ],
)
def test_factors_and_levels_tell_what_they_are(client: Client, word: str, wanted: list[str]) -> None:
    assert word.replace("|", "") in VARIED
    found = hover_text(client, VARIED.replace(word.replace("|", ""), word, 1))
    assert [text for text in wanted if text not in found] == [], found


@pytest.mark.parametrize(
    ("word", "wanted"),
    [
        pytest.param("75|M", ["**75,000,000**"], id="multiplier"),
        pytest.param("2|0 min", ["**20 min** = 1,200 s", "a time"], id="conversion"),
        pytest.param("ycsb.|a", ["Half of the operations", "50 % read, 50 % update", "zipfian"], id="core workload"),
        pytest.param("latency.p9|9", ["p99 latency", "in s"], id="percentile"),
        pytest.param("lat|ency.p99", ["p99 latency"], id="first half of a measure"),
        pytest.param("engine = mong|odb", ["wire protocol"], id="engine"),
        pytest.param("tool = yc|sb", ["YCSB: reads and writes"], id="tool"),
        pytest.param("client = lo|ad", ["client **`load`**", "ycsb on load.lab"], id="client"),
        pytest.param("hardware ot|her", ["3 nodes: db-1.lab, db-2.lab, db-3.lab; price 3 USD/h"], id="hosts"),
        pytest.param("metric ta|il", ["in ms, by no dimension: one number"], id="metric in a unit"),
    ],
)
def test_values_are_shown_as_they_were_read(client: Client, word: str, wanted: list[str]) -> None:
    assert word.replace("|", "") in MORE
    found = hover_text(client, SMALL + MORE.replace(word.replace("|", ""), word, 1))
    assert [text for text in wanted if text not in found] == [], found


@pytest.mark.parametrize("word", ['"What a sec|ond', "The ga|in is", "# the thr|eads\n", "|{", "lo|cal\n"])
def test_plain_text_and_signs_tell_nothing(client: Client, word: str) -> None:
    text = "# the threads\n" + SMALL
    assert word.replace("|", "") in text
    assert hover_text(client, text.replace(word.replace("|", ""), word, 1)) == ""


CLAIMED = (
    SMALL.replace("measure   = 1 s", "measure   = 1 s  repeats = 3")
    + """\
claim more "Up to {value:+.0%} for {one}" { value = max(gain over threads)  held_out = 3 }
report other "Other" { headline = more }
"""
)


def test_a_claim_tells_its_rule_and_what_the_last_run_said(client: Client) -> None:
    found = hover_text(client, CLAIMED.replace("claim more", "claim mo|re"))
    assert "the highest of `gain`" in found
    assert "compared with First: said where repeats show that it is not 0" in found
    assert "measured 3 times more" in found
    assert "higher is better, so rounding never makes it higher by more than 1 %" in found
    assert "last:" not in found

    def said(run: str, text: str) -> None:
        folder = client.folder / "bench-out" / run / "reports"
        folder.mkdir(parents=True)
        (folder / "other.json").write_text(text, encoding="utf-8")

    entry = '{"claims": [{"claim": "more", "sentence": "Up to +%s for *First*", "judged": "decided"}]}'
    said("20260101-000000-hover", entry % "20%")
    said("20260102-000000-hover", entry % "30%")
    said("20260103-000000-hover", "[" * 100_000)
    said("20260104-000000-other", entry % "40%")
    os.mkfifo(client.folder / "bench-out" / "20260103-000000-hover" / "reports" / "pipe.json")
    found = hover_text(client, CLAIMED.replace("headline = more", "headline = mo|re"))
    in_title = CLAIMED.replace('"Other" {', '"Other" { section "In short: {mo|re}" { text = "T" } ')
    assert "the highest of `gain`" in hover_text(client, in_title)
    assert "last: **Up to +30% for \\*First\\***  \ndecided; run 20260102-000000-hover" in found


def test_a_mistake_is_explained(client: Client) -> None:
    found = hover_text(client, SMALL + "metric throu|ghput in ops/s = max(throughput over threads)\n")
    assert "**E0703**: A metric with the name of a measure" in found
    assert "```bench mended" not in found


def test_what_was_right_before_is_still_shown_beside_a_syntax_error(client: Client) -> None:
    uri = client.open("hover.bench", SMALL)
    assert client.diagnostics(uri) == []
    text, line, character = cursor(SMALL.replace("[1, 2]", "[1,").replace("metric gain", "metric ga|in"))
    client.change(uri, {"text": text})
    assert "in %, by `workload`, `threads`" in client.at("hover", uri, line, character)["contents"]["value"]
