"""Specs with something that goes wrong in one part, and something beside it that goes well."""

DATABASE = """\
database rocks { engine = rocksdb  path = "@DATA@/{kind}"  @TOOL@  options { compression = "none" } }
workload load from db_bench.@BENCHMARK@ { records = 2k }
"""

TWO_HOSTS = (
    (
        """\
hardware good { hosts = local  kind = "good" }
hardware bad  { hosts = "box"  kind = "bad" }
"""
        + DATABASE
        + "experiment e { hardware = [good, bad]  workloads = [load]  threads = [1, 2]  measure = 1 s }\n"
    )
    .replace("@TOOL@", "")
    .replace("@BENCHMARK@", "fillrandom")
)
"""The host `box` is what ~/.ssh/config says."""

TWO_FOLDERS = (
    """\
hardware here { hosts = local  variant bad { kind = "bad" }  variant good { kind = "good" } }
"""
    + DATABASE
    + "experiment e { hardware = here.variants  workloads = [load]  threads = [1]  measure = 1 s }\n"
)
"""The paths of the first one's database end in /bad: `tool` can go wrong there alone."""

MONGO = """\
hardware here { hosts = local }
client load { hosts = local  tool = ycsb }
database mongo { engine = mongodb  @SERVER@ }
workload a from ycsb.a { records = 200 }
experiment documents { hardware = here  database = mongo  workloads = [a]  threads = [1, 2]  measure = @SECONDS@ s }
"""

AND_ROCKS = """\
database rocks { engine = rocksdb  path = "@DATA@/good" }
workload fill from db_bench.fillrandom { records = 2k }
experiment files { hardware = here  database = rocks  workloads = [fill]  threads = [1]  measure = 1 s }
"""
