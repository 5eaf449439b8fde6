"""Small files of office programs for tests, in the form that PowerPoint, Excel and Word write."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping, Sequence

_RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_TYPES = '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"></Types>'
_DRAWING = f'xmlns:a="urn:a" xmlns:p="urn:p" xmlns:c="urn:c" xmlns:w="urn:w" xmlns:r="{_RELATIONS}"'


def package(parts: Mapping[str, str | bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in {"[Content_Types].xml": _TYPES, **parts}.items():
            file.writestr(name, content)
    return out.getvalue()


def relations(**targets: tuple[str, str]) -> str:
    """Return references by id, each with its kind and target."""
    each = "".join(
        f'<Relationship Id="{id_}" Type="{_RELATIONS}/{kind}" Target="{target}"/>'
        for id_, (kind, target) in targets.items()
    )
    return f"<Relationships>{each}</Relationships>"


def slides(*texts: Sequence[str], chart: Sequence[float] = ()) -> bytes:
    """Return a presentation with paragraphs for each slide. A paragraph with tabs is a row of a table. The first slide
    has the chart."""
    parts: dict[str, str] = {
        "ppt/presentation.xml": f"<p:presentation {_DRAWING}><p:sldIdLst>"
        + "".join(f'<p:sldId id="{n}" r:id="s{n}"/>' for n in range(len(texts)))
        + "</p:sldIdLst></p:presentation>",
        "ppt/_rels/presentation.xml.rels": relations(
            **{f"s{n}": ("slide", f"slides/slide{n}.xml") for n in range(len(texts))}
        ),
    }
    for number, paragraphs in enumerate(texts):
        body = "".join(map(_drawn, paragraphs))
        parts[f"ppt/slides/slide{number}.xml"] = f"<p:sld {_DRAWING}>{body}</p:sld>"
    if chart:
        values = "".join(f'<c:pt idx="{n}"><c:v>{value!r}</c:v></c:pt>' for n, value in enumerate(chart))
        series = f"<c:ser><c:tx><c:v>NVMe</c:v></c:tx><c:val><c:numCache>{values}</c:numCache></c:val></c:ser>"
        parts["ppt/charts/chart1.xml"] = f"<c:chartSpace {_DRAWING}>{series}</c:chartSpace>"
        parts["ppt/slides/_rels/slide0.xml.rels"] = relations(c=("chart", "../charts/chart1.xml"))
    return package(parts)


def _drawn(text: str) -> str:
    if "\t" not in text:
        return f"<a:p><a:r><a:t>{text}</a:t></a:r></a:p>"
    cells = "".join(f"<a:tc><a:p><a:r><a:t>{cell}</a:t></a:r></a:p></a:tc>" for cell in text.split("\t"))
    return f"<a:tbl><a:tr>{cells}</a:tr></a:tbl>"


def document(*paragraphs: str) -> bytes:
    """Return a document that begins a new text run at each blank, as after an edit in Word."""
    body = "".join(
        "<w:p>" + "".join(f'<w:r><w:t xml:space="preserve">{word}</w:t></w:r>' for word in text.split("|")) + "</w:p>"
        for text in paragraphs
    )
    return package({
        "word/document.xml": f"<w:document {_DRAWING}><w:body>{body}</w:body></w:document>",
        "word/_rels/document.xml.rels": relations(),
    })  # fmt: skip
