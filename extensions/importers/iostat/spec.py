from benchbrief.extend.spec import ImporterSpec

SPEC = ImporterSpec(
    api=3,
    name="iostat",
    doc="A log of `iostat -x -t`, as text or JSON.",
    implementation="benchbrief.extensions.importers.iostat.iostat_importer:Iostat",
    reads="samples",
    tells="What a disk did in each interval.",
    probe="disk",
)
