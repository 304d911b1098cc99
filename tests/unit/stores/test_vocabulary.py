"""The terms of the catalog: a number is given once, whoever writes, and a failed write gives none."""

from collections import Counter
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path

import numpy as np
import pytest

from twofold import _analyzer_python, kernels
from twofold.domain.errors import CorruptError, InvalidInputError
from twofold.stores.local.catalog import LocalConnection
from twofold.stores.local.serialization import TERM_RECORD
from twofold.stores.local.vocabulary import Vocabulary
from twofold.text.analyzers import analyzer_for

HELD = (1).to_bytes(4, "little") + (2).to_bytes(2, "little") + (2).to_bytes(4, "little") + (1).to_bytes(2, "little")


@pytest.fixture
def catalog(tmp_path: Path) -> Iterator[LocalConnection]:
    connection = opened(tmp_path / "terms")
    yield connection
    connection.close()


def opened(path: Path) -> LocalConnection:
    connection = LocalConnection(str(path))
    connection.execute("CREATE TABLE term (id INTEGER PRIMARY KEY AUTOINCREMENT, text TEXT NOT NULL UNIQUE) STRICT")
    return connection


def terms_of(catalog: LocalConnection) -> list[tuple[object, ...]]:
    return catalog.execute("SELECT id, text FROM term ORDER BY id").fetchall()


def test_terms_are_numbered_in_the_order_in_which_they_come(catalog: LocalConnection) -> None:
    packed = Vocabulary().numbered(catalog, [[{"git": 2, "reset": 1}], [{"reset": 1, "git": 2}, {}]])

    assert packed == [[HELD], [HELD, b""]]
    assert terms_of(catalog) == [(1, "git"), (2, "reset")]


def test_numbers_that_another_writer_gave_are_found(catalog: LocalConnection) -> None:
    one, other = Vocabulary(), Vocabulary()
    one.numbered(catalog, [[{"git": 1}]])
    other.numbered(catalog, [[{"hard": 1, "reset": 1}]])

    packed = one.numbered(catalog, [[{"reset": 70_000, "soft": 1, "git": 1}]])

    assert terms_of(catalog) == [(1, "git"), (2, "hard"), (3, "reset"), (4, "soft")]
    assert packed == [[bytes.fromhex("01000000010003000000ffff040000000100")]]


def test_odd_terms_are_kept_as_they_are(catalog: LocalConnection) -> None:
    odd = ["a\0b", "\u6771\u4eac", "\U0001f389", '"', "\\", "\u2028", ""]
    Vocabulary().numbered(catalog, [[dict.fromkeys(odd, 1)]])

    again = Vocabulary().numbered(catalog, [[dict.fromkeys(odd, 1)]])

    assert [text for _, text in terms_of(catalog)] == odd
    assert len(again[0][0]) == 6 * len(odd)


def test_what_is_not_unicode_is_refused(catalog: LocalConnection) -> None:
    with pytest.raises(InvalidInputError):
        Vocabulary().numbered(catalog, [[{"\ud800": 1}]])


def test_a_number_that_no_term_can_have_is_damage(catalog: LocalConnection) -> None:
    catalog.execute("INSERT INTO term (id, text) VALUES (?, ?)", (2**32, "git"))

    with pytest.raises(CorruptError):
        Vocabulary().numbered(catalog, [[{"git": 1}]])


@pytest.mark.parametrize("number", [0, -1, 2**32, 2**70])
def test_both_kernels_refuse_such_a_number(number: int) -> None:
    for number_terms in (kernels.number_terms, _analyzer_python.number_terms):
        with pytest.raises((ValueError, OverflowError)):
            number_terms({"git": 1}, {"git": number}, 5, [], 0)


def test_both_kernels_number_alike() -> None:
    made = []
    for number_terms, unknown_terms in (
        (kernels.number_terms, kernels.unknown_terms),
        (_analyzer_python.number_terms, _analyzer_python.unknown_terms),
    ):
        ids, fresh = {"git": 9, "reset": 3}, ["other"]
        counts = {"soft": 1, "git": 65_536, "hard": 2, "reset": 65_535}
        unknown = unknown_terms(counts, ids, 0)
        made.append((unknown, number_terms(counts, ids, 20, fresh, 0), ids, fresh))

    assert made[0] == made[1]
    assert made[0][0] == ["soft", "hard"]
    assert made[0][2:] == ({"git": 9, "reset": 3, "soft": 22, "hard": 23}, ["other", "soft", "hard"])


def records(packed: bytes) -> list[tuple[int, int]]:
    return [(int(one["term"]), int(one["count"])) for one in np.frombuffer(packed, dtype=TERM_RECORD)]


def test_what_an_analyzer_counted_is_numbered_as_a_dict_is(catalog: LocalConnection) -> None:
    counts = analyzer_for("english").counts("The dog's dogs bark").counts
    vocabulary = Vocabulary()

    packed = vocabulary.numbered(catalog, [[counts], [dict(counts)], [counts]])

    assert terms_of(catalog) == [(1, "=the"), (2, "dog"), (3, "bark")]
    assert [records(one) for (one,) in packed] == [[(1, 1), (2, 2), (3, 1)]] * 3


def test_numbers_that_were_rolled_back_are_given_again(catalog: LocalConnection) -> None:
    counts = analyzer_for("english").counts("dogs bark").counts
    vocabulary = Vocabulary()
    catalog.begin()
    vocabulary.numbered(catalog, [[counts]])
    catalog.rollback()
    vocabulary.forget()

    packed = vocabulary.numbered(catalog, [[{"cat": 1}, counts]])

    assert terms_of(catalog) == [(1, "cat"), (2, "dog"), (3, "bark")]
    assert records(packed[0][1]) == [(2, 1), (3, 1)]


def test_one_analyzer_numbers_for_two_indexes(catalog: LocalConnection, tmp_path: Path) -> None:
    analyzer = analyzer_for("english")
    mine, other = Vocabulary(), Vocabulary()
    second = opened(tmp_path / "other")
    for text in ("dogs bark", "cats and dogs", "dogs bark at cats"):
        counts = analyzer.counts(text).counts
        mine.numbered(catalog, [[{f"only here {text}": 1}, counts]])
        other.numbered(second, [[counts]])

    (packed,) = other.numbered(second, [[analyzer.counts("bark, dogs, bark").counts]])
    held = terms_of(second)
    second.close()

    assert held[:2] == [(1, "dog"), (2, "bark")]
    assert records(packed[0]) == [(1, 1), (2, 2)]


def test_counts_read_like_a_dict() -> None:
    counts = analyzer_for("english").counts("The dog's dogs bark").counts
    plain = {"dog": 2, "bark": 1, "=the": 1}

    assert counts == plain
    assert plain == counts
    assert counts == analyzer_for("english").counts("Dogs bark: the dog").counts
    assert counts != {"dog": 1}
    assert (len(counts), list(counts), list(counts.values())) == (3, ["=the", "dog", "bark"], [1, 2, 1])
    assert ("dog" in counts, "cat" in counts, counts.get("cat"), counts.get("cat", 7)) == (True, False, None, 7)
    assert Counter(counts) == Counter(plain)
    assert {**counts, "cat": 1} == {**plain, "cat": 1}
    assert deepcopy(counts) == plain
    assert repr(counts) == repr(dict(counts))
    with pytest.raises(KeyError):
        counts["cat"]
