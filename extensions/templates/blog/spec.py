from benchbrief.extend.spec import TemplateSpec

SPEC = TemplateSpec(
    api=3,
    name="blog",
    doc="A post: the title stands on the paper. Also in Markdown, its figures as files beside it.",
    implementation="benchbrief.extensions.templates.blog",
    labels={"en": "Field notes", "ja": "技術ブログ"},
    formats=("html", "pdf", "markdown"),
)
