"""Pages of PDF files as pictures, with the cited words marked where they stand."""

import gzip
import struct
import zlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import httpx2
import numpy as np
import pytest

from support.api_client import Visit, visiting
from support.documents import Words, assembled, pdf_of
from twofold.domain.errors import ReadError
from twofold.server.limits import DEFAULT_LIMITS
from twofold.server.pdf_preview import page_image

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


def test_a_packed_pdf_is_drawn_and_handed_out_unpacked(visit: Visit) -> None:
    data = pdf_of([LINES])
    files = [("file", ("manual.pdf.gz", gzip.compress(data)))]
    visit.finished(visit.client.post("/v1/indexes/notes/documents", files=files).json()["id"])
    found = visit.client.post("/v1/indexes/notes/search", json={"query": "quick brown fox"}).json()
    hit = found["hits"][0]
    where = f"/v1/indexes/notes/documents/{hit['document']}"

    png = visit.client.get(f"{where}/pages/1", params={"start": hit["start"], "end": hit["end"]})
    original = visit.client.get(f"{where}/original")

    assert len(marked_rows(png.content))
    assert (original.headers["content-type"], original.content) == ("application/pdf", data)


def pdf_with_image(width: int, height: int) -> bytes:
    """Make a PDF with one page that shows an image which claims to be so large; it holds no pixel of it."""
    draw, gray = "q 500 0 0 500 50 150 cm /X Do Q", "/ColorSpace/DeviceGray/BitsPerComponent 8"
    objects = [
        "<</Type/Catalog/Pages 2 0 R>>",
        "<</Type/Pages/Count 1/Kids[3 0 R]>>",
        "<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 4 0 R/Resources<</XObject<</X 5 0 R>>>>>>",
        f"<</Length {len(draw)}>>stream\n{draw}\nendstream",
        f"<</Subtype/Image/Width {width}/Height {height}{gray}/Length 1>>stream\n0\nendstream",
    ]
    return assembled([one.encode() for one in objects])


def test_an_image_that_is_too_large_is_not_drawn() -> None:
    with pytest.raises(ReadError, match="too large"):
        page_image(pdf_with_image(30_000, 30_000), 1, "")

    assert page_image(pdf_with_image(300, 300), 1, "").startswith(b"\x89PNG")


def test_searches_do_not_wait_for_pages(tmp_path: Path) -> None:
    slow = pdf_of([[Words(72, 700 - 0.01 * line, "same " * 100) for line in range(300)]])
    with visiting(tmp_path, replace(DEFAULT_LIMITS, workers=1, waiting=0)) as visit, ThreadPoolExecutor(2) as threads:
        visit.client.post("/v1/indexes", json={"name": "notes"})
        files = [("file", ("slow.pdf", slow))]
        job = visit.finished(visit.client.post("/v1/indexes/notes/documents", files=files).json()["id"])
        where = f"{visit.address}/v1/indexes/notes/documents/{job['files'][0]['document']}/pages/1?end=5000"
        pages = [threads.submit(httpx2.get, where, timeout=60.0, trust_env=False) for _ in range(2)]
        statuses = set()
        while not all(page.done() for page in pages):
            statuses.add(visit.client.post("/v1/indexes/notes/search", json={"query": "same"}).status_code)

    assert {page.result().status_code for page in pages} <= {200, 422}
    assert statuses == {200}


def test_a_file_that_two_documents_were_read_from_stays_for_the_other_one(visit: Visit) -> None:
    pdf = pdf_of([LINES])
    names = []
    for name in ("first.pdf", "second.pdf"):
        sent = visit.client.post("/v1/indexes/notes/documents", files=[("file", (name, pdf))])
        names.append(visit.finished(sent.json()["id"])["files"][0]["document"])
    pages = [f"/v1/indexes/notes/documents/{name}/pages/1" for name in names]
    assert [visit.client.get(page).status_code for page in pages] == [200, 200]

    assert visit.client.delete(f"/v1/indexes/notes/documents/{names[0]}").status_code == 204
    assert [visit.client.get(page).status_code for page in pages] == [404, 200]
    kept = list((visit.home / "server" / "originals" / "notes").glob("*.pdf"))
    assert len(kept) == 1
    assert visit.client.delete(f"/v1/indexes/notes/documents/{names[1]}").status_code == 204
    assert not kept[0].exists()
