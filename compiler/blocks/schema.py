"""Which blocks there are, and which attributes each may hold: the table behind the checker and the reference."""

from __future__ import annotations

from collections.abc import Mapping

from benchbrief.compiler.blocks.database_schema import BYTES, DATABASE
from benchbrief.compiler.blocks.host_schema import CLIENT, HARDWARE, HOSTS, SSH, VARIANT
from benchbrief.compiler.blocks.shapes import BlockSchema, Key, Number, Special, Text, Word

_TIME = "20 min"
_POSITIVE_TIME = Number("s", _TIME, above=True)
_SHARE = Number("", "95 %", plain=True, maximum=1.0)
_COUNT = Number("records", "75M records", plain=True, integer=True, minimum=1.0, maximum=2.0**53)

WORKLOAD = BlockSchema(
    "What the load does: a YCSB core workload or a db_bench benchmark, adjusted.",
    {
        "records": Key(_COUNT, "How many records the data set has.", default="1000 for ycsb, 1M for db_bench"),
        "description": Key(
            Text(),
            "A sentence for the brief, in place of the built-in one.",
            example='description = "Reads as the shop front does at noon."',
        ),
        "operations": Key(
            Number("ops", "1M ops", plain=True, integer=True, minimum=1.0, maximum=2.0**31 - 1),
            "Ends the measurement when so many operations are done, if the time is not over before.",
            only="ycsb",
        ),
        "fields": Key(
            Number("", "10", plain=True, integer=True, minimum=1.0, maximum=1e6),
            "Fields of a record.",
            default="10",
            only="ycsb",
        ),
        "field_length": Key(
            BYTES, "The size of a field.", default="100 B", only="ycsb", example="field_length = 100 B"
        ),
        "record_size": Key(
            BYTES, "The size of a record, in place of `field_length`.", only="ycsb", example="record_size = 1 kB"
        ),
        "distribution": Key(
            Word(("uniform", "zipfian", "latest", "hotspot", "exponential", "sequential")),
            "Which records are asked for.",
            default="the core workload's",
            only="ycsb",
        ),
        "read": Key(_SHARE, "The share of reads.", default="the core workload's", example="read = 90 %  update = 10 %"),
        "update": Key(
            _SHARE,
            "The share of updates.",
            default="the core workload's",
            only="ycsb",
            example="read = 80 %  update = 20 %",
        ),
        "insert": Key(
            _SHARE,
            "The share of inserts.",
            default="the core workload's",
            only="ycsb",
            example="read = 50 %  update = 40 %  insert = 10 %",
        ),
        "scan": Key(
            _SHARE, "The share of scans.", default="the core workload's", only="ycsb", example="read = 0 %  scan = 50 %"
        ),
        "read_modify_write": Key(
            _SHARE,
            "The share of read-modify-writes.",
            default="the core workload's",
            only="ycsb",
            example="update = 0 %  read_modify_write = 50 %",
        ),
        "scan_length": Key(
            Number("records", "100", plain=True, integer=True, minimum=1.0, maximum=1e9),
            "The longest scan.",
            default="100 for ycsb",
        ),
        "key_size": Key(BYTES, "The size of a key.", default="16 B", only="db_bench", example="key_size = 16 B"),
        "value_size": Key(BYTES, "The size of a value.", default="100 B", only="db_bench"),
        "write_rate": Key(Number("B/s", "20 MB/s", above=True), "A limit for the writing thread.", only="db_bench"),
    },
    exclusive=(("record_size", "field_length"),),
)

PROBES = ("disk", "cpu", "memory", "network", "power", "database")

PROBE = BlockSchema(
    "A named way to sample beside the measurement.",
    {
        "kind": Key(Word(PROBES), "What is sampled.", default="the block's name"),
        "every": Key(Number("s", "1 s", minimum=0.1), "The time between samples.", required=True),
        "device": Key(
            Text(), "The block device; left out, all of them.", only="disk", example='device = "/dev/nvme0n1"'
        ),
        "interface": Key(
            Text(),
            "The network interface, or several with spaces between; left out, all that are devices, or else all but "
            "the loopback.",
            only="network",
            example='interface = "eth0"',
        ),
    },
)

EXPERIMENT = BlockSchema(
    "Hardware by workloads by a ramp: the cells that are measured.",
    {
        "hardware": Key(
            Special("`eco`, `[eco, legacy]` or `box.variants`"),
            "What is compared.",
            required=True,
            example="hardware = [eco, legacy]",
        ),
        "client": Key(
            Special("a client's name"), "Who generates the load.", default="the only one", example="client = load"
        ),
        "database": Key(
            Special("a database's name"), "What is loaded.", default="the only one", example="database = mongo"
        ),
        "workloads": Key(
            Special("`a`, `[a, b, f]` or `load(a)`"), "What the load does.", required=True, example="workloads = [a, c]"
        ),
        "threads": Key(
            Special(
                "`8`, `[8, 16, 32]`, `1..16`, `range(1, 64, factor: 2)`, a search such as "
                "`knee(from: 1, factor: 2, to: 512)`, or what another experiment's found: `its_name.knee`"
            ),
            "The client threads; several make a ramp.",
            required=True,
            example="threads = [8, 16, 32]",
        ),
        "target": Key(
            Special(
                "`20k ops/s`, a list of those, `range(200 ops/s, 120k ops/s, steps: 25)`, a search such as "
                "`knee(from: 1k ops/s, factor: 2, to: 100k ops/s)`, or what another experiment's found: `its_name.knee`"
            ),
            "The offered load; several make a ramp (open loop).",
            example="target = range(1k ops/s, 20k ops/s, steps: 20)",
        ),
        "warm_up": Key(
            Number("s", _TIME),
            "Time before the measurement that is not counted.",
            default="0 s",
            example="warm_up = 2 min",
        ),
        "measure": Key(_POSITIVE_TIME, "The measured time of each cell; or give `phases`."),
        "phases": Key(
            Special("`6 x 10 min`"),
            "Consecutive measured intervals of one run, in place of `measure`.",
            example="phases = 6 x 10 min",
        ),
        "repeats": Key(
            Special(
                "`3`, `3, interleaved`, `5, random(seed: 1)` or `confident(within: 5 %, to: 10)`",
                series=True,
            ),
            "How often each point is measured, or until when, and in which order.",
            default="1, grouped",
            example="repeats = 3, interleaved",
        ),
        "probes": Key(
            Special("`[disk every 1 s, power every 1 s]`"),
            "What is sampled beside the measurement.",
            default="none",
            example="probes = [disk every 1 s, cpu every 1 s]",
        ),
        "max_errors": Key(
            _SHARE,
            "A cell with a larger share of failed operations is a failed cell.",
            default="0 %",
            example="max_errors = 0.1 %",
        ),
        "cool_down": Key(
            Number("s", "30 s"),
            "Time after each cell in which its hosts are left alone, before the next one that needs them.",
            default="0 s",
        ),
        "timeout": Key(
            Number("s", "5 min", above=True),
            "How much longer than planned a warm-up or a measurement may take; then it is stopped, and the cell fails.",
            default="1 min, or 10 % of the planned time where that is more",
        ),
        "retries": Key(
            Number("", "2", plain=True, integer=True, maximum=100.0),
            "How often a failed cell is tried again, once its host is back; not one that is wrong or lacks its tool.",
            default="0",
        ),
        "on_failure": Key(
            Word(("continue", "stop")),
            "Whether the other cells go on when a cell of this experiment has failed for good.",
            default="continue",
            example="on_failure = stop",
        ),
        "unattended": Key(
            Number("s", "10 min", minimum=10.0),
            "How long a job goes on by itself when it hears nothing of the controller.",
            default="10 min",
        ),
    },
    exclusive=(("measure", "phases"),),
)

PROFILE = BlockSchema(
    "Named overrides, so that one definition runs on a laptop and in the lab.",
    {
        "hosts": Key(
            HOSTS, "Takes the place of every host of every hardware group and client.", example="hosts = local"
        ),
        "power": Key(
            Special("a power meter such as `rapl`, or `none`"),
            "Takes the place of every power meter.",
            default="none, where `hosts` takes the place of the hosts",
            example="power = none",
        ),
    },
    blocks=("override", "ssh"),
    inherits=False,
    overridable=False,
)

BLOCKS: Mapping[str, BlockSchema] = {
    "hardware": HARDWARE,
    "variant": VARIANT,
    "ssh": SSH,
    "client": CLIENT,
    "database": DATABASE,
    "workload": WORKLOAD,
    "probe": PROBE,
    "experiment": EXPERIMENT,
    "profile": PROFILE,
}
"""Reports are not here: what they may hold is in `compiler/briefs/report.py`, with how it is lowered."""

OVERRIDABLE = tuple(kind for kind, block in BLOCKS.items() if block.overridable)
