from benchbrief.extend.spec import ImporterSpec

SPEC = ImporterSpec(
    api=3,
    name="table",
    doc="A table of published figures (CSV), which says its cells itself.",
    implementation="benchbrief.extensions.importers.table.figure_tables:TableOfFigures",
    reads="tables",
    tells="The numbers in its columns, and its source in the lines before its head.",
)
