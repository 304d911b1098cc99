"""What the server itself must remember: jobs and feedback, in one small SQLite file that survives a power cut."""

import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import apsw

from twofold.domain.errors import CorruptError, StoreError
from twofold.stores.local.durable import NO_ROOM, make_folder, no_room

_SCHEMA = """
CREATE TABLE IF NOT EXISTS jobs (number INTEGER PRIMARY KEY, id TEXT UNIQUE NOT NULL, record BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS feedback (
    number INTEGER PRIMARY KEY, collection TEXT NOT NULL, token TEXT NOT NULL, record BLOB NOT NULL
);
CREATE INDEX IF NOT EXISTS feedback_by_token ON feedback (collection, token);
CREATE TABLE IF NOT EXISTS conversations (
    collection TEXT NOT NULL, token TEXT NOT NULL, name TEXT NOT NULL, PRIMARY KEY (collection, token, name)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS talks (
    token TEXT NOT NULL, id TEXT NOT NULL, updated TEXT NOT NULL, record BLOB NOT NULL, PRIMARY KEY (token, id)
);
CREATE TABLE IF NOT EXISTS talk_indexes (
    token TEXT NOT NULL, id TEXT NOT NULL, collection TEXT NOT NULL, PRIMARY KEY (token, id, collection)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS judgements (
    collection TEXT NOT NULL, query TEXT NOT NULL, source TEXT NOT NULL, judge TEXT NOT NULL, grade INTEGER NOT NULL,
    PRIMARY KEY (collection, query, source, judge)
);
"""

_JUDGE = """
INSERT INTO judgements SELECT ?1, ?2, ?3, ?4, ?5
WHERE (SELECT count(*) FROM judgements WHERE collection = ?1 AND judge = ?4) < ?6
    OR EXISTS (SELECT 1 FROM judgements WHERE collection = ?1 AND query = ?2 AND source = ?3 AND judge = ?4)
ON CONFLICT DO UPDATE SET grade = excluded.grade
"""


class StateDatabase:
    """Keeps records as bytes; what they say is for others to know. Safe to use from several threads."""

    def __init__(self, folder: Path) -> None:
        make_folder(folder)
        path = folder / "server.sqlite3"
        self._turn = threading.Lock()
        with _failures(None):
            os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
            self._connection = apsw.Connection(str(path.resolve()))
        with _failures(self._connection):
            self._connection.set_busy_timeout(5_000)
            self._connection.pragma("journal_mode", "wal")
            self._connection.pragma("synchronous", "full")
            self._connection.execute(_SCHEMA)

    def keep_job(self, identity: str, record: bytes) -> None:
        """Write a job's record, or write it again; durable when it returns."""
        self._run(
            "INSERT INTO jobs (id, record) VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET record = excluded.record",
            (identity, record),
        )

    def forget_jobs(self, identities: Sequence[str]) -> None:
        """Delete the records of jobs, all of them or none."""
        with self._turn, _failures(self._connection), self._connection:
            self._connection.executemany("DELETE FROM jobs WHERE id = ?", [(one,) for one in identities])

    def jobs(self) -> Sequence[bytes]:
        """Return all records of jobs, in the order in which they were first kept."""
        with self._turn, _failures(self._connection):
            return [bytes(record) for (record,) in self._connection.execute("SELECT record FROM jobs ORDER BY number")]

    def add_feedback(self, collection: str, token: str, record: bytes, most: int) -> int | None:
        """Append one record, durable when it returns; give its number, None where a token has given `most` already."""
        given = "SELECT count(*) FROM feedback WHERE collection = ?1 AND token = ?2"
        with self._turn, _failures(self._connection):
            rows = self._connection.execute(
                f"INSERT INTO feedback (collection, token, record) SELECT ?1, ?2, ?3 WHERE ({given}) < ?4"
                " RETURNING number",
                (collection, token, record, most),
            )
            return next((int(number) for (number,) in rows), None)

    def begin_conversation(self, collection: str, token: str, name: str, most: int) -> bool:
        """Note that a token converses by this name; give False where it has `most` others already."""
        key = (collection, token, name)
        held = "SELECT count(*) FROM conversations WHERE collection = ?1 AND token = ?2"
        with self._turn, _failures(self._connection):
            known = self._connection.execute(
                "SELECT 1 FROM conversations WHERE collection = ? AND token = ? AND name = ?", key
            ).fetchone()
            if known is None:
                self._connection.execute(
                    f"INSERT INTO conversations SELECT ?1, ?2, ?3 WHERE ({held}) < ?4",
                    (*key, most),
                )
            return known is not None or self._connection.changes() > 0

    def end_conversation(self, collection: str, token: str, name: str) -> None:
        """Note that a conversation was deleted."""
        self._run(
            "DELETE FROM conversations WHERE collection = ? AND token = ? AND name = ?", (collection, token, name)
        )

    def keep_talk(self, key: tuple[str, str], updated: str, indexes: Sequence[str], record: bytes, most: int) -> bool:
        """Write what was said in a conversation, by token and id; give False where the token has `most` others."""
        with self._turn, _failures(self._connection), self._connection:
            held = "SELECT count(*) FROM talks WHERE token = ?1 AND id != ?2"
            self._connection.execute(
                f"INSERT INTO talks SELECT ?1, ?2, ?3, ?4 WHERE ({held}) < ?5"
                " ON CONFLICT (token, id) DO UPDATE SET updated = excluded.updated, record = excluded.record",
                (*key, updated, record, most),
            )
            if kept := self._connection.changes() > 0:
                self._connection.execute("DELETE FROM talk_indexes WHERE token = ? AND id = ?", key)
                rows = [(*key, index) for index in indexes]
                self._connection.executemany("INSERT INTO talk_indexes VALUES (?, ?, ?)", rows)
        return kept

    def talks(self, token: str) -> Sequence[bytes]:
        """Return the conversations of a token, the newest first."""
        with self._turn, _failures(self._connection):
            rows = self._connection.execute("SELECT record FROM talks WHERE token = ? ORDER BY updated DESC", (token,))
            return [bytes(record) for (record,) in rows]

    def talk(self, token: str, identity: str) -> bytes | None:
        """Return one conversation of a token, or None."""
        with self._turn, _failures(self._connection):
            rows = self._connection.execute("SELECT record FROM talks WHERE token = ? AND id = ?", (token, identity))
            return next((bytes(record) for (record,) in rows), None)

    def forget_talk(self, token: str, identity: str) -> None:
        """Delete one conversation of a token."""
        for table in ("talks", "talk_indexes"):
            self._run(f"DELETE FROM {table} WHERE token = ? AND id = ?", (token, identity))  # noqa: S608

    def judge(self, row: tuple[str, str, str, str], grade: int, most: int) -> bool:
        """Keep a grade by collection, query, source and judge; give False where the judge gave `most` others."""
        with self._turn, _failures(self._connection):
            self._connection.execute(_JUDGE, (*row, grade, most))
            return self._connection.changes() > 0

    def judgements(self, collection: str) -> Sequence[tuple[str, str, str, int]]:
        """Return query, source, judge and grade of all judgements of a collection, in the order they came."""
        with self._turn, _failures(self._connection):
            rows = self._connection.execute(
                "SELECT query, source, judge, grade FROM judgements WHERE collection = ? ORDER BY rowid", (collection,)
            )
            return [(str(query), str(source), str(judge), int(grade)) for query, source, judge, grade in rows]

    def forget_index(self, collection: str) -> None:
        """Delete what was said of a collection that is gone, who conversed with it, and how it was judged."""
        self._run(
            "DELETE FROM talks WHERE (token, id) IN (SELECT token, id FROM talk_indexes WHERE collection = ?)",
            (collection,),
        )
        self._run("DELETE FROM talk_indexes WHERE collection = ?", (collection,))
        self._run("DELETE FROM judgements WHERE collection = ?", (collection,))
        self._run("DELETE FROM feedback WHERE collection = ?", (collection,))
        self._run("DELETE FROM conversations WHERE collection = ?", (collection,))

    def close(self) -> None:
        """Close the file. Calling it twice does nothing more."""
        with self._turn, _failures(self._connection):
            self._connection.close()

    def _run(self, statement: str, values: tuple[str | bytes, ...]) -> None:
        with self._turn, _failures(self._connection):
            self._connection.execute(statement, values)


@contextmanager
def _failures(connection: apsw.Connection | None) -> Iterator[None]:
    try:
        yield
    except (apsw.Error, OSError) as error:
        if _is_full(error, connection):
            raise no_room("the server's own records") from error
        if isinstance(error, apsw.NotADBError | apsw.CorruptError | apsw.SQLError):
            raise damaged_records() from error
        raise StoreError(
            f"The server's own records cannot be kept: {type(error).__name__}.", "Check the disk under TWOFOLD_HOME."
        ) from error


def damaged_records() -> CorruptError:
    """Return the error of an unreadable database of jobs and feedback."""
    return CorruptError(
        "The server's own records are damaged, or of another version.",
        "Delete the folder `server` under TWOFOLD_HOME: it holds jobs, feedback and copies of PDF files, no documents.",
    )


def _is_full(error: apsw.Error | OSError, connection: apsw.Connection | None) -> bool:
    if isinstance(error, OSError):
        return error.errno in NO_ROOM
    told = connection is not None and isinstance(error, apsw.IOError) and connection.system_errno in NO_ROOM
    return told or isinstance(error, apsw.FullError)
