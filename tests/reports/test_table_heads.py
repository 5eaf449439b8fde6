"""Tests tables with several metrics, and with several keys in columns: their heads, and their width on the page."""

from __future__ import annotations

import re
from itertools import combinations
from pathlib import Path

import pytest
from markupsafe import Markup

from benchbrief.model import plan as p
from benchbrief.reports.data.view_model import TableCell, TableHead, TableRow
from benchbrief.reports.render.page_html import TEMPLATES
from benchbrief.reports.render.render_report import render
from benchbrief.reports.text.html_markup import keep_units_whole, marks_beside_number
from benchbrief.reports.view.table_heads import aligned, parts_of, room_of
from tests.reports import world as w
from tests.support.longer import one_in
from tests.support.paging import Word, words

HARDWARE = {"disk": "Local disk of the older machines", "ram": "RAM disk"}
WORKLOADS = {"a": "Session store", "b": "Photo tagging with uncached thumbnails"}
THREADS = (1, 2, 4)
MARGIN = 18 / 25.4 * 72
METRICS = ("throughput", "Throughput for each busy core", "Acknowledgement")


def line(path: tuple[str, ...], hardware: str, threads: float) -> p.Line:
    of, unit = (w.latency, "s") if path[0] == METRICS[-1] else (w.throughput, "ops/s")
    query = of("workload", hardware=hardware, threads=threads)
    return p.Line(label=path[-1], heads=path[:-1], unit=unit, query=query)


def table(metrics: int, *, by_threads: bool = False, transposed: bool = False) -> p.TableElement:
    """Return a table with this many metrics, by hardware or by hardware and threads."""
    lines = [
        line((metric, label, *([str(n)] if by_threads else [])), hardware=key, threads=n)
        for metric in METRICS[:metrics]
        for key, label in HARDWARE.items()
        for n in (THREADS if by_threads else (4,))
    ]
    keys = w.keys(WORKLOADS)
    return p.TableElement(title="T", dim="workload", dim_label="", keys=keys, lines=tuple(lines), transposed=transposed)


def made(folder: Path, *elements: p.Element, template: str = "technical_brief") -> tuple[str, list[Word]]:
    """Return the HTML page, and the words of the PDF."""
    world = w.World(HARDWARE, WORKLOADS, THREADS, ops=lambda _hardware, _workload, threads: 123_456.0 * threads)
    report = w.report("Several metrics", *elements, template=template, provenance="none")
    found = render(world.plan(report), world.store(), report.name, folder, formats=("html", "pdf", "markdown"))
    assert found.pdf
    return found.html.read_text("utf-8"), words(found.pdf)


@pytest.mark.parametrize("template", one_in(4, TEMPLATES))
def test_no_words_of_a_table_are_cut_overlap_or_run_past_the_margin(template: str, tmp_path: Path) -> None:
    _, found = made(
        tmp_path,
        table(3),
        table(2, by_threads=True),
        table(3, by_threads=True),
        p.CalloutElement(title="C", table=table(2)),
        p.CalloutElement(title="C", table=table(3, by_threads=True)),
        template=template,
    )
    right = 960 - 54 if template == "slide" else 595.3 - MARGIN
    assert [word for word in found if word.right > right + 0.5] == []
    assert [(one.text, other.text) for one, other in combinations(found, 2) if one.covers(other)] == []
    assert {"Acknowledgement", "Throughput", "machines", "threads", "thread"} <= {word.text for word in found}


def test_a_name_that_columns_share_stands_once_above_them_and_so_does_their_unit(tmp_path: Path) -> None:
    page, _ = made(tmp_path, table(3))
    head = re.search(r"<thead>(.*?)</thead>", page, re.DOTALL)
    assert head
    over = '<th scope="colgroup" colspan="2" class="over">'
    assert head[1].split("\n")[1:4] == [
        f'<tr><th scope="col" rowspan="2">Workload</th>{over}Throughput <span class="unit">ops/s</span></th>',
        f'{over}Throughput for each busy core <span class="unit">ops/s</span></th>',
        f'{over}Acknowledgement <span class="unit">ms</span></th>',
    ]
    assert head[1].count('<th scope="col" class="n">Local disk of the older machines</th>') == 3


def test_a_unit_that_all_numbers_share_stands_once_in_the_caption(tmp_path: Path) -> None:
    page, _ = made(tmp_path, table(2), table(2, transposed=True))
    first, second = re.findall(r'<figure class="table.*?</figure>', page, re.DOTALL)
    assert re.findall(r'<span class="unit">(.*?)</span>', first) == ["(ops/s)"]
    assert first.index("(ops/s)") < first.index("<table")
    assert second.count("ops/s") == 2, "each group of rows has it once"


def test_a_table_that_is_too_wide_stands_in_parts_of_whole_groups(tmp_path: Path) -> None:
    page, found = made(tmp_path, table(3, by_threads=True))
    assert page.count("<thead>") == 1  # on a screen it scrolls
    assert [word.text for word in found].count("Workload") == 2


def test_rows_that_share_a_name_stand_below_it(tmp_path: Path) -> None:
    page, _ = made(tmp_path, table(2, transposed=True))
    groups = re.findall(r'<tr class="group"><th scope="rowgroup" colspan="3">(.*?)</th>', page)
    assert groups == ["Throughput (ops/s)", "Throughput for each busy core (ops/s)"]


def test_markdown_has_one_head_with_all_names(tmp_path: Path) -> None:
    made(tmp_path, table(2, by_threads=True))
    text = next(tmp_path.glob("*.md")).read_text("utf-8")
    assert "| Workload | Throughput, Local disk of the older machines, 1 thread |" in text
    assert re.search(r"\*\*Table 1:\*\* T \(ops/s\)", text)


def test_numbers_in_heads_say_what_they_count(tmp_path: Path) -> None:
    page, _ = made(tmp_path, table(1, by_threads=True))
    assert page.count(">4 threads</th>") == 2


@pytest.mark.parametrize("name", ["Averylongnameofasingleword" * 4, "A name of many words that goes on and on " * 3])
def test_a_long_name_of_a_row_leaves_the_words_of_twelve_heads_whole(name: str, tmp_path: Path) -> None:
    heads = [f"Acknowledged{letter}" for letter in "ABCDEFGHIJKL"]
    lines = [line((head,), hardware="disk", threads=4) for head in heads]
    keys = w.keys({"a": name, "b": "Photo tagging"})
    element = p.TableElement(title="T", dim="workload", dim_label="", keys=keys, lines=tuple(lines))
    _, found = made(tmp_path, element)
    assert set(heads) <= {word.text for word in found}
    assert [word for word in found if word.right > 595.3 - MARGIN + 0.5] == []


def test_a_long_word_above_a_column_alone_is_whole(tmp_path: Path) -> None:
    groups = [f"Acknowledgements{letter}" for letter in "ABCDEFGHIJ"]
    lines = [line((group, "Disk"), hardware="disk", threads=4) for group in groups]
    element = p.TableElement(title="T", dim="workload", dim_label="", keys=w.keys(WORKLOADS), lines=tuple(lines))
    _, found = made(tmp_path, element)
    assert set(groups) <= {word.text for word in found}


@pytest.mark.parametrize("columns", [4, 8, 12])
def test_japanese_heads_are_not_broken_character_by_character(columns: int) -> None:
    """Lines may break between any two Japanese characters. This once led to columns that were one character wide,
    beside columns with long words."""
    room = room_of(False, boxed=False)
    names = ["高速ストレージ構成", "読み取りと更新が半分ずつのワークロード", "StandardnodeskonfigurationMitNamen"]
    heads = [TableHead(names[at % 3], "ops/s") for at in range(columns)]
    cells = tuple(TableCell(Markup("1,234"), numeric=True) for _ in heads)
    parts = parts_of("スレッド数", heads, [TableRow(TableHead("読み取り"), cells)], room)
    for part in parts:
        if part.widths:
            size = (part.points or room.points) * 4 / 3
            for head, width in zip(heads[part.first : part.end], part.widths[1:], strict=True):
                assert head.label == names[2] or width * room.width / 100 >= 5 * size, head.label


@pytest.mark.parametrize(
    ("title", "html"),
    [
        ("Cost in USD/Mop", 'Cost in <bdi class="whole">USD/Mop</bdi>'),
        ("Read/write <b>", "Read/write"),
        ("no unit", "no unit"),
    ],
)
def test_a_unit_with_a_stroke_is_kept_whole_in_a_title(title: str, html: str) -> None:
    assert html in str(keep_units_whole(title)).replace('<bdi class="whole">Read/write</bdi>', "Read/write")
    assert "<b>" not in keep_units_whole(title)


ODD = (
    "Plain",
    "A name that goes on " * 3,
    "מסד נתונים",
    "👩‍👩‍👧‍👦🚀",
    "<b>&amp; *a*",
    "日本語のとても長い名前",
    "x" * 60,
)
SIZES = (1e-9, 0.3, 1.0, 1234.5, 1e15, -5.0, 0.0)


@pytest.mark.long
@pytest.mark.parametrize("template", ["technical_brief", "slide"])
def test_forty_levels_of_odd_names_and_sizes_fit_the_page_in_parts(template: str, tmp_path: Path) -> None:
    levels = {f"k{at}": f"{ODD[at % len(ODD)]} {at}" for at in range(40)}
    lines = tuple(
        p.Line(
            label=name,
            unit="ops/s",
            query=w.table_of(
                {key: SIZES[(at + of) % len(SIZES)] for at, key in enumerate(levels)}, "workload", "ops/s", f"t[{of}]"
            ),
            tested=p.Tested(of="t", better="higher"),
        )
        for of, name in enumerate(levels.values())
    )
    element = p.TableElement(
        title="Forty", dim="workload", dim_label="", keys=w.keys(levels), lines=lines, heat="table", mark="best"
    )
    page, found = made(tmp_path, element, template=template)
    assert page.count('<th scope="row"') >= 40
    right = 960 - 54 if template == "slide" else 595.3 - MARGIN
    assert [word for word in found if word.right > right + 0.5] == []
    assert "Continued:" in {word.text for word in found}
    assert not re.search(r">(?:nan|-?inf)<", page)


def test_the_marks_of_notes_push_no_digits_out_of_line() -> None:
    texts = [Markup("27") + marks_beside_number((1,)), Markup("29"), Markup("4.5")]
    rows = [TableRow(TableHead("A"), (TableCell(text, True),)) for text in texts]
    pads = [row.cells[0].pad for row in aligned(rows, ".")]
    assert pads[0] == pads[1] > 0
    assert pads[2] == 0
