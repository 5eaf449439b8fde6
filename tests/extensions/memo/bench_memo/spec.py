"""Describes the template `memo`, and two templates that can't be used."""

from dataclasses import replace

from benchbrief.extend.spec import TemplateSpec

SPEC = TemplateSpec(
    api=3,
    name="memo",
    doc="A memo on one page, without a title band.",
    implementation="bench_memo.memo",
    labels={"en": "Memorandum", "ja": "覚書"},
    formats=("html",),
)
TORN = replace(SPEC, name="torn", implementation="bench_memo.torn")
EMPTY = replace(SPEC, name="empty", implementation="bench_memo")
