"""Examples for each rule of cutting."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest

from twofold.domain.errors import InvalidInputError
from twofold.domain.types import Block, BlockKind, Chunk, Document, Vectors
from twofold.ingest.chunking import ChunkPlan, Strategy, chunker_for, fixed, semantic, structure
from twofold.ingest.chunking.outline import common_path, with_title
from twofold.ingest.chunking.pack import Sizes, pack
from twofold.ingest.chunking.semantic import neighbor_similarity
from twofold.ingest.chunking.split import Break, Piece

SMALL = ChunkPlan(size=32, overlap=0, minimum=6)


def measure(texts: Sequence[str]) -> list[int]:
    """A token is a word."""
    return [len(text.split()) for text in texts]


def number_words(count: int, stem: str = "word") -> str:
    return " ".join(f"{stem}{at}" for at in range(count))


def document_of(*parts: tuple[BlockKind, str, tuple[str, ...]]) -> Document:
    """Blocks apart by blank lines: kind, text, heading path."""
    text, blocks = "", []
    for kind, body, path in parts:
        text += "\n\n" if text else ""
        blocks.append(Block(kind, len(text), len(text) + len(body), path))
        text += body
    return Document("d", "d", text, blocks=tuple(blocks))


def texts_of(chunks: Sequence[Chunk]) -> list[str]:
    return [chunk.text for chunk in chunks]


P, H, T, C, L = BlockKind.PARAGRAPH, BlockKind.HEADING, BlockKind.TABLE, BlockKind.CODE, BlockKind.LIST


@pytest.mark.parametrize("text", ["", " \n\t\u00a0\n\n"])
@pytest.mark.parametrize("strategy", Strategy)
def test_a_document_of_white_space_has_no_chunk(text: str, strategy: Strategy) -> None:
    plan = ChunkPlan(strategy)
    assert chunker_for(plan, measure, one_subject)(Document("d", "d", text)) == ()


def test_a_short_document_is_one_chunk_without_the_white_space_around_it() -> None:
    (chunk,) = structure(measure, SMALL)(Document("d", "d", "\n  Hello there.\n\nAgain.  \n"))
    assert (chunk.text, chunk.start, chunk.end, chunk.id) == ("Hello there.\n\nAgain.", 3, 23, "d_chunk_0")


def test_text_without_blocks_is_cut_at_blank_lines_first() -> None:
    first, second = number_words(20), number_words(20, "other")
    assert texts_of(structure(measure, SMALL)(Document("d", "d", f"{first}\n \n{second}"))) == [first, second]


def test_a_section_s_heading_begins_its_chunk_and_is_its_path() -> None:
    document = document_of(
        (H, "# Guide", ()),
        (H, "## Install", ("Guide",)),
        (P, number_words(20), ("Guide", "Install")),
        (H, "## Use", ("Guide",)),
        (P, number_words(20), ("Guide", "Use")),
    )
    install, use = structure(measure, SMALL)(document)
    assert install.heading == ("Guide", "Install")
    assert install.text.startswith("# Guide\n\n## Install\n\nword0")
    assert use.heading == ("Guide", "Use")
    assert use.text.startswith("## Use\n\nword0")


def test_tiny_sections_under_one_heading_are_one_chunk_with_what_their_paths_share() -> None:
    parts = [part for name in "ABC" for part in ((H, name, ("Guide",)), (P, "two words", ("Guide", name)))]
    (chunk,) = structure(measure, SMALL)(document_of(*parts))
    assert chunk.heading == ("Guide",)


def test_a_tiny_section_joins_no_full_one_under_another_top_heading() -> None:
    document = document_of((P, "two words", ("A",)), (P, number_words(20), ("B",)))
    assert [chunk.heading for chunk in structure(measure, SMALL)(document)] == [("A",), ("B",)]


def test_sections_that_are_not_tiny_stay_apart_though_both_would_fit() -> None:
    document = document_of((P, number_words(8), ("A", "x")), (P, number_words(8), ("A", "y")))
    assert [chunk.heading for chunk in structure(measure, SMALL)(document)] == [("A", "x"), ("A", "y")]


def test_small_paragraphs_of_one_section_share_a_chunk_and_break_between_paragraphs() -> None:
    paragraphs = [number_words(9, stem) for stem in "abcde"]
    chunks = structure(measure, SMALL)(document_of(*((P, text, ("A",)) for text in paragraphs)))
    assert texts_of(chunks) == ["\n\n".join(paragraphs[:3]), "\n\n".join(paragraphs[3:])]


def test_a_long_paragraph_is_cut_at_sentence_ends() -> None:
    sentences = [f"This is sentence number {at} of them." for at in range(12)]
    chunks = structure(measure, SMALL)(Document("d", "d", " ".join(sentences)))
    assert texts_of(chunks) == [" ".join(sentences[at : at + 4]) for at in range(0, 12, 4)]


def test_a_long_sentence_is_cut_at_words() -> None:
    chunks = structure(measure, SMALL)(Document("d", "d", number_words(100)))
    assert " ".join(texts_of(chunks)) == number_words(100)
    assert max(measure(texts_of(chunks))) <= 32


@pytest.mark.parametrize("strategy", [Strategy.STRUCTURE, Strategy.FIXED])
def test_text_without_spaces_is_cut_between_characters(strategy: Strategy) -> None:
    text = "漢字" * 30_000

    def count_characters(texts: Sequence[str]) -> list[int]:
        return [len(one) for one in texts]

    chunks = chunker_for(ChunkPlan(strategy), count_characters, one_subject)(Document("d", "d", text))
    assert "".join(texts_of(chunks)) == text
    assert 200 < np.mean([len(chunk.text) for chunk in chunks]) <= 256


def test_a_word_that_the_tokenizer_does_not_know_is_cut_all_the_same() -> None:
    chunks = structure(measure, SMALL)(Document("d", "d", "y" * 100_000))
    assert len(chunks) >= 100_000 // (32 * 16)
    assert "".join(texts_of(chunks)) == "y" * 100_000


def test_an_accent_is_not_parted_from_its_letter() -> None:
    chunks = structure(measure, SMALL)(Document("d", "d", "e\u0301" * 5_000))
    assert len(chunks) > 1
    assert all(chunk.text.startswith("e") for chunk in chunks)


def test_a_table_is_cut_at_rows_and_later_parts_carry_its_header_row() -> None:
    rows = ["name\tprice"] + [f"thing{at}\t{at}" for at in range(40)]
    text = "\n".join(rows)
    block = Block(T, 0, len(text), ("Prices",), header="name\tprice")
    first, *later = structure(measure, SMALL)(Document("d", "d", text, blocks=(block,)))
    assert (first.header, first.text.startswith("name\tprice\n")) == ("", True)
    assert later
    assert {chunk.header for chunk in later} == {"name\tprice"}
    assert [row for chunk in (first, *later) for row in chunk.text.split("\n")] == rows
    assert later[0].indexed_text.startswith("Prices\nname\tprice\nthing")


def test_a_row_group_that_lacks_its_header_row_carries_it() -> None:
    document = Document("d", "d", "a\t1\nb\t2", blocks=(Block(T, 0, 7, (), None, "Sheet1 rows 2-3", "name\tprice"),))
    (chunk,) = structure(measure, SMALL)(document)
    assert (chunk.header, chunk.place) == ("name\tprice", "Sheet1 rows 2-3")


def test_code_is_cut_at_lines_and_keeps_its_indentation() -> None:
    lines = ["def run():"] + [f"    step{at} = call(a, b, c)" for at in range(20)]
    code = "\n".join(lines)
    document = Document("d", "d", code, blocks=(Block(C, 0, len(code)),))
    chunks = structure(measure, SMALL)(document)
    assert [line for chunk in chunks for line in chunk.text.split("\n")] == lines


def test_code_is_cut_at_blank_lines_sooner_than_inside_a_function() -> None:
    functions = [
        f"def run{at}():\n    first = 1\n    second = call(first, 2, 3, 4, 5, 6)\n    return second" for at in range(6)
    ]
    code = "\n\n".join(functions)
    chunks = structure(measure, SMALL)(Document("d", "d", code, blocks=(Block(C, 0, len(code)),)))
    assert texts_of(chunks) == ["\n\n".join(functions[at : at + 2]) for at in range(0, 6, 2)]


def test_a_term_is_not_parted_from_its_definition() -> None:
    terms = [f"--option{at}\n  {number_words(5)}" for at in range(10)]
    chunks = structure(measure, SMALL)(document_of((L, "\n".join(terms), ())))
    assert len(chunks) > 1
    assert all(chunk.text.startswith("--option") for chunk in chunks)


def test_a_list_is_cut_at_its_items() -> None:
    items = [f"- item {at} without a full stop" for at in range(12)]
    chunks = structure(measure, SMALL)(document_of((L, "\n".join(items), ())))
    assert [line for chunk in chunks for line in chunk.text.split("\n")] == items


def test_a_chunk_ends_with_its_page_and_names_the_first_block_s_place() -> None:
    blocks = (Block(P, 0, 3, ("A",), 1, "top"), Block(P, 4, 7, ("A",), 2, "middle"), Block(P, 8, 11, ("A",), 2, "end"))
    chunks = structure(measure, SMALL)(Document("d", "d", "one two six", blocks=blocks))
    assert [(chunk.text, chunk.page, chunk.place) for chunk in chunks] == [("one", 1, "top"), ("two six", 2, "middle")]


def test_text_that_no_block_covers_is_kept_with_the_section_before_it() -> None:
    document = Document("d", "d", "Known.\n\nForgotten words.", blocks=(Block(P, 0, 6, ("A",), 3),))
    (chunk,) = structure(measure, SMALL)(document)
    assert (chunk.text, chunk.heading, chunk.page) == ("Known.\n\nForgotten words.", ("A",), 3)


@pytest.mark.parametrize(
    ("path", "title", "expected"),
    [
        ((), "", ()),
        ((), "Guide", ("Guide",)),
        (("Install",), "Guide", ("Guide", "Install")),
        (("guide ", "Install"), "Guide", ("guide ", "Install")),
        (("Install",), "  ", ("Install",)),
        ((), "Two\nlines", ("Two lines",)),
    ],
)
def test_the_title_stands_in_front_unless_it_is_there(
    path: tuple[str, ...], title: str, expected: tuple[str, ...]
) -> None:
    assert with_title(path, title) == expected


def test_paths_share_their_longest_common_beginning() -> None:
    assert common_path([("a", "b", "c"), ("a", "b"), ("a", "b", "d")]) == ("a", "b")
    assert common_path([("a",), ("b",)]) == ()
    assert common_path([]) == ()


def test_a_long_heading_path_is_trimmed_from_the_outermost_inwards() -> None:
    path = (number_words(5, "a"), number_words(5, "b"), "last")
    (chunk,) = structure(measure, SMALL)(document_of((P, number_words(20), path)))
    assert chunk.heading == (path[1], "last")


def test_the_document_s_own_name_stays_when_headings_between_are_left_out() -> None:
    path = ("Name", number_words(5, "a"), number_words(5, "b"), "last")
    (chunk,) = structure(measure, SMALL)(document_of((P, number_words(20), path)))
    assert chunk.heading == ("Name", "last")


def test_a_name_gives_way_to_a_last_heading_that_takes_the_whole_share() -> None:
    path = ("Name", number_words(8, "h"))
    (chunk,) = structure(measure, SMALL)(document_of((P, number_words(20), path)))
    assert chunk.heading == path[1:]


def test_a_single_overlong_heading_keeps_its_beginning() -> None:
    (chunk,) = structure(measure, SMALL)(document_of((P, number_words(20), (number_words(200, "h"),))))
    assert chunk.heading[0].startswith("h0 h1")
    assert measure(chunk.heading)[0] <= 32 // 4


def test_overlap_repeats_whole_sentences_of_the_same_section() -> None:
    sentences = [f"This is sentence number {at} of them." for at in range(8)]
    plan = ChunkPlan(size=32, overlap=10, minimum=0)
    document = document_of((P, " ".join(sentences), ("A",)), (P, "Another section.", ("B",)))
    first, second, third, other = structure(measure, plan)(document)
    assert first.text == " ".join(sentences[:4])
    assert second.text == " ".join(sentences[3:7])
    assert third.text == " ".join(sentences[6:])
    assert other.text == "Another section."


def test_no_tail_is_left_below_the_minimum() -> None:
    plan = ChunkPlan(size=32, overlap=0, minimum=12)
    chunks = structure(measure, plan)(Document("d", "d", " ".join(["Four words stand here."] * 9)))
    assert measure(texts_of(chunks)) == [24, 12]


def test_fixed_windows_fill_the_size_whatever_the_structure() -> None:
    paragraphs = [number_words(20, stem) for stem in "abcdefgh"]
    chunks = fixed(measure, ChunkPlan(Strategy.FIXED, size=64, overlap=0))(
        document_of(*((P, text, ("Top", text[:1])) for text in paragraphs))
    )
    assert min(measure(texts_of(chunks[:-1]))) >= 52
    assert chunks[0].heading == ("Top",)


def test_fixed_windows_overlap_by_words() -> None:
    plan = ChunkPlan(Strategy.FIXED, size=64, overlap=16)
    document = Document("d", "d", number_words(300))
    chunks = fixed(measure, plan)(document)
    repeated = [measure([document.text[other.start : one.end]])[0] for one, other in pairwise(chunks)]
    assert repeated
    assert all(8 <= count <= 16 for count in repeated)


def one_subject(texts: Sequence[str]) -> Vectors:
    return np.tile(np.array([1, 0], dtype=np.float32), (len(texts), 1))


def test_semantic_cuts_where_the_subject_changes() -> None:
    cats = [f"The cat number {at} sleeps." for at in range(8)]
    ships = [f"The ship number {at} sails." for at in range(8)]

    def embed(texts: Sequence[str]) -> Vectors:
        return np.array([[float("cat" in text), float("ship" in text)] for text in texts], dtype=np.float32)

    plan = ChunkPlan(Strategy.SEMANTIC, size=128, overlap=0, minimum=8)
    chunks = semantic(measure, plan, embed)(Document("d", "d", " ".join(cats + ships)))
    assert texts_of(chunks) == [" ".join(cats), " ".join(ships)]


def test_semantic_embeds_all_sentences_in_one_call() -> None:
    calls: list[int] = []

    def embed(texts: Sequence[str]) -> Vectors:
        calls.append(len(texts))
        return one_subject(texts)

    text = " ".join(f"Sentence {at} is here." for at in range(40))
    semantic(measure, ChunkPlan(Strategy.SEMANTIC, size=32, overlap=0, minimum=6), embed)(Document("d", "d", text))
    assert calls == [40]


def test_neighbor_similarity_is_the_cosine_of_window_means() -> None:
    vectors = np.array([[1, 0], [1, 0], [0, 1], [0, 1]], dtype=np.float32)
    assert neighbor_similarity(vectors, 1) == pytest.approx([1, 0, 1])
    assert neighbor_similarity(vectors, 2) == pytest.approx([2**-0.5, 0, 2**-0.5])


def test_packing_prefers_the_best_break_in_the_upper_half() -> None:
    def pieces(*parts: tuple[int, Break]) -> list[Piece]:
        return [Piece(0, 0, tokens, 0, rank) for tokens, rank in parts]

    sizes = Sizes(limit=100)
    late = pieces((30, Break.BLOCK), (40, Break.SENTENCE), (50, Break.BLOCK))
    assert list(pack(late, sizes)) == [(0, 2), (2, 3)]
    early = pieces((60, Break.BLOCK), (30, Break.SENTENCE), (50, Break.BLOCK))
    assert list(pack(early, sizes)) == [(0, 1), (1, 3)]


def test_a_heading_is_not_left_at_the_end_of_a_chunk() -> None:
    text = document_of(
        (P, number_words(20), ("A",)), (H, "Next", ()), (P, number_words(30), ("Next",)), (P, "end", ("Next",))
    )
    assert not any(chunk.text.endswith("Next") for chunk in structure(measure, SMALL)(text))


@pytest.mark.parametrize("setting", [{"size": 15}, {"overlap": -1}, {"overlap": 129}, {"minimum": 200}])
def test_a_plan_that_cannot_work_is_refused(setting: dict[str, int]) -> None:
    with pytest.raises(InvalidInputError, match="Set it"):
        ChunkPlan(**setting)  # type: ignore[arg-type]


def test_an_unknown_strategy_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="structure, semantic, hybrid, fixed"):
        ChunkPlan("layout")  # type: ignore[arg-type]


def test_a_plan_describes_itself_the_same_way_however_it_was_made() -> None:
    assert ChunkPlan("fixed", size=64).describe() == ChunkPlan(Strategy.FIXED, 64).describe()  # type: ignore[arg-type]
    assert ChunkPlan(size=128).describe() == "structure rules=1 size=128 overlap=0 minimum=32"
