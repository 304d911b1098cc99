"""The process that draws one page of a PDF or an image, with the cited words marked; a hostile file costs it alone.

It reads one line of JSON and the file on standard input, and writes a PNG on standard output. Pages whose text was
recognized come with their words, since the file has none.
"""

import io
import json
import re
import struct
import sys
import zlib
from collections.abc import Iterator, Sequence
from ctypes import byref, c_int
from difflib import SequenceMatcher
from typing import Any

import numpy as np
from numpy.typing import NDArray

from twofold.domain.dataclass import dataclass
from twofold.system.limits import limit_cpu, limit_memory

NO_SUCH_PAGE = 3
TOO_MANY_PIXELS = 4
MEMORY_BYTES = 1 << 30
CPU_SECONDS = 5
MAX_PIXELS = 100_000_000
"""Pixels of all images on a page, as they lie in the file; a scan of an A3 page at 600 dpi has 70 million."""
MAX_WIDTH = 1_600.0
MAX_HEIGHT = 2_400.0
MAX_SCALE = 2.0
MAX_CHARACTERS = 50_000
MIN_RUN = 2
WHOLE = 10_000  # of a page's width or height, for boxes of recognized words
MARKER = np.array([255, 236, 110], dtype=np.uint16)
UNSPACED = re.compile("[\u3041-\u30ff\u3400-\u9fff\uf900-\ufaff]")
"""Characters of languages that write no blanks: each is compared by itself."""
PIECE = re.compile(f"{UNSPACED.pattern}|(?:(?!{UNSPACED.pattern}).)+")
Pixels = NDArray[np.uint8]
Box = tuple[float, float, float, float]


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a page: its letters and digits in lower case, and the boxes of its characters, in points."""

    text: str
    boxes: tuple[Box, ...]


def main() -> None:
    """Draw what standard input asks for."""
    limit_memory(MEMORY_BYTES)
    limit_cpu(CPU_SECONDS)
    asked = json.loads(sys.stdin.buffer.readline())
    held = [Word(word, (tuple(box),)) for word, box in asked["words"]]
    drawing = draw_image if asked["image"] else draw_page
    sys.stdout.buffer.write(png_of(drawing(sys.stdin.buffer.read(), asked["page"], asked["quote"], held)))


def draw_image(data: bytes, number: int, quote: str, held: Sequence[Word]) -> Pixels:
    """Draw a picture of an image file, upright, with the quoted ones of the words `held` marked."""
    from PIL import Image, ImageOps

    with Image.open(io.BytesIO(data), formats=("PNG", "JPEG", "TIFF")) as image:
        if number > getattr(image, "n_frames", 1):
            sys.exit(NO_SUCH_PAGE)
        image.seek(number - 1)
        if image.width * image.height > MAX_PIXELS:
            sys.exit(TOO_MANY_PIXELS)
        image.draft("RGB", (int(MAX_WIDTH), int(MAX_HEIGHT)))
        small = ImageOps.exif_transpose(image).convert("RGB")
    small.thumbnail((int(MAX_WIDTH), int(MAX_HEIGHT)))
    pixels = np.array(small)
    mark_recognized(pixels, held, quote)
    return pixels


def mark_recognized(pixels: Pixels, held: Sequence[Word], quote: str) -> None:
    """Mark the quoted ones of a page's recognized words, whose boxes are in parts of `WHOLE`."""
    height, width, _ = pixels.shape
    across, down = width / WHOLE, height / WHOLE
    for left, top, right, bottom in marked(list(pieces(held)), quote):
        _mark(pixels, (round(left * across), round(top * down), round(right * across), round(bottom * down)))


def draw_page(data: bytes, number: int, quote: str, held: Sequence[Word]) -> Pixels:
    """Draw a page (height, width, 3) with the quoted words marked; leave the process where there is no such page.

    The words are those of the file, or those `held` where there are any.
    """
    import pypdfium2

    document = pypdfium2.PdfDocument(data)
    if number > len(document):
        sys.exit(NO_SUCH_PAGE)
    page = document[number - 1]
    if pixels_of(page) > MAX_PIXELS:
        sys.exit(TOO_MANY_PIXELS)
    width, height = page.get_size()
    scale = min(MAX_SCALE, MAX_WIDTH / width, MAX_HEIGHT / height)
    pixels = np.array(page.render(scale=scale, rev_byteorder=True, may_draw_forms=False).to_numpy()[..., :3])
    if held:
        mark_recognized(pixels, held, quote)
        return pixels
    for box in marked(list(words_of(page)), quote):
        _mark(pixels, _on_screen(page, pixels, box))
    return pixels


def _mark(pixels: Pixels, box: tuple[int, int, int, int]) -> None:
    left, top, right, bottom = box
    part = pixels[top : bottom + 1, left : right + 1]
    part[:] = (part.astype(np.uint16) * MARKER // 255).astype(np.uint8)


def pixels_of(page: Any) -> int:  # noqa: ANN401  # pypdfium2 has no types
    """Return how many pixels a page's images have, by what their heads claim; none is decoded for it."""
    import pypdfium2.raw as pdfium

    sizes = (image.get_px_size() for image in page.get_objects(filter=[pdfium.FPDF_PAGEOBJ_IMAGE]))
    return sum(width * height for width, height in sizes)


def words_of(page: Any) -> Iterator[Word]:  # noqa: ANN401  # pypdfium2 has no types
    """Return a page's words in the order in which the file has them."""
    import pypdfium2.raw as pdfium

    text = page.get_textpage()
    letters = ""
    boxes: list[Box] = []
    for at in range(min(text.count_chars(), MAX_CHARACTERS)):
        char = chr(pdfium.FPDFText_GetUnicode(text, at))
        if letters and (char.isspace() or UNSPACED.match(char)):
            yield Word(letters, tuple(boxes))
            letters, boxes = "", []
        if UNSPACED.match(char):
            yield Word(char, (text.get_charbox(at),))
        elif char.isalnum():
            letters += char.lower()
            boxes.append(text.get_charbox(at))
    if letters:
        yield Word(letters, tuple(boxes))


def marked(words: Sequence[Word], quote: str) -> Iterator[Box]:
    """Return the boxes of the words that stand in the quotation, in runs of two at least, or all of a short one."""
    cited = [one.text for one in pieces([Word(word, ()) for word in quote.split()])]
    matcher = SequenceMatcher(None, [word.text for word in words], cited, autojunk=False)
    for run in matcher.get_matching_blocks():
        if run.size >= min(MIN_RUN, len(cited)):
            for word in words[run.a : run.a + run.size]:
                yield from word.boxes


def pieces(words: Sequence[Word]) -> Iterator[Word]:
    """Return words as they are compared: letters and digits in lower case, Chinese and Japanese characters one by one.

    A word in pieces has its box cut evenly; its one box runs from left to right.
    """
    for word in words:
        found = [(piece, "".join(filter(str.isalnum, piece.group())).lower()) for piece in PIECE.finditer(word.text)]
        found = [(piece, letters) for piece, letters in found if letters]
        for piece, letters in found:
            if len(found) == 1 or not word.boxes:
                yield Word(letters, word.boxes)
                continue
            left, top, right, bottom = word.boxes[0]
            step = (right - left) / len(word.text)
            yield Word(letters, ((left + step * piece.start(), top, left + step * piece.end(), bottom),))


def png_of(pixels: Pixels) -> bytes:
    """Write pixels (height, width, 3) as a PNG."""
    height, width, _ = pixels.shape
    rows = np.zeros((height, 1 + 3 * width), dtype=np.uint8)
    rows[:, 1:] = pixels.reshape(height, 3 * width)
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    parts = ((b"IHDR", head), (b"IDAT", zlib.compress(rows.tobytes(), 6)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(kind, data) for kind, data in parts)


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def _on_screen(page: Any, pixels: Pixels, box: Box) -> tuple[int, int, int, int]:  # noqa: ANN401  # as above
    """Return a box in pixels: left, top, right, bottom; the library knows how the page is turned and cropped."""
    import pypdfium2.raw as pdfium

    height, width, _ = pixels.shape
    across, down = [], []
    for x, y in ((box[0], box[1]), (box[2], box[3])):
        at_x, at_y = c_int(), c_int()
        pdfium.FPDF_PageToDevice(page, 0, 0, width, height, 0, x, y, byref(at_x), byref(at_y))
        across.append(min(max(at_x.value, 0), width))
        down.append(min(max(at_y.value, 0), height))
    return min(across), min(down), max(across), max(down)
