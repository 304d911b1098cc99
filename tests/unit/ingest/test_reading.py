"""The builder every reader uses: exact spans, clean text, paths of headings."""

from hypothesis import given
from hypothesis import strategies as st

from twofold.domain.types import BlockKind, Metadata
from twofold.ingest.readers.types import Extract, Outline, TextBuilder, clean, clean_metadata

ANY_TEXT = st.text(st.characters() | st.sampled_from("\r\n\0\t \ud800"), max_size=60)


@given(st.lists(st.tuples(st.sampled_from(BlockKind), ANY_TEXT), max_size=12))
def test_every_block_is_exactly_its_cleaned_text_and_blank_lines_part_them(parts: list[tuple[BlockKind, str]]) -> None:
    builder = TextBuilder()
    for kind, text in parts:
        builder.add(kind, text)
    extract = builder.extract()

    expected = [(kind, clean(text).strip()) for kind, text in parts if clean(text).strip()]
    assert [(block.kind, extract.text[block.start : block.end].strip()) for block in extract.blocks] == expected
    assert "\n\n".join(extract.text[block.start : block.end] for block in extract.blocks) == extract.text


@given(ANY_TEXT)
def test_clean_text_can_be_stored_and_cleaning_twice_changes_nothing(text: str) -> None:
    cleaned = clean(text)

    assert not set(cleaned) & {"\r", "\0"}
    assert cleaned.encode("utf-8").decode("utf-8") == cleaned
    assert clean(cleaned) == cleaned


def test_line_ends_become_line_feeds_and_lone_surrogates_the_replacement_character() -> None:
    assert clean("a\r\nb\rc\0d\ud800e") == "a\nb\ncd\ufffde"


def test_indentation_of_the_first_line_of_code_stays() -> None:
    builder = TextBuilder()
    builder.add(BlockKind.CODE, "\n \n    x = 1\n  y\n\n")

    assert builder.extract().text == "    x = 1\n  y"


def test_paragraphs_are_cut_at_blank_lines_only() -> None:
    builder = TextBuilder()
    builder.add_paragraphs("one\nstill one\n \t\n\n\ntwo")

    assert builder.extract().text == "one\nstill one\n\ntwo"


def test_an_outline_closes_deeper_and_equal_headings() -> None:
    outline = Outline()
    outline.enter(1, "Book")
    outline.enter(3, "Section")

    assert outline.enter(3, "Next") == ("Book",)
    assert outline.enter(2, "Chapter") == ("Book",)
    assert outline.path == ("Book", "Chapter")
    assert not outline.enter(1, " ")
    assert not outline.path


def test_another_extract_is_added_with_its_spans_moved_and_its_paths_below() -> None:
    inner = TextBuilder()
    inner.add(BlockKind.HEADING, "Inner")
    inner.add(BlockKind.PARAGRAPH, "Body", heading=("Inner",), place="rows 1-2")
    builder = TextBuilder()
    builder.add(BlockKind.PARAGRAPH, "Before")
    builder.add_extract(inner.extract(), heading=("Outer",), place="message 1")
    extract = builder.extract()

    last = extract.blocks[-1]
    assert [extract.text[block.start : block.end] for block in extract.blocks] == ["Before", "Inner", "Body"]
    assert (last.heading, last.place) == (("Outer", "Inner"), "message 1, rows 1-2")


def test_adding_an_extract_without_blocks_adds_nothing() -> None:
    builder = TextBuilder()
    builder.add_extract(Extract("loose"))

    assert builder.extract() == Extract("")


def test_metadata_that_cannot_be_stored_is_left_out_or_written_as_text() -> None:
    held: Metadata = {
        "a": " x\r\n",
        "b": float("nan"),
        "c": 1 << 70,
        "d": ("", "y\0"),
        "e": "",
        " ": 1,
        "f": 1 << 9000,
        "g": True,
    }

    assert clean_metadata(held) == {"a": "x", "c": str(1 << 70), "d": ("y",), "g": True}
