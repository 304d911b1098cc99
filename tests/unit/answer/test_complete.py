"""What is shown of a document is complete: rows with their header, items with what introduces them, code as a whole."""

import pytest

from support.source_files import reading, source
from twofold import Index
from twofold.answer.complete import completed
from twofold.answer.sentences import SentenceUnit, units_of
from twofold.answer.short import short_answer
from twofold.answer.table import as_markdown, cells_of
from twofold.answer.types import Source
from twofold.models.embedders.hashing import HashingEmbedder

READING = reading()


def shown(text: str, *wanted: str, start: int = 0) -> list[list[str]]:
    """The stretches shown for the units that begin with what is wanted."""
    one = source(text, start=start)
    units = units_of([one], READING)
    chosen = [next(unit for unit in units if unit.text.startswith(each)) for each in wanted]
    return [[text[first - start : last - start] for first, last in unit.spans] for unit in completed(chosen, {1: one})]


TABLE = "Results.\n\nMillions | 2022 | 2021\nNet sales | 34,229 | 35,355\nCosts | 19,232 | 18,795\n\nThey rose."


def test_a_row_comes_with_its_header_row() -> None:
    assert shown(TABLE, "Net sales", start=70) == [["Millions | 2022 | 2021", "Net sales | 34,229 | 35,355"]]


def test_a_header_row_of_markdown_keeps_the_bars_at_both_ends() -> None:
    rows = ["| port | fare |", "| Ostend | 40 euros |"]

    assert shown(f"{rows[0]}\n| --- | --- |\n{rows[1]}\n", "| Ostend") == [rows]
    assert cells_of(rows) == (("port", "fare"), ("Ostend", "40 euros"))


def test_rows_of_one_table_are_one_table() -> None:
    assert shown(TABLE, "Costs", "They", "Net sales") == [
        ["Millions | 2022 | 2021", "Costs | 19,232 | 18,795", "Net sales | 34,229 | 35,355"],
        ["They rose."],
    ]


def test_a_first_row_of_figures_is_no_header() -> None:
    assert shown("Asia | 11 | 12\nEurope | 13 | 14", "Europe") == [["Europe | 13 | 14"]]


def test_an_item_comes_with_the_line_that_introduces_its_list() -> None:
    text = "Prune. The rules are:\n- keep one a day\n- keep one a week\n\nDone."

    assert shown(text, "keep one a week") == [["Prune. The rules are:", "keep one a week"]]
    assert shown(text, "Done") == [["Done."]]


WRAPPED = """\
If a socket binding fails because a port is already in use, then the process
sends a SIGTTOU signal to all the pids that are listed. This is what is called
the "pause" signal.
Short line.
It stops them."""


def test_a_sentence_before_is_whole_where_its_lines_are_wrapped() -> None:
    first = WRAPPED[: WRAPPED.index(" This is")]

    assert shown(WRAPPED, "This is what")[0][0] == first


def test_a_line_above_that_is_short_is_no_part_of_a_wrapped_paragraph() -> None:
    assert shown(WRAPPED, "It stops them") == [["It stops them."]]


def test_an_item_whose_lines_are_wrapped_begins_with_its_bullet() -> None:
    text = "Notes\n\n- The first process sends a signal to all the others that\n  are listed. This makes them pause."

    assert shown(text, "This makes")[0][0] == ("The first process sends a signal to all the others that\n  are listed.")


def test_code_is_shown_whole() -> None:
    code = "$ borg prune --keep-daily=7 repo\n$ borg compact repo"
    text = f"Free the space as follows.\n\n{code}\n\nThis takes long."

    assert shown(text, "$ borg prune") == [[code]]


def test_one_line_of_code_is_shown_with_what_introduces_it() -> None:
    text = "Disks are old. Mount the archive first:\n\nborg mount repo::monday /mnt\n\nThen copy."

    assert shown(text, "borg mount") == [["Mount the archive first:", "borg mount repo::monday /mnt"]]
    assert shown(text, "Mount the") == [["Mount the archive first:", "borg mount repo::monday /mnt"]]
    assert shown(text, "Then copy") == [["Then copy."]]
    assert shown("Archives\n\nborg mount repo::monday /mnt", "borg mount") == [["borg mount repo::monday /mnt"]]


def test_what_is_shown_already_is_not_shown_again() -> None:
    code = "$ borg prune repo\n$ borg compact repo"

    assert shown(code, "$ borg prune", "$ borg prune") == [[code]]


def test_a_unit_that_reaches_over_two_passages_stands_as_it_is() -> None:
    one = source("A sentence.")
    wide = SentenceUnit(1, 0, 5, 500, "x")

    assert completed([wide], {1: one})[0].spans == ((5, 500),)
    assert isinstance(one, Source)


def test_a_header_keeps_its_empty_cells() -> None:
    assert cells_of([" |  | Total", "Sales | 1 | 2"]) == (("", "", "Total"), ("Sales", "1", "2"))


def test_a_table_is_written_in_markdown_with_padded_columns() -> None:
    cells = cells_of(["2022 | 2021", "Net sales | 34,229 | 35,355"])

    assert cells == (("", "2022", "2021"), ("Net sales", "34,229", "35,355"))
    assert as_markdown(cells).splitlines() == [
        "|           | 2022   | 2021   |",
        "|-----------|--------|--------|",
        "| Net sales | 34,229 | 35,355 |",
    ]


@pytest.mark.parametrize(
    ("question", "sentence", "short"),
    [
        ("What is the default wal_level?", "The default value is replica, which writes enough.", "replica"),
        ("What is the default of gc.window?", "The window size. This defaults to 250.", "250"),
        ("How often is a checkpoint written?", "Checkpoints are written every 30 minutes by borg.", "30 minutes"),
        ("When was the tower built?", "It was finished on 31 March 1889 in Paris.", "31 March 1889"),
        ("How many towers are there?", "There were 12 in 1900 and 14 later.", ""),
        ("How many of the 12 towers are red?", "Of the 12 towers three are red.", "three"),
        ("Is it safe?", "It takes 12 minutes.", ""),
        ("How often does it run?", "One worker is started in each database.", ""),
        ("How many commits does it show?", "It limits the number of commits to 3.", ""),
        ("How many commits does it show?", "It shows the last 3 commits.", "3"),
        ("After how many signs does it exit?", "IGNORE_EOF (-7) After ten of these signs it exits.", "ten"),
        ("Where are files put by default?", "The default is not to append any suffix.", ""),
    ],
)
def test_a_short_answer_is_the_one_span_that_is_asked_for(question: str, sentence: str, short: str) -> None:
    assert short_answer(question, sentence) == short


@pytest.mark.parametrize(
    ("text", "chosen", "spans"),
    [
        (
            "Use the code 125 for what cannot be tested. If the script exits with this code, it is skipped.",
            "If the script",
            ["Use the code 125 for what cannot be tested.", "If the script exits with this code, it is skipped."],
        ),
        ("The disk is full. It is recommended to prune first.", "It is", ["It is recommended to prune first."]),
        ("The disk is full. Prune the oldest archives first.", "Prune", ["Prune the oldest archives first."]),
        ("The disk is full.\n\nIt was full before.", "It was", ["It was full before."]),
    ],
)
def test_a_sentence_that_refers_back_comes_with_the_one_before(text: str, chosen: str, spans: list[str]) -> None:
    assert shown(text, chosen, start=70) == [spans]


def test_a_header_row_is_no_answer_by_itself() -> None:
    with Index(":memory:", embedder=HashingEmbedder()) as index:
        index.add("# Codes\n\nReturn code | Meaning\n0 | success\n1 | warning\n2 | error\n", source="codes.txt")
        answer = index.ask("Which return code has the meaning?", settings={"answer.min_answerability": 0.0})
    assert answer.sentences
    assert all(len(one.cells) > 1 for one in answer.sentences)
