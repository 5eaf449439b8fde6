from benchbrief.extend.spec import ImporterSpec

SPEC = ImporterSpec(
    api=3,
    name="ipmitool",
    doc="A log of ipmitool's readings of power, each with its time.",
    implementation="benchbrief.extensions.importers.ipmitool.ipmitool_importer:Ipmitool",
    reads="samples",
    tells="The watts at each time.",
    probe="power",
)
