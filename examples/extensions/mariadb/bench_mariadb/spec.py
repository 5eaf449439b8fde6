"""Descriptions of the engine, load generator, probe and importer. They can be read without loading the code."""

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

_PORT = Number("", "3306", plain=True, integer=True, minimum=1.0, maximum=65535.0)

ENGINE = EngineSpec(
    api=3,
    name="mariadb",
    label="MariaDB",
    doc="A MariaDB server, which is started for the run, or runs already.",
    implementation="bench_mariadb.mariadb_engine:Mariadb",
    tools=("sysbench",),
    attributes={
        "server": Key(Word(("start",)), "`start` starts it on the first of the hardware's hosts."),
        "binary": Key(Text(), "The server's program.", default="`/usr/sbin/mariadbd`", file="hosts"),
        "config": Key(Text(), "A configuration file beside the spec.", example='config = "my.cnf"', file="spec"),
        "port": Key(_PORT, "Its port.", default="3306"),
        "uri": Key(
            Text(holes=True),
            "Where a server is that runs already; `{hosts}` are the hardware's hosts.",
            example='uri = "mariadb://bench:{secret(DB_PASSWORD)}@{hosts}:3306/sbtest"',
        ),
    },
    options={
        "buffer_pool": Option(
            Key(Number("B", "1 GiB", minimum=5 * 2.0**20), "InnoDB's buffer pool.", default="128 MiB"),
            "innodb-buffer-pool-size",
            shapes_data=False,
        ),
        "flush_log": Option(
            Key(Word(("commit", "second")), "When the redo log is flushed: with each commit, or once a second."),
            "innodb-flush-log-at-trx-commit",
            words={"commit": "1", "second": "2"},
            shapes_data=False,
        ),
    },
    schemes=("mariadb://", "mysql://"),
    program=ServerProgram("/usr/sbin/mariadbd", 3306),
    default_reset="after_writes",
    probes=("mariadb",),
)

_COUNT = Number("", "4", plain=True, integer=True, minimum=1.0, maximum=1000.0)
_RECORDS = Number("records", "1M records", plain=True, integer=True, minimum=1.0)


def _workload(english: str, japanese: str, *, writes: bool = False) -> WorkloadSpec:
    return WorkloadSpec({"en": english, "ja": japanese}, operations=("transaction",), writes=writes)


TOOL = ToolSpec(
    api=3,
    name="sysbench",
    label="sysbench",
    doc="sysbench: the OLTP transactions of its own scripts, on rows of tables that are all alike.",
    implementation="bench_mariadb.sysbench_driver:Sysbench",
    workloads={
        "point_select": _workload(
            "Each transaction reads one row by its primary key.",
            "各トランザクションが主キーで 1 行を読み取る負荷です。",
        ),
        "read_only": _workload(
            "Each transaction reads ten rows by their keys, and four ranges of a hundred rows.",
            "各トランザクションが主キーによる 10 行と、100 行の範囲 4 つを読み取る負荷です。",
        ),
        "read_write": _workload(
            "Each transaction reads as that of `read_only`, updates two rows, and deletes and inserts one.",
            "各トランザクションが `read_only` と同じ読み取り、2 行の更新、1 行の削除と挿入を行う負荷です。",
            writes=True,
        ),
        "write_only": _workload(
            "Each transaction updates two rows, and deletes and inserts one.",
            "各トランザクションが 2 行の更新、1 行の削除と挿入を行う負荷です。",
            writes=True,
        ),
    },
    attributes={
        "records": Attribute(
            Key(_RECORDS, "The rows of all tables.", default="100k records"), default=100_000.0, shapes_data=True
        ),
        "tables": Attribute(
            Key(_COUNT, "How many tables the rows are in, equally.", default="1"),
            default=1.0,
            shapes_data=True,
            briefly="{value} tables",
        ),
        "distribution": Attribute(
            Key(
                Word(("special", "uniform", "gaussian", "pareto")),
                "Which rows are asked for (`--rand-type`). `special` takes three quarters of them from one hundredth.",
                default="special",
                example="distribution = uniform",
            ),
            default="special",
            briefly="keys {value}",
        ),
    },
    open_loop=True,
    arrivals=("poisson",),
    intended_latency=True,
    mergeable=True,
    time_series=True,
    whole_seconds=True,
    threads_are={"en": "Connections", "ja": "接続数"},
    load_records_per_s=50_000.0,
    measures={
        "sysbench.queries": ProbeMeasure(
            "1/s", "Queries per second: a transaction has several.", {"en": "Queries", "ja": "クエリー数"}
        ),
        "sysbench.queue": ProbeMeasure(
            "",
            "Transactions of an offered load that were due and waited for a free connection, as sampled.",
            {"en": "Waiting transactions", "ja": "待機中のトランザクション数"},
            offered_only=True,
        ),
    },
    check="bench_mariadb.spec:check",
    data={"en": "{records} rows, made by sysbench", "ja": "sysbench が作成した {records} 行"},
)


def check(plan: Plan) -> Iterator[PlanFinding]:
    for database in plan.databases.values():
        if database.engine == "mariadb" and database.server == "attach" and database.options:
            yield PlanFinding(
                f"the server of {database.name} runs already, with its own options", "leave out `options`"
            )
    for workload in (each for each in plan.workloads.values() if each.family == "sysbench"):
        records, tables = workload.properties["records"], workload.properties["tables"]
        if float(records) % float(tables):
            said = f"workload {workload.name} has {records:g} records in {tables:g} tables, which are not all alike"
            yield PlanFinding(said, "take a multiple of `tables` as `records`")


PROBE = ProbeSpec(
    api=3,
    name="mariadb",
    doc="What InnoDB counts itself: its log, its buffer pool, locks and the purge. Each reading is one connection.",
    implementation="bench_mariadb.mariadb_probe:MariadbProbe",
    measures={
        "mariadb.log_written": ProbeMeasure(
            "B/s", "Bytes per second written to the redo log.", {"en": "Redo log written", "ja": "REDO ログ書き込み量"}
        ),
        "mariadb.data_written": ProbeMeasure(
            "B/s", "Bytes of pages written per second.", {"en": "Data written", "ja": "データ書き込み量"}
        ),
        "mariadb.fsyncs": ProbeMeasure("1/s", "Calls of fsync per second.", {"en": "Fsyncs", "ja": "fsync 回数"}),
        "mariadb.lock_waits": ProbeMeasure(
            "1/s", "Waits for a row's lock per second.", {"en": "Waits for row locks", "ja": "行ロック待ち"}
        ),
        "mariadb.deadlocks": ProbeMeasure("1/s", "Deadlocks per second.", {"en": "Deadlocks", "ja": "デッドロック"}),
        "mariadb.buffer_hits": ProbeMeasure(
            "",
            "Of all pages that were asked for in the measured time, the share that was in the buffer pool.",
            {"en": "Buffer pool hit ratio", "ja": "バッファープールヒット率"},
            across_nodes="average",
            of_whole_measurement=True,
            simulated=0.99,
        ),
        "mariadb.dirty": ProbeMeasure(
            "B", "Changed pages that are not written yet.", {"en": "Dirty pages", "ja": "ダーティページ"}
        ),
        "mariadb.checkpoint_age": ProbeMeasure(
            "B", "The redo log that a recovery would read.", {"en": "Checkpoint age", "ja": "チェックポイントエイジ"}
        ),
    },
    asks="database",
    single_reading=COUNTERS_AND_GAUGES,
)

IMPORTER = ImporterSpec(
    api=3,
    name="sysbench",
    doc="sysbench's output of one of its OLTP scripts.",
    implementation="bench_mariadb.sysbench_importer:SysbenchImporter",
    tells="Throughput, also over time, and latencies: all of them with `--histogram`, else those that it printed.",
    line=r"sysbench \d+\.\d+",
    families=("sysbench",),
)
