"""Specs that the tests of the language server type at."""

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
