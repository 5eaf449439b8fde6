from benchbrief.extend.spec import TemplateSpec

SPEC = TemplateSpec(
    api=3,
    name="technical_brief",
    doc="A title band, the lead box beside the first text, and the elements; for a few dense pages.",
    implementation="benchbrief.extensions.templates.technical_brief",
    labels={"en": "Technical brief", "ja": "テクニカルブリーフ"},
    key="kicker",
    leads=True,
    usual=True,
)
