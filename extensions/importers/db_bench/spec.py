from benchbrief.extend.spec import ImporterSpec

SPEC = ImporterSpec(
    api=3,
    name="db_bench",
    doc="RocksDB's db_bench: its output, from which the workload's benchmark is taken.",
    implementation="benchbrief.extensions.importers.db_bench.db_bench_importer:DbBenchImporter",
    tells="Throughput, sizes and settings of its banner, and with --histogram latencies as histograms.",
    line=r"\s*([a-z]\w*)\s*:\s+\S+ micros/op",
    families=("db_bench",),
)
