"""An exported file from somebody else: nothing it says writes, runs or is followed, and a bad one makes no index."""

import json
from collections.abc import Callable, Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from support.http_server import Answered, Asked, embeddings_of, serving
from support.indexes import GIT, indexed
from twofold import Index
from twofold.cli.app import application
from twofold.domain.errors import CorruptError, InvalidInputError, MismatchError, TwofoldError
from twofold.domain.filters import Condition, Operator
from twofold.models.embedders.hashing import HashingEmbedder

MAGIC = b"twofold index 1\n"
Change = Callable[[dict[str, Any], dict[str, Any]], None]


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    folder = tmp_path_factory.mktemp("export")
    with indexed(GIT, where=folder / "kb") as index:
        index.export(folder / "kb.twofold")
    return (folder / "kb.twofold").read_bytes()


def sealed(data: bytes) -> bytes:
    """Give a file the checksum of what it holds."""
    return data + sha256(data).digest()


def framed(data: bytes) -> bytes:
    return len(data).to_bytes(8, "little") + data


def frames(data: bytes) -> list[bytes]:
    """Take a file apart into its header and its documents."""
    found, at = [], len(MAGIC)
    while length := int.from_bytes(data[at : at + 8], "little"):
        found.append(data[at + 8 : at + 8 + length])
        at += 8 + length
    return found


def rewritten(data: bytes, change: Change) -> bytes:
    """Change the header and the first document, and seal the file again."""
    header, first, *rest = frames(data)
    head = json.loads(header)
    length = int.from_bytes(first[:8], "little")
    document = json.loads(first[8 : 8 + length])
    change(head, document)
    changed = framed(json.dumps(document).encode()) + first[8 + length :]
    parts = [json.dumps(head).encode(), changed, *rest]
    return sealed(MAGIC + b"".join(map(framed, parts)) + bytes(8))


def refused(folder: Path, data: bytes, error: type[TwofoldError] = CorruptError) -> None:
    """Import a file; it must be refused, and leave nothing behind."""
    file = folder / "bad.twofold"
    file.write_bytes(data)
    with pytest.raises(error):
        Index.from_export(file, folder / "made" / "kb")
    made = folder / "made"
    assert list(made.iterdir() if made.exists() else ()) == []


def in_document(**values: object) -> Change:
    def change(_: dict[str, Any], document: dict[str, Any]) -> None:
        document.update(values)

    return change


def in_chunk(**values: object) -> Change:
    def change(_: dict[str, Any], document: dict[str, Any]) -> None:
        document["chunks"][0].update(values)

    return change


def in_header(**values: object) -> Change:
    def change(header: dict[str, Any], _: dict[str, Any]) -> None:
        header.update(values)

    return change


def test_what_is_rewritten_without_a_change_is_taken(exported: bytes, tmp_path: Path) -> None:
    file = tmp_path / "same.twofold"
    file.write_bytes(rewritten(exported, lambda *_: None))
    with Index.from_export(file, tmp_path / "kb") as index:
        assert len(index) == len(GIT)


@pytest.mark.parametrize("at", [0, 5, 14, 20, 100, 1_000, -40, -33, -32, -1])
def test_a_flipped_bit_is_refused(exported: bytes, tmp_path: Path, at: int) -> None:
    data = bytearray(exported)
    data[at] ^= 4
    refused(tmp_path, bytes(data), TwofoldError)


@pytest.mark.parametrize("kept", [0, 3, 16, 17, 48, 500, -1, -32, -40])
def test_a_file_that_is_cut_off_is_refused(exported: bytes, tmp_path: Path, kept: int) -> None:
    refused(tmp_path, exported[:kept])


def test_other_formats_are_refused_by_their_number(exported: bytes, tmp_path: Path) -> None:
    for number in (b"0", b"2", b"9"):
        refused(tmp_path, sealed(b"twofold index " + number + exported[15:-32]), MismatchError)
    refused(tmp_path, b"SQLite format 3\0" + bytes(4096))
    refused(tmp_path, sealed(b"PK\x03\x04" + bytes(100)))


def test_a_part_that_claims_to_be_huge_takes_no_memory(tmp_path: Path) -> None:
    for length in (2**40, 2**63, 2**64 - 1):
        refused(tmp_path, sealed(MAGIC + length.to_bytes(8, "little") + b"{}"))
    refused(tmp_path, sealed(MAGIC + framed(b"[" * 500_000)))


@pytest.mark.parametrize(
    "change",
    [
        in_header(documents=4),
        in_header(chunks=99),
        in_header(documents=-1),
        in_header(documents="5"),
        in_header(fingerprint={"embedder": {}}),
        in_header(fingerprint=None),
        in_header(settings={"search.k": 5}),
        in_header(settings={"nobody.knows": "5"}),
        in_document(document=["", "s", "t", "text/plain", "h", "[]"]),
        in_document(document=["~", "s", "t", "text/plain", "h", "[]"]),  # not in order
        in_document(document=[["x"], "s", "t", "text/plain", "h", "[]"]),
        in_document(document=["0", "s", "t", "text/plain", "h", '[["page", 9, 1, [], 0, "", ""]]']),
        in_document(metadata={"a": {"b": 1}}),
        in_document(metadata=[]),
        in_document(readers=["root"]),
        in_document(readers=[1]),
        in_document(chunks=[]),
        in_document(terms=[]),
        in_chunk(span=[0, 10**9]),
        in_chunk(span=[-5, 5]),
        in_chunk(span=[9, 2]),
        in_chunk(span=["0", "5"]),
        in_chunk(ordinal=7),
        in_chunk(ordinal=0.0),
        in_chunk(ordinal=False),
        in_chunk(span=[False, 5]),
        in_chunk(span=[0, 5.0]),
        in_chunk(terms=10**9),
        in_chunk(terms=0),
        in_chunk(words=-1),
        in_chunk(vector=False),
        in_chunk(heading="x"),
        in_chunk(page=-1),
        in_chunk(metadata={"x": None}),
    ],
)
def test_values_that_no_file_of_ours_holds_are_refused(exported: bytes, tmp_path: Path, change: Change) -> None:
    refused(tmp_path, rewritten(exported, change), TwofoldError)


@settings(max_examples=60)
@given(st.binary(max_size=200), st.integers(0, 3_000))
def test_random_bytes_in_a_sealed_file_end_in_a_typed_error_or_an_index(
    exported: bytes, tmp_path_factory: pytest.TempPathFactory, noise: bytes, at: int
) -> None:
    folder = tmp_path_factory.mktemp("fuzz")
    body = exported[:-32]
    file = folder / "noise.twofold"
    file.write_bytes(sealed(body[: 16 + at] + noise + body[16 + at + len(noise) :]))
    try:
        Index.from_export(file, folder / "made" / "kb").close()
    except TwofoldError:
        made = folder / "made"
        assert list(made.iterdir() if made.exists() else ()) == []


VALUES = st.one_of(
    st.none(), st.booleans(), st.integers(-(2**70), 2**70), st.floats(), st.text(max_size=8), st.just("\ud800"),
    st.lists(st.integers(), max_size=3), st.dictionaries(st.text(max_size=3), st.integers(), max_size=2),
)  # fmt: skip


def places(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:  # noqa: ANN401  # JSON
    """Yield where values stand in JSON, the outer ones too."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, one in inner:
        yield (*path, name)
        yield from places(one, (*path, name))


def with_value(lot: int, put: object) -> Change:
    """Return a change that puts a value in the place of another, whichever of all places it is."""

    def change(header: dict[str, Any], document: dict[str, Any]) -> None:
        both = {"header": header, "document": document}
        found = [path for path in places(both) if len(path) > 1]
        *outer, last = found[lot % len(found)]
        held: Any = both
        for name in outer:
            held = held[name]
        held[last] = put

    return change


def taken_or_refused(exported: bytes, folder: Path, change: Change) -> None:
    """Import a changed file: it is refused and leaves nothing, or makes an index that can be searched and listed."""
    file, made = folder / "changed.twofold", folder / "made"
    file.write_bytes(rewritten(exported, change))
    try:
        with Index.from_export(file, made / "kb") as index:
            for info in index.documents():
                assert index.document(info.id).source == info.source
                assert len(index.chunks(info.id)) == info.chunks
            index.search("undo a commit", mode="bm25")
            assert index.verify() == []
    except TwofoldError:
        left = [path.name for path in made.iterdir()] if made.exists() else []
        assert left in ([], ["kb"])  # "kb" where a later answer says that something is wrong with it
    assert {path.name for path in folder.iterdir()} <= {"changed.twofold", "made"}


@settings(max_examples=40)
@given(st.integers(0, 10_000), VALUES)
def test_any_value_in_any_place_ends_in_a_typed_error_or_an_index_that_answers(
    exported: bytes, tmp_path_factory: pytest.TempPathFactory, lot: int, put: object
) -> None:
    taken_or_refused(exported, tmp_path_factory.mktemp("value"), with_value(lot, put))


@pytest.mark.soak
@settings(max_examples=2_000)
@given(st.integers(0, 10_000), VALUES)
def test_two_thousand_values_end_in_a_typed_error_or_an_index_that_answers(
    exported: bytes, tmp_path_factory: pytest.TempPathFactory, lot: int, put: object
) -> None:
    taken_or_refused(exported, tmp_path_factory.mktemp("value"), with_value(lot, put))


FOREIGN = (
    "C:\\Users\\Ann\\notes.md", "\\\\server\\share\\a.md", "/srv/notes.md", "con", "a:b?*.md", "dots...",
    " x ",    "../up.md", "Zoe\u0308/e.md", "Zo\u00eb/e.md", "UPPER.md", "upper.md", "x" * 300 + ".md", "new\nline.md",
)  # fmt: skip


def test_names_by_the_rules_of_another_platform_stay_as_they_are(tmp_path: Path) -> None:
    """Neither case nor Unicode's form, drive letters nor separators are changed: a document's name is no path."""
    texts = {name: f"the text of document {number}" for number, name in enumerate(FOREIGN)}
    with indexed(texts, where=tmp_path / "kb") as index:
        checksum = index.export(tmp_path / "kb.twofold")
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "upper.md").write_text("a file of this machine")
    with Index.from_export(tmp_path / "kb.twofold", tmp_path / "made" / "kb") as made:
        assert {info.source: made.document(info.id).text for info in made.documents()} == texts
        for number, name in enumerate(FOREIGN):
            assert made.search(f"document {number}", filter=Condition("source", Operator.EQ, name), mode="bm25").hits
        assert made.export(tmp_path / "again.twofold") == checksum
        report = made.sync(tmp_path / "files")  # what came with the file lies below no folder of this machine
        assert (len(report.added), report.deleted, len(made)) == (1, (), len(FOREIGN) + 1)


def test_names_that_look_like_paths_are_names(exported: bytes, tmp_path: Path) -> None:
    sources = ["0/../../../etc/passwd", "../../escaped.md", "t", "text/plain", "h", "[]"]
    file = tmp_path / "paths.twofold"
    file.write_bytes(rewritten(exported, in_document(document=sources)))
    with Index.from_export(file, tmp_path / "made" / "kb") as index:
        assert "../../escaped.md" in {info.source for info in index.documents()}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["made", "paths.twofold"]


def test_an_existing_index_is_not_written_over(exported: bytes, tmp_path: Path) -> None:
    file = tmp_path / "kb.twofold"
    file.write_bytes(exported)
    with indexed({"own.md": "mine"}, where=tmp_path / "kb") as index:
        held = index.documents()
    with pytest.raises(InvalidInputError, match="already"):
        Index.from_export(file, tmp_path / "kb")
    with Index(tmp_path / "kb", embedder=HashingEmbedder(), create=False) as index:
        assert index.documents() == held


@pytest.fixture
def canary(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[str, list[Asked]]]:
    """A listener on loopback that should hear nothing, and a key that it would like to have."""
    heard: list[Asked] = []

    def answer(asked: Asked) -> Answered:
        heard.append(asked)
        return Answered(embeddings_of([""], 256))

    monkeypatch.setenv("TWOFOLD_API_KEY", "sk-users-secret")
    with serving(answer) as address:
        yield address, heard


def test_its_settings_and_its_recipe_redirect_nothing(
    exported: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, canary: tuple[str, list[Asked]]
) -> None:
    address, heard = canary

    def evil(header: dict[str, Any], _: Mapping[str, Any]) -> None:
        header["settings"] = {"rerank.model": f"{address}/v1#evil", "generator": f"{address}/v1#evil"}
        header["fingerprint"]["embedder"]["name"] = f"{address}/v1#evil&dimensions=256"
        header["fingerprint"]["settings"]["embedder"] = f"{address}/v1#evil&dimensions=256"

    monkeypatch.setenv("TWOFOLD_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "evil.twofold"
    file.write_bytes(rewritten(exported, evil))

    def run(*words: str) -> Any:  # noqa: ANN401
        return CliRunner().invoke(application(), list(words), prog_name="twofold")

    assert run("index", "import", str(file), "-i", "kb").exit_code == 0
    searched = run("search", "undo the last commit", "-i", "kb")
    asked = run("ask", "how do I undo a commit?", "-i", "kb")
    (tmp_path / "diary.txt").write_text("My private diary.")
    added = run("add", "diary.txt", "-i", "kb")

    assert searched.exit_code == 0
    assert "reset.md" in searched.stdout
    assert "is ignored" in searched.stderr
    assert asked.exit_code == 0
    assert added.exit_code == 4
    assert heard == []
