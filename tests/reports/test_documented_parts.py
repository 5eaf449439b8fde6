"""Tests docs/reports.md: each field that it lists for a part exists when the part is laid out, including fields in
lists."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchbrief.model import plan as p
from benchbrief.reports.render.render_report import render
from tests.reports.briefs import made
from tests.support.tools import REPOSITORY

_ROW = re.compile(r"^\| ((?:`\w+\.html\.j2`(?:, )?)+) \| [^|]+ \| (.+) \|$", re.MULTILINE)
_FIELD = re.compile(r"`(\w+)`(?: \(((?:`\w+`|[^()])*)\))?(?:: (`\w+`(?:, `\w+`)*))?")


def _documented() -> Iterator[tuple[str, str]]:
    """Yield each part in the table of `docs/reports.md`, with the fields that it gets according to the table."""
    for files, gets in _ROW.findall((REPOSITORY / "docs" / "reports.md").read_text("utf-8")):
        for part in re.findall(r"`(\w+)\.html\.j2`", files):
            yield part, gets


def _template(part: str, gets: str) -> str:
    """Return a template that prints whether each documented field exists. A list is checked by its first item."""
    if part == "figures":
        return "{% for block in block.figures %}" + _template("figure", gets) + "{% endfor %}"
    said = [f"<i>{part} {name}={{{{ {name} is defined }}}}</i>" for name in re.findall(r"`(\w+\.\w+(?:\.\w+)*)`", gets)]
    found = re.match(r"`(block|notice)`: ([^;]*)", gets)
    of, listed = found.groups() if found else ("", "")
    for name, inner, deeper in _FIELD.findall(listed):
        if name in re.findall(r"`(\w+)`", deeper):
            continue
        said.append(f"<i>{part} {name}={{{{ {of}.{name} is defined }}}}</i>")
        first = f"{{% set one = {of}.{name} | first %}}"
        inside = [
            f"<i>{part} {name}.{field}={{{{ one.{field} is defined }}}}</i>"
            for field in re.findall(r"`(\w+)`", inner.split(":")[0])
        ]
        said += ["{% if ", f"{of}.{name}", " %}", first, *inside, "{% endif %}"] if inside else []
    return "".join(said)


@pytest.fixture(scope="module")
def said_by_parts(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return the output of all parts in three briefs. Together, these have each kind of element."""
    folder = tmp_path_factory.mktemp("parts")
    assets = []
    for part, gets in _documented():
        path = folder / f"{part}.html.j2"
        ours = f'{{% include "ours/{part}.html.j2" %}}' if part in ("notice", "title", "legal") else ""
        path.write_text(ours + _template(part, gets))
        assets.append(p.Asset(file=str(path), sha256="0" * 64))
    text = ""
    claim = p.HeadlineNumber(value=p.Prose(parts=("2X",)), text=p.Prose(parts=("the work of a disk",)))
    headline = p.HeadlineElement(numbers=(claim,))
    for name in ("quickstart", "three_ssds", "cluster_shrink"):
        world, brief = made(name)
        # What lays out other parts stays ours, so that these are reached.
        parts = tuple(asset for asset in assets if Path(asset.file).name != "section.html.j2")
        for own in (parts, tuple(assets)) if name == "quickstart" else (parts,):
            report = brief.model_copy(update={"parts": own, "elements": (headline, *brief.elements)})
            html = render(world.plan(report), world.store(), report.name, folder / "out", html_only=True).html
            text += html.read_text("utf-8")
    return text


@pytest.mark.parametrize(("part", "gets"), [*_documented()])
def test_each_documented_field_is_there(part: str, gets: str, said_by_parts: str) -> None:
    kind = "figure" if part == "figures" else part
    said = re.findall(rf"<i>{kind} ([\w.]+)=(\w+)</i>", said_by_parts)
    assert said, f"no brief has a {part}"
    assert {name for name, there in said if there != "True"} == set()
    wanted = set(re.findall(rf"<i>{kind} ([\w.]+)=", _template(part, gets)))
    within_empty = {name for name in wanted if "." in name}
    assert wanted - within_empty <= {name for name, _ in said}


@pytest.mark.long
def test_values_to_compute_with_are_raw(tmp_path: Path) -> None:
    part = tmp_path / "table.html.j2"
    part.write_text(
        "{% for row in block.rows %}{% for c in row.cells %}"
        "<i>{{ c }}|{{ c.value }}|{{ c.unit }}</i>"
        "{% endfor %}{% endfor %}"
    )
    world, brief = made("quickstart")
    report = brief.model_copy(update={"parts": (p.Asset(file=str(part), sha256="0" * 64),)})
    html = render(world.plan(report), world.store(), report.name, tmp_path / "out", html_only=True).html.read_text(
        "utf-8"
    )
    pairs = re.findall(r"<i>(?:<[^>]+>)*([\d,.]+)(?:<[^>]+>)*\|([\d.e+-]+)\|([^<]*)</i>", html)
    assert pairs
    assert any(shown.replace(",", "") != raw for shown, raw, _ in pairs), "a raw value is not rounded"
