"""Tests a user's house style: colours, logo, style sheet, parts of a layout, and the limits on what templates can
do."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from pypdf import PdfReader

from benchbrief.compiler.briefs.colours import contrast_on_white
from benchbrief.compiler.briefs.themes import PARTS
from benchbrief.model import plan as p
from benchbrief.model.extension_spec import Format
from benchbrief.reports.brief_error import ReportError
from benchbrief.reports.render.page_html import TEMPLATES
from benchbrief.reports.render.render_report import render
from tests.reports import briefs
from tests.reports import world as w
from tests.reports.test_pdf_ua import fonts_of
from tests.support.longer import one_in

PARTS_FOLDER = Path(__file__).parents[2] / "reports" / "templates" / "parts"
MARKDOWN: tuple[Format, ...] = ("markdown",)
Made = Callable[..., str]


@pytest.fixture
def page(tmp_path: Path) -> Made:
    """Return a function that makes the HTML of a small brief with these parts and this theme."""

    def make(parts: dict[str, str] | None = None, **theme: object) -> str:
        world, report = (
            w.World({"disk": "Disk"}, {"a": "Sessions"}),
            w.report("A report", p.CalloutElement(title="Lead", prose=w.text("Words.")), legal=w.text("Small print.")),
        )
        assets = []
        for name, text in (parts or {}).items():
            (tmp_path / name).write_text(text)
            assets.append(p.Asset(file=str(tmp_path / name), sha256="0" * 64))
        report = report.model_copy(update={"parts": tuple(assets), "theme": p.Theme.model_validate(theme)})
        made = render(world.plan(report), world.store(), "brief", tmp_path / "out", html_only=True)
        return made.html.read_text("utf-8")

    return make


def test_the_parts_that_specs_may_replace_are_those_that_there_are() -> None:
    assert {f"{name}.html.j2" for name in PARTS} == {path.name for path in PARTS_FOLDER.iterdir()}


def test_a_part_of_the_users_own_stands_in_for_ours_and_may_have_ours_in_it(page: Made) -> None:
    html = page({"legal.html.j2": '<hr>{% include "ours/legal.html.j2" %}<p>{{ report.run_id | upper }}</p>'})
    assert '<hr><footer class="legal">' in html
    assert f"<p>{w.RUN.upper()}</p>" in html
    assert '<aside class="callout">' in html


def test_a_part_may_ask_the_results(page: Made) -> None:
    question = "SELECT hardware, count(*) AS n FROM cells GROUP BY 1"
    part = f'{{% for row in query("{question}") %}}{{{{ row.hardware }}}}={{{{ row.n }}}}{{% endfor %}}'
    assert "disk=3" in page({"legal.html.j2": part})


def test_the_answer_to_a_question_is_escaped(page: Made) -> None:
    html = page({"legal.html.j2": "{{ query(\"SELECT '<script>' AS x\")[0].x }}"})
    assert "&lt;script&gt;" in html


@pytest.mark.parametrize(
    ("part", "line", "says"),
    [
        ("<p>\n{% if %}</p>", 2, "Expected an expression"),
        ("{{ block.titel }}", 1, "CalloutView has no `titel`: did you mean `title`?"),
        ("\n\n{{ reprot.title }}", 3, "there is no `reprot` here: did you mean `report`?"),
        ('{% include "ours/calout.html.j2" %}', 1, "there is no part `ours/calout.html.j2`"),
        ('{% include "callout.html.j2" %}', 1, "it includes itself without end"),
        ("{{ 1 / 0 }}", 1, "division by zero"),
        ('{{ query("SELECT nonsense FROM cells") }}', 1, "nonsense"),
    ],
)
def test_a_mistake_in_a_part_is_reported_with_its_file_and_line(
    page: Made, tmp_path: Path, part: str, line: int, says: str
) -> None:
    with pytest.raises(ReportError) as raised:
        page({"callout.html.j2": part})
    message = f"{raised.value}: {raised.value.hint}"
    assert message.startswith(f"{tmp_path}/callout.html.j2:{line}: ")
    assert says in message


@pytest.mark.parametrize(
    "attack",
    [
        "{{ ''.__class__.__mro__[1].__subclasses__() }}",
        "{{ report.__init__.__globals__ }}",
        "{{ query.__globals__ }}",
        "{{ picture.func.__globals__['re'] }}",
        "{{ cycler.__init__.__globals__.os.popen('id').read() }}",
        "{{ ('%s' | attr('__class__')) }}{{ (''|attr('__class__')).mro() }}",
        '{{ "{0.__class__.__mro__}".format("") }}',
        "{{ range(10000000) | list }}",
        "{{ 'a' * 999999999 }}",
        "{{ 9 ** 999999999 }}",
        '{% include "../../view.py" %}',
        '{% include "/etc/passwd" %}',
        '{% include "base/../../../pyproject.toml" %}',
        "{{ query(\"SELECT * FROM read_text('/etc/passwd')\") }}",
        "{{ query(\"COPY cells TO '/tmp/x.csv'\") }}",
        '{{ query("DROP TABLE cells") }}',
        '{{ query("INSTALL httpfs") }}',
        '{{ query("SET enable_external_access = true") }}',
        "{{ query(\"SELECT * FROM 'https://example.org/x.parquet'\") }}",
        "{% set _ = report.notices.append(1) %}",
        "{{ report.numbers.parse_raw('{}'.encode('latin-1'), content_type='application/pickle', allow_pickle=true) }}",
        "{{ report.numbers.parse_file('/etc/passwd') }}",
        "{{ report['numbers'] }}",
        "{{ [report] | map(attribute='numbers') | map('attr', 'json_text') | list }}",
        "{{ w.locale.numerals }}",
    ],
)
def test_a_template_can_not_get_out(page: Made, attack: str) -> None:
    with pytest.raises(ReportError, match="legal"):
        page({"legal.html.j2": attack})


def test_a_theme_gives_colours_typeface_logo_and_a_style_sheet_that_comes_last(page: Made, tmp_path: Path) -> None:
    (tmp_path / "logo.svg").write_text('<svg xmlns="http://www.w3.org/2000/svg"/>')
    (tmp_path / "house.css").write_text(".callout { border: 0 } /* </style><b> */")
    asset = {name: {"file": str(tmp_path / name), "sha256": "0" * 64} for name in ("logo.svg", "house.css")}
    html = page(brand="#123456", font='Hou"se; }', logo=asset["logo.svg"], css=asset["house.css"])
    style = html.split("<style>")[1].split("</style>")[0]
    assert style.index("--brand: #0b3a5b") < style.index("--brand: #123456") < style.index(".callout { border: 0 }")
    assert '"House ", var(--sans)' in style
    assert 'class="logo" src="data:image/svg+xml;base64,' in html
    assert html.count("</style>") == 1


@pytest.mark.parametrize(("brand", "is_dark"), [("#ffd23f", True), ("#0b3a5b", False)])
def test_the_text_on_a_light_brand_is_dark(brand: str, is_dark: bool, page: Made) -> None:
    assert ("--band-text: #10181f" in page(brand=brand)) == is_dark


@pytest.mark.parametrize(("start", "kind"), [(b"\xff\xd8\xff", "jpeg"), (b"\x89PNG", "png"), (b"<svg/>", "svg+xml")])
def test_a_cover_is_a_background_of_the_band_so_that_it_needs_no_other_text(
    page: Made, tmp_path: Path, start: bytes, kind: str
) -> None:
    (tmp_path / "cover").write_bytes(start)
    html = page(cover={"file": str(tmp_path / "cover"), "sha256": "0" * 64})
    band = html[html.index("<header") : html.index("</header>")]
    assert f'<div class="cover" style="background-image: url(data:image/{kind};base64,' in band
    assert band.count('class="cover"') == 1
    assert "<img" not in band


def test_markdown_has_its_logo_as_a_file_beside_it_as_it_has_its_figures(tmp_path: Path) -> None:
    (tmp_path / "mark.svg").write_text('<svg xmlns="http://www.w3.org/2000/svg"/>')
    theme = p.Theme(logo=p.Asset(file=str(tmp_path / "mark.svg"), sha256="0" * 64))
    world, report = w.World({"disk": "Disk"}, {"a": "A"}), w.report("A report", theme=theme)
    made = render(world.plan(report), world.store(), report.name, tmp_path / "out", formats=MARKDOWN)
    text = (tmp_path / "out" / "brief.md").read_text("utf-8")
    assert text.startswith("![Logo](brief-figures/logo.svg)")
    assert "data:" not in text
    logo = tmp_path / "out" / "brief-figures" / "logo.svg"
    assert logo in made.files
    assert logo.read_text() == (tmp_path / "mark.svg").read_text()


def test_a_file_of_the_house_style_that_is_gone_is_one_clear_error(page: Made) -> None:
    with pytest.raises(ReportError, match=r"none\.css of the report's house style can't be read"):
        page(css={"file": "none.css", "sha256": "0" * 64})


def test_contrast_is_as_wcag_computes_it() -> None:
    assert contrast_on_white("#000000") == pytest.approx(21)
    assert contrast_on_white("#ffffff") == pytest.approx(1)
    assert contrast_on_white("#767676") == pytest.approx(4.54, abs=0.01)  # the lightest grey that passes


@pytest.mark.parametrize("template", one_in(2, TEMPLATES))
def test_a_brief_as_markdown_has_its_headings_tables_notes_and_figures(template: str, tmp_path: Path) -> None:
    world, report = briefs.quickstart(failed=True)
    report = report.model_copy(update={"template": template})
    made = render(world.plan(report), world.store(), report.name, tmp_path, formats=MARKDOWN)
    text = (tmp_path / f"{report.name}.md").read_text("utf-8")
    assert text.startswith("# ") or "\n# " in text
    assert "<div" not in text
    assert "[^1]" in text
    assert "| --- |" in text
    for path in made.files:
        assert path.exists()
        if path.suffix == ".svg":
            assert f"]({report.name}-figures/{path.name})" in text


def test_a_typeface_of_the_house_reaches_the_figures_of_every_format(tmp_path: Path) -> None:
    """The font file is that of an installed typeface under a new name. The PDF uses no other typeface."""
    found = subprocess.run(["fc-match", "-f", "%{file}", "Inter"], capture_output=True, text=True, check=True).stdout
    world, brief = briefs.quickstart(stand_in=False)  # its mark has our typeface
    figure = next(block for block in brief.elements if isinstance(block, p.SectionElement)).elements[1]
    theme = p.Theme(font="Acme Letter 2", font_files=(p.Asset(file=found, sha256="0" * 64),))
    report = w.report("A report", figure).model_copy(update={"theme": theme})
    formats: tuple[Format, ...] = ("pdf", "html", "markdown")
    made = render(world.plan(report), world.store(), report.name, tmp_path, formats=formats)
    assert made.pdf
    names = {str(font["/FontName"]) for font in fonts_of(PdfReader(made.pdf))}
    assert {name.split("+")[1].split(",")[0].removesuffix("-Bold") for name in names if "Mono" not in name} == {
        "Acme-Letter-2"
    }
    drawn = (tmp_path / f"{report.name}-figures" / "figure-1.svg").read_text("utf-8")
    assert set(re.findall('font-family="([^"]*)"', drawn)) == {"'Acme Letter 2', Inter, sans-serif"}
    assert ".plot text { font-family: inherit; }" in made.html.read_text("utf-8")
