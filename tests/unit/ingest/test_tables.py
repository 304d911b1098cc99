"""CSV and TSV: dialects, header rows, row groups."""

import csv
from io import StringIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from twofold.ingest.readers.office.rows import render_row
from twofold.ingest.readers.office.tables import find_delimiter, read_csv, read_tsv
from twofold.ingest.readers.types import Source


@pytest.mark.parametrize(
    ("sample", "expected"),
    [
        ("a;b,c\n1;2\n", ";"),
        ("a|b\n1|2\n", "|"),
        ("a\tb\n1,5\t2\n", "\t"),
        ('"a, b",c\n1,2\n', ","),
        ("one\ntwo\n", ","),
        ("price;text\n1,50;a, b\n2,75;c\n", ";"),
        ("a,b,c\n1,2\n3,4,5\n6,7,8\n", ","),
    ],
)
def test_the_delimiter_is_the_one_that_makes_even_rows(sample: str, expected: str) -> None:
    assert find_delimiter(sample) == expected


def test_blocks_are_twenty_rows_that_know_the_header_and_their_place() -> None:
    body = "".join(f"{number},word\n" for number in range(45))
    extract = read_csv(Source("a.csv", f"id,name\n{body}".encode()))

    assert [block.place for block in extract.blocks] == ["rows 2-21", "rows 22-41", "rows 42-46"]
    assert {block.header for block in extract.blocks} == {"id | name"}
    assert extract.text.startswith("id | name\n0 | word\n")
    assert extract.text.count("id | name") == 1


def test_a_first_row_with_numbers_is_no_header() -> None:
    extract = read_csv(Source("a.csv", b"1,x\n2,y\n"))

    assert (extract.blocks[0].header, extract.blocks[0].place) == ("", "rows 1-2")


def test_rows_of_uneven_width_keep_all_their_cells() -> None:
    extract = read_csv(Source("a.csv", b"a,b\n1,2,3\n4\n"))

    assert extract.text == "a | b\n1 | 2 | 3\n4"


def test_a_stray_quotation_mark_does_not_swallow_the_file() -> None:
    extract = read_csv(Source("a.csv", b'size,what\n1,"5 inch\n2,x\n3,y\n'))

    assert extract.text == 'size | what\n1 | "5 inch\n2 | x\n3 | y'


def test_quoted_cells_may_hold_delimiters_and_line_ends() -> None:
    extract = read_csv(Source("a.csv", b'a,b\n"x, y","two\r\nlines"\n'))

    assert extract.text == "a | b\nx, y | two lines"


def test_a_cell_over_the_parsers_limit_is_read_all_the_same() -> None:
    extract = read_tsv(Source("a.tsv", b"a\tb\n" + b"x" * 100_000 + b"\t1\n"))

    assert len(extract.text) > 100_000


CELLS = st.text("ab1 ,;\"'\n", max_size=8)


@given(st.lists(st.lists(CELLS, min_size=2, max_size=4), min_size=1, max_size=30))
def test_every_cell_that_was_written_is_found_in_order(rows: list[list[str]]) -> None:
    buffer = StringIO()
    csv.writer(buffer, delimiter="\t", quoting=csv.QUOTE_ALL).writerows(rows)
    extract = read_tsv(Source("a.tsv", buffer.getvalue().encode()))

    lines = [line for block in extract.blocks for line in extract.text[block.start : block.end].split("\n")]
    assert lines == [line for line in map(render_row, rows) if line]
