"""The blocks as snippets of the protocol, with places to fill in."""

from __future__ import annotations

from benchbrief.compiler.briefs.report_schema import ELEMENTS
from benchbrief.compiler.schemas.block_schema import BLOCKS

DECLARATIONS = {
    "hardware": ('hardware ${1:name} "${2:Label}" {\n  hosts = ${3:local}\n}', BLOCKS["hardware"].doc),
    "client": ('client ${1:load} {\n  hosts = "${2:load.lab}"\n  tool  = ${3:ycsb}\n}', BLOCKS["client"].doc),
    "database": (
        "database ${1:name} {\n  engine = ${2|rocksdb,mongodb|}\n  $0\n}",
        BLOCKS["database"].doc,
    ),
    "workload": ('workload ${1:name} "${2:Label}" from ${3:ycsb.a} {\n  $0\n}', BLOCKS["workload"].doc),
    "probe": ("probe ${1:name} {\n  kind  = ${2|disk,cpu|}\n  every = ${3:1 s}\n}", BLOCKS["probe"].doc),
    "experiment": (
        """experiment ${1:name} {
  hardware  = [$2]
  workloads = [$3]
  threads   = [${4:1, 2, 4, 8}]
  measure   = ${5:10 min}
}""",
        BLOCKS["experiment"].doc,
    ),
    "scheduler": (
        'scheduler ${1:slurm} {\n  partition = "${2:bench}"\n  time      = ${3:4 h}\n}',
        BLOCKS["scheduler"].doc,
    ),
    "profile": ("profile ${1:smoke} {\n  hosts = local\n  override experiment { $0 }\n}", BLOCKS["profile"].doc),
    "report": (
        'report ${1:brief} "${2:Title}" {\n  template = ${3:technical_brief}\n\n  $0\n}',
        ELEMENTS["report"].doc,
    ),
    "metric": ('metric ${1:name} "${2:Label}" in ${3:%} = ${0:expression}', "A derived metric."),
    "expect": ("expect ${0:condition}", "A condition that must hold: a gate against regressions."),
    "param": ("param ${1:name} = ${0:value}", "A value that `--param name=value` sets from the command line."),
    "use": ('use "${0:common.bench}"', "Brings the declarations of another file in."),
}
INNER = {
    "variant": 'variant ${1:name} "${2:Label}" { $0 }',
    "ssh": "ssh {\n  $0\n}",
    "options": "options {\n  $0\n}",
    "override": "override ${1|workload,experiment|} { $0 }",
    "section": 'section "${1:Heading}" {\n  $0\n}',
    "each": "each ${1|workload,hardware,experiment|} {\n  $0\n}",
    "callout": 'callout "${1:Title}" {\n  rows   = ${2:workload}\n  column "${3:Head}" = "{$0}"\n}',
    "table": 'table "${1:Title}" {\n  rows    = ${2:workload}\n  columns = $0\n}',
    "compare": 'compare "${1:Title}" {\n  rows    = ${2:workload}\n  columns = [${3:throughput}] by hardware\n}',
    "figure": 'figure "${1:Title}" {\n  line = ${2:throughput} by ${3:threads}, color ${4:hardware}\n}',
    "formula": "formula ${1:metric}",
    "at": 'at ${1:5 min} "${2:What happens}" { command("${3}", on: ${4|first,each|}) }',
}
