"""Tests heat tables: shades distinguish values, texts remain readable (even in grey), and the tables remain
accessible."""

from __future__ import annotations

import re
from importlib.resources import files
from itertools import pairwise
from pathlib import Path

import pytest

from benchbrief.model import plan as p
from benchbrief.model.extension_spec import Format
from benchbrief.reports.render.render_report import Rendered, render
from benchbrief.reports.view.build_view import STEPS, step
from tests.reports import world as w

HARDWARE, WORKLOADS = {"disk": "Disk", "ram": "RAM disk", "nvme": "NVMe"}, {"a": "A", "b": "B", "c": "C"}
OPS = {("disk", "a"): 1000.0, ("disk", "b"): 2000.0, ("disk", "c"): 6000.0, ("ram", "a"): 5000.0, ("ram", "b"): 2400.0}


def made(
    folder: Path, heat: str, workloads: dict[str, str] = WORKLOADS, *, fails: bool = False, paper: bool = False
) -> Rendered:
    """Make three columns of throughput and three of latency, under heads on two levels."""
    lines = [
        p.Line(label=label, heads=("Rate",), unit="ops/s", query=w.throughput("workload", hardware=key, threads=4))
        for key, label in HARDWARE.items()
    ]
    lines += [
        p.Line(label=label, heads=("p99",), unit="s", query=w.latency("workload", hardware=key, threads=4))
        for key, label in HARDWARE.items()
    ]
    table = p.TableElement.model_validate(
        {
            "title": "Heat",
            "dim": "workload",
            "dim_label": "",
            "keys": w.keys(workloads),
            "lines": tuple(lines),
            "heat": heat,
        }
    )
    world = w.World(HARDWARE, workloads, (4,), ops=lambda h, load, _: OPS.get((h, load), 6000.0))
    world.failed = {"ramp/disk/b/threads=4/1": "it went away"} if fails else {}
    world.p99 = lambda h, load, _: OPS.get((h, load), 6000.0) / 1e6
    report = w.report("R", table, provenance="none")
    formats: tuple[Format, ...] = ("html", "pdf") if paper else ("html",)
    return render(world.plan(report), world.store(), report.name, folder, formats=formats)


def shades(page: str) -> list[list[str]]:
    """Return the shades of the cells in each row. A cell without a shade has ""."""
    body = re.search(r"<tbody>(.*?)</tbody>", page, re.DOTALL)
    assert body
    return [
        [match[1] or "" for match in re.finditer(r'<td class="n(?: heat heat-(\d))?"', row)]
        for row in body[1].split("</tr>")[:-1]
    ]


@pytest.mark.parametrize(
    ("heat", "expected"),
    [
        ("table", [["1", "5", "5"], ["2", "2", "5"], ["5", "5", "5"]]),
        ("rows", [["1", "5", "5"], ["1", "1", "5"], ["", "", ""]]),
        ("columns", [["1", "4", ""], ["2", "1", ""], ["5", "5", ""]]),
    ],
)
def test_values_of_one_unit_are_compared_within_the_table_its_rows_or_its_columns(
    heat: str, expected: list[list[str]], tmp_path: Path
) -> None:
    page = made(tmp_path, heat).html.read_text("utf-8")
    assert shades(page) == [row * 2 for row in expected]
    assert "darker is higher" in page


def test_a_table_without_heat_has_no_shades_and_no_legend(tmp_path: Path) -> None:
    page = made(tmp_path, "").html.read_text("utf-8")
    assert {shade for row in shades(page) for shade in row} == {""}
    assert '<p class="heat-key">' not in page


def test_two_values_have_shades_and_equal_ones_have_none_which_the_table_says(tmp_path: Path) -> None:
    two = {key: WORKLOADS[key] for key in ("a", "b")}
    assert shades(made(tmp_path / "two", "columns", two).html.read_text("utf-8")) == [
        ["1", "5", ""] * 2,
        ["5", "1", ""] * 2,
    ]
    page = made(tmp_path / "one", "columns", {"a": "A"}).html.read_text("utf-8")
    assert {shade for row in shades(page) for shade in row} == {""}
    (key,) = re.findall(r'<p class="heat-key">(.*?)</p>', page)
    assert key == "No shades: all values that are compared are equal."


def test_a_missing_value_has_no_shade(tmp_path: Path) -> None:
    page = made(tmp_path, "table", fails=True).html.read_text("utf-8")
    assert shades(page)[1][0] == ""


def test_a_step_is_an_equal_part_of_the_range() -> None:
    values = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]
    assert [step(value, values) for value in values] == [1, 2, 3, 4, 5, 5]
    assert step(7.0, [7.0, 7.0]) == 0


def luminance(colour: str) -> float:
    """Return the relative luminance according to WCAG 2.2."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_numbers_can_be_read_on_every_shade_and_shades_are_apart_in_grey() -> None:
    css = (files("benchbrief.reports") / "templates" / "base" / "style.css").read_text("utf-8")
    ink = re.search(r"--ink: (#\w{6})", css)
    assert ink
    levels = [luminance(colour) for colour in re.findall(r"\.heat-\d \{ background: (#\w{6})", css)]
    assert len(levels) == STEPS
    assert all((level + 0.05) / (luminance(ink[1]) + 0.05) >= 4.5 for level in levels)
    assert all((lighter + 0.05) / (darker + 0.05) > 1.12 for lighter, darker in pairwise(levels))
