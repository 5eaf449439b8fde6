"""Tests how an incomplete picture is recognized."""

from __future__ import annotations

from pathlib import Path

import pytest
from PIL import Image, ImageFile

from benchbrief.compiler.briefs.themes import MOST_BYTES, why_not_whole
from benchbrief.compiler.compile import check

CUT = Path(__file__).parent / "errors" / "house" / "cut.png"


def test_a_png_that_breaks_off_is_reported_whatever_else_the_process_has_loaded() -> None:
    import weasyprint  # has Pillow take what is broken off for whole

    assert weasyprint
    assert ImageFile.LOAD_TRUNCATED_IMAGES
    assert why_not_whole(CUT.read_bytes()) == "it is damaged, or only a part of a PNG"
    assert ImageFile.LOAD_TRUNCATED_IMAGES, "as it was"


SPEC = """\
hardware box { hosts = local  path = "/var/tmp/a" }
database rocks { engine = rocksdb  path = "{path}" }
workload rr from db_bench.readrandom
experiment ramp { hardware = box  workloads = rr  threads = [1, 2]  measure = 1 s }
report brief { theme { cover = "COVER" }  text = "One point." }
"""


def told(folder: Path, cover: str) -> list[str]:
    path = folder / "spec.bench"
    path.write_text(SPEC.replace("COVER", cover), encoding="utf-8")
    checked = check(path)
    assert (checked.plan is None) == bool(checked.diagnostics)
    return [each.summary for each in checked.diagnostics]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with pictures beside the spec and one outside it."""
    inner, outer = tmp_path / "inner", tmp_path / "outer"
    for each in (inner, outer):
        each.mkdir()
        for name in ("a.png", "a.jpg", "a.gif"):
            Image.new("RGB", (40, 30), (200, 10, 60)).save(each / name)
    (inner / "a.svg").write_text('<svg xmlns="http://www.w3.org/2000/svg"/>')
    return inner


@pytest.mark.parametrize("name", ["a.png", "a.jpg", "a.svg"])
def test_a_cover_may_be_a_png_a_jpeg_or_an_svg(folder: Path, name: str) -> None:
    assert told(folder, name) == []


def test_a_cover_of_another_kind_is_reported(folder: Path) -> None:
    assert told(folder, "a.gif") == ["`a.gif` can't be a cover: it is another kind of file"]


def test_a_jpeg_that_breaks_off_is_reported(folder: Path) -> None:
    (folder / "cut.jpg").write_bytes((folder / "a.jpg").read_bytes()[:300])
    assert told(folder, "cut.jpg") == ["`cut.jpg` can't be a cover: it is damaged, or only a part of a JPEG"]


@pytest.mark.parametrize(
    "text", ['<svg xmlns="http://www.w3.org/2000/svg" width="9"', "<svg/><svg/>", "<svg><a:b/></svg>"]
)
def test_an_svg_that_can_not_be_read_is_reported(folder: Path, text: str) -> None:
    (folder / "cut.svg").write_text(text)
    assert told(folder, "cut.svg") == ["`cut.svg` can't be a cover: it is damaged, or only a part of an SVG"]


def test_of_a_cover_of_a_hundred_megabytes_only_the_first_ten_are_read(folder: Path) -> None:
    with (folder / "large.jpg").open("wb") as file:
        file.write((folder / "a.jpg").read_bytes())
        file.truncate(10 * MOST_BYTES)
    assert told(folder, "large.jpg") == ["`large.jpg` can't be a cover: it has more than 10 MB"]


def test_a_cover_that_is_a_link_stays_in_the_folder(folder: Path) -> None:
    (folder / "same.png").symlink_to(folder / "a.png")
    (folder / "away.png").symlink_to(folder.parent / "outer" / "a.png")
    (folder / "linked").symlink_to(folder.parent / "outer")
    assert told(folder, "same.png") == []
    assert told(folder, "away.png") == ["`away.png` can't be a cover: it is a link to another folder"]
    assert told(folder, "linked/a.png") == ["`linked/a.png` can't be a cover: it is a link to another folder"]
