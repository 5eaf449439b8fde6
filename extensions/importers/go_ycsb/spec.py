from benchbrief.extend.spec import ImporterSpec

SPEC = ImporterSpec(
    api=3,
    name="go-ycsb",
    doc="go-ycsb's output in its plain style.",
    implementation="benchbrief.extensions.importers.go_ycsb.go_ycsb_importer:GoYcsbImporter",
    tells="Throughput over time, failures, the properties that it prints, and the percentiles that it printed.",
    line=r"\s*Run finished, takes ",
    families=("ycsb",),
)
