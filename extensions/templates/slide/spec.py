from benchbrief.extend.spec import TemplateSpec

SPEC = TemplateSpec(
    api=3,
    name="slide",
    doc="Slides in 16:9: a figure or a table each, under what it claims.",
    implementation="benchbrief.extensions.templates.slide",
    labels={"en": "Results", "ja": "測定結果"},
    slides=True,
    title_line=36,
)
