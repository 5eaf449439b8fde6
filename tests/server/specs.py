"""Specs that the tests of the language server type at."""

from __future__ import annotations

from typing import Any

SMALL = """\
hardware box "This machine" {
  hosts = local
  price = 2 USD/h
  variant one "First"  { path = "/var/tmp/one" }
  variant two "Second" { path = "/var/tmp/two" }
}
database rocks { engine = rocksdb  path = "{path}" }
workload rr "Random reads" from db_bench.readrandom { records = 2k }
experiment ramp {
  hardware  = box.variants
  workloads = [rr]
  threads   = [1, 2]
  measure   = 1 s
}
metric gain "Gain" in % = throughput[two] / throughput[one] - 1, higher is better
metric cost in USD/Mop = price / throughput, lower is better
report brief "What a second folder buys" {
  text = "The gain is {range(gain over threads):+.0%} on {two}."
  figure "Throughput" { line = throughput by threads, color hardware }
  formula gain for threads: 2
}
"""
"""Right, without a warning."""


def cursor(text: str, mark: str = "|") -> tuple[str, int, int]:
    """The text without its last `|`, and the line and character (from 0, of plain text) where that was."""
    before, _, after = text.rpartition(mark)
    line = before.count("\n")
    return before + after, line, len(before) - before.rfind("\n") - 1


def apply(text: str, edits: list[dict[str, Any]]) -> str:
    """A plain text after the edits of an answer."""
    starts = [0, *(index + 1 for index, char in enumerate(text) if char == "\n")]

    def offset(position: dict[str, int]) -> int:
        return starts[position["line"]] + position["character"]

    for edit in sorted(edits, key=lambda edit: offset(edit["range"]["start"]), reverse=True):
        start, end = offset(edit["range"]["start"]), offset(edit["range"]["end"])
        text = text[:start] + edit["newText"] + text[end:]
    return text
