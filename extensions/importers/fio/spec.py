from benchbrief.extend.spec import ImporterSpec

SPEC = ImporterSpec(
    api=3,
    name="fio",
    doc="fio's JSON with its bins, as --output-format=json+ writes it.",
    implementation="benchbrief.extensions.importers.fio.fio_importer:FioImporter",
    tells="Throughput, failures, its options, its own measures, and latencies as histograms.",
    line=r'\s*"fio version"\s*:',
    families=("fio",),
)
