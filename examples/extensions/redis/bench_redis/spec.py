"""Descriptions of the engine, load generator, probe and importer, which `bench check` and briefs read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from benchbrief.extend.spec import (
    COUNTERS_AND_GAUGES,
    Attribute,
    EngineSpec,
    ImporterSpec,
    Key,
    Number,
    Option,
    PlanFinding,
    ProbeMeasure,
    ProbeSpec,
    ServerProgram,
    Text,
    ToolSpec,
    Word,
    WorkloadSpec,
)

if TYPE_CHECKING:
    from benchbrief.extend.common import Plan

_PORT = Number("", "6379", plain=True, integer=True, minimum=1.0, maximum=65535.0)
_BYTES = Number("B", "1 GiB", integer=True)
_VALUE = Number("B", "100 B", integer=True, minimum=1.0, maximum=2.0**20)
_RECORDS = Number("records", "1M records", plain=True, integer=True, minimum=1.0, maximum=1e12)
_COUNT = Number("", "16", plain=True, integer=True, minimum=1.0, maximum=10_000.0)
_THREADS = Number("", "2", plain=True, integer=True, minimum=1.0, maximum=128.0)
_POLICIES = (
    *("noeviction", "allkeys-lru", "allkeys-lfu", "allkeys-random"),
    *("volatile-lru", "volatile-lfu", "volatile-random", "volatile-ttl"),
)

ENGINE = EngineSpec(
    api=3,
    name="redis",
    label="Redis",
    doc="Redis: a server with its data in memory, started for the run or reached by its URI.",
    implementation="bench_redis.redis_engine:Redis",
    tools=("redis_benchmark",),
    attributes={
        "server": Key(Word(("start",)), "`start` starts it on the first of the hardware's hosts."),
        "uri": Key(
            Text(holes=True),
            "A server that runs: its database must be empty.",
            example='uri = "redis://{hosts}:6379/1"',
        ),
        "binary": Key(Text(), "The program that is started.", default="`redis-server` in the PATH of the host"),
        "port": Key(_PORT, "Where it listens.", default="6379"),
    },
    options={
        "appendonly": Option(Key(Word(("no", "yes")), "Whether writes go to a log of their own.", default="`no`")),
        "appendfsync": Option(
            Key(Word(("always", "everysec", "no")), "When this log is made durable.", default="`everysec`")
        ),
        "save": Option(
            Key(Text(), 'When a snapshot is written; `"never"`: not at all.', default='`"3600 1 300 100 60 10000"`'),
            words={"never": ""},
        ),
        "maxmemory": Option(Key(_BYTES, "The bytes of data at most; 0: no bound.", default="0 B")),
        "maxmemory_policy": Option(
            Key(Word(_POLICIES, quoted=True), "What goes when it is full.", default='`"noeviction"`'),
            name="maxmemory-policy",
        ),
        "io_threads": Option(
            Key(_THREADS, "The threads that read and write sockets.", default="1"), name="io-threads", shapes_data=False
        ),
    },
    options_label="Settings of Redis",
    names={
        "data": {"en": "Data", "ja": "データの場所"},
        "durability": {"en": "Durability", "ja": "永続性"},
        "maxmemory": {"en": "Memory limit", "ja": "メモリ上限"},
        "io_threads": {"en": "I/O threads", "ja": "I/O スレッド"},
        "allocator": {"en": "Memory allocator", "ja": "メモリアロケータ"},
    },
    default_reset="after_writes",
    schemes=("redis://",),
    program=ServerProgram("redis-server", 6379),
    simulated_s=10e-6,
    in_memory=True,
    check="bench_redis.spec:check",
    probes=("redis_info",),
)

TOOL = ToolSpec(
    api=3,
    name="redis_benchmark",
    label="redis-benchmark",
    doc="Redis' own load generator: connections that each send a request when the last one was answered.",
    implementation="bench_redis.redis_driver:RedisBenchmark",
    install="apt-get install redis-tools",
    workloads={
        "get": WorkloadSpec(
            {"en": "Every request reads one value.", "ja": "各リクエストが 1 件の値を読み取る負荷です。"},
            operations=("read",),
        ),
        "set": WorkloadSpec(
            {"en": "Every request writes one value anew.", "ja": "各リクエストが 1 件の値を書き換える負荷です。"},
            operations=("update",),
            writes=True,
            changes="updates",
        ),
        "mix": WorkloadSpec(
            {
                "en": "Every request reads one value and writes it again, by a script on the server.",
                "ja": "各リクエストが、サーバー上のスクリプトで 1 件の値を読み取り、書き戻す負荷です。",
            },
            operations=("read_modify_write",),
            writes=True,
            changes="updates",
        ),
    },
    attributes={
        "records": Attribute(Key(_RECORDS, "The keys.", default="100,000"), default=100_000.0, shapes_data=True),
        "value": Attribute(Key(_VALUE, "The size of a value.", default="100 B"), default=100.0, shapes_data=True),
        "pipeline": Attribute(
            Key(_COUNT, "How many requests a connection sends at once.", default="1"),
            default=1.0,
            briefly="pipelines of {value}",
        ),
        "load_threads": Attribute(Key(_THREADS, "The threads of a redis-benchmark.", default="1"), default=1.0),
    },
    record=("value",),
    loads_in_parts=True,
    counted=True,
    threads_are={"en": "Connections", "ja": "接続数"},
    most_threads=10_000,
    start_s=0.2,
    load_records_per_s=200_000.0,
    names={
        "pipeline": {"en": "Pipeline", "ja": "パイプライン"},
        "load_threads": {"en": "Threads of redis-benchmark", "ja": "redis-benchmark のスレッド"},
    },
    data={
        "en": "{records} values, each loaded once by redis-cli",
        "ja": "redis-cli で 1 回ずつ書き込んだ {records} 件の値",
    },
)

PROBE = ProbeSpec(
    api=3,
    name="redis_info",
    doc="Redis' own counters, as INFO tells them.",
    implementation="bench_redis.redis_probe:RedisInfo",
    asks="database",
    single_reading=COUNTERS_AND_GAUGES,
    measures={
        "redis_info.commands": ProbeMeasure(
            "1/s",
            "The commands that the server did.",
            {"en": "Commands of Redis", "ja": "Redis のコマンド"},
            simulated=5e4,
        ),
        "redis_info.evictions": ProbeMeasure(
            "1/s",
            "Keys that were evicted because memory was full.",
            {"en": "Evictions", "ja": "追い出されたキー"},
            simulated=0.0,
        ),
        "redis_info.memory": ProbeMeasure(
            "B", "The memory that the server allocated.", {"en": "Used memory", "ja": "使用メモリ"}, simulated=2e7
        ),
        "redis_info.hits": ProbeMeasure(
            "",
            "The share of the reads that found their key.",
            {"en": "Hits", "ja": "ヒット率"},
            across_nodes="average",
            of_whole_measurement=True,
            simulated=1.0,
        ),
    },
)

IMPORTER = ImporterSpec(
    api=3,
    name="redis_benchmark",
    doc="what redis-benchmark prints with `--csv`",
    implementation="bench_redis.redis_importer:RedisBenchmarkCsv",
    tells="rates, means, and the percentiles that it printed",
    line='"test","rps"',
    families=("redis_benchmark",),
)


def check(plan: Plan) -> Iterator[PlanFinding]:
    """Yield a finding for each database whose password redis-benchmark would reveal to others."""
    for database in plan.databases.values():
        if database.engine == "redis" and any("@" in str(uri) for uri in database.uri):
            yield PlanFinding(
                f"redis-benchmark takes the password of database {database.name} only as an argument, for all to see",
                "let in the load generators without one, in a network of the lab: `ACL SETUSER default on nopass`",
            )
