"""Describes the engine, the load generator and the importer."""

from benchbrief.extend.spec import (
    Attribute,
    EngineSpec,
    Flag,
    ImporterSpec,
    Key,
    Number,
    ProbeMeasure,
    Text,
    ToolSpec,
    Word,
    WorkloadSpec,
)

ACCOUNTS_PER_SCALE = 100_000.0
"""How many rows pgbench_accounts has for each unit of the scale factor (see `-s` in PostgreSQL's documentation of
pgbench)."""

ENGINE = EngineSpec(
    api=3,
    name="postgresql",
    label="PostgreSQL",
    doc="A PostgreSQL server that runs already; psql and pgbench reach it from the load generator's host.",
    implementation="bench_postgres.postgres_engine:Postgresql",
    tools=("pgbench",),
    attributes={
        "uri": Key(
            Text(holes=True),
            "Where the server is, as libpq has it; `{hosts}` are the hardware's hosts.",
            example='uri = "postgresql://bench:{secret(PG_PASSWORD)}@{hosts}/bench"',
        ),
        "version": Key(Text(), "What the server's version must begin with.", example='version = "15"'),
        "checkpoint": Key(
            Flag(),
            "Whether a checkpoint is made before each measurement, so that each begins with the same amount of WAL "
            "until the next; needs the role `pg_checkpoint`.",
            example="checkpoint = true",
        ),
        "max_lag": Key(
            Number("s", "1 s", above=True, maximum=3600.0),
            "How far streaming standbys may lag behind when a measurement begins.",
            default="10 s",
        ),
    },
    schemes=("postgresql://", "postgres://"),
    default_reset="after_writes",
    resets=("command",),
    probes=("postgresql",),
)

_COUNT = Number("", "10", plain=True, integer=True, minimum=1.0, maximum=100_000.0)

TOOL = ToolSpec(
    api=3,
    name="pgbench",
    label="pgbench",
    doc="pgbench: runs transactions of SQL, its own or yours, and logs each.",
    implementation="bench_postgres.pgbench_driver:Pgbench",
    workloads={
        "tpcb": WorkloadSpec(
            {
                "en": "Each transaction updates one account, one teller and one branch, and adds a row of history, "
                "much as TPC-B does.",
                "ja": "TPC-B に近い負荷です。各トランザクションが口座、窓口担当者、支店を 1 行ずつ更新し、履歴に 1 "
                "行を追加します。",
            },
            operations=("transaction",),
            writes=True,
        ),
        "simple_update": WorkloadSpec(
            {
                "en": "Each transaction updates one account and adds a row of history, without the contention for "
                "tellers and branches.",
                "ja": "各トランザクションが口座を 1 "
                "行更新し、履歴に 1 行を追加します。窓口担当者と支店の競合はありません。",
            },
            operations=("transaction",),
            writes=True,
        ),
        "select_only": WorkloadSpec(
            {
                "en": "Each transaction reads the balance of one account by its key.",
                "ja": "各トランザクションが口座 1 件の残高をキーで読み取ります。",
            },
            operations=("transaction",),
        ),
        "sql": WorkloadSpec(
            {
                "en": "Each transaction runs the SQL of a file once.",
                "ja": "各トランザクションがファイルの SQL を 1 回実行します。",
            },
            operations=("transaction",),
            writes=True,
            settings={"file": ""},
        ),
    },
    attributes={
        "scale": Attribute(
            Key(
                Number("", "100", plain=True, integer=True, minimum=1.0, maximum=20_000.0),
                "pgbench's scale factor: 100,000 accounts, 10 tellers and one branch for each.",
                default="1",
                example="scale = 100",
            ),
            default=1.0,
            shapes_data=True,
            briefly="scale {value}",
        ),
        "file": Attribute(
            Key(
                Text(),
                "A file beside the spec with the SQL of one transaction, in pgbench's language.",
                example='file = "orders.sql"',
                file="spec",
            ),
            chosen=True,
            required=True,
            briefly="{value}",
        ),
        "protocol": Attribute(
            Key(
                Word(("simple", "extended", "prepared")),
                "How queries are sent (`--protocol`): as text, with parameters apart, or as prepared statements.",
                default="simple",
                example="protocol = prepared",
            ),
            default="simple",
            briefly="protocol {value}",
        ),
        "fillfactor": Attribute(
            Key(
                Number("", "90", plain=True, integer=True, minimum=10.0, maximum=100.0),
                "How full pages are packed by the load, in per cent (`--fillfactor`); room is left for updates.",
                default="100",
                example="fillfactor = 90",
            ),
            default=100.0,
            shapes_data=True,
        ),
        "max_tries": Attribute(
            Key(
                _COUNT,
                "How often a transaction is tried that fails for a deadlock or for its isolation level.",
                default="1",
                example="max_tries = 10",
            ),
            default=1.0,
        ),
        "latency_limit": Attribute(
            Key(
                Number("s", "50 ms", above=True),
                "With an offered load, transactions that are late by more than this are skipped, and count as failed "
                "(`--latency-limit`).",
                example="latency_limit = 50 ms",
            ),
        ),
    },
    records_per=("scale", ACCOUNTS_PER_SCALE),
    open_loop=True,
    intended_latency=True,
    mergeable=True,
    time_series=True,
    whole_seconds=True,
    start_s=1.0,
    load_records_per_s=200_000.0,
    measures={
        "pgbench.schedule_lag": ProbeMeasure(
            "s",
            "How long transactions of an offered load waited for a free connection, on average: from the scheduled "
            "start to the start. It grows without end where the server does not keep up.",
            {"en": "Schedule lag", "ja": "スケジュール遅延"},
            across_nodes="average",
            simulated=0.0002,
            offered_only=True,
        ),
    },
    where_settings_go="what it is to do as attributes of the `workload`",
    data={
        "en": "{records} accounts, made by pgbench, which then vacuums and indexes them",
        "ja": "pgbench が {records} 件の口座を作成し、バキュームとインデックス作成まで実施",
    },
)

IMPORTER = ImporterSpec(
    api=3,
    name="pgbench",
    doc="pgbench's output, with its logs of transactions (`--log`) where they were kept.",
    implementation="bench_postgres.pgbench_importer:PgbenchImporter",
    tells="Throughput, failures, and the mean latency that it printed; with logs, all latencies, also over time.",
    line=r"(pgbench \(\d|number of transactions actually processed: \d)",
    families=("pgbench",),
)
