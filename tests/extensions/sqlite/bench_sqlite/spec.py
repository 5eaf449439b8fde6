"""Describes the engine and its load generator."""

from benchbrief.extend.spec import (
    Attribute,
    EngineSpec,
    Key,
    Number,
    Option,
    ProbeMeasure,
    ToolSpec,
    Word,
    WorkloadSpec,
)

_BYTES = Number("B", "400 B", integer=True, minimum=1.0)

ENGINE = EngineSpec(
    api=3,
    name="sqlite",
    label="SQLite",
    doc="SQLite: a library that keeps a database in one file.",
    implementation="bench_sqlite.sqlite_engine:Sqlite",
    tools=("sqlite_load",),
    in_process=True,
    attributes={"journal": Key(Word(("wal", "delete")), "How a transaction is kept safe.", default="wal")},
    options={
        "cache": Option(Key(_BYTES, "The page cache.", example="cache = 8 MiB"), "cache_size", shapes_data=False),
        "page": Option(Key(_BYTES, "The size of a page.", example="page = 4 KiB"), "page_size"),
    },
    default_reset="after_writes",
    names={"durability": {"en": "Durability", "ja": "永続性"}},
)

TOOL = ToolSpec(
    api=3,
    name="sqlite_load",
    label="SQLite's load",
    doc="Reads and writes rows of a table, one transaction each.",
    implementation="bench_sqlite.sqlite_driver:SqliteLoad",
    workloads={
        "lookups": WorkloadSpec(
            {"en": "Every operation reads one row by its key.", "ja": "キーで 1 行を読み取る負荷です。"},
            settings={"read": 1.0, "update": 0.0},
        ),
        "mixed": WorkloadSpec(
            {"en": "Half of the operations read a row, and half update one."}, settings={"read": 0.5}
        ),
    },
    attributes={
        "records": Attribute(
            Key(Number("records", "10k records", plain=True, integer=True, minimum=1.0), "The rows.", default="1000"),
            default=1000.0,
            shapes_data=True,
        ),
        "row_size": Attribute(
            Key(_BYTES, "The size of a row.", default="100 B"),
            default=100.0,
            shapes_data=True,
            briefly="rows of {value}",
        ),
        "read": Attribute(
            Key(Number("", "50 %", plain=True, maximum=1.0), "The share of reads.", example="read = 50 %"),
            default=0.5,
            briefly="read {value}",
        ),
        "update": Attribute(
            Key(Number("", "50 %", plain=True, maximum=1.0), "The share of updates.", example="update = 50 %"),
            default=0.5,
        ),
    },
    shares=("read", "update"),
    writing=("update",),
    in_place=("update",),
    record=("row_size",),
    measures={
        "sqlite_load.cpu": ProbeMeasure(
            "cores",
            "The processor cores that the load used itself.",
            {"en": "Cores used by the load", "ja": "負荷の使用コア数"},
            of_whole_measurement=True,
            simulated=0.5,
        ),
        "sqlite_load.slowest": ProbeMeasure(
            "s",
            "The slowest operation of each second.",
            {"en": "Slowest operation", "ja": "最も遅い操作"},
            across_nodes="average",
        ),
    },
    mergeable=True,
    names={"found by": {"en": "rows found by", "ja": "行の検索方法"}},
    load_records_per_s=100_000.0,
    data={"en": "{records} rows, inserted in one transaction", "ja": "{records} 行を一つのトランザクションで挿入"},
)
