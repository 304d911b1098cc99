"""A book as EPUB and a text as ODT through the command line: headings, a table, and the place that is cited."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from support.documents import epub_of, open_document_of

Run = Callable[..., Any]
LONG = " ".join(f"The clay of pit {number} rests in a damp cellar for {number} weeks." for number in range(2, 60))
CHAPTERS = {
    "one.xhtml": f"<h1>Clay</h1><p>{LONG}</p>",
    "two.xhtml": "<h1>Kilns</h1><p>Each firing has its own heat.</p><table><tr><th>Stage</th><th>Temperature</th></tr>"
    "<tr><td>Bisque firing</td><td>1,060 °C</td></tr><tr><td>Glaze firing</td><td>1,220 °C</td></tr></table>",
}
CELL = "<table:table-cell><text:p>{}</text:p></table:table-cell>"
ROW = f"<table:table-row>{CELL}{CELL}</table:table-row>"
ODT = (
    '<text:h text:outline-level="1">Beehives</text:h><text:h text:outline-level="2">Harvest</text:h>'
    "<text:p>Honey is taken from the upper boxes in late July.</text:p>"
    f"<table:table><table:table-header-rows>{ROW.format('Hive', 'Honey in kilograms')}</table:table-header-rows>"
    f"{ROW.format('Linden', '23')}{ROW.format('Orchard', '17')}</table:table>"
)


@pytest.fixture
def shelf(tmp_path: Path, run: Run) -> Path:
    folder = tmp_path / "shelf"
    folder.mkdir()
    contents = '<a href="one.xhtml">Clay</a><a href="two.xhtml">Kilns</a>'
    (folder / "pottery.epub").write_bytes(epub_of(CHAPTERS, contents))
    (folder / "bees.odt").write_bytes(open_document_of("text", ODT, "<dc:title>Bees</dc:title>"))
    made = run("sync", folder, "--index", "shelf")
    assert made.code == 0, made.err
    return folder


@pytest.mark.parametrize(
    ("question", "name", "place", "heading", "table"),
    [
        (
            "temperature of the glaze firing",
            "pottery.epub",
            "Kilns",
            ["Short poems", "Kilns"],
            ("Stage | Temperature", "Glaze firing | 1,220 °C"),
        ),
        (
            "honey of the hive Orchard",
            "bees.odt",
            "",
            ["Bees", "Beehives", "Harvest"],
            ("Hive | Honey in kilograms", "Orchard | 17"),
        ),
    ],
)
@pytest.mark.usefixtures("shelf")
def test_a_row_of_a_table_is_cited_with_its_chapter_and_headings(
    question: str, name: str, place: str, heading: list[str], table: tuple[str, str], run: Run
) -> None:
    found = json.loads(run("search", question, "-i", "shelf", "--json").out)["hits"][0]
    cited = json.loads(run("ask", question, "-i", "shelf", "--json").out)["citations"]

    assert (Path(found["source"]).name, found["place"], found["heading"]) == (name, place, heading)
    assert {*table} <= {*found["text"].splitlines()}
    (line,) = (one for one in cited if one["quote"] == table[1])
    assert (Path(line["source"]).name, line["place"], line["heading"]) == (name, place, heading)


TWO_MESSAGES = b"".join(
    b"From p@x.org Mon Nov  2 10:00:00 2026\nFrom: p@x.org\nTo: q@x.org\nSubject: Canteen\n\n%b\n\n" % said
    for said in (b"The canteen opens at noon.", b"Parking costs four euros.")
)


@pytest.mark.parametrize(
    ("name", "data", "question", "place", "other"),
    [
        (
            "trips.epub",
            epub_of(
                {
                    "one.xhtml": "<h1>Boats</h1><p>The ferry leaves at nine.</p>",
                    "two.xhtml": "<h1>Trains</h1><p>The train leaves at ten.</p>",
                }
            ),
            "when does the train leave",
            "Trains",
            "ferry",
        ),
        ("letters.mbox", TWO_MESSAGES, "what does parking cost", "message 2", "noon"),
        (
            "talk.srt",
            (
                b"1\n00:00:01,000 --> 00:00:04,000\nThe garden opens at nine.\n\n"
                b"2\n00:02:00,000 --> 00:02:04,000\nTickets are sold at the gate.\n"
            ),
            "where are tickets sold",
            "00:02:00",
            "garden",
        ),
    ],
)
def test_a_short_chapter_message_or_moment_is_cited_at_its_own_place(  # noqa: PLR0913, PLR0917
    name: str, data: bytes, question: str, place: str, other: str, run: Run, tmp_path: Path
) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / name).write_bytes(data)
    assert run("sync", tmp_path / "folder", "--index", "short").code == 0

    hit = json.loads(run("search", question, "-i", "short", "--json").out)["hits"][0]

    assert (hit["place"], other in hit["text"]) == (place, False)
