"""Documents have readers: what somebody may not read is not there for them, in the library, a sync, the commands."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from typer.testing import CliRunner

from support.indexes import indexed, sources
from twofold import Index
from twofold.cli.app import application
from twofold.domain.access import default_readers, principal, viewer_of
from twofold.domain.errors import InvalidInputError, NotAllowedError, NotFoundError
from twofold.domain.types import Vectors
from twofold.models.embedders.hashing import HashingEmbedder

TEXTS = {"deal.txt": "The merger is secret.", "menu.txt": "The soup is hot.", "memo.txt": "Ann likes soup and bread."}


class Counting(HashingEmbedder):
    """Counts the passages that it was asked for."""

    passages = 0

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        self.passages += len(texts)
        return super().embed_passages(texts)


@pytest.fixture
def index() -> Index:
    made = indexed(TEXTS)
    made.set_readers("deal.txt", ["group:legal"])
    made.set_readers("memo.txt", ["user:ann"])
    return made


@pytest.mark.parametrize(
    ("principals", "expected"),
    [
        (["user:ann", "group:legal"], {"deal.txt", "menu.txt", "memo.txt"}),
        (["group:legal"], {"deal.txt", "menu.txt"}),
        (["user:bob", "group:LEGAL", "group:legal2"], {"menu.txt"}),
        ([], {"menu.txt"}),
    ],
)
@pytest.mark.parametrize("mode", ["hybrid", "bm25", "vector"])
def test_each_finds_what_they_may_read(index: Index, principals: list[str], expected: set[str], mode: str) -> None:
    view = index.as_principals(principals)
    assert {one.source for one in view.documents()} == expected
    assert len(view) == len(expected)
    assert set(sources(view.search("merger soup", mode=mode, k=9))) == expected
    assert {one.source for one in index.documents()} == {*TEXTS}  # the owner sees everything


def test_readers_change_for_the_next_search_and_nothing_is_embedded_again() -> None:
    embedder = Counting()
    index = indexed(TEXTS, embedder=embedder)
    bob, embedded = index.as_principals(["user:bob"]), embedder.passages
    assert sources(bob.search("merger", mode="bm25")) == ["deal.txt"]
    index.set_readers("deal.txt", ["group:legal"])
    assert sources(bob.search("merger", mode="bm25")) == []
    with pytest.raises(NotFoundError, match=r"no document 'deal\.txt'"):
        bob.document("deal.txt")
    index.set_readers("deal.txt", None)
    assert sources(bob.search("merger", mode="bm25")) == ["deal.txt"]
    assert embedder.passages == embedded


def test_scores_are_those_of_an_index_without_the_hidden(index: Index) -> None:
    """BM25 of `soup` in one of one passage of 2 words: idf ln(1 + (1 - 1 + .5) / (1 + .5)) = ln 4/3, saturation 1."""
    found = index.as_principals([]).search("soup", mode="bm25")
    assert found.hits[0].trace.retrievers[0].raw == pytest.approx(0.28768207245178085)
    assert index.search("soup", mode="bm25").hits[0].trace.retrievers[0].raw != pytest.approx(0.28768207245178085)


def test_a_document_that_is_added_again_keeps_its_readers(index: Index) -> None:
    index.add("The merger is off.", source="deal.txt")
    assert index.as_principals([]).why_not("merger", "deal.txt").stage == "not_indexed"
    index.add("The merger is public.", source="deal.txt", readers=["public"])
    assert sources(index.as_principals([]).search("merger", mode="bm25")) == ["deal.txt"]


def test_an_index_can_deny_by_default() -> None:
    index = indexed(TEXTS, {"acl": {"default": "nobody"}})
    ann = index.as_principals(["user:ann"])
    assert ann.documents() == []
    index.set_readers("memo.txt", ["user:ann"])
    assert [one.source for one in ann.documents()] == ["memo.txt"]
    with pytest.raises(InvalidInputError, match="could not read"):
        ann.add("Nobody could read this.", source="new.txt")
    staff = indexed(TEXTS, {"acl": {"default": "group:staff, user:eve"}})
    assert len(staff.as_principals(["user:eve"])) == 3
    assert len(staff.as_principals(["user:ann"])) == 0


def test_an_index_keeps_for_itself_who_may_read_and_a_folder_may_not_say_it(tmp_path: Path) -> None:
    with indexed(TEXTS, where=tmp_path / "kb") as index:
        index.set_settings({"acl": {"default": "nobody"}})
        with pytest.raises(InvalidInputError):
            index.set_settings({"acl": {"resolver": "somewhere"}})
    with Index(tmp_path / "kb", embedder=HashingEmbedder()) as index:
        assert index.as_principals(["user:ann"]).documents() == []
    before = Path.cwd()
    (tmp_path / "twofold.yaml").write_text("acl: {default: public}\n")
    os.chdir(tmp_path)
    try:
        with Index(tmp_path / "kb", embedder=HashingEmbedder()) as index:
            assert index.as_principals(["user:ann"]).documents() == []
            assert index.settings.acl.default == "nobody"
    finally:
        os.chdir(before)


def test_a_search_cannot_say_who_may_read(index: Index) -> None:
    with pytest.raises(InvalidInputError, match="acl"):
        index.as_principals([]).search("merger", settings={"acl": {"default": "group:legal"}})


def test_two_have_documents_of_one_name_and_neither_meets_the_other(index: Index) -> None:
    ann, bob = index.as_principals(["user:ann"]), index.as_principals(["user:bob"])
    mine = ann.add("Mine.", source="notes.txt", readers=["user:ann"])
    theirs = bob.add("Theirs.", source="notes.txt", readers=["user:bob"])
    assert mine.id != theirs.id
    assert (ann.document("notes.txt").text, bob.document("notes.txt").text) == ("Mine.", "Theirs.")
    assert bob.add("Theirs, changed.", source="notes.txt").id == theirs.id
    assert bob.document("notes.txt").readers == ("user:bob",)
    for name in (mine.id, "deal.txt"):
        with pytest.raises(NotFoundError):
            bob.delete(name)
        with pytest.raises(NotFoundError):
            bob.set_readers(name, ["user:bob"])
    assert bob.delete("notes.txt") == 1
    assert ann.document("notes.txt").text == "Mine."


@pytest.mark.parametrize(
    "call",
    [
        Index.verify,
        Index.compact,
        Index.reindex,
        Index.drop,
        Index.embed_pending,
        lambda index: index.set_settings({}),
        lambda index: index.sync("/"),
        lambda index: index.sync("/", dry_run=True),
    ],
)
def test_what_concerns_all_documents_is_the_owners(index: Index, call: Callable[[Index], object]) -> None:
    with pytest.raises(NotAllowedError):
        call(index.as_principals(["user:ann"]))


def test_a_view_is_closed_by_its_owner_alone(index: Index) -> None:
    with index.as_principals(["user:ann"]) as view:
        view.search("soup")
    assert len(index) == 3


def test_conversations_are_apart(index: Index) -> None:
    index.as_principals(["group:legal"]).ask("What is secret?", session="talk")
    assert index.as_principals(["user:bob"]).conversation("talk") == ()
    assert index.conversation("talk") == ()
    assert len(index.as_principals(["group:legal"]).conversation("talk")) == 2


def test_answers_that_are_kept_are_kept_apart(index: Index) -> None:
    kept = {"cache": {"ttl_seconds": 60, "size": 9, "scope": "shared"}}
    legal, bob = index.as_principals(["group:legal"]), index.as_principals(["user:bob"])
    assert sources(legal.search("merger", mode="bm25", settings=kept)) == ["deal.txt"]
    found = bob.search("merger", mode="bm25", settings=kept)
    assert (found.hits, found.cache.hit) == ((), False)
    assert legal.search("merger", mode="bm25", settings=kept).cache.hit
    index.set_readers("deal.txt", ["user:bob"])
    assert sources(legal.search("merger", mode="bm25", settings=kept)) == []


def test_shared_statistics_are_rounded() -> None:
    """3 passages and 3 holders of at most 10 each: idf ln(1 + (10 - 10 + .5) / (10 + .5)), whatever the truth is."""
    shared = indexed(TEXTS, {"acl": {"statistics": "shared"}}).as_principals([])
    found = shared.search("soup", mode="bm25")
    assert found.hits[0].trace.terms[0].idf == pytest.approx(0.04652001563489282)


def test_explanations_say_that_counts_are_rounded(index: Index) -> None:
    """The owner's counts are exact in either case, and so are those of what somebody may read."""
    shared = indexed(TEXTS, {"acl": {"statistics": "shared"}})
    notes = {
        name: [note for stage in view.search("soup").stages if stage.name == "bm25" for note in stage.notes]
        for name, view in (("ann", shared.as_principals([])), ("owner", shared), ("exact", index.as_principals([])))
    }
    assert notes == {
        "ann": ["counted over all documents, rounded to two digits, 10 at the least"], "owner": [], "exact": [],
    }  # fmt: skip


def test_shared_counts_tell_nothing_finer_than_their_two_digits() -> None:
    """Two hidden texts with the same words in another number: fewer than ten each way, so nobody can tell them apart.

    Six passages of twelve words count as 10 of 12 in either world, and each word as one that 10 of them hold.
    """
    hidden = ("soup soup", "merger soup"), ("merger merger", "soup merger")

    def told(texts: Sequence[str]) -> str:
        made = indexed({}, {"acl": {"statistics": "shared"}})
        for number in range(4):
            made.add(("the merger", "merger soup")[number % 2], source=f"{number}.txt")
        for number, text in enumerate(texts):
            made.add(text, source=f"hidden{number}.txt", readers=[])
        found = made.as_principals([]).search("merger soup", mode="bm25", k=9)
        return repr([(hit.source, hit.score, hit.trace) for hit in found.hits])

    assert told(hidden[0]) == told(hidden[1])


@pytest.mark.parametrize(
    "text",
    ["", "ann", "user:", "user: ann", "user:a\nb", "group:a,b", "Public", "everybody", "user:a\u200bb", "x:y", "*", 3],
)
def test_what_is_no_principal_is_refused(text: object) -> None:
    with pytest.raises(InvalidInputError):
        principal(text)


def test_names_are_one_in_every_spelling_of_unicode() -> None:
    assert principal("user:Zoe\u0308") == principal("user:Zo\u00eb")
    assert viewer_of(["user:Zoe\u0308"]).may_read(("user:Zo\u00eb",))
    assert not viewer_of(["user:zo\u00eb"]).may_read(("user:Zo\u00eb",))
    with pytest.raises(InvalidInputError, match="list"):
        viewer_of("user:ann")
    assert default_readers("nobody") == ()


def readers(index: Index) -> dict[str, tuple[str, ...] | None]:
    return {Path(one.source).name: one.readers for one in index.documents()}


def test_a_sync_reads_who_may_read_from_the_nearest_folder(tmp_path: Path) -> None:
    for name, text in {"a.txt": "one", "legal/b.txt": "two", "legal/old/c.txt": "three", "legal/hr/d.txt": "x"}.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    (tmp_path / "legal/.twofoldaccess").write_text("# the team\ngroup:legal\nuser:ann\n")
    (tmp_path / "legal/hr/.twofoldaccess").write_text("group:hr")
    legal = ("group:legal", "user:ann")
    index = indexed({})
    assert index.sync(tmp_path).readers == ()
    assert readers(index) == {"a.txt": None, "b.txt": legal, "c.txt": legal, "d.txt": ("group:hr",)}
    (tmp_path / "legal/.twofoldaccess").write_text("nobody\n")
    plan = index.sync(tmp_path, dry_run=True)
    assert [Path(one).name for one in plan.readers] == ["b.txt", "c.txt"]
    report = index.sync(tmp_path)
    assert (report.updated, report.embedded, len(report.readers)) == ((), 0, 2)
    assert readers(index)["b.txt"] == ()
    (tmp_path / "legal/.twofoldaccess").unlink()
    (tmp_path / "legal/b.txt").rename(tmp_path / "legal/e.txt")
    index.sync(tmp_path)
    assert readers(index)["e.txt"] == ()  # nothing is opened because a file was moved, or a rule taken away
    (tmp_path / "legal/.twofoldaccess").write_text("default")
    (tmp_path / "legal/e.txt").write_text("changed")
    index.sync(tmp_path)
    assert readers(index)["e.txt"] is None


@pytest.mark.parametrize("text", ["ann", "", "# nothing\n", "nobody\nuser:ann", "user:ann\ndefault", "\xff"])
def test_an_access_file_that_cannot_be_read_ends_the_sync(tmp_path: Path, text: str) -> None:
    (tmp_path / "a.txt").write_text("secret")
    (tmp_path / ".twofoldaccess").write_bytes(text.encode("latin-1"))
    index = indexed({})
    with pytest.raises(InvalidInputError, match=r"\.twofoldaccess"):
        index.sync(tmp_path)
    assert index.documents() == []


def test_an_access_file_is_no_link_and_no_document(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("secret")
    (tmp_path / "open").write_text("public")
    (tmp_path / ".twofoldaccess").symlink_to(tmp_path / "open")
    index = indexed({})
    with pytest.raises(InvalidInputError, match=r"\.twofoldaccess"):
        index.sync(tmp_path)
    (tmp_path / ".twofoldaccess").unlink()
    (tmp_path / ".twofoldaccess").write_text("user:ann")
    index.sync(tmp_path)
    assert readers(index) == {"a.txt": ("user:ann",), "open": ("user:ann",)}
    with pytest.raises(InvalidInputError, match="no document"):
        index.add_file(tmp_path / ".twofoldaccess")


def test_a_files_own_group_may_read_it(tmp_path: Path) -> None:
    grp = pytest.importorskip("grp")
    (tmp_path / "a.txt").write_text("secret")
    (tmp_path / ".twofoldaccess").write_text("posix-group\nuser:ann\n")
    index = indexed({})
    index.sync(tmp_path)
    name = grp.getgrgid((tmp_path / "a.txt").stat().st_gid).gr_name
    assert readers(index)["a.txt"] == tuple(sorted((f"group:{name}", "user:ann")))


def test_commands_show_what_somebody_may_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TWOFOLD_HOME", str(tmp_path))
    monkeypatch.setenv("TWOFOLD_EMBEDDER", "hashing")
    path = tmp_path / "deal.txt"
    path.write_text("The merger is secret.")

    def run(*words: str, code: int = 0) -> str:
        done = CliRunner().invoke(application(), list(words))
        assert done.exit_code == code, done.output
        return done.output

    run("add", str(path), "--reader", "group:legal")
    assert "merger" in run("--as", "group:legal", "search", "merger")
    assert "merger" not in run("--as", "user:bob", "search", "merger", "-m", "bm25")
    assert "merger" in run("search", "merger")
    assert run("--as", "user:bob", "ls") == ""
    assert "group:legal" in run("access", "show")
    run("access", "set", "deal.txt", "user:bob")
    assert "deal.txt" in run("--as", "user:bob", "ls")
    run("access", "set", "deal.txt", "default")
    assert "public (default)" in run("access", "show", "deal.txt")
    assert "cannot be used with --as" in run("--as", "user:bob", "index", "verify", code=2)
    run("access", "set", "deal.txt", "nobody", "user:bob", code=2)
    run("access", "default", "group:staff", "user:eve")
    assert "group:staff user:eve (default)" in run("access", "show")
    assert run("--as", "user:bob", "ls") == ""
    assert "deal.txt" in run("--as", "user:eve", "ls")
    run("--as", "bob", "ls", code=2)
