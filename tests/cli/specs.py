"""Specs that finish within seconds."""

HARDWARE = """\
hardware box "This machine" {
  hosts = local
  variant one "First folder"  { path = "@DATA@/one" }
  variant two "Second folder" { path = "@DATA@/two" }
}
"""

ROCKS = """\
database rocks "RocksDB" {
  engine = rocksdb
  tool   = @TOOL@
  path   = "{path}"
  reset  = reuse
  options { compression = "none"  cache = 1 MiB }
}
workload rr "Random reads" from db_bench.readrandom { records = 2k  value_size = 100 B }
"""

EXPERIMENT = """\
experiment ramp {
  hardware  = box.variants
  workloads = [rr]
  threads   = [1, 2]
  measure   = 1 s
  probes    = [cpu every 200 ms]
}
"""

REPORT = """\
metric gain "Gain from the second folder" in % = throughput[two] / throughput[one] - 1, higher is better

report brief "What a second folder buys" {
  callout "Gain" { rows = workload  column "Throughput" = "{range(gain over threads):+.0%}" }
  text = "The best throughput was {max(throughput[rr] over threads, hardware):,.0f} operations per second."
  figure "Throughput by threads" { line = throughput by threads, color hardware }
  table "Test configuration" { rows = facts }
  disclosure = automatic
}
"""

FILL = (
    ROCKS.partition("workload")[0]
    + """\
workload fill "Random writes" from db_bench.fillrandom { records = 2k  value_size = 100 B }
"""
)
"""A workload that needs no load, because a db_bench load takes at least five seconds (for compactions)."""

SMALL = HARDWARE + ROCKS + EXPERIMENT + REPORT

ONE_FOLDER = HARDWARE + FILL + EXPERIMENT.replace("box.variants", "box.one").replace("[rr]", "[fill]")

WRONG = SMALL.replace("workloads = [rr]", "workloads = [rrr]").replace("measure   = 1 s", "measure = 1 W")
