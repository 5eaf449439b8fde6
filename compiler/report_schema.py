"""What the blocks of a report may hold, in words: for the reference and for editors.

`compiler/report.py` and the modules of its elements read them; tests hold these tables to what those accept.
"""

from __future__ import annotations

from collections.abc import Mapping

from benchbrief.compiler.schema import BlockSchema, Key, Special, Text, Word

_EXPRESSION = "an expression such as `throughput by threads`"
_TEXT = Key(Text(holes=True), "Markdown, with `{expression:format}` for computed values.")
_NOTE = Key(Text(holes=True), "A remark below it, in Markdown with `{expression:format}`.")
_ROWS = Key(
    Special("a dimension such as `workload`, expressions in `[...]`, or `facts`", series=True),
    "What is down the side: a dimension, or several expressions.",
)
_COLUMNS = Key(
    Special("`throughput by hardware`, expressions in `[...]`, or a dimension", series=True),
    "What is across the top: expressions, or a dimension when `rows` are expressions.",
)
_COLUMN = Key(
    Special('`column "Head" = expression`, or `= "{expression:format}"`', series=True),
    "One column with a head of its own; may stand several times.",
)

_FLOW = {
    "text": _TEXT,
    "disclosure": Key(Word(("automatic",)), "The test configuration and method, from what was run."),
}
_INNER = ("section", "each", "callout", "table", "figure", "formula")


def _series(doc: str, example: str) -> Key:
    return Key(Special(f"{_EXPRESSION}, as in `{example}`", series=True), f"{doc}; may stand several times.")


ELEMENTS: Mapping[str, BlockSchema] = {
    "report": BlockSchema(
        "What the brief says: its elements in order.",
        {
            "template": Key(
                Word(("technical_brief", "blog", "white_paper")), "The layout.", default="technical_brief"
            ),
            "subtitle": Key(Text(), "The line below the title."),
            "language": Key(Word(("en", "ja")), "The language of all that the brief adds to your words.", default="en"),
            "author": Key(Text(), "Who signs it."),
            "legal": Key(Text(holes=True), "The small print at the end."),
            **_FLOW,
        },
        blocks=_INNER,
        inherits=False,
        overridable=False,
    ),
    "section": BlockSchema("A part of the brief with a heading.", _FLOW, blocks=_INNER, named=False),
    "each": BlockSchema(
        "Its elements once for each `workload`, `hardware` or `experiment`.", _FLOW, blocks=_INNER, named=False
    ),
    "callout": BlockSchema(
        "A box with the numbers that matter.",
        {"text": _TEXT, "rows": _ROWS, "columns": _COLUMNS, "column": _COLUMN, "note": _NOTE},
        named=False,
    ),
    "table": BlockSchema(
        "Numbers by a dimension, or the facts of the hardware.",
        {"rows": _ROWS, "columns": _COLUMNS, "column": _COLUMN, "note": _NOTE},
        named=False,
    ),
    "figure": BlockSchema(
        "A chart: its series share one axis along the bottom.",
        {
            "line": _series("A line along a ramp, the phases or time", "line = throughput by threads, color hardware"),
            "bars": _series("Bars for the keys of a dimension", "bars = throughput[threads: 96] by workload"),
            "curve": _series(
                "One value against another, point by point along a ramp",
                "curve = throughput, latency.p99[read] along threads, color hardware",
            ),
            "mark": _series("A straight line at one value", "mark = 10 ms"),
            "note": _NOTE,
        },
        named=False,
    ),
    "formula": BlockSchema(
        "How a metric is computed, with the measured numbers put in: `formula gain for a, threads: 96`.",
        {},
        named=False,
    ),
}
"""By keyword; a report is the only one with a name."""

OPTIONS: Mapping[str, str] = {
    "color": "One series for each key of a dimension: `color hardware`.",
    "axis": "Which side its scale stands on: `axis left` or `axis right`.",
    "label": 'What to call it: `label "ideal"`.',
    "log": "A logarithmic scale: `log x` or `log y`.",
    "dashed": "A broken line.",
    "band": "The confidence interval around a line: `band confidence`.",
    "format": 'How its numbers are printed: `format ",.0f"`.',
}
"""Words that may follow an expression of a figure or a table, after a comma."""
