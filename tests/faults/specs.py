"""Specs with one part that fails and another that works."""

from collections.abc import Iterable


def rocks(hardware: str, names: Iterable[str], *, benchmark: str = "fillrandom", tool: str = "") -> str:
    """Return a spec with one cell for each group or variant. Its database's path ends in the name of the group or
    variant."""
    return f"""\
{hardware}
database rocks {{ engine = rocksdb  path = "@DATA@/{{kind}}"  {tool}  options {{ compression = "none" }} }}
workload load from db_bench.{benchmark} {{ records = 2k }}
experiment e {{ hardware = [{", ".join(names)}]  workloads = [load]  threads = [1]  measure = 1 s }}
"""


def variants(*names: str) -> str:
    blocks = "\n".join(f'  variant {name} {{ kind = "{name}" }}' for name in names)
    return f"hardware here {{\n  hosts = local\n{blocks}\n}}\n"


MONGO = """\
hardware here { hosts = local }
client load { hosts = local  tool = @TOOL@ }
database mongo { engine = mongodb  @SERVER@ }
workload a from ycsb.a { records = 200 }
experiment documents { hardware = here  database = mongo  workloads = [a]  threads = [1, 2]  measure = @SECONDS@ s }
"""

AND_ROCKS = """\
database rocks { engine = rocksdb  path = "@DATA@/good" }
workload fill from db_bench.fillrandom { records = 2k }
experiment files { hardware = here  database = rocks  workloads = [fill]  threads = [1]  measure = 1 s }
"""
