"""What is remembered of terms is what the catalog says, however little is remembered."""

from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st

from twofold.domain.errors import CorruptError
from twofold.stores.local.term_dictionary import TermDictionary

TERMS = {term: number for number, term in enumerate(["a", "b", "ö", "\x1fcode", "e"], start=1)}


def filled(path: str = ":memory:") -> apsw.Connection:
    connection = apsw.Connection(path)
    connection.execute("CREATE TABLE term (id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE)")
    connection.executemany("INSERT INTO term (text) VALUES (?)", [(term,) for term in TERMS])
    return connection


@pytest.fixture
def catalog(tmp_path: Path) -> Iterator[apsw.Connection]:
    connection = filled(str(tmp_path / "terms"))
    yield connection
    connection.close()


@given(
    asked=st.lists(st.lists(st.sampled_from([*TERMS, "absent", "\ud800"]), max_size=6), max_size=8),
    most=st.integers(1, 6),
)
def test_terms_and_numbers_are_those_of_the_catalog(asked: list[list[str]], most: int) -> None:
    connection, known = filled(), TermDictionary(most)
    for terms in asked:
        assert known.ids(connection, terms).tolist() == [TERMS.get(term, 0) for term in terms]
        held = [term for term in terms if term in TERMS]
        assert list(known.texts(connection, [TERMS[term] for term in held])) == held


def test_a_term_that_comes_later_is_found(catalog: apsw.Connection) -> None:
    known = TermDictionary()
    assert known.ids(catalog, ["new"]).tolist() == [0]

    catalog.execute("INSERT INTO term (text) VALUES ('new')")

    assert known.ids(catalog, ["new"]).tolist() == [6]


def test_what_is_known_is_not_looked_up_again(catalog: apsw.Connection) -> None:
    known = TermDictionary()
    known.ids(catalog, ["a"])
    known.texts(catalog, [2])
    catalog.execute("DELETE FROM term")

    assert known.ids(catalog, ["a", "b"]).tolist() == [1, 2]
    assert list(known.texts(catalog, [1, 2])) == ["a", "b"]


def test_a_number_that_was_never_given_is_told_of(catalog: apsw.Connection) -> None:
    with pytest.raises(CorruptError, match="lost some of its terms"):
        TermDictionary().texts(catalog, [1, 99])
