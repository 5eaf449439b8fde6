from benchbrief.extend.spec import ImporterSpec

SPEC = ImporterSpec(
    api=3,
    name="openload",
    doc="openload's final record (record.json), with the histogram log that it wrote beside it (histograms.hlog).",
    implementation="benchbrief.extensions.importers.openload.openload_importer:OpenloadImporter",
    tells="Throughput, failures, latencies of both kinds as histograms, its settings, and what it saw of itself.",
    line=r'\{"kind":"final","format":\d+,"program":"openload-',
    families=("ycsb",),
)
