"""Whether a picture can be shown: a PNG that breaks off is drawn as far as it goes, and black from there on."""

from __future__ import annotations

import io
import warnings


def why_not_whole(png: bytes) -> str:
    """What is wrong with a PNG, read to its last pixel; "" when nothing is."""
    from PIL import Image, ImageFile, UnidentifiedImageError

    # WeasyPrint has Pillow take what is broken off for whole, in all of the process.
    lenient, ImageFile.LOAD_TRUNCATED_IMAGES = ImageFile.LOAD_TRUNCATED_IMAGES, False
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            with Image.open(io.BytesIO(png), formats=["PNG"]) as picture:
                picture.load()
    except (Image.DecompressionBombError, Image.DecompressionBombWarning):
        return "it has too many pixels"
    except (UnidentifiedImageError, OSError, SyntaxError, ValueError):  # Pillow says it in words of its own inside
        return "it is damaged, or only a part of a PNG"
    finally:
        ImageFile.LOAD_TRUNCATED_IMAGES = lenient
    return ""
