"""Pages of PDF files as pictures, with the cited words marked where they stand."""

import struct
import zlib
from collections.abc import Iterator

import numpy as np
import pytest

from made_documents import Words, pdf_of
from twofold.domain.errors import ReadError
from twofold.http.page_image import page_image
from visiting import Visit, visiting

LINES = [Words(72, 700, "The quick brown fox jumps over the lazy dog."), Words(72, 500, "Nothing to see in this line.")]


def pixels_of(png: bytes) -> np.ndarray:
    """Read a PNG of ours."""
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    width, height = struct.unpack(">II", png[16:24])
    size = struct.unpack(">I", png[33:37])[0]
    rows = np.frombuffer(zlib.decompress(png[41 : 41 + size]), dtype=np.uint8).reshape(height, 1 + 3 * width)
    return rows[:, 1:].reshape(height, width, 3)


def marked_rows(png: bytes) -> np.ndarray:
    """Say which share of the page's height, from above, is marked: its rows."""
    pixels = pixels_of(png).astype(int)
    yellow = (pixels[..., 0] > 200) & (pixels[..., 2] < 150)
    return np.flatnonzero(yellow.any(axis=1)) / len(pixels)


def test_the_cited_words_are_marked_where_they_stand() -> None:
    png = page_image(pdf_of([LINES]), 1, "quick brown fox")

    rows = marked_rows(png)
    assert len(rows)
    assert abs(rows.mean() - (792 - 704) / 792) < 0.02


def test_nothing_is_marked_where_nothing_is_cited() -> None:
    assert len(marked_rows(page_image(pdf_of([LINES]), 1, ""))) == 0
    assert len(marked_rows(page_image(pdf_of([LINES]), 1, "words that stand elsewhere"))) == 0


def test_a_page_that_is_turned_is_marked_too() -> None:
    png = page_image(pdf_of([LINES], extra="/Rotate 90"), 1, "quick brown fox")

    assert len(marked_rows(png))


@pytest.mark.parametrize("data", [b"", b"%PDF-1.4 nothing", b"\0" * 1000])
def test_a_file_that_cannot_be_drawn_is_said_to_be_so(data: bytes) -> None:
    with pytest.raises(ReadError):
        page_image(data, 1, "")


@pytest.fixture
def visit(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Visit]:
    with visiting(tmp_path_factory.mktemp("pages")) as one:
        one.client.post("/v1/indexes", json={"name": "notes"})
        yield one


def test_a_hit_leads_to_its_page(visit: Visit) -> None:
    files = [("file", ("a.pdf", pdf_of([[Words(72, 700, "A first page.")], LINES])))]
    visit.finished(visit.client.post("/v1/indexes/notes/documents", files=files).json()["id"])
    found = visit.client.post("/v1/indexes/notes/search", json={"query": "quick brown fox"}).json()
    hit = found["hits"][0]
    where = f"/v1/indexes/notes/documents/{hit['document']}/pages"

    png = visit.client.get(f"{where}/{hit['page']}", params={"start": hit["start"], "end": hit["end"]})

    assert hit["page"] == 2
    assert png.headers["content-type"] == "image/png"
    assert len(marked_rows(png.content))
    assert visit.client.get(f"{where}/3").status_code == 404
    assert visit.client.get(f"{where}/0").status_code == 422
