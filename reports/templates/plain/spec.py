from benchbrief.model.extension_spec import API, TemplateSpec

SPEC = TemplateSpec(
    api=API,
    name="plain",
    doc="The page that all templates extend, as it is.",
    implementation="benchbrief.reports.templates.plain",
    labels={"en": "Report", "ja": "報告書"},
)
