"""Pictures of pages with text on them, drawn here: what a scanner or a camera would give."""

import io
from collections.abc import Sequence

import pypdfium2
from PIL import Image, ImageDraw, ImageFont

SIZE = (1240, 1754)  # A4 at 150 dots an inch
LEFT, TOP, STEP = 120, 160, 60


def page_with(lines: Sequence[str], size: tuple[int, int] = SIZE) -> Image.Image:
    """Draw lines of text, black on white, one below the other: line n begins at LEFT, TOP + n * STEP."""
    image = Image.new("RGB", size, "white")
    draw, font = ImageDraw.Draw(image), ImageFont.load_default(size=32)
    for at, line in enumerate(lines):
        draw.text((LEFT, TOP + at * STEP), line, fill="black", font=font)
    return image


def saved(image: Image.Image, kind: str, more: Sequence[Image.Image] = ()) -> bytes:
    """Return a picture as the bytes of a file of this kind, such as `PNG`, `TIFF` or `PDF`."""
    held = io.BytesIO()
    image.save(held, kind, **({"save_all": True, "append_images": list(more)} if more else {}))
    return held.getvalue()


def joined(*files: bytes) -> bytes:
    """Return one PDF with the pages of several."""
    made = pypdfium2.PdfDocument.new()
    for data in files:
        made.import_pages(pypdfium2.PdfDocument(data))
    held = io.BytesIO()
    made.save(held)
    return held.getvalue()
