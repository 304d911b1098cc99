"""An index that several may open, in a database or a bucket, next to a local one."""

from pathlib import Path

import pytest

from support.indexes import as_bits
from twofold import Index, MultiIndex
from twofold.stores.database_address import address_of

QUESTIONS = ["undo a commit", '"soft reset" -merge', "ERR-12345", "two parents", "nothing of the kind", "mer* OR sta?h"]


@pytest.fixture(params=["postgresql", "postgresql that ranks", "bucket"])
def address(request: pytest.FixtureRequest) -> str:
    """The address of an index that is not there yet."""
    if request.param == "bucket":
        return str(request.getfixturevalue("s3"))
    ranks = request.param.endswith("ranks")
    return f"{request.getfixturevalue('pgvector')}&retrieval=server" if ranks else request.getfixturevalue("postgres")


def another(address: str) -> str:
    """Return the address of an index next to it."""
    name = address_of(address).index
    return address.replace(name, f"{name}-b")


def test_results_and_traces_are_those_of_a_local_index_bit_for_bit(documents: Path, address: str) -> None:
    with Index("local") as local, Index(address) as shared:
        for index in (local, shared):
            assert len(index.sync(documents).added) == 5
            index.add("A zero byte \x00 in a text, and \U0001f33b.", source="odd\x00name.txt", metadata={"n": "\x00"})
            index.delete(str(documents / "stash.md"))
        for mode in ("hybrid", "bm25", "vector"):
            for question in QUESTIONS:
                here, there = (one.search(question, mode=mode) for one in (local, shared))
                assert as_bits(here) == as_bits(there), (mode, question)
                assert here.to_dicts() == there.to_dicts()
                assert [hit.trace for hit in here.hits] == [hit.trace for hit in there.hits]
        assert [info.source for info in shared.documents()] == [info.source for info in local.documents()]
        assert [shared.document(one.id) for one in local.documents()] == [
            local.document(one.id) for one in shared.documents()
        ]
        assert shared.search("zero byte", filter='n == "\x00"').hits[0].metadata["n"] == "\x00"
        assert shared.suggest("mer") == local.suggest("mer")
    with Index(address, create=False) as again:
        assert again.verify() == []
        assert len(again) == 5


def test_several_are_searched_together(address: str) -> None:
    other = another(address)
    with Index(address) as one, Index(other) as two:
        one.add("The cat sat.", source="cat.txt")
        two.add("The dog ran.", source="dog.txt")
    with MultiIndex([address, other]) as several:
        hits = several.search("dog cat").hits
    assert {hit.source for hit in hits} == {"cat.txt", "dog.txt"}
    assert {hit.collection for hit in hits} == {address_of(where).index for where in (address, other)}
