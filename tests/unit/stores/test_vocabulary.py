"""The terms of the catalog: a number is given once, whoever writes, and a failed write gives none."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from twofold import _analyzer_python, kernels
from twofold.domain.errors import CorruptError, InvalidInputError
from twofold.stores.local.catalog import LocalConnection
from twofold.stores.local.vocabulary import Vocabulary

HELD = (1).to_bytes(4, "little") + (2).to_bytes(2, "little") + (2).to_bytes(4, "little") + (1).to_bytes(2, "little")


@pytest.fixture
def catalog(tmp_path: Path) -> Iterator[LocalConnection]:
    connection = LocalConnection(str(tmp_path / "terms"))
    connection.execute("CREATE TABLE term (id INTEGER PRIMARY KEY AUTOINCREMENT, text TEXT NOT NULL UNIQUE) STRICT")
    yield connection
    connection.close()


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
            number_terms({"git": 1}, {"git": number}, 5, [])


def test_both_kernels_number_alike() -> None:
    made = []
    for number_terms, unknown_terms in (
        (kernels.number_terms, kernels.unknown_terms),
        (_analyzer_python.number_terms, _analyzer_python.unknown_terms),
    ):
        ids, fresh = {"git": 9, "reset": 3}, ["other"]
        counts = {"soft": 1, "git": 65_536, "hard": 2, "reset": 65_535}
        unknown = unknown_terms(counts, ids)
        made.append((unknown, number_terms(counts, ids, 20, fresh), ids, fresh))

    assert made[0] == made[1]
    assert made[0][0] == ["soft", "hard"]
    assert made[0][2:] == ({"git": 9, "reset": 3, "soft": 22, "hard": 23}, ["other", "soft", "hard"])
