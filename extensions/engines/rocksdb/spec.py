from dataclasses import replace

from benchbrief.extend.spec import EngineSpec, Flag, Key, Number, Option, Text, Word

BYTES = Number("B", "400 B", integer=True, minimum=1.0)

_BLOCK = replace(BYTES, maximum=2.0**31 - 1)

SPEC = EngineSpec(
    api=3,
    name="rocksdb",
    label="RocksDB",
    doc="RocksDB, inside its load generator on the hardware's own hosts.",
    implementation="benchbrief.extensions.engines.rocksdb.rocksdb:RocksDB",
    tools=("db_bench", "openload_rocksdb"),
    in_process=True,
    attributes={
        "size": Key(
            Number("B", "1 TB", above=True),
            "The data set's size; a workload without `records` then has size / (key_size + value_size), "
            "or size / record_size.",
        ),
        "options_file": Key(
            Text(absolute=True),
            "A RocksDB options file on the host.",
            example='options_file = "/etc/rocksdb/options.ini"',
            file="hosts",
        ),
    },
    options_label="RocksDB",
    options={
        "compression": Option(
            Key(
                Word(("none", "snappy", "zlib", "bzip2", "lz4", "lz4hc", "zstd"), quoted=True),
                "The compression of every level.",
            )
        ),
        "cache": Option(Key(BYTES, "The block cache.", example="cache = 8 GiB"), shapes_data=False),
        "block_size": Option(Key(_BLOCK, "The size of a block.", example="block_size = 4 KiB")),
        "write_buffer": Option(Key(BYTES, "The size of a memtable.", example="write_buffer = 64 MiB")),
        "bloom_bits": Option(
            Key(Number("", "10", plain=True, integer=True, maximum=64.0), "Bits for each key in the Bloom filter.")
        ),
        "direct_io": Option(Key(Flag(), "Reads, flushes and compactions go around the page cache."), shapes_data=False),
        "sync": Option(Key(Flag(), "Each write waits for the log to be on the device."), shapes_data=False),
        "wal": Option(Key(Flag(), "`false` turns the write-ahead log off.", example="wal = false"), shapes_data=False),
    },
    # With links, each cell starts from the same LSM tree at no cost. Loading again would give another tree.
    default_reset="links",
    resets=("snapshot", "command", "links"),
    snapshots=True,
    probes=("database",),
)
