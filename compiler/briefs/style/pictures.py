"""Checks that a picture is whole: WeasyPrint draws a cut PNG black from where it ends."""

from __future__ import annotations

import io
import warnings


def why_not_whole(png: bytes) -> str:
    """Return why a PNG, read to its last pixel, is not whole; "" when it is."""
    from PIL import Image, ImageFile, UnidentifiedImageError

    # WeasyPrint makes Pillow accept cut files, in the whole process.
    lenient, ImageFile.LOAD_TRUNCATED_IMAGES = ImageFile.LOAD_TRUNCATED_IMAGES, False
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            with Image.open(io.BytesIO(png), formats=["PNG"]) as picture:
                picture.load()
    except (Image.DecompressionBombError, Image.DecompressionBombWarning):
        return "it has too many pixels"
    except (UnidentifiedImageError, OSError, SyntaxError, ValueError):  # Pillow raises its own error inside
        return "it is damaged, or only a part of a PNG"
    finally:
        ImageFile.LOAD_TRUNCATED_IMAGES = lenient
    return ""
