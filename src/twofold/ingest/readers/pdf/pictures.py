"""Pages of a PDF that are pictures: which ones they are, and their text where it can be recognized.

A page is a picture when it shows something and has no text, or a few characters over an image of half the page, such as
the stamp of a scanner.
"""

from collections.abc import Mapping, Sequence
from contextlib import closing
from typing import Any

import numpy as np

from twofold.domain.dataclass import dataclass
from twofold.domain.errors import ReadError
from twofold.domain.types import PageWords
from twofold.ingest.readers.ocr import engine
from twofold.ingest.readers.ocr.page import Scale, lines_on, words_of
from twofold.ingest.readers.pdf.lines import Line
from twofold.ingest.readers.types import MAX_PICTURES, Source

_STAMP = 40  # characters that an image of half the page may carry and still be a picture
_HALF = 0.5
_MAX_SCALE = 300 / 72  # 300 dots an inch


@dataclass(frozen=True, slots=True)
class Pictures:
    """What pages that are pictures gave: the words of those that were read; `unread` is how many were not."""

    words: tuple[PageWords, ...] = ()
    unread: int = 0

    def counts(self) -> Mapping[str, int]:
        """Return the fields that say how many pages were read, and how many were not."""
        counts = {engine.RECOGNIZED: len(self.words), engine.WITHOUT_TEXT: self.unread}
        return {name: count for name, count in counts.items() if count}


def read_pictures(source: Source, document: Any, lines: list[list[Line]]) -> Pictures:  # noqa: ANN401 pypdfium2
    """Put the text of pages that are pictures into `lines`, where it can be recognized, and return what was read."""
    numbers = [number for number in range(len(document)) if _is_picture(document, number, lines[number])]
    if source.on_page is None or not numbers or not engine.installed():
        return Pictures(unread=len(numbers))
    words: list[PageWords] = []
    unread = max(0, len(numbers) - MAX_PICTURES)
    some = numbers[:MAX_PICTURES]
    for at, number in enumerate(some, start=1):
        source.on_page(at, len(some))
        with closing(document[number]) as page:
            if _pixels_of(page) > engine.MAX_PIXELS:
                unread += 1
                continue
            pixels, points = _drawn(page), page.get_size()
        found = engine.recognized(pixels)
        scale = Scale((pixels.shape[1], pixels.shape[0]), points)
        words.append(words_of(number + 1, found, scale))
        lines[number] = lines_on(found, scale) or lines[number]
    return Pictures(tuple(words), unread)


def no_text(source: Source, pictures: Pictures) -> ReadError:
    """Return the error for a document without any text: a scan that is not read, or pages that show none."""
    if pictures.unread:
        message = f"{source.name}: a scan without a text layer; nothing in it can be searched."
        hint = engine.HINT if source.on_page is None else engine.hint_for_pictures()
        return ReadError(message, hint, kind="no-text-layer")
    return ReadError(f"{source.name}: there is no text on its pages.", "Leave it out with .twofoldignore.", "empty")


def _is_picture(document: Any, number: int, lines: Sequence[Line]) -> bool:  # noqa: ANN401 as above
    from pypdfium2 import PdfiumError, raw

    if sum(len(line.text) for line in lines) > _STAMP:
        return False
    try:
        with closing(document[number]) as page:
            if not lines:
                return bool(raw.FPDFPage_CountObjects(page.raw) > 0)
            width, height = page.get_size()
            images = page.get_objects(filter=[raw.FPDF_PAGEOBJ_IMAGE])
            return any(_area(image.get_bounds()) >= _HALF * width * height for image in images)
    except PdfiumError:  # a page that cannot be loaded shows nothing
        return False


def _area(box: tuple[float, float, float, float]) -> float:
    left, bottom, right, top = box
    return (right - left) * (top - bottom)


def _pixels_of(page: Any) -> int:  # noqa: ANN401 as above
    """Return how many pixels a page's images have, by what their heads claim; none is decoded for it."""
    from pypdfium2 import raw

    sizes = (image.get_px_size() for image in page.get_objects(filter=[raw.FPDF_PAGEOBJ_IMAGE]))
    return sum(width * height for width, height in sizes)


def _drawn(page: Any) -> engine.Pixels:  # noqa: ANN401 as above
    longer = max(*page.get_size(), 1.0)
    scale = min(_MAX_SCALE, engine.MAX_SIDE / longer)
    return np.ascontiguousarray(page.render(scale=scale, may_draw_forms=False).to_numpy()[..., :3])
