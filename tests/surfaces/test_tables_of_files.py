"""Tables of Word files, spreadsheets and pages: each row is found by its header and caption, and cited as a row."""

from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import docx
import pytest
import xlsxwriter
from docx.table import Table

from twofold import Index
from twofold.domain.types import Block, BlockKind

Run = Callable[..., Any]

PAGE = """<html><head><title>Depots</title></head><body><h1>Depots</h1><p>Where trams sleep.</p>
<table><caption>Trams by depot</caption>
<thead><tr><th rowspan="2">Depot</th><th colspan="2">2022</th><th colspan="2">2023</th></tr>
<tr><th>Trams</th><th>Buses</th><th>Trams</th><th>Buses</th></tr></thead>
<tbody><tr><td>Kallio</td><td>41</td><td>7</td><td>43</td><td>9</td></tr>
<tr><td rowspan="2">Harbor</td><td>12</td><td>30</td><td>13</td><td>31</td></tr>
<tr><td>1</td><td>2</td><td>3</td><td>4</td></tr></tbody></table></body></html>"""


def word_file() -> bytes:
    document = docx.Document()
    document.add_heading("Sales of the year", 1)
    document.add_paragraph("Table 1: Revenue by region, in thousands", style="Caption")
    table: Table = document.add_table(4, 5)
    for number, row in enumerate(
        (
            ("Region", "2022", "", "2023", ""),
            ("", "Bikes", "Boats", "Bikes", "Boats"),
            ("Northland", "410", "12", "433", "15"),
            ("", "7", "8", "9", "10"),
        )
    ):
        for cell, text in zip(table.rows[number].cells, row, strict=True):
            cell.text = text
    for first, last in (((0, 1), (0, 2)), ((0, 3), (0, 4)), ((0, 0), (1, 0)), ((2, 0), (3, 0))):
        table.cell(*first).merge(table.cell(*last))
    packed = BytesIO()
    document.save(packed)
    return packed.getvalue()


def sheet_file() -> bytes:
    packed = BytesIO()
    with xlsxwriter.Workbook(packed, {"in_memory": True}) as book:
        percent, day = book.add_format({"num_format": "0.0%"}), book.add_format({"num_format": "yyyy-mm-dd"})
        sheet = book.add_worksheet("Staff")
        sheet.write_row("A1", ["Wages by quarter"])
        sheet.merge_range("B2:C2", "Weavers")
        sheet.merge_range("D2:E2", "Dyers")
        sheet.write_row("B3", ["Hours", "Pay", "Hours", "Pay"])
        sheet.write("A3", "Quarter")
        for number, row in enumerate((["Spring", 100, 2000, 50, 900], ["Autumn", 120, 2400, 60, 1100]), 4):
            sheet.write_row(f"A{number}", row)
        sheet.write_formula("E6", "=E4+E5", None, 2000)
        sheet.write("A6", "Year")
        sheet.write_row("G2", ["Loom", "Share", "Bought"])
        for number, (name, share, bought) in enumerate((("Jacquard", 0.125, 40000), ("Dobby", 0.5, 40001)), 3):
            sheet.write(f"G{number}", name)
            sheet.write(f"H{number}", share, percent)
            sheet.write(f"I{number}", bought, day)
    return packed.getvalue()


@pytest.fixture
def filled(tmp_path: Path) -> Path:
    folder = tmp_path / "files"
    folder.mkdir()
    (folder / "sales.docx").write_bytes(word_file())
    (folder / "staff.xlsx").write_bytes(sheet_file())
    (folder / "depots.html").write_text(PAGE)
    with Index("tables", overrides={"embedder": "hashing"}) as index:
        assert not index.sync(folder).failed
    return folder


def tables(name: str) -> list[Block]:
    with Index("tables", overrides={"embedder": "hashing"}) as index:
        (identity,) = [one.id for one in index.documents() if one.source.endswith(name)]
        return [block for block in index.document(identity).blocks if block.kind is BlockKind.TABLE]


def found(run: Run, query: str) -> Any:  # noqa: ANN401  # JSON
    return run("search", query, "-i", "tables", "-m", "bm25", "--json").data["hits"][0]


@pytest.mark.usefixtures("filled")
def test_a_word_table_has_one_header_of_two_rows_and_its_caption(run: Run) -> None:
    hit = found(run, "revenue by region northland boats 2023")
    shown = run("show", hit["source"], "-i", "tables").out

    assert [one.heading[-1] for one in tables("sales.docx")] == ["Table 1: Revenue by region, in thousands"]
    assert "Region | 2022 Bikes | 2022 Boats | 2023 Bikes | 2023 Boats" in hit["text"].splitlines()
    assert "Northland | 410 | 12 | 433 | 15" in hit["text"].splitlines()
    assert "Northland | 7 | 8 | 9 | 10" in hit["text"].splitlines()
    assert "Northland | 410 | 12 | 433 | 15" in shown


@pytest.mark.usefixtures("filled")
def test_a_page_s_table_repeats_what_spans_rows_and_columns(run: Run) -> None:
    hit = found(run, "trams by depot harbor buses 2023")

    assert [one.heading[-1] for one in tables("depots.html")] == ["Trams by depot"]
    assert "Depot | 2022 Trams | 2022 Buses | 2023 Trams | 2023 Buses" in hit["text"].splitlines()
    assert "Harbor | 1 | 2 | 3 | 4" in hit["text"].splitlines()


@pytest.mark.usefixtures("filled")
def test_tables_side_by_side_are_two_with_headers_captions_percentages_and_dates(run: Run) -> None:
    lines = found(run, "wages dyers pay autumn")["text"].splitlines()
    wages, looms = tables("staff.xlsx")

    assert (wages.heading, wages.place) == (("Staff", "Wages by quarter"), "Staff rows 4-6")
    assert (looms.heading, looms.header, looms.place) == (("Staff",), "Loom | Share | Bought", "Staff rows 3-4")
    assert [line for line in lines if " | " in line] == [
        "Quarter | Weavers Hours | Weavers Pay | Dyers Hours | Dyers Pay",
        "Spring | 100 | 2000 | 50 | 900",
        "Autumn | 120 | 2400 | 60 | 1100",
        "Year |  |  |  | 2000",
        "Loom | Share | Bought",
        "Jacquard | 12.5% | 2009-07-06",
        "Dobby | 50% | 2009-07-07",
    ]


@pytest.mark.usefixtures("filled")
def test_an_answer_cites_the_row_and_shows_it_under_its_header(run: Run) -> None:
    answered = run("--set", "answer.min_answerability=0", "ask", "-i", "tables", "Pay of dyers in autumn?", "--json")
    assert answered.code == 0, answered.err
    answer = answered.data

    assert any(one["quote"].startswith("Autumn | 120 | 2400") for one in answer["citations"])
    assert "Dyers Pay" in answer["text"]
