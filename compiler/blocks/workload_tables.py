"""What the named workloads do: YCSB's core workloads (its files `workload[a-f]`) and db_bench's benchmarks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

Texts = Mapping[str, str]
"""The same sentence by language."""

LANGUAGES = ("en", "ja")
"""Those that descriptions are written in; the first is for all others."""

PROPORTIONS = ("read", "update", "insert", "scan", "read_modify_write")
YCSB_RECORDS, YCSB_FIELDS, YCSB_FIELD_LENGTH, YCSB_SCAN_LENGTH = 1000, 10, 100, 100
DB_BENCH_RECORDS, DB_BENCH_KEY_SIZE, DB_BENCH_VALUE_SIZE = 1_000_000, 16, 100


@dataclass(frozen=True)
class CoreWorkload:
    """A YCSB core workload; `mix` are the shares of its operations, all others are 0."""

    mix: Mapping[str, float]
    distribution: str
    description: Texts


YCSB: Mapping[str, CoreWorkload] = {
    "a": CoreWorkload(
        {"read": 0.5, "update": 0.5},
        "zipfian",
        {
            "en": "Half of the operations read a record and half update one, as in a store of session state.",
            "ja": "読み取りと更新が半分ずつの負荷です。セッション情報の記録に相当します。",
        },
    ),
    "b": CoreWorkload(
        {"read": 0.95, "update": 0.05},
        "zipfian",
        {
            "en": "Almost all operations read; one in twenty updates, as when pictures are tagged now and then.",
            "ja": "大半が読み取りで、20回に1回だけ更新する負荷です。写真へのタグ付けに相当します。",
        },
    ),
    "c": CoreWorkload(
        {"read": 1.0},
        "zipfian",
        {
            "en": "Every operation reads, as in a cache of profiles that are kept up to date elsewhere.",
            "ja": "読み取りだけの負荷です。別の場所で更新されるプロファイルのキャッシュに相当します。",
        },
    ),
    "d": CoreWorkload(
        {"read": 0.95, "insert": 0.05},
        "latest",
        {
            "en": "New records come in, and the newest are read the most, as with status messages.",
            "ja": "新しいレコードが追加され、最新のものほどよく読まれる負荷です。近況の投稿に相当します。",
        },
    ),
    "e": CoreWorkload(
        {"scan": 0.95, "insert": 0.05},
        "zipfian",
        {
            "en": "Short ranges of records are read in order, as when the messages of one thread are shown.",
            "ja": "短い範囲を順に読み取る負荷です。会話の一続きを表示する場合に相当します。",
        },
    ),
    "f": CoreWorkload(
        {"read": 0.5, "read_modify_write": 0.5},
        "zipfian",
        {
            "en": "Half of the operations read a record, change it and write it back; the other half only read.",
            "ja": "半分は読み取りだけ、残りの半分はレコードを読み、変更して書き戻す負荷です。",
        },
    ),
}


LOADING_LABEL: Texts = {"en": "Load of {label}", "ja": "{label}のロード"}
LOADING: Texts = {
    "en": "All threads insert new records into a database that is empty at first.",
    "ja": "すべてのスレッドが、空の状態から始まるデータベースに新しいレコードを挿入します。",
}
"""What `load(a)` is called, and what it does."""


@dataclass(frozen=True)
class Benchmark:
    """A db_bench benchmark.

    `operations` are what it does, in our words; `existing` says whether it works on a data set
    that is loaded before; `timed` whether it honours `--duration`.
    """

    operations: tuple[str, ...]
    writes: bool
    description: Texts
    existing: bool = True
    timed: bool = True


DB_BENCH: Mapping[str, Benchmark] = {
    "readrandom": Benchmark(
        ("read",),
        False,
        {
            "en": "All threads read keys at random.",
            "ja": "すべてのスレッドがキーを無作為に選んで読み取ります。",
        },
    ),
    "readwhilewriting": Benchmark(
        ("read", "write"),
        True,
        {
            "en": "All threads read keys at random while one more thread writes.",
            "ja": "すべてのスレッドが無作為に読み取る間、もう一つのスレッドが書き込みを続けます。",
        },
    ),
    "readrandomwriterandom": Benchmark(
        ("read", "write"),
        True,
        {
            "en": "Every thread both reads and writes keys at random.",
            "ja": "各スレッドが無作為な読み取りと書き込みの両方を行います。",
        },
    ),
    "readmissing": Benchmark(
        ("read",),
        False,
        {
            "en": "All threads ask for keys that are not there.",
            "ja": "すべてのスレッドが存在しないキーを読み取ります。",
        },
    ),
    "multireadrandom": Benchmark(
        ("read",),
        False,
        {
            "en": "All threads read several random keys in each call.",
            "ja": "すべてのスレッドが一度に複数のキーを無作為に読み取ります。",
        },
    ),
    "seekrandom": Benchmark(
        ("seek",),
        False,
        {
            "en": "All threads place an iterator on random keys.",
            "ja": "すべてのスレッドがイテレータを無作為なキーに移動します。",
        },
    ),
    "seekrandomwhilewriting": Benchmark(
        ("seek", "write"),
        True,
        {
            "en": "All threads place an iterator on random keys while one more thread writes.",
            "ja": "すべてのスレッドがイテレータを無作為なキーに移動する間、もう一つのスレッドが書き込みます。",
        },
    ),
    "overwrite": Benchmark(
        ("write",),
        True,
        {
            "en": "All threads write over keys at random.",
            "ja": "すべてのスレッドが既存のキーを無作為に上書きします。",
        },
    ),
    "updaterandom": Benchmark(
        ("update",),
        True,
        {
            "en": "All threads read a random key, change its value and write it back.",
            "ja": "すべてのスレッドが無作為なキーを読み、値を変更して書き戻します。",
        },
    ),
    "fillrandom": Benchmark(
        ("write",),
        True,
        {
            "en": "All threads write keys at random into an empty database.",
            "ja": "すべてのスレッドが空のデータベースに無作為なキーを書き込みます。",
        },
        existing=False,
    ),
    "fillsync": Benchmark(
        ("write",),
        True,
        {
            "en": "All threads write keys at random into an empty database, each write waiting for the device.",
            "ja": "すべてのスレッドが空のデータベースに、装置への書き込み完了を待ちながら無作為なキーを書き込みます。",
        },
        existing=False,
    ),
    "fillseq": Benchmark(
        ("write",),
        True,
        {"en": "Writes keys in order into an empty database.", "ja": "空のデータベースにキーを順に書き込みます。"},
        existing=False,
        timed=False,
    ),
    "filluniquerandom": Benchmark(
        ("write",),
        True,
        {
            "en": "Writes each key once, in random order, into an empty database.",
            "ja": "空のデータベースに各キーを一度ずつ無作為な順で書き込みます。",
        },
        existing=False,
        timed=False,
    ),
    "readseq": Benchmark(
        ("read",),
        False,
        {"en": "Reads keys in order.", "ja": "キーを順に読み取ります。"},
        timed=False,
    ),
    "readreverse": Benchmark(
        ("read",),
        False,
        {"en": "Reads keys in reverse order.", "ja": "キーを逆順に読み取ります。"},
        timed=False,
    ),
}

_SMALL_READ_SHARE = 0.90
"""db_bench's --readwritepercent for readrandomwriterandom."""


def read_share(benchmark: str) -> float | None:
    """The share of reads that the benchmark has by default, where it can be chosen."""
    return _SMALL_READ_SHARE if benchmark == "readrandomwriterandom" else None
