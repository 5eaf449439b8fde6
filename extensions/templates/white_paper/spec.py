from benchbrief.extend.spec import TemplateSpec

SPEC = TemplateSpec(
    api=3,
    name="white_paper",
    doc="A cover with the first figure, the contents, and numbered sections.",
    implementation="benchbrief.extensions.templates.white_paper",
    labels={"en": "White paper", "ja": "ホワイトペーパー"},
    covers=True,
    title_line=26,
)
