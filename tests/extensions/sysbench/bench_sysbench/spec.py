"""Describes the importer of sysbench's outputs."""

from benchbrief.extend.spec import ImporterSpec, Key, Word

SPEC = ImporterSpec(
    api=3,
    name="sysbench_plain",
    doc="sysbench's output of a database test (`oltp_point_select` and others), as it prints it.",
    implementation="bench_sysbench.sysbench_importer:SysbenchImporter",
    tells="Throughput, ignored errors, threads, and the latencies that it printed: mean, ends, and one percentile.",
    line=r"sysbench \d+\.\d+",
    options={
        "operation": Key(Word(("read", "update", "insert")), "What a transaction of the test does.", default="read")
    },
)
