"""An index folder that somebody else made: nothing in it is run, nothing hangs, and every malformed value is named.

Each catalog is changed by SQL or by hand with right checksums of its pages, as someone who means harm would, and then
used by the command line.
"""

import json
import os
import shutil
import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import apsw
import numpy as np
import pytest
from typer.testing import CliRunner

from twofold import Index
from twofold.cli.app import application
from twofold.config.load import load_settings
from twofold.domain.errors import CorruptError
from twofold.stores.local.checksums import PAGE_BYTES, ChecksumVFS, seal
from twofold.stores.local.segment import ALIGNMENT, MAGIC, MAX_HEADER_BYTES, checksum

TEXTS = {
    "cat.txt": "The cat sat on the mat. It purred all afternoon.",
    "tower.txt": "The Eiffel tower stands in Paris. It was finished in 1889.",
    "git.txt": "To undo the last commit but keep your changes, reset softly.",
}
ENDLESS = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n)"
NESTED = "[" * 200_000
COMMANDS = (
    ("search", "cat mat"),
    ("search", "cat mat", "-f", "year >= 2020", "-m", "bm25"),
    ("ask", "Where did the cat sit?"),
    ("ls", "--json"),
    ("show", "cat.txt", "--chunks"),
    ("index", "info"),
    ("index", "verify"),
    ("add", "-", "--source", "new.txt"),
    ("rm", "git.txt"),
    ("index", "compact"),
)
DAMAGED = 7
TYPED = {0, 2, 3, 4, DAMAGED}


@pytest.fixture(autouse=True)
def small_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TWOFOLD_EMBEDDER", "hashing:32")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An index whose passages stand in the catalog alone, and beside it one whose passages stand in a segment too."""
    folder = tmp_path_factory.mktemp("made")
    settings = load_settings(overrides={"embedder": "hashing:32", "offline": True, "home": str(folder)})
    with Index(folder / "tail", settings=settings) as index:
        for source, text in TEXTS.items():
            index.add(text, source=source, metadata={"year": 2024})
    shutil.copytree(folder / "tail", folder / "segment")
    with Index(folder / "segment", settings=settings) as index:
        index.compact()
    return folder


@contextmanager
def altered(folder: Path) -> Iterator[apsw.Connection]:
    """Open a catalog to change it as one likes; the changes reach the file itself."""
    vfs = ChecksumVFS(f"altering-{id(folder):x}")
    connection = apsw.Connection(str(folder / "catalog.sqlite3"), vfs=vfs.name)
    try:
        connection.execute("PRAGMA writable_schema = ON")
        yield connection
        connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
    finally:
        connection.close()
        (folder / "catalog.acknowledged").unlink(missing_ok=True)


def used(folder: Path, *words: str) -> tuple[int, str]:
    """Use an index by one command; give the exit code and what was printed."""
    done = CliRunner().invoke(
        application(words[0]), [*words, "-i", str(folder)], input="A new note.", prog_name="twofold"
    )
    return done.exit_code, done.output


def use_all(folder: Path) -> dict[str, int]:
    """Use an index by all commands, each on a copy of its own; none may fail in a way that was not foreseen."""
    codes = {}
    for number, words in enumerate(COMMANDS):
        copy = shutil.copytree(folder, folder.parent / f"{folder.name}-{number}")
        code, printed = used(copy, *words)
        assert code in TYPED, (words, printed)
        assert "unforeseen" not in printed
        codes[" ".join(words[:2])] = code
    return codes


def retold(table: str, change: str) -> tuple[str, ...]:
    """Give the SQL that tells another story of how a table was made."""
    return (f"UPDATE sqlite_schema SET sql = {change} WHERE name = '{table}'",)  # noqa: S608  # the test's own


SCHEMAS: dict[str, tuple[str, ...]] = {
    "settings that never end": ("DROP TABLE preference", f"CREATE VIEW preference AS {ENDLESS} SELECT x AS name, x AS value FROM n"),  # noqa: E501, S608
    "a state that never ends": (
        "DROP TABLE state",
        f"CREATE VIEW state AS {ENDLESS} SELECT x AS generation, 0 AS layout, 1 AS edition, 1 AS commits FROM n",  # noqa: S608
    ),
    "documents that never end": ("ALTER TABLE document RENAME TO held", f"CREATE VIEW document AS {ENDLESS} SELECT held.* FROM held, n"),  # noqa: E501, S608
    "a trigger that deletes": ("CREATE TRIGGER gone AFTER INSERT ON document BEGIN DELETE FROM document; END",),
    "a trigger that never ends": (
        "CREATE TRIGGER gone AFTER UPDATE ON state BEGIN INSERT INTO tombstone SELECT chunk.row, 0 FROM chunk, chunk, chunk; END",  # noqa: E501
    ),
    "one more table": ("CREATE TABLE more (value TEXT)",),
    "one more index": ("CREATE INDEX more ON document (abs(length(text)))",),
    "one more view": ("CREATE VIEW more AS SELECT 1",),
    "one more column": ("ALTER TABLE preference ADD COLUMN more TEXT",),
    "a computed column": ("ALTER TABLE document ADD COLUMN more TEXT AS (upper(text))",),
    "a virtual table": ("CREATE VIRTUAL TABLE more USING fts5(text)",),
    "statistics": ("ANALYZE",),
    "an index less": ("DROP INDEX chunk_by_text",),
    "a table less": ("DROP TABLE segment",),
    "a table that is not strict": retold("preference", "replace(sql, 'STRICT, ', '')"),
    "a check that never ends": retold("tombstone", "replace(sql, 'INTEGER NOT NULL', 'INTEGER NOT NULL CHECK (length(zeroblob(900000000)))')"),  # noqa: E501
    "a default that runs": retold("preference", "replace(sql, 'TEXT NOT NULL', 'TEXT NOT NULL DEFAULT (load_extension(''x''))')"),  # noqa: E501
    "a schema with a zero byte": retold("preference", "sql || char(0) || 'more'"),
    "a schema that is none": retold("preference", "'no SQL at all'"),
    "a schema that is a number": retold("preference", "7"),
}  # fmt: skip


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_foreign_schema_is_refused_by_every_command(made: Path, tmp_path: Path, name: str) -> None:
    folder = shutil.copytree(made / "tail", tmp_path / "received")
    with altered(folder) as connection:
        for statement in SCHEMAS[name]:
            connection.execute(statement)

    assert set(use_all(folder).values()) == {DAMAGED}


@dataclass(frozen=True)
class Malformed:
    """One value that no twofold writes: the SQL that puts it there, and how `verify` ends."""

    sql: str
    bindings: tuple[str | int | float | bytes | None, ...] = ()
    verified: int = DAMAGED


def metadata(text: str) -> Malformed:
    return Malformed("UPDATE document SET metadata = ?", (text,))


def of_chunks(column: str, value: str | float | bytes | None) -> Malformed:
    return Malformed(f"UPDATE chunk SET {column} = ?", (value,))  # noqa: S608  # the test's own


HELD = np.ones(32, dtype="<f2").tobytes()
VALUES = {
    "metadata nested without end": metadata(NESTED),
    "metadata that is a list": metadata("[1]"),
    "metadata that is a text": metadata('"x"'),
    "metadata that is no JSON": metadata("{"),
    "metadata with nothing": metadata('{"a": null}'),
    "metadata in metadata": metadata('{"a": {"b": 1}}'),
    "metadata in a list": metadata('{"a": [[1]]}'),
    "metadata that is endless": metadata('{"a": 1e999}'),
    "metadata that is no number": metadata('{"a": NaN}'),
    "metadata that is half a letter": metadata('{"a": "\\ud800"}'),
    "metadata with a broken name": metadata('{"\\udfff": 1}'),
    "metadata that is too large": metadata('{"a": 1%s}' % ("0" * 30)),
    "metadata of too many digits": metadata('{"a": 1%s}' % ("0" * 5000)),
    "a passage's metadata": of_chunks("metadata", NESTED),
    "blocks that are no JSON": Malformed("UPDATE document SET blocks = '{'"),
    "blocks nested without end": Malformed("UPDATE document SET blocks = ?", (NESTED,)),
    "blocks of no kind": Malformed("UPDATE document SET blocks = ?", ('[["song", 0, 1, [], null, "", ""]]',)),
    "blocks before the text": Malformed("UPDATE document SET blocks = ?", ('[["paragraph", -9, 1, [], null, "", ""]]',)),  # noqa: E501
    "blocks of too few parts": Malformed("UPDATE document SET blocks = '[[1]]'"),
    "a heading that is an object": of_chunks("heading", '{"a": 1}'),
    "a heading that is no JSON": of_chunks("heading", "x"),
    "a heading of numbers": of_chunks("heading", "[1]"),
    "terms of an odd size": of_chunks("terms", b"12345"),
    "terms that are nobody's": of_chunks("terms", struct.pack("<IH", 4_000_000_000, 1)),
    "terms that fall": of_chunks("terms", struct.pack("<IHIH", 2, 1, 1, 1)),
    "terms that never occur": of_chunks("terms", struct.pack("<IH", 1, 0)),
    "a short vector": of_chunks("vector", HELD[:-2]),
    "a vector of half a number": of_chunks("vector", HELD[:-1]),
    "no vector": of_chunks("vector", b""),
    "a vector of no numbers": of_chunks("vector", np.full(32, np.nan, dtype="<f2").tobytes()),
    "a place before the text": of_chunks("start", -1),
    "a place beyond the text": of_chunks("start", 10**15),
    "a number below nought": of_chunks("ordinal", -1),
    "a page below nought": of_chunks("page", -1),
    "a length below nought": of_chunks("words", -1),
    "a length beyond counting": of_chunks("words", 2**40),
    "a text that is not UTF-8": Malformed("UPDATE chunk SET text = CAST(x'ff' AS TEXT)"),
    "a title that is not UTF-8": Malformed("UPDATE document SET title = CAST(x'ff' AS TEXT)"),
    "no recipe": Malformed("UPDATE edition SET recipe = ''"),
    "an empty recipe": Malformed("UPDATE edition SET recipe = '{}'"),
    "a recipe nested without end": Malformed("UPDATE edition SET recipe = ?", (NESTED,)),
    "a recipe of another width": Malformed("UPDATE edition SET recipe = replace(recipe, '32', '64')"),
    "a recipe whose width is a text": Malformed("UPDATE edition SET recipe = replace(recipe, ': 32', ': \"32\"')"),
    "a width below nought": Malformed("UPDATE edition SET dimensions = -1"),
    "a width beyond memory": Malformed("UPDATE edition SET dimensions = ?", (2**40,)),
    "counts below nought": Malformed("UPDATE edition SET chunks = -1"),
    "no state": Malformed("DELETE FROM state"),
    "no edition": Malformed("UPDATE state SET edition = 77"),
    "a change that cannot be counted": Malformed("UPDATE state SET generation = ?", (2**63 - 1,)),
    "a layout below nought": Malformed("UPDATE state SET layout = -1"),
    "rows that cannot be counted": Malformed("UPDATE sqlite_sequence SET seq = ?", (2**63 - 1,)),
    "rows counted in words": Malformed("UPDATE sqlite_sequence SET seq = 'many'"),
    "terms beyond 32 bits": Malformed("UPDATE term SET id = id + ?", (2**40,)),
    "a setting that is none": Malformed("INSERT INTO preference VALUES ('no.such', 'x')", verified=2),
    "a segment of another folder": Malformed("INSERT INTO segment VALUES ('../../x', 1, 9, 9, x'00')"),
    "a segment of the system": Malformed("INSERT INTO segment VALUES ('/etc/passwd', 1, 9, 9, x'00')"),
    "a segment of no rows": Malformed("INSERT INTO segment VALUES ('000000000001-000000000001.segment', ?, 9, 9, x'00')", (-(2**63),)),  # noqa: E501
    "a segment that is not there": Malformed("INSERT INTO segment VALUES ('000000000001-000000000001.segment', 1, 3, 3, x'00')"),  # noqa: E501
}  # fmt: skip


@pytest.mark.parametrize("name", VALUES)
def test_a_malformed_value_is_named_by_verify_and_foreseen_by_all(made: Path, tmp_path: Path, name: str) -> None:
    folder = shutil.copytree(made / "tail", tmp_path / "received")
    with altered(folder) as connection:
        connection.execute(VALUES[name].sql, VALUES[name].bindings)
        assert connection.total_changes() > 0

    assert use_all(folder)["index verify"] == VALUES[name].verified


@pytest.mark.parametrize("name", ["a short vector", "terms of an odd size", "metadata nested without end"])
def test_verify_looks_at_rows_that_a_segment_answers_for(made: Path, tmp_path: Path, name: str) -> None:
    folder = shutil.copytree(made / "segment", tmp_path / "received")
    with altered(folder) as connection:
        connection.execute(VALUES[name].sql, VALUES[name].bindings)

    code, printed = used(folder, "index", "verify")
    assert code == DAMAGED
    assert "cannot be" in printed


def test_a_catalog_whose_pages_go_round_ends_with_an_error(made: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(made / "tail", tmp_path / "received")
    with altered(folder) as connection:
        for name in ("chunk", "document", "term"):
            connection.execute("INSERT INTO preference VALUES (?, ?)", (name, "x" * 60_000))
        connection.execute("DELETE FROM preference")
        roots = dict(connection.execute("SELECT name, rootpage FROM sqlite_schema WHERE type = 'table'"))
    multiply_pages(folder / "catalog.sqlite3", roots["document"])

    codes = use_all(folder)
    assert codes["index info"] == codes["index verify"] == codes["index compact"] == DAMAGED
    listed = json.loads(used(folder, "ls", "--json")[1])  # each row by its number, which goes down and never round
    assert [(one["source"], one["characters"]) for one in listed] == [
        ("cat.txt", 48),
        ("git.txt", 60),
        ("tower.txt", 58),
    ]


@pytest.mark.parametrize("name", ["document", "document_by_source"])
def test_an_index_with_a_damaged_page_of_documents_is_opened_and_its_page_named(
    made: Path, tmp_path: Path, name: str
) -> None:
    folder = shutil.copytree(made / "tail", tmp_path / "received")
    with altered(folder) as connection:
        roots = dict(connection.execute("SELECT name, rootpage FROM sqlite_schema"))
    content = bytearray((folder / "catalog.sqlite3").read_bytes())
    content[roots[name] * PAGE_BYTES - 100] ^= 1
    (folder / "catalog.sqlite3").write_bytes(content)

    code, printed = used(folder, "index", "verify", "--json")
    assert code == DAMAGED
    finding = f"page {roots[name]} fails its checksum"
    assert finding in printed
    assert finding in used(folder, "doctor", "--json")[1]


def multiply_pages(path: Path, root: int) -> None:
    """Put six pages above a table's own, each of which names the next a thousand times: 10^18 rows in 12 pages."""
    content = bytearray(path.read_bytes())
    free = struct.unpack_from(">I", content, 32)[0]
    count = struct.unpack_from(">I", content, (free - 1) * PAGE_BYTES + 4)[0]
    leaves = struct.unpack_from(f">{count}I", content, (free - 1) * PAGE_BYTES + 8)
    chain = [root, *leaves[:6]]
    whole = bytes(content[(root - 1) * PAGE_BYTES : root * PAGE_BYTES])
    for page, child in pairwise(chain):
        content[(page - 1) * PAGE_BYTES : page * PAGE_BYTES] = seal(inner_page(child), page)
    content[(chain[-1] - 1) * PAGE_BYTES : chain[-1] * PAGE_BYTES] = seal(whole, chain[-1])
    path.write_bytes(content)


def inner_page(child: int, cells: int = 1000) -> bytes:
    """Make an inner page of a table, all of its cells the same page; see SQLite's file format."""
    page = bytearray(PAGE_BYTES)
    first = PAGE_BYTES - 8 - 5 * cells
    struct.pack_into(">BHHHBI", page, 0, 5, 0, cells, first, 0, child)
    for number in range(cells):
        at = first + 5 * number
        struct.pack_into(">H", page, 12 + 2 * number, at)
        struct.pack_into(">IB", page, at, child, 1)
    return bytes(page)


Table = dict[str, dict[str, object]]


def reordered(folder: Path, change: Callable[[Table, bytearray], None]) -> None:
    """Change the one segment of an index, and list the checksum that it then has."""
    (path,) = (folder / "segments").iterdir()
    content = bytearray(path.read_bytes())
    table: Table = json.loads(content[len(MAGIC) : MAX_HEADER_BYTES])
    change(table, content)
    content[:MAX_HEADER_BYTES] = (MAGIC + json.dumps(table).encode()).ljust(MAX_HEADER_BYTES, b"\n")
    path.write_bytes(content)
    with altered(folder) as connection:
        connection.execute("UPDATE segment SET checksum = ?", (checksum([bytes(content)]),))


def moved(by: int) -> Callable[[Table, bytearray], None]:
    def change(table: Table, content: bytearray) -> None:
        for place in table.values():
            place["offset"] = int(str(place["offset"])) + by
        content[MAX_HEADER_BYTES:MAX_HEADER_BYTES] = bytes(by)

    return change


def told(array: str, key: str, value: object) -> Callable[[Table, bytearray], None]:
    def change(table: Table, _: bytearray) -> None:
        table[array][key] = value

    return change


def filled(array: str, byte: int) -> Callable[[Table, bytearray], None]:
    """Fill an array with one byte."""

    def change(table: Table, content: bytearray) -> None:
        shape, dtype, offset = (table[array][key] for key in ("shape", "dtype", "offset"))
        assert isinstance(shape, list)
        size = int(np.prod(shape)) * np.dtype(str(dtype)).itemsize
        start = int(str(offset))
        content[start : start + size] = bytes([byte]) * size

    return change


def without(array: str) -> Callable[[Table, bytearray], None]:
    def change(table: Table, _: bytearray) -> None:
        del table[array]

    return change


SEGMENTS: dict[str, Callable[[Table, bytearray], None]] = {
    "all moved by one byte": moved(1),
    "all moved by half an alignment": moved(ALIGNMENT // 2),
    "postings moved": told("slots", "offset", MAX_HEADER_BYTES + 1),
    "vectors in the header": told("vectors", "offset", 0),
    "vectors beyond the end": told("vectors", "offset", 2**40),
    "vectors before the file": told("vectors", "offset", -ALIGNMENT),
    "vectors of another type": told("vectors", "dtype", "<f8"),
    "slots that are objects": told("slots", "dtype", "|O"),
    "a type that is none": told("slots", "dtype", "nonsense"),
    "a shape that is none": told("vectors", "shape", None),
    "a shape below nought": told("vectors", "shape", [-1, 32]),
    "a shape beyond memory": told("vectors", "shape", [2**40, 2**40]),
    "vectors of another width": told("vectors", "shape", [32, 3]),
    "no postings": without("slots"),
    "slots beyond the passages": filled("slots", 255),
    "offsets beyond the postings": filled("offsets", 127),
    "rows that are not covered": filled("rows", 127),
    "terms that do not rise": filled("terms", 1),
    "keys in no order": filled("key_order", 255),
    "frequencies of nought": filled("frequencies", 0),
    "scales that are no numbers": filled("scales", 255),
    "a forward index beyond the terms": filled("forward_places", 255),
    "a forward index beyond its end": filled("forward_offsets", 127),
    "a forward index that counts nothing": filled("forward_frequencies", 0),
    "a forward index that is not there": without("forward_places"),
    "terms' texts beyond their end": filled("term_offsets", 127),
    "terms' places beyond the terms": filled("term_places", 255),
    "terms that are no text": filled("term_texts", 255),
    "hashes of nothing": filled("term_hashes", 0),
    "folded texts beyond their end": filled("folded_offsets", 127),
    "folded texts that are not there": without("folded"),
    "fields that are no JSON": filled("field_groups", 255),
    "values that are no JSON": filled("field_values", 255),
    "values that fit no field": filled("field_values", ord("1")),
    "fields of slots beyond the passages": filled("field_slots", 255),
    "fields' offsets beyond the slots": filled("field_offsets", 127),
    "vectors that are no numbers": filled("vectors", 255),
}
ASKED_AFTERWARDS = {
    "vectors that are no numbers",
    "terms that are no text",
    "hashes of nothing",
}  # too dear to look for at each opening


@pytest.mark.parametrize("name", SEGMENTS)
def test_a_malformed_segment_with_the_right_checksum_is_made_again(made: Path, tmp_path: Path, name: str) -> None:
    folder = shutil.copytree(made / "segment", tmp_path / "received")
    whole = [used(folder, *words) for words in (("search", "cat mat", "-f", "year >= 2020", "--json"),)]
    reordered(folder, SEGMENTS[name])

    codes = use_all(folder)
    assert codes["index verify"] == DAMAGED
    assert codes["index compact"] == 0
    if name not in ASKED_AFTERWARDS:
        again = used(folder, "search", "cat mat", "-f", "year >= 2020", "--json")
        assert passages(again[1]) == passages(whole[0][1]) != []
    assert used(folder, "index", "compact")[0] == 0
    assert used(folder, "index", "verify")[0] == 0
    assert passages(used(folder, "search", "cat mat", "-f", "year >= 2020", "--json")[1]) == passages(whole[0][1])


def passages(printed: str) -> list[tuple[str, float]]:
    """Give what was found, from the last line that was printed; what was made again is warned of before it."""
    found = json.loads(printed.strip().splitlines()[-1])
    return [(hit["chunk_id"], hit["score"]) for hit in found["hits"]]


def test_a_file_outside_is_neither_read_nor_hashed_as_a_segment(made: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(made / "segment", tmp_path / "received")
    (path,) = (folder / "segments").iterdir()
    outside = shutil.move(path, tmp_path / "outside.segment")
    path.symlink_to(outside)

    code, printed = used(folder, "search", "cat mat")
    assert code == 0
    assert "cannot be read" in used(folder, "index", "verify")[1]
    assert "cat" in printed
    assert os.path.lexists(outside)


def test_the_library_raises_a_typed_error(made: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(made / "tail", tmp_path / "received")
    with altered(folder) as connection:
        connection.execute("CREATE VIEW more AS SELECT 1")

    with pytest.raises(CorruptError, match="foreign schema: view 'more'"):
        Index(folder)
