from benchbrief.extend.spec import ImporterSpec, Key, Word

SPEC = ImporterSpec(
    api=3,
    name="hdr",
    doc="HDR logs by themselves, each of one operation, or with tags for several.",
    implementation="benchbrief.extensions.importers.hdr.hdr_importer:HdrImporter",
    tells="Throughput over time, when it was measured, and latencies as histograms.",
    line='"StartTimestamp"',
    options={"unit": Key(Word(("ns", "us", "ms")), "The unit of the values in HDR logs.", default="us")},
)
