from benchbrief.extend.spec import ImporterSpec, Key, Text

SPEC = ImporterSpec(
    api=3,
    name="ycsb",
    doc="YCSB's output, as text or JSON, with the HDR logs beside it; or its raw latencies.",
    implementation="benchbrief.extensions.importers.ycsb.ycsb_importer:YcsbImporter",
    tells="Throughput, failures, settings of its command line, and latencies: from HDR logs, histograms or raw "
    "latencies as histograms, else the percentiles that it printed.",
    line=r"\s*\[[A-Z][^\]]*\]\s*,|YCSB Client ",
    families=("ycsb",),
    options={
        "logs": Key(
            Text(),
            "The paths of YCSB's histogram logs, where they are not beside its outputs: "
            "logs/{hardware}/t{threads}-{operation}.hdr",
        )
    },
)
