from collections.abc import Sequence
from functools import partial

import pytest

from support.custom_parts import read_badly, read_ending, read_nothing, shouting
from twofold.domain.errors import InvalidInputError
from twofold.domain.types import Document
from twofold.ingest.pool import Failed, Outcome, ReaderPool
from twofold.ingest.readers.custom import CustomReader
from twofold.ingest.readers.types import Extract, Source


def read_all(own: Sequence[CustomReader], *sources: Source) -> list[Outcome]:
    with ReaderPool(own=own) as pool:
        return list(pool.read_all(sources))


def test_a_reader_takes_files_by_their_ending_before_the_built_in_ones() -> None:
    shouted, plain = read_all([shouting()], Source("a.SHOUT", b"hello"), Source("b.txt", b"hello"))

    assert isinstance(shouted, Document)
    assert isinstance(plain, Document)
    assert (shouted.text, shouted.title, shouted.media_type) == ("HELLO", "shouted", "text/x-shout")
    assert (plain.text, plain.media_type) == ("hello", "text/plain")


def test_a_reader_takes_files_by_their_media_type() -> None:
    (document,) = read_all([CustomReader(shouting().read, "text/markdown")], Source("a.md", b"# hello"))

    assert isinstance(document, Document)
    assert document.text == "# HELLO"


def test_a_reader_that_fails_costs_its_own_file_alone() -> None:
    own = [CustomReader(read_badly, "text/x-bad", (".bad",)), CustomReader(read_nothing, "text/x-none", (".none",))]
    bad, none, good = read_all(own, Source("a.bad", b"x"), Source("a.none", b"x"), Source("a.txt", b"fine"))

    assert isinstance(bad, Failed)
    assert "ZeroDivisionError" in bad.error.message
    assert isinstance(none, Failed)
    assert "no Extract" in none.error.message
    assert isinstance(good, Document)


def test_an_empty_file_is_no_readers_business() -> None:
    (outcome,) = read_all([shouting()], Source("a.shout", b" \n"))

    assert isinstance(outcome, Failed)
    assert outcome.error.kind == "empty"


def test_a_reader_that_another_process_cannot_import_is_refused() -> None:
    def inner(source: Source) -> Extract:
        return Extract(source.name)

    for read in (inner, lambda source: Extract(source.name)):
        with pytest.raises(InvalidInputError, match="another process"):
            ReaderPool(own=[CustomReader(read, "text/x-inner", (".in",))])


def test_a_reader_may_be_given_text_of_its_own_and_nothing_else() -> None:
    (document,) = read_all([CustomReader(partial(read_ending, "!"), "text/x-end", (".end",))], Source("a.end", b"hey"))

    assert isinstance(document, Document)
    assert document.text == "hey!"
    with pytest.raises(InvalidInputError, match="more than text"):
        ReaderPool(own=[CustomReader(partial(read_ending, 3), "text/x-end")])  # type: ignore[arg-type]
