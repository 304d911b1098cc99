"""Image files (PNG, JPEG, TIFF of one page or more): what is written on them, with the place of each word."""

import io
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from twofold.domain.errors import ReadError
from twofold.domain.types import BlockKind, MetadataValue, PageWords
from twofold.ingest.readers.ocr import engine
from twofold.ingest.readers.ocr.page import Scale, lines_on, words_of
from twofold.ingest.readers.pdf.layout import paragraphs_of
from twofold.ingest.readers.types import MAX_PICTURES, Extract, Source, TextBuilder

_POINTS = 842.0  # the longer side of a page of A4


def read_image(source: Source) -> Extract:
    """Read the text on an image. Metadata: `pages` and `pages_recognized`.

    Raises ReadError: `no-text-layer` where pictures cannot be read, `empty` without text, `malformed`, `limit`.
    """
    if source.on_page is None or not engine.installed():
        raise ReadError("a picture; what is written on it can only be read by OCR", engine.HINT, "no-text-layer")
    builder, words = TextBuilder(), list[PageWords]()
    for number, pixels in enumerate(_pages(source), start=1):
        found = engine.recognized(pixels)
        high, wide = pixels.shape[:2]
        points = _POINTS / max(wide, high)
        scale = Scale((wide, high), (wide * points, high * points))
        words.append(words_of(number, found, scale))
        for part in paragraphs_of(lines_on(found, scale)):
            kind = BlockKind.PARAGRAPH if part.kind is BlockKind.HEADING else part.kind
            builder.add(kind, part.text, page=number, header=part.header)
    if not builder.count:
        raise ReadError("there is no text on the image", "Leave it out with .twofoldignore.", "empty")
    counts: dict[str, MetadataValue] = {"pages": len(words), engine.RECOGNIZED: len(words)}
    return replace(builder.extract("", counts), words=tuple(words))


def _pages(source: Source) -> Iterator[engine.Pixels]:
    """Yield the pictures of a file, upright as its notes say, none longer than `engine.MAX_SIDE` pixels."""
    from PIL import Image, UnidentifiedImageError

    try:
        with Image.open(io.BytesIO(source.data), formats=("PNG", "JPEG", "TIFF")) as image:
            count = min(getattr(image, "n_frames", 1) if image.format == "TIFF" else 1, MAX_PICTURES)
            for number in range(count):
                image.seek(number)
                if source.on_page is not None:
                    source.on_page(number + 1, count)
                yield _pixels(image)
    except (UnidentifiedImageError, Image.DecompressionBombError, OSError, ValueError, SyntaxError, EOFError) as error:
        raise ReadError("the image is damaged", "Restore it from a good copy.", "malformed") from error


def _pixels(image: Any) -> engine.Pixels:  # noqa: ANN401 a library without types here
    from PIL import Image, ImageOps

    if image.width * image.height > engine.MAX_PIXELS:
        raise ReadError(f"the image has more than {engine.MAX_PIXELS:,} pixels", "Make it smaller.", "limit")
    image.draft("RGB", (engine.MAX_SIDE, engine.MAX_SIDE))  # a JPEG is decoded at an eighth, a quarter or a half
    upright = ImageOps.exif_transpose(image)
    with_alpha = upright.convert("RGBA")
    white = Image.new("RGBA", with_alpha.size, "white")
    white.alpha_composite(with_alpha)
    small = white.convert("RGB")
    small.thumbnail((engine.MAX_SIDE, engine.MAX_SIDE))
    return np.ascontiguousarray(np.asarray(small)[..., ::-1])
