"""Tests that a page looks the same whether its lines are computed or cached."""

from __future__ import annotations

from typing import Any

import pytest

from benchbrief.reports.render import page_pdf
from benchbrief.reports.render.remembered_lines import remembering_lines, with_memory

_TEXT = "Extraordinarily long words are hyphenated, <u>underlined</u>, <b>bold</b> or <i>not breakable</i>. " * 4
_PAGE = f"""<html lang="en"><style>
  p {{ columns: 3; text-align: justify; hyphens: auto; letter-spacing: 0.2px }}
  h2 {{ font-size: 18px; word-spacing: 3px; white-space: nowrap }}
  td {{ overflow-wrap: anywhere; font-variant-numeric: tabular-nums }}
</style><h2>{_TEXT}</h2><p>{_TEXT}</p><p style="font-size: 9px">{_TEXT}</p>
<table><tr><td>{_TEXT}</td><td>12,345.67</td><td>測定した値は表にある。{_TEXT}</td></tr></table></html>"""


def _drawn() -> tuple[list[tuple[Any, ...]], bytes]:
    """Return the texts of the page with their places, and the page as a PDF."""
    document = page_pdf._weasyprint().HTML(string=_PAGE).render()
    boxes = [box for page in document.pages for box in page._page_box.descendants() if hasattr(box, "pango_layout")]
    places = [(box.text, box.position_x, box.position_y, box.width, box.height, box.baseline) for box in boxes]
    return places, document.write_pdf(pdf_identifier=b"page")


@pytest.mark.long
def test_a_page_of_remembered_lines_is_that_of_lines_found_anew() -> None:
    found = _drawn()
    assert len(found[0]) > 40, "as many lines, so that there is something to remember"
    with remembering_lines():
        assert _drawn() == found
        assert _drawn() == found, "drawing a page changes nothing of what is remembered"


def test_pages_with_one_configuration_of_typefaces_share_their_style_sheet() -> None:
    weasyprint = page_pdf._weasyprint()
    typefaces = weasyprint.text.fonts.FontConfiguration()
    css = "@page { size: 90px 70px; margin: 0 } @layer a { p { margin: 7px } } p { margin: 0 }"

    def places(page: str) -> list[tuple[float, ...]]:
        document = weasyprint.HTML(string=page).render(typefaces)
        boxes = [box for each in document.pages for box in each._page_box.descendants()]
        return [(document.pages[0].width, box.position_x, box.position_y, box.width) for box in boxes]

    def shared() -> int:
        return len(vars(typefaces)["remembered_sheets"])

    page = f"<style>{css}</style><p>one</p><style>p {{ color: red }}</style><p>two</p>"
    assert places(page) == places(page)
    assert shared() == 1, "the first sheet of the page, which the second page has, too"
    assert places(page.replace("70px", "60px"))[0][0] == 90
    places(f"<style>{css} @counter-style x {{ system: cyclic; symbols: '*' }}</style>")
    assert shared() == 2, "a sheet of counters is none to share"

    linked = "<link rel=stylesheet href='data:text/css,@page{{size:{0}px;margin:0}}'><p>one</p>"
    assert [places(linked.format(size))[0][0] for size in (70, 80)] == [70, 80], "each linked sheet is its own"


_BOXES = """<style>
  @page { size: 400px 300px } div { margin: 2% 10%; padding: 1em 5%; min-height: 3em }
  div div { width: 60%; height: 50% }
  .flex { display: flex } .flex > * { flex: 1; min-width: 20%; box-sizing: border-box; border: 1px solid }
  .grid { display: grid; grid-template-columns: 1fr 2fr } .columns { columns: 2 } i { float: left; width: 30% }
  table { width: 100% } td { padding: 1%; border: 2px solid } .one { border-collapse: collapse } .one b { padding: 4% }
</style>""" + "".join(
    f"<div class={kind}><div>one <i>two</i></div><div>three <b>four</b><div>five</div></div></div>"
    f"<table class={kind}><tr><td>six<td style='border: 5px solid'><b>seven</b><tr><td colspan=2>eight</table>"
    for kind in ("flex", "grid", "columns", "one", "none")
)


def test_boxes_have_the_same_sizes_whether_they_are_resolved_anew_or_not(monkeypatch: pytest.MonkeyPatch) -> None:
    weasyprint = page_pdf._weasyprint()

    def sizes() -> list[dict[str, object]]:
        document = weasyprint.HTML(string=_BOXES).render()
        boxes = [box for page in document.pages for box in page._page_box.descendants()]
        return [{name: size for name, size in vars(box).items() if isinstance(size, int | float)} for box in boxes]

    remembered = sizes()
    assert len(remembered) > 100
    for name in page_pdf.LAYOUTS:
        monkeypatch.setattr(
            getattr(weasyprint.layout, name), "resolve_percentages", weasyprint.layout.percent.resolve_percentages
        )
    assert sizes() == remembered


def test_lines_are_remembered_for_one_style_and_width_within_the_block_alone() -> None:
    asked: list[tuple[Any, ...]] = []

    class Style(dict[str, str]):
        def __missing__(self, key: str) -> str:
            return "normal"

    def split(*given: Any) -> tuple[Any, ...]:
        asked.append(given)
        return object(), 1

    remembered = with_memory(split)
    remembered("a", Style(), None, 10.0)
    with remembering_lines():
        for style, width in ((Style(), 10.0), (Style(), 10.0), (Style(font_size="9"), 10.0), (Style(), 11.0)):
            remembered("a", style, None, width)
    remembered("a", Style(), None, 10.0)
    assert [(given[1], given[3]) for given in asked] == [
        ({}, 10.0), ({}, 10.0), ({"font_size": "9"}, 10.0), ({}, 11.0), ({}, 10.0)
    ]  # fmt: skip
