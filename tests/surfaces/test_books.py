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
