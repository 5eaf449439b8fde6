from benchbrief.compiler.extensions import TemplateSpec

SPEC = TemplateSpec(
    api=1,
    name="slide",
    doc="Slides in 16:9: a figure or a table each, under what it claims.",
    implementation="benchbrief.reports.templates.slide",
    labels={"en": "Results", "ja": "測定結果"},
    slides=True,
    title_line=36,
)
