"""`twofold migrate`: the copy is the same index, whatever the stores, and an interrupted copy goes on."""

from functools import partial
from itertools import pairwise
from pathlib import Path

import pytest

from support.factories import entry, fingerprint, pending, vector
from support.indexes import GIT
from surfaces.conftest import Run
from twofold import Index
from twofold.config.load import load_settings
from twofold.domain.errors import InvalidInputError, MismatchError
from twofold.domain.ports import Store
from twofold.factory.search import open_store
from twofold.indexing.migrate import migrate
from twofold.stores.memory import MemoryStore


def test_an_index_moves_to_a_database_and_back_with_every_bit_of_its_rankings(
    run: Run, tmp_path: Path, postgres: str
) -> None:
    folder = tmp_path / "git"
    folder.mkdir()
    for name, text in GIT.items():
        (folder / name).write_text(text)
    assert run("sync", folder, "--index", "here").code == 0
    with Index("here") as index:
        index.add("A zero byte \x00 here.", source="odd.txt", metadata={"n": ("\x00", 1.5)})
        index.set_settings({"search.k": "3"})

    there = run("migrate", "here", postgres, "--json").data
    back = run("migrate", postgres, "back", "--json").data
    again = run("migrate", "here", postgres)

    assert (there["copied"], there["unchanged"], there["chunks"]) == (6, 0, 6)
    assert back == there
    assert again.out.startswith("0 documents copied, 6 there already, 6 passages in postgresql://")
    assert there["digest"] in again.out
    asked = ("search", "undo a commit", "--json", "--explain", "--index")
    hits = [run(*asked, one).data["hits"] for one in ("here", postgres, "back")]
    assert hits[0] == hits[1] == hits[2]
    assert len(hits[0]) == 3
    with Index("back", create=False) as index:
        assert index.verify() == []
    synced = run("sync", folder, "--index", "back")
    assert "5 unchanged" in synced.out


def _note(seen: list[tuple[int, int]], done: int, total: int) -> None:
    seen.append((done, total))


@pytest.fixture
def stores(tmp_path: Path, postgres: str) -> list[Store]:
    settings = load_settings(overrides={"home": str(tmp_path)})
    return [MemoryStore(), open_store("a", settings, create=True), open_store(postgres, settings, create=True)]


def test_it_goes_on_where_it_stopped_and_takes_readers_settings_and_what_waits_along(stores: list[Store]) -> None:
    first = stores[0]
    first.ensure_fingerprint(fingerprint())
    made = [entry(f"cat {number}\ndog {number}", f"{number:03d}.txt", {"n": number}) for number in range(70)]
    first.upsert([*made[:-1], pending(made[-1], 1)])
    first.set_readers({made[3].document.id: ("user:a",), made[4].document.id: ()})
    first.set_settings({"search.k": "7"})
    first.note_roots({"/docs": 5})

    def stop(done: int, total: int) -> None:
        assert total == 70
        if done > 32:
            raise KeyboardInterrupt

    for source, target in pairwise(stores):
        with pytest.raises(KeyboardInterrupt):
            migrate(source, target, stop)
        seen: list[tuple[int, int]] = []
        report = migrate(source, target, partial(_note, seen))
        assert (report.copied, report.unchanged, report.chunks) == (6, 64, 140)
        assert seen == [(32, 70), (64, 70), (70, 70)]
        with target.view() as view, first.view() as expected:
            assert list(view.documents()) == list(expected.documents())
            assert list(view.pending_texts(9)) == ["dog 69"]
            assert view.search_vectors(vector("cat 5"), 9) == expected.search_vectors(vector("cat 5"), 9)
        assert target.get_settings() == {"search.k": "7"}
        assert target.info().roots == {"/docs": 5}
        assert target.verify() == []
    first.upsert([entry("owl", "000.txt")])
    assert migrate(first, stores[1], lambda _done, _total: None).copied == 1
    for store in stores:
        store.close()


def test_a_target_that_holds_something_else_is_refused(stores: list[Store]) -> None:
    first, second, third = stores
    for store in stores[:2]:
        store.ensure_fingerprint(fingerprint())
    first.upsert([entry("cat", "a.txt")])
    second.upsert([entry("dog", "b.txt")])
    third.ensure_fingerprint(fingerprint("other"))
    third.upsert([entry("cat", "a.txt")])
    with pytest.raises(InvalidInputError, match=r"b\.txt"):
        migrate(first, second, lambda _done, _total: None)
    with pytest.raises(MismatchError, match="embedder"):
        migrate(first, third, lambda _done, _total: None)
    for store in stores:
        store.close()


def test_nothing_and_itself_cannot_be_copied(run: Run, postgres: str) -> None:
    assert run("index", "create", "empty").code == 0
    assert [run("migrate", *words).code for words in (("empty", "empty"), ("missing", postgres))] == [2, 3]
