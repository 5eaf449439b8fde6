"""Specs that the tests of the language server edit."""

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
"""A correct spec without warnings."""

VARIED = """\
hardware box { hosts = local }
factor codec "Compression" { none "No compression" = "none"  lz4 "LZ4" = "lz4"  zstd "Zstandard" = "zstd" }
factor vsize "Value size"  { levels = [100 B, 1 kB]  default = 1 kB }
factor tuning "Tuning" {
  level small "Small" { cache = 8 MiB  direct = false }
  level large "Large" { cache = 1 GiB  direct = true }
  default = large
}
database rocks {
  engine = rocksdb
  path   = "/var/tmp/b/{codec}"
  options { compression = codec  cache = tuning.cache  direct_io = tuning.direct }
}
workload rr from db_bench.readrandom { value_size = vsize }
experiment matrix {
  hardware  = box
  workloads = rr
  threads   = [1, 2]
  vary      = [codec[none, lz4], vsize, tuning]
  when      = codec != none or vsize > 100 B
  measure   = 1 s
}
metric saved in % = 1 - database.size / database.size[codec: none], higher is better
metric gain in % = throughput[large] / throughput[small] - 1, higher is better
report brief "Which compression?" {
  text = "On {none}, {max(throughput[none] over threads, vsize, tuning, workload):,.0fu}."
  table "Space saved" { rows = codec  columns = mean(saved over workload, threads, tuning) by vsize }
  each tuning { figure "{tuning.label}" { line = throughput[lz4] by threads, color vsize } }
  table "Gain" { rows = codec  columns = mean(gain over threads, workload) by vsize }
}
"""
"""Three factors (with levels that are words, numbers and bundles) in a spec without errors and warnings."""


def cursor(text: str, mark: str = "|") -> tuple[str, int, int]:
    """Return the text without its last `|`, and the line and the character at which the `|` was. Both count from 0 in
    plain text."""
    before, _, after = text.rpartition(mark)
    line = before.count("\n")
    return before + after, line, len(before) - before.rfind("\n") - 1


def apply(text: str, edits: list[dict[str, Any]]) -> str:
    """Apply the edits of an answer to a plain text."""
    starts = [0, *(index + 1 for index, char in enumerate(text) if char == "\n")]

    def offset(position: dict[str, int]) -> int:
        return starts[position["line"]] + position["character"]

    for edit in sorted(edits, key=lambda edit: offset(edit["range"]["start"]), reverse=True):
        start, end = offset(edit["range"]["start"]), offset(edit["range"]["end"])
        text = text[:start] + edit["newText"] + text[end:]
    return text
