"""Whether a picture can be shown whole."""

from __future__ import annotations

from pathlib import Path

from PIL import ImageFile

from benchbrief.compiler.briefs.themes import why_not_whole

CUT = Path(__file__).parent / "errors" / "house" / "cut.png"


def test_a_png_that_breaks_off_is_reported_whatever_else_the_process_has_loaded() -> None:
    import weasyprint  # has Pillow take what is broken off for whole

    assert weasyprint
    assert ImageFile.LOAD_TRUNCATED_IMAGES
    assert why_not_whole(CUT.read_bytes()) == "it is damaged, or only a part of a PNG"
    assert ImageFile.LOAD_TRUNCATED_IMAGES, "as it was"
