"""Scans and image files: read by OCR where the extra is installed, and never silently empty where it is not."""

import gc
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from support.api_client import visiting
from support.documents import Words, pdf_of
from support.pictures import LEFT, SIZE, STEP, TOP, joined, page_with, saved
from twofold import Index
from twofold.indexing.types import SyncProgress
from twofold.ingest.readers.ocr.page import in_order
from twofold.ingest.readers.pdf.lines import Line

LETTER = [
    "Rental agreement for the boat house",
    "The deposit of 450 euros is returned",
    "within fourteen days of moving out.",
]
TYPED = [Words(72, 700, "This page has a text of its own about herons.")]
WITHOUT = "import sys; sys.modules['rapidocr'] = None; from twofold.__main__ import main; main()"


def filled(folder: Path, files: dict[str, bytes]) -> Path:
    folder.mkdir()
    for name, data in files.items():
        (folder / name).write_bytes(data)
    return folder


def test_pictures_become_passages(tmp_path: Path) -> None:
    page = page_with(LETTER)
    kinds = {"a.png": "PNG", "b.jpg": "JPEG", "c.pdf": "PDF"}
    folder = filled(tmp_path / "in", {name: saved(page, kind) for name, kind in kinds.items()})
    (folder / "d.tiff").write_bytes(
        saved(page_with(["A first sheet."]), "TIFF", [page_with(["Herons on the second."])])
    )
    seen: list[SyncProgress] = []

    with Index(tmp_path / "index", overrides={"embedder": "none"}) as index:
        report = index.sync(folder, progress=seen.append)
        documents = {Path(one.source).name: index.document(one.id) for one in index.documents()}
        found = index.search("herons second sheet").hits[0]

    assert not report.failed
    assert not report.unread
    for name in kinds:
        assert " ".join(documents[name].text.split()) == " ".join(LETTER)
        assert documents[name].metadata["pages_recognized"] == 1
    assert documents["a.png"].media_type == "image/png"
    assert documents["a.png"].metadata["source_type"] == ("image", "local_file")
    assert (Path(found.source).name, found.page) == ("d.tiff", 2)
    assert {(Path(one.source).name, one.picture, one.pictures) for one in seen if one.pictures} == {
        ("a.png", 1, 1),
        ("b.jpg", 1, 1),
        ("c.pdf", 1, 1),
        ("d.tiff", 1, 2),
        ("d.tiff", 2, 2),
    }


def test_each_word_has_its_place_on_the_page(tmp_path: Path) -> None:
    folder = filled(tmp_path / "in", {"letter.png": saved(page_with(LETTER), "PNG")})
    with Index(tmp_path / "index", overrides={"embedder": "none"}) as index:
        index.sync(folder)
        (page,) = index.document(index.documents()[0].id).words

    places = dict(zip(page.words, page.boxes, strict=True))
    assert page.page == 1
    assert set(" ".join(LETTER).rstrip(".").split()) <= {word.rstrip(".") for word in places}
    left, top, _, bottom = places["deposit"]
    assert LEFT < left / 10_000 * SIZE[0] < LEFT + 200
    assert top / 10_000 * SIZE[1] < TOP + STEP + 20 < bottom / 10_000 * SIZE[1]


def test_pages_that_lie_on_their_side_or_head_are_read_in_order(tmp_path: Path) -> None:
    turned = {f"{turn}.png": saved(page_with(LETTER).rotate(turn, expand=True), "PNG") for turn in (90, 180, 270)}
    folder = filled(tmp_path / "in", turned)
    with Index(tmp_path / "index", overrides={"embedder": "none"}) as index:
        index.sync(folder)
        texts = {Path(one.source).name: index.document(one.id).text for one in index.documents()}

    assert {name: " ".join(text.split()) for name, text in texts.items()} == dict.fromkeys(turned, " ".join(LETTER))


def test_a_scan_within_a_document_is_reported_and_read_once_it_can_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = filled(tmp_path / "in", {"mixed.pdf": joined(pdf_of([TYPED]), saved(page_with(LETTER), "PDF"))})
    with Index(tmp_path / "index", overrides={"embedder": "none"}) as index:
        with monkeypatch.context() as changed:
            changed.setitem(sys.modules, "rapidocr", None)
            first = index.sync(folder)
            held = index.documents()[0]
            again = index.sync(folder)
        second = index.sync(folder)
        third = index.sync(folder)
        page = index.search("deposit of 450 euros").hits[0].page
        after = index.documents()[0]

    (unread,) = first.unread
    assert (Path(unread.source).name, unread.pages) == ("mixed.pdf", 1)
    assert "twofold[ocr]" in unread.hint
    assert held.metadata["pages_without_text"] == 1
    assert again.unchanged == 1
    assert len(second.updated) == 1
    assert not second.unread
    assert third.unchanged == 1
    assert page == 2
    assert "pages_without_text" not in after.metadata


@pytest.mark.parametrize(("name", "kind"), [("scan.pdf", "PDF"), ("photo.png", "PNG")])
def test_the_command_line_says_what_a_scan_needs(tmp_path: Path, name: str, kind: str) -> None:
    folder = filled(tmp_path / "in", {name: saved(page_with(LETTER), kind)})
    home = {**os.environ, "TWOFOLD_HOME": str(tmp_path / "home")}
    words = ["sync", str(folder), "--embedder", "none", "--index", "notes"]

    done = subprocess.run(
        [sys.executable, "-c", WITHOUT, *words], capture_output=True, text=True, env=home, check=False
    )

    assert done.returncode == 9
    assert name in done.stdout
    assert "pip install 'twofold[ocr]'" in done.stdout


def test_the_page_shows_the_cited_words_of_a_scan(tmp_path: Path) -> None:
    files = {"letter.pdf": saved(page_with(LETTER), "PDF"), "letter.jpg": saved(page_with(LETTER), "JPEG")}
    folder, home = filled(tmp_path / "in", files), tmp_path / "home"
    with Index("notes", overrides={"embedder": "hashing", "home": str(home)}) as index:
        index.sync(folder)
        documents = {Path(one.source).name: index.document(one.id) for one in index.documents()}

    with visiting(home) as visit:
        for name, document in documents.items():
            start = document.text.index("deposit of 450")
            span = {"start": start, "end": start + len("deposit of 450")}
            where = f"/v1/indexes/notes/documents/{document.id}"
            png = visit.client.get(f"{where}/pages/1", params=span)
            kept = visit.client.get(f"{where}/original")

            assert png.status_code == 200
            assert marked_part(png.content)[0] == pytest.approx((TOP + STEP + 18) / SIZE[1], abs=0.015)
            assert kept.content == files[name]
            assert kept.headers["content-type"] == document.media_type


class StoppedError(Exception):
    """What a caller raises to end a sync."""


def test_a_sync_is_stopped_between_two_pictures(tmp_path: Path) -> None:
    sheets = [page_with([f"Sheet {number}"]) for number in range(2)]
    folder = filled(tmp_path / "in", {"a.tiff": saved(sheets[0], "TIFF", sheets[1:])})

    def stop(progress: SyncProgress) -> None:
        if progress.picture == 2:
            raise StoppedError

    with Index(tmp_path / "index", overrides={"embedder": "none"}) as index:
        with pytest.raises(StoppedError):
            index.sync(folder, progress=stop)

        assert not index.documents()
    gc.collect()  # a process that was left would be warned of here


def marked_part(png: bytes) -> tuple[float, float]:
    """Return the middle of what is marked on a picture, as shares of its height and width."""
    import io

    from PIL import Image

    pixels = np.asarray(Image.open(io.BytesIO(png)).convert("RGB")).astype(int)
    down, across = np.nonzero((pixels[..., 0] > 200) & (pixels[..., 2] < 150))
    assert len(down)
    return float(down.mean()) / pixels.shape[0], float(across.mean()) / pixels.shape[1]


def line_at(text: str, left: float, bottom: float) -> Line:
    width = 5.0 * len(text)
    return Line(text, (-1,) * len(text), left, bottom, left + width, bottom + 10, 10.0, 0, bold=False, gaps=())


def test_columns_are_read_one_after_the_other_and_cells_in_rows() -> None:
    heading, footer = line_at("A heading over both of the columns of this page of ours", 50, 700), line_at("9", 300, 20)
    left = [line_at(f"left column of running text {at}", 50, 600 - 12 * at) for at in range(6)]
    right = [line_at(f"right column of running text {at}", 320, 597 - 12 * at) for at in range(6)]
    cells = [line_at(text, x, y) for y in (400, 388) for x, text in ((50, "sales"), (200, "12.5"), (300, "13.5"))]

    read = in_order([footer, *right, *cells, *left, heading])

    assert [line.text for line in read] == [
        heading.text,
        *(line.text for line in left),
        *(line.text for line in right),
        "sales 12.5 13.5",
        "sales 12.5 13.5",
        "9",
    ]
