"""The table of blocks and their attributes, which the checker and the reference read."""

from __future__ import annotations

from collections.abc import Mapping

from benchbrief.compiler.extensions import ProbeSpec, SchedulerSpec
from benchbrief.compiler.extensions.registry import PROBE_SPECS, SCHEDULER_SPECS
from benchbrief.compiler.schemas.extension_schemas import DATABASE, WORKLOAD, joined_keys
from benchbrief.compiler.schemas.host_schema import CLIENT, HARDWARE, HOSTS, SSH, VARIANT
from benchbrief.model.value_shapes import LINE, BlockSchema, Key, Number, Special, Word

_SHARE_OF_BEFORE = Number("", "5 %", plain=True, maximum=1.0, above=True)

EVENT = BlockSchema(
    "A command at a time of the measurement, and what is judged around it.",
    {
        "command": Key(
            Special('`command("...", on: first)`'),
            "What is run, and where: on a host, on all hosts of a group, on the cell's `first` host or on `each`.",
            required=True,
            example='command("kill -9 $(pidof mongod)", on: first, timeout: 10 s)',
        ),
        "window": Key(
            Number("s", "30 s", minimum=1.0),
            "The time before the event whose mean throughput is that of before.",
            default="30 s, or as much as there is",
        ),
        "within": Key(_SHARE_OF_BEFORE, "The throughput is back within this share of that of before.", default="10 %"),
        "steady": Key(Number("s", "5 s", minimum=1.0), "How long the throughput has to stay back.", default="5 s"),
        "outage": Key(
            _SHARE_OF_BEFORE, "Below this share of the throughput of before, the service counts as out.", default="10 %"
        ),
        "data": Key(
            Word(("changed", "kept")),
            "Whether the command may change the data set, which is then loaded again before the next cell.",
            default="changed",
            example="data = kept",
        ),
    },
    named=False,
    inherits=False,
    overridable=False,
    label=LINE,
)


_TIME = "20 min"
_SHARE = Number("", "95 %", plain=True, maximum=1.0)

PROBES = tuple(PROBE_SPECS.own)


def probe_schema(*others: ProbeSpec) -> BlockSchema:
    """Return the block `probe`, for benchbrief's own probes and for `others`."""
    specs = {**PROBE_SPECS.own, **{spec.name: spec for spec in others}}
    return BlockSchema(
        "A named way to sample beside the measurement.",
        {
            "kind": Key(Word(tuple(specs)), "What is sampled.", default="the block's name"),
            "every": Key(Number("s", "1 s", minimum=0.1), "The time between samples.", required=True),
            **joined_keys({name: spec.attributes for name, spec in specs.items()}),
        },
    )


PROBE = probe_schema()

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
            Special("a client's name, or a list of one for each hardware group"),
            "Who generates the load.",
            default="the only one",
            example="client = load",
        ),
        "database": Key(
            Special("a database's name"), "What is loaded.", default="the only one", example="database = mongo"
        ),
        "workloads": Key(
            Special("`a`, `[a, b, f]` or `load(a)`"), "What the load does.", required=True, example="workloads = [a, c]"
        ),
        "threads": Key(
            Special(
                "`8`, `[8, 16, 32]`, `1..16`, `range(1, 64, factor: 2)`, `adaptive(1..512, points: 9)`, a search such "
                "as `knee(from: 1, factor: 2, to: 512)`, or what another experiment's found: `its_name.knee`"
            ),
            "The client threads; several make a ramp.",
            required=True,
            example="threads = [8, 16, 32]",
        ),
        "target": Key(
            Special(
                "`20k ops/s`, a list of those, `range(200 ops/s, 120k ops/s, steps: 25)`, "
                "`adaptive(1k ops/s..100k ops/s, points: 9)`, a search such as "
                "`knee(from: 1k ops/s, factor: 2, to: 100k ops/s)` or "
                "`highest(1k ops/s..200k ops/s, where: latency.p99[read] < 5 ms, within: 3 %)`, or what another "
                "experiment's found: `its_name.knee`"
            ),
            "The offered load; several make a ramp (open loop).",
            example="target = range(1k ops/s, 20k ops/s, steps: 20)",
        ),
        "arrivals": Key(
            Special(
                "`constant`, `poisson`, `steps(1k ops/s, 2k ops/s, lasting: 30 s)`, "
                '`burst(5k ops/s, every: 30 s, lasting: 2 s)`, `trace("arrivals.txt")` or `closed`'
            ),
            "When operations are due, and what of the load is bounded. Only `constant`, `poisson` and `burst` have a "
            "`target`.",
            default="the load generator's usual one",
            example="arrivals = poisson",
        ),
        "warm_up": Key(
            Number("s", _TIME),
            "Time before the measurement that is not counted.",
            default="0 s",
            example="warm_up = 2 min",
        ),
        "measure": Key(
            Special("a time such as `20 min`, or `until_steady(within: 2 %, from: 2 min, to: 30 min)`"),
            "The measured time of each cell, or the rule that ends it; or give `phases`. A workload that ends with its "
            "last record, such as `db_bench.readseq`, runs to that: it says how long this should take.",
            example="measure = 20 min",
        ),
        "phases": Key(
            Special("`6 x 10 min`"),
            "Consecutive measured intervals of one run, in place of `measure`.",
            example="phases = 6 x 10 min",
        ),
        "repeats": Key(
            Special("`3`, `3, interleaved`, `5, random(seed: 1)` or `confident(within: 5 %, to: 10)`", series=True),
            "How often each point is measured, or until when, and in which order.",
            default="1, grouped",
            example="repeats = 3, interleaved",
        ),
        "overlap": Key(
            Word(("measuring", "loading", "none")),
            "What may run on its other hardware groups while one is measured: their measurements too, their loads, or "
            "nothing. It holds for groups that share no host, client, power meter, declared switch or storage.",
            default="measuring",
            example="overlap = loading",
        ),
        "budget": Key(
            Number("s", "12 h", above=True),
            "The time that its cells may take: each point once, then repeats go where intervals are widest.",
            default="none: all repeats are made",
            example="budget = 12 h",
        ),
        "probes": Key(
            Special("`[disk every 1 s, power every 1 s]`"),
            "What is sampled beside the measurement.",
            default="none",
            example="probes = [disk every 1 s, cpu every 1 s]",
        ),
        "max_errors": Key(
            _SHARE,
            "A cell with a larger share of failed operations is a failed cell. An operation that finds no record under "
            "a key that was loaded has failed, too.",
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
            Word(("continue", "stop", "try_all")),
            "What is tried once a cell has failed: the others, but few if the first fail alike; none; or all the same.",
            default="continue",
            example="on_failure = stop",
        ),
        "unattended": Key(
            Number("s", "10 min", minimum=10.0),
            "How long a job goes on by itself when it hears nothing of the controller.",
            default="10 min",
        ),
    },
    blocks=("at",),
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


def scheduler_schema(*others: SchedulerSpec) -> BlockSchema:
    """Return the block `scheduler`, for benchbrief's own schedulers and for `others`."""
    specs = {**SCHEDULER_SPECS.own, **{spec.name: spec for spec in others}}
    return BlockSchema(
        "What each job asks for when the lanes run on a scheduler, `bench run --on`. It changes no result.",
        joined_keys({name: spec.attributes for name, spec in specs.items()}),
        inherits=False,
    )


SCHEDULER = scheduler_schema()

BLOCKS: Mapping[str, BlockSchema] = {
    "hardware": HARDWARE,
    "variant": VARIANT,
    "ssh": SSH,
    "client": CLIENT,
    "database": DATABASE,
    "workload": WORKLOAD,
    "probe": PROBE,
    "experiment": EXPERIMENT,
    "at": EVENT,
    "scheduler": SCHEDULER,
    "profile": PROFILE,
}
"""Reports are elsewhere: `compiler/briefs/lower_report.py` has their tables."""

OVERRIDABLE = tuple(kind for kind, block in BLOCKS.items() if block.overridable)
