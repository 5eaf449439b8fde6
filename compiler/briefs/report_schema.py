"""The tables of a report's blocks, for the reference and editors.

Tests compare them with `lower_report.py` and the modules of its elements, which read the blocks.
"""

from __future__ import annotations

from collections.abc import Mapping

from benchbrief.compiler.extensions.registry import TEMPLATE_SPECS
from benchbrief.model.value_shapes import HEADING, LINE, PASSAGE, BlockSchema, Key, Special, Text, Word

TEMPLATE = "technical_brief"
"""The template of a report that names none."""
_BY = "an expression `by` a dimension, or several in `[...]`"
_TEXT = Key(
    Text(holes=True, longest=PASSAGE),
    "Markdown, with `{expression:format}` for computed values.",
    example='text = "The best gain was {max(gain over threads, workload):+.0%}."',
)
_NOTE = Key(
    Text(holes=True),
    "A remark below it, in Markdown with `{expression:format}`.",
    example='note = "Over {count(gain over threads, workload):.0f} points."',
)
_ROWS = Key(
    Special("a dimension such as `workload`, expressions in `[...]`, or `facts`", series=True),
    "What is down the side: a dimension, or several expressions.",
    example="rows = workload",
)
_COLUMNS = Key(
    Special("`throughput by hardware`, or `by hardware, threads`; expressions in `[...]`, or a dimension", series=True),
    "What is across the top: expressions, or a dimension when `rows` are expressions.",
    example="columns = throughput[threads: 8] by hardware",
)
_COLUMN = Key(
    Special('`column "Head" = expression`, or `= "{expression:format}"`', series=True),
    "One column with a head of its own; may stand several times.",
    example='column "Gain" = "{range(gain over threads):+.0%}"',
)

_FLOW = {
    "text": _TEXT,
    "disclosure": Key(Word(("automatic",)), "The test configuration and method, from what was run."),
}
_INNER = ("section", "each", "callout", "table", "compare", "figure", "formula")


def _series(doc: str, wanted: str, example: str) -> Key:
    return Key(Special(wanted, series=True), f"{doc}; may stand several times.", example=example)


ELEMENTS: Mapping[str, BlockSchema] = {
    "report": BlockSchema(
        "What the brief says: its elements in order.",
        {
            "template": Key(
                Word(tuple(dict.fromkeys((TEMPLATE, *TEMPLATE_SPECS.own)))),
                "The layout: one of these, or that of another package.",
                default=TEMPLATE,
            ),
            "paper": Key(Word(("a4", "letter")), "The size of a PDF's pages (slides have their own).", default="a4"),
            "subtitle": Key(
                Text(longest=HEADING), "The line below the title.", example='subtitle = "YCSB A to F on three nodes"'
            ),
            "language": Key(Word(("en", "ja")), "The language of all that the brief adds to your words.", default="en"),
            "author": Key(Text(longest=HEADING), "Who signs it.", example='author = "Storage performance team"'),
            "parts": Key(
                Text(),
                "A folder beside the spec with templates that stand in for parts of the layout.",
                example='parts = "house"',
                file="spec",
            ),
            "provenance": Key(
                Word(("full", "compact", "none")),
                "What the appendix on provenance has: a row for each expression and its measurements, with their "
                "digests; a row for each figure, table and text; or nothing. The side file has all of it in any case.",
                default="full",
                example="provenance = compact",
            ),
            "legal": Key(
                Text(holes=True, longest=PASSAGE),
                "The small print at the end.",
                example='legal = "Product names belong to their owners."',
            ),
            **_FLOW,
        },
        blocks=("theme", *_INNER),
        inherits=False,
        overridable=False,
        label=HEADING,
    ),
    "theme": BlockSchema(
        "The house style.",
        {
            "logo": Key(Text(), "An SVG or PNG file beside the spec.", example='logo = "logo.svg"', file="spec"),
            "brand": Key(Text(), "The colour of the title band and of headings.", example='brand = "#0b3a5b"'),
            "accent": Key(Text(), "The colour of links and of the lead box's edge.", example='accent = "#0072b2"'),
            "font": Key(Text(), "The typeface: an installed one, or one of `font_files`.", example='font = "Inter"'),
            "font_files": Key(
                Special("a path, or several in `[...]`"),
                "Font files beside the spec: TrueType, OpenType or WOFF.",
                example='font_files = ["brand-regular.woff2", "brand-bold.woff2"]',
                file="spec",
            ),
            "css": Key(
                Text(), "A style sheet beside the spec that comes after ours.", example='css = "house.css"', file="spec"
            ),
        },
        named=False,
    ),
    "section": BlockSchema("A part of the brief with a heading.", _FLOW, blocks=_INNER, named=False, label=HEADING),
    "each": BlockSchema(
        "Its elements once for each `workload`, `hardware` or `experiment`.", _FLOW, blocks=_INNER, named=False
    ),
    "callout": BlockSchema(
        "A box with the numbers that matter.",
        {"text": _TEXT, "rows": _ROWS, "columns": _COLUMNS, "column": _COLUMN, "note": _NOTE},
        named=False,
        label=HEADING,
    ),
    "table": BlockSchema(
        "Numbers by a dimension, or the facts of the hardware.",
        {
            "rows": _ROWS,
            "columns": _COLUMNS,
            "column": _COLUMN,
            "heat": Key(
                Word(("table", "rows", "columns")),
                "A heat table: cells are shaded by their values, compared in the whole table, in each row or in each "
                "column. Darker is higher.",
                example="heat = table",
            ),
            "note": _NOTE,
        },
        named=False,
        label=HEADING,
    ),
    "compare": BlockSchema(
        "Hardware compared: numbers by hardware, with letters that say which of them no test tells apart.",
        {
            "rows": Key(
                Special("a dimension such as `workload`", series=True),
                "What is down the side; the hardware is compared in each row.",
                example="rows = workload",
            ),
            "columns": Key(
                Special("`throughput by hardware`; several in `[...]` before `by`", series=True),
                "What is compared: values by hardware, each tested for itself.",
                example="columns = [throughput[threads: 8], latency.p99[read][threads: 8]] by hardware",
            ),
            "note": _NOTE,
        },
        named=False,
        label=HEADING,
    ),
    "figure": BlockSchema(
        "A chart: its series share one axis along the bottom.",
        {
            "line": _series(
                "A line along a ramp, the phases or time", _BY, "line = throughput by threads, color hardware"
            ),
            "bars": _series("Bars for the keys of a dimension", _BY, "bars = throughput[threads: 96] by workload"),
            "curve": _series(
                "One value against another, point by point along a ramp",
                "two expressions `along` a dimension",
                "curve = throughput, latency.p99[read] along threads, color hardware",
            ),
            "mark": _series("A straight line at one value", "an expression", "mark = 10 ms"),
            "claim": Key(
                Text(holes=True, longest=LINE),
                "What the figure shows, in one sentence: the head of its slide, the lead of its caption.",
                example='claim = "The gain is {range(gain over threads):+.0%}."',
            ),
            "multiples": Key(
                Special("a dimension"),
                "Small multiples: a panel for each key of a dimension, on shared axes and under one legend.",
                example="multiples = workload",
            ),
            "note": _NOTE,
        },
        named=False,
        label=HEADING,
    ),
    "formula": BlockSchema(
        "How a metric is computed, with the measured numbers put in: `formula gain for a, threads: 96`.",
        {},
        named=False,
    ),
}
"""The elements by keyword. Only a report has a name."""

OPTIONS: Mapping[str, str] = {
    "color": "One series for each key of a dimension: `color hardware`.",
    "axis": "Which side its scale stands on: `axis left` or `axis right`.",
    "label": 'What to call it: `label "ideal"`.',
    "log": "A logarithmic scale: `log x` or `log y`.",
    "dashed": "A broken line.",
    "band": "The confidence interval around a line: `band confidence`.",
    "format": 'How its numbers are printed: `format ",.0f"`.',
}
"""Words that may follow an expression of a figure or table, after a comma."""
