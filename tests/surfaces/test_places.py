"""A sync of more than folders: a git revision, pages of a real server, rows of a database."""

import sqlite3
import subprocess
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import obstore
import psycopg
import pytest

from support.postgres_server import PostgresServer
from support.s3_server import BUCKET, S3Server
from surfaces.conftest import Run
from twofold.connectors.fetch import Fetcher
from twofold.domain.errors import ReadError


@dataclass
class Site:
    """A web site on this machine: what it holds by path, and what it was asked for."""

    pages: dict[str, tuple[int, dict[str, str], bytes]] = field(default_factory=dict)
    asked: list[tuple[str, int]] = field(default_factory=list)
    address: str = ""

    def page(self, path: str, text: str, *, etag: str = "", kind: str = "text/html") -> None:
        headers = {"Content-Type": kind, **({"ETag": etag} if etag else {})}
        self.pages[path] = (200, headers, text.encode())

    def sitemap(self, **dated: str) -> None:
        entries = "".join(
            f"<url><loc>{self.address}/{name}</loc>{f'<lastmod>{when}</lastmod>' if when else ''}</url>"
            for name, when in dated.items()
        )
        text = f'<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{entries}</urlset>'
        self.page("/sitemap.xml", text, kind="application/xml")

    def answers(self, since: int = 0) -> list[tuple[str, int]]:
        return [one for one in self.asked[since:] if one[0] not in ("/sitemap.xml", "/robots.txt")]


@contextmanager
def serving() -> Iterator[Site]:
    site = Site()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            status, headers, body = site.pages.get(self.path, (404, {}, b"gone"))
            if headers.get("ETag") and self.headers.get("If-None-Match") == headers["ETag"]:
                status, body = 304, b""
            site.asked.append((self.path, status))
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        site.address = f"http://127.0.0.1:{server.server_port}"
        try:
            yield site
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture
def site() -> Iterator[Site]:
    with serving() as one:
        yield one


def html(title: str, text: str) -> str:
    return f"<!doctype html><html><head><title>{title}</title></head><body><h1>{title}</h1><p>{text}</p></body></html>"


def sync(run: Run, *words: object) -> dict[str, object]:
    done = run("sync", *words, "--json")
    assert done.code == 0, done.err
    return dict(done.data)


def sources(run: Run) -> set[str]:
    return {one["source"].rpartition("/")[2] for one in run("ls", "--json").data}


def git(folder: Path, *words: str) -> None:
    own = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *own, *words], cwd=folder, check=True, capture_output=True)


def test_a_git_revision_is_followed_and_not_the_working_copy(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "repository"
    (folder / "docs").mkdir(parents=True)
    (folder / "docs" / "kiln.md").write_text("# Kiln\n\nThe kiln reaches 1,280 degrees.\n")
    (folder / "docs" / "clay.md").write_text("# Clay\n\nStoneware clay is gray.\n")
    (folder / "other.md").write_text("# Other\n\nNot below docs.\n")
    (folder / "docs" / ".twofoldaccess").write_text("user:ann\n")
    git(folder, "init", "-q", "-b", "main")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "one")
    git(folder, "tag", "v1")
    place = f"git+{folder}@main#docs"
    first = sync(run, place)
    (folder / "docs" / "kiln.md").write_text("# Kiln\n\nNot committed.\n")
    idle = sync(run, place)
    git(folder, "mv", "docs/clay.md", "docs/stoneware.md")
    git(folder, "commit", "-qam", "two")
    second = sync(run, place)
    found = run("search", "kiln", "--json").data["hits"][0]
    back = sync(run, f"git+{folder}@v1#docs")

    assert len(first["added"]) == 2  # type: ignore[arg-type]
    assert idle["unchanged"] == 2
    assert len(second["renamed"]) == 1  # type: ignore[arg-type]  # the same blob under another name
    assert len(second["updated"]) == 1  # type: ignore[arg-type]
    assert "Not committed" in found["text"]
    assert found["metadata"]["source_type"] == ["markdown", "git"]
    assert len(found["metadata"]["commit"]) == 40
    assert len(back["updated"]) == len(back["renamed"]) == 1  # type: ignore[arg-type]
    assert sources(run) == {"kiln.md", "clay.md"}


def test_pages_of_a_sitemap_are_added_kept_updated_and_deleted(run: Run, site: Site) -> None:
    site.page("/a", html("Ferries", "The night ferry leaves at 23:15."), etag='"1"')
    site.page("/b", html("Trains", "The sleeper to Vienna has twelve cars."))
    site.sitemap(a="", b="2026-01-01")
    place = [f"{site.address}/sitemap.xml", "--allow-private-addresses"]
    first = sync(run, *place)
    before = len(site.asked)
    second = sync(run, *place)
    asked_again = site.answers(before)
    site.page("/a", html("Ferries", "The night ferry leaves at 22:40."), etag='"2"')
    site.sitemap(a="", c="")
    site.page("/c", html("Buses", "Bus 7 goes to the harbor."))
    third = sync(run, *place)
    found = run("search", "night ferry", "--json").data["hits"][0]

    assert len(first["added"]) == 2  # type: ignore[arg-type]
    assert second["unchanged"] == 2
    assert asked_again == [("/a", 304)]  # the other is dated by the sitemap: nobody asks for it
    assert [len(third[name]) for name in ("added", "updated", "deleted")] == [1, 1, 1]  # type: ignore[arg-type]
    assert found["source"] == f"{site.address}/a"
    assert "22:40" in found["text"]
    assert found["metadata"]["source_type"] == ["html", "web"]


def test_what_a_server_cannot_give_now_is_kept_and_what_is_gone_goes(run: Run, site: Site, tmp_path: Path) -> None:
    names = tmp_path / "pages.txt"
    names.write_text(f"# pages to follow\n{site.address}/a\n{site.address}/b\n{site.address}/private/c\n")
    for name in ("/a", "/b", "/private/c"):
        site.page(name, html(name, f"Page {name} about the harbor."))
    site.pages["/robots.txt"] = (200, {}, b"User-agent: *\nDisallow: /private/\n")
    place = [f"urls:{names}", "--allow-private-addresses"]
    first = sync(run, *place)
    site.pages["/a"] = (503, {}, b"")
    del site.pages["/b"]
    second = sync(run, *place)

    assert len(first["added"]) == 2  # type: ignore[arg-type]
    assert "robots.txt" in str(first["skipped"])
    assert ("/private/c", 200) not in site.asked
    assert len(second["deleted"]) == 1  # type: ignore[arg-type]
    assert "503" in str(second["skipped"])
    assert sources(run) == {"a"}


def test_a_page_that_is_as_before_is_given_other_fields(run: Run, site: Site) -> None:
    site.page("/a", html("Ferries", "The night ferry leaves at 23:15."), etag='"1"')
    site.sitemap(a="")
    place = [f"{site.address}/sitemap.xml", "--allow-private-addresses"]
    sync(run, *place)
    again = sync(run, *place, "--meta", "team=harbor")

    assert len(again["updated"]) == 1  # type: ignore[arg-type]
    assert (
        run("search", "ferry", "--filter", "team == harbor", "--json").data["hits"][0]["source"] == f"{site.address}/a"
    )


def test_a_list_that_cannot_be_had_deletes_nothing(run: Run, site: Site) -> None:
    site.page("/a", html("Ferries", "The night ferry leaves at 23:15."))
    site.sitemap(a="")
    place = [f"{site.address}/sitemap.xml", "--allow-private-addresses"]
    sync(run, *place)
    site.pages["/sitemap.xml"] = (500, {}, b"")
    failed = run("sync", *place)
    site.page("/sitemap.xml", "<urlset", kind="application/xml")
    malformed = run("sync", *place)
    site.sitemap()
    empty = sync(run, *place)

    assert (failed.code, malformed.code) == (9, 9)
    assert "500" in failed.err
    assert "they are kept" in str(empty["skipped"])
    assert sources(run) == {"a"}


@pytest.mark.parametrize(
    "address",
    [
        "http://127.0.0.1:{port}/a",
        "http://localhost:{port}/a",
        "http://[::1]:{port}/a",
        "http://[::ffff:127.0.0.1]:{port}/a",
        "http://0.0.0.0:{port}/a",
        "http://2130706433:{port}/a",
        "http://169.254.169.254/latest/meta-data",
        "http://user:secret@127.0.0.1:{port}/a",
        "ftp://127.0.0.1/a",
    ],
)
def test_private_addresses_are_not_asked_for_unless_they_are_allowed(site: Site, address: str) -> None:
    site.page("/a", "secret")
    with pytest.raises(ReadError):
        Fetcher(1_000).fetch(address.format(port=site.address.rpartition(":")[2]))

    assert site.asked == []


def test_a_redirect_does_not_lead_past_the_limits(site: Site) -> None:
    site.pages["/round"] = (302, {"Location": "/round"}, b"")
    site.pages["/file"] = (302, {"Location": "file:///etc/passwd"}, b"")
    site.page("/large", "x" * 2_000)
    fetcher = Fetcher(1_000, private=True)

    for path in ("/round", "/file", "/large"):
        with pytest.raises(ReadError):
            fetcher.fetch(site.address + path)
    assert len([one for one in site.asked if one[0] == "/round"]) == 6


def test_rows_of_a_database_are_documents(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "notes.db"
    with closing(sqlite3.connect(path)) as database:
        database.execute("CREATE TABLE notes (id INTEGER, title TEXT, body TEXT, year INTEGER)")
        rows = [
            (1, "Ferries", "The night ferry leaves at 23:15.", 2025),
            (2, "Trains", "The sleeper has twelve cars.", 2026),
        ]
        database.executemany("INSERT INTO notes VALUES (?, ?, ?, ?)", rows)
        database.commit()
        place = f"sqlite:{path}#SELECT id, title, body, year FROM notes"  # noqa: S608
        first = sync(run, place)
        idle = sync(run, place)
        given = sync(run, place, "--meta", "team=harbor")
        database.execute("UPDATE notes SET body = 'The night ferry leaves at 22:40.' WHERE id = 1")
        database.execute("DELETE FROM notes WHERE id = 2")
        database.commit()
        second = sync(run, place)
    found = run("search", "ferry", "--filter", "year == 2025", "--json").data["hits"][0]
    writing = run("sync", f"sqlite:{path}#DELETE FROM notes RETURNING id, body")  # noqa: S608

    assert len(first["added"]) == 2  # type: ignore[arg-type]
    assert idle["unchanged"] == 2
    assert len(given["updated"]) == 2  # type: ignore[arg-type]
    assert [len(second[name]) for name in ("updated", "deleted")] == [1, 1]  # type: ignore[arg-type]
    assert (found["title"], found["metadata"]["source_type"]) == ("Ferries", ["markdown", "sql"])
    assert "22:40" in found["text"]
    assert writing.code == 2  # it is opened for reading alone
    assert sources(run) == {"1.md"}


def test_rows_of_two_queries_may_have_one_id(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "notes.db"
    with closing(sqlite3.connect(path)) as database:
        database.execute("CREATE TABLE ferries (id INTEGER, body TEXT)")
        database.execute("CREATE TABLE trains (id INTEGER, body TEXT)")
        database.execute("INSERT INTO ferries VALUES (1, 'The night ferry leaves at 23:15.')")
        database.execute("INSERT INTO trains VALUES (1, 'The sleeper has twelve cars.')")
        database.commit()
    for table in ("ferries", "trains", "ferries"):
        sync(run, f"sqlite:{path}#SELECT id, body FROM {table}")  # noqa: S608

    assert len(run("ls", "--json").data) == 2
    assert "sleeper" in run("search", "sleeper", "--json").data["hits"][0]["text"]


def test_rows_of_postgresql_are_documents(run: Run, postgres_server: PostgresServer) -> None:
    with psycopg.connect(postgres_server.address(), autocommit=True) as database:
        database.execute(b"DROP TABLE IF EXISTS notes")
        database.execute(b"CREATE TABLE notes (id int, title text, body text, sent date, price numeric, raw bytea)")
        database.execute(
            b"INSERT INTO notes VALUES (1, 'Ferries', 'The night ferry leaves at 23:15.', '2025-03-01', 12.5, 'x'), "
            b"(2, 'Trains', 'The sleeper has twelve cars.', '2026-03-01', 80, NULL)"
        )
        place = f"{postgres_server.address()}#SELECT id, title, body, sent, price, raw FROM notes"  # noqa: S608
        first = sync(run, place)
        idle = sync(run, place)
        database.execute(b"UPDATE notes SET body = 'The night ferry leaves at 22:40.' WHERE id = 1")
        database.execute(b"DELETE FROM notes WHERE id = 2")
        second = sync(run, place)
        found = run("search", "ferry", "--filter", "price < 20 AND sent < 2026-01-01", "--json").data["hits"][0]
        writing = run("sync", f"{postgres_server.address()}#DELETE FROM notes RETURNING id, body")  # noqa: S608
        kept = database.execute(b"SELECT count(*) FROM notes").fetchone()

    assert len(first["added"]) == 2  # type: ignore[arg-type]
    assert idle["unchanged"] == 2
    assert [len(second[name]) for name in ("updated", "deleted")] == [1, 1]  # type: ignore[arg-type]
    assert (found["title"], found["metadata"]["source_type"]) == ("Ferries", ["markdown", "sql"])
    assert "22:40" in found["text"]
    assert (writing.code, kept) == (2, (1,))  # the transaction may not write
    assert sources(run) == {"1.md"}


def test_objects_of_a_bucket_are_documents(
    run: Run, s3: str, s3_server: S3Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    place, client = f"{s3}/notes", s3_server.client()
    folder = place.removeprefix(f"s3://{BUCKET}/")
    texts = {"ferries.md": "# Ferries\n\nThe night ferry leaves at 23:15.\n", "old/trains.txt": "Twelve cars.\n"}
    for name, text in {**texts, ".hidden/a.txt": "Nobody reads this.", "large.txt": "word " * 100_000}.items():
        obstore.put(client, f"{folder}/{name}", text.encode())
    monkeypatch.setenv("TWOFOLD_LIMITS", '{"file_bytes": 300000}')
    first = sync(run, place)
    idle = sync(run, place)
    obstore.put(client, f"{folder}/ferries.md", b"# Ferries\n\nThe night ferry leaves at 22:40.\n")
    obstore.rename(client, f"{folder}/old/trains.txt", f"{folder}/new/trains.txt")
    obstore.delete(client, f"{folder}/large.txt")
    second = sync(run, place)
    found = run("search", "night ferry", "--json").data["hits"][0]
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "wrong")
    refused = run("sync", place)
    obstore.delete(client, f"{folder}/new/trains.txt")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", s3_server.environment["AWS_SECRET_ACCESS_KEY"])
    third = sync(run, place)

    assert [len(first[name]) for name in ("added", "skipped")] == [2, 1]  # type: ignore[arg-type]
    assert idle["unchanged"] == 2
    assert [len(second[name]) for name in ("added", "updated", "renamed", "deleted")] == [0, 1, 1, 0]  # type: ignore[arg-type]
    assert found["source"] == f"{place}/ferries.md"
    assert "22:40" in found["text"]
    assert found["metadata"]["source_type"] == ["markdown", "s3"]
    assert (refused.code, "refuses" in refused.err) == (9, True)
    assert len(third["deleted"]) == 1  # type: ignore[arg-type]
    assert sources(run) == {"ferries.md"}


@pytest.mark.parametrize(
    ("place", "code"),
    [
        ("s3://", 2),
        ("s3://bucket/without-credentials", 2),
        ("postgresql://ann@/notes", 2),
        ("postgresql://ann:secret@127.0.0.1/notes#SELECT 1", 2),
        ("postgresql://ann@127.0.0.1:1/notes#SELECT 1", 3),
        ("sqlite:notes.db", 2),
        ("sqlite:none.db#SELECT 1", 3),
        ("git+none", 3),
        ("git+https://example.org/a.git", 2),
        ("urls:none.txt", 3),
    ],
)
def test_a_place_that_is_not_one_is_refused_with_a_remedy(run: Run, place: str, code: int) -> None:
    done = run("sync", place)

    assert done.code == code
    assert len(done.err.strip().splitlines()) == 2
    assert "secret" not in done.err


def test_places_are_named_by_the_command_line_alone(run: Run, notes: Path) -> None:
    from twofold.domain.errors import NotFoundError
    from twofold.index import Index

    watched = run("sync", notes, "urls:none.txt", "--watch")
    with Index(":memory:") as index, pytest.raises(NotFoundError):
        index.sync("https://example.org/sitemap.xml")  # a path of that name, as a request might send it

    assert watched.code == 2
