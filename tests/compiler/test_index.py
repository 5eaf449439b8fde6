"""Tests the index of names: what each name means, in every place where names are possible."""

from __future__ import annotations

import pytest

from benchbrief.compiler.frontend.name_index import NameIndex, Symbol, index
from benchbrief.dsl.source import Source
from benchbrief.dsl.syntax.parse import parse
from tests.server.specs import VARIED

SPEC = """\
param size = 2k
hardware box "This machine" {
  hosts = local
  price = 2 USD/h
  variant one "First"  { path = "/var/tmp/one"  disk_name = "/dev/a" }
  variant two "Second" { path = "/var/tmp/two"  disk_name = "/dev/b" }
}
hardware plain { hosts = "a.lab"  price = 3 USD/h }
client load { hosts = "l.lab"  tool = ycsb }
database rocks { engine = rocksdb  path = "{path}/db" }
workload rr "Random reads" from db_bench.readrandom { records = size }
workload hot from rr { records = 2 * size }
probe often { kind = cpu  every = 1 s }
experiment ramp {
  hardware  = [box.one, two, plain]
  client    = load
  database  = rocks
  workloads = [rr, hot]
  threads   = [1, 2]
  measure   = 1 s
  probes    = [disk every 1 s on disk_name, often]
}
experiment all { hardware = box.variants  workloads = hot  threads = ramp.knee }
metric gain = throughput[two] / throughput[box.one, rr] - 1
metric best = max(gain over threads, when latency.p99[read] < 1 s and gain > 0)
metric cost = price / throughput[workload: rr, experiment: ramp, threads: 2]
expect best > size
report brief "On {plain}" {
  text = "{two} costs {two.price}, {box.one.price}; {hardware.price} {rr.label} {range(gain over threads):.0%}."
  each workload {
    figure "{workload.title}" { line = gain by threads, color hardware, label "of {rr}"  mark = best }
    table "T" { rows = [gain, cost]  column "C {hot}" = "{best[hot]:.1f}"  columns = price by workload }
  }
  formula gain for rr, threads: 2
}
profile smoke { override workload rr { records = size }  override experiment { hardware = plain } }
"""

USES = {
    ("param", "size"): 5,
    ("hardware", "box"): 5,
    ("hardware", "plain"): 4,
    ("variant", "box.one"): 4,
    ("variant", "box.two"): 5,
    ("fact", "price"): 7,
    ("fact", "path"): 3,
    ("fact", "disk_name"): 3,
    ("client", "load"): 2,
    ("database", "rocks"): 2,
    ("workload", "rr"): 9,
    ("workload", "hot"): 5,
    ("probe", "often"): 2,
    ("experiment", "ramp"): 3,
    ("experiment", "all"): 1,
    ("metric", "gain"): 7,
    ("metric", "best"): 4,
    ("metric", "cost"): 2,
    ("report", "brief"): 1,
    ("profile", "smoke"): 1,
}
"""How often each symbol's name occurs in the text, including its declarations."""


@pytest.fixture(scope="module")
def found() -> NameIndex:
    return index(parse(Source("spec.bench", SPEC)).declarations)


def test_every_place_of_every_name_is_found(found: NameIndex) -> None:
    counts = {(symbol.kind, symbol.name): sum(1 for _ in found.of(symbol)) for symbol in found.nodes}
    assert counts == USES


def test_each_place_holds_the_very_word(found: NameIndex) -> None:
    assert {occurrence.span.text == occurrence.symbol.word for occurrence in found.occurrences} == {True}


def test_no_place_is_two_things(found: NameIndex) -> None:
    places = [(occurrence.span.start, occurrence.span.end) for occurrence in found.occurrences]
    assert len(places) == len(set(places))


def test_a_short_name_that_two_variants_have_means_neither() -> None:
    text = """
hardware a { hosts = local  variant x { path = "/a" } }
hardware b { hosts = local  variant x { path = "/b" } }
metric gain = throughput[x] / throughput[a.x]
"""
    found = index(parse(Source("spec.bench", text)).declarations)
    assert [sum(1 for _ in found.of(Symbol("variant", name))) for name in ("a.x", "b.x")] == [2, 1]


def test_factors_levels_and_settings_are_found_in_every_place() -> None:
    found = index(parse(Source("spec.bench", VARIED)).declarations)
    kinds = ("factor", "level", "setting")
    counts = {symbol.name: sum(1 for _ in found.of(symbol)) for symbol in found.nodes if symbol.kind in kinds}
    assert counts == {
        "codec": 8,
        "codec.none": 6,
        "codec.lz4": 3,
        "codec.zstd": 1,
        "vsize": 8,
        "tuning": 8,
        "tuning.small": 2,
        "tuning.large": 3,
        "tuning.cache": 3,
        "tuning.direct": 3,
    }
    assert {occurrence.span.text == occurrence.symbol.word for occurrence in found.occurrences} == {True}


def test_a_level_that_two_factors_have_is_told_by_its_factor_alone() -> None:
    text = """
factor codec { none = "none"  lz4 = "lz4" }
factor sync { none = false  all = true }
experiment e { vary = [codec[none], sync]  when = sync == none }
metric m = throughput[none] / throughput[codec: none]
"""
    found = index(parse(Source("spec.bench", text)).declarations)
    assert [sum(1 for _ in found.of(Symbol("level", name))) for name in ("codec.none", "sync.none")] == [3, 2]


def test_names_are_told_apart_by_their_kind() -> None:
    text = """
hardware a { hosts = local }
workload a from ycsb.a
experiment e { hardware = a  workloads = a  threads = 1  measure = 1 s }
metric m = throughput[workload: a]
"""
    found = index(parse(Source("spec.bench", text)).declarations)
    assert [sum(1 for _ in found.of(Symbol(kind, "a"))) for kind in ("hardware", "workload")] == [2, 3]


def test_words_of_the_language_are_no_uses() -> None:
    """The spec declares a fact that has the name of a measure. The name counts as a use of the fact only if the measure
    is not sampled."""
    text = """
hardware a { hosts = local  nodes_cost = 1 USD }
metric m = max(throughput over threads) * nodes
"""
    found = index(parse(Source("spec.bench", text)).declarations)
    assert sorted({occurrence.symbol.name for occurrence in found.occurrences}) == ["a", "m", "nodes_cost"]
