"""A sync of mail from a real IMAP server: added, moved, deleted, never marked as read, never by password in a name."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.mail_server import PASSWORD, MailServer, mail_server
from surfaces.conftest import Run
from twofold.connectors.imap import FETCH_BATCH_SIZE, ImapConnector
from twofold.domain.errors import InvalidInputError


@pytest.fixture(scope="module")
def started() -> Iterator[MailServer]:
    with mail_server() as one:
        yield one


@pytest.fixture
def mail(started: MailServer, monkeypatch: pytest.MonkeyPatch) -> MailServer:
    """The server with an account as it is at first: empty but for what a test puts there."""
    monkeypatch.setenv("IMAP_PASSWORD", PASSWORD)
    with started.account() as client:
        for flags, _, name in client.list_folders():
            if name != "INBOX" and b"\\Noselect" not in flags:
                client.delete_folder(name)
        client.select_folder("INBOX")
        if numbers := client.search("ALL"):
            client.delete_messages(numbers)
            client.expunge()
    return started


def sync(run: Run, *words: object) -> dict[str, object]:
    done = run("sync", *words, "--json")
    assert done.code == 0, done.err
    return {name: len(value) if isinstance(value, list) else value for name, value in dict(done.data).items()}


def titles(run: Run) -> list[str]:
    return sorted(one["title"] for one in run("ls", "--json").data)


def test_messages_are_added_moved_and_deleted(run: Run, mail: MailServer) -> None:
    mail.put("INBOX", "Kiln", "The kiln reaches 1,280 degrees.")
    mail.put("INBOX", "Ferry", "The night ferry leaves at 23:15.")
    mail.put("Work/Clay", "Clay", "Stoneware clay is gray.")
    first = sync(run, mail.address)
    idle = sync(run, mail.address)
    found = run("search", "night ferry", "--json").data["hits"][0]
    with mail.account() as client:
        client.select_folder("INBOX")
        client.move(client.search(["SUBJECT", "Ferry"]), "Work/Clay")
        client.delete_messages(client.search(["SUBJECT", "Kiln"]))
        client.expunge()
    second = sync(run, mail.address)
    moved = run("search", "night ferry", "--json").data["hits"][0]

    assert (first["added"], idle["added"], idle["unchanged"]) == (3, 0, 3)
    assert (second["renamed"], second["deleted"], second["added"], second["unchanged"]) == (1, 1, 0, 1)
    assert (found["title"], found["metadata"]["from"]) == ("Ferry", "bob@example.org")
    assert "mail" in found["metadata"]["source_type"]
    assert found["source"].startswith(f"{mail.address}/INBOX/")
    assert moved["source"].startswith(f"{mail.address}/Work/Clay/")
    assert titles(run) == ["Clay", "Ferry"]


def test_reading_marks_nothing_as_read_and_keeps_no_password(run: Run, mail: MailServer) -> None:
    mail.put("INBOX", "Kiln", "The kiln reaches 1,280 degrees.")
    sync(run, f"{mail.address}/INBOX")

    assert len(mail.numbers("INBOX", "UNSEEN")) == 1
    files = [path for path in Path(os.environ["TWOFOLD_HOME"]).rglob("*") if path.is_file()]
    assert files
    assert not [path for path in files if PASSWORD.encode() in path.read_bytes()]


def test_one_folder_is_followed_with_those_in_it(run: Run, mail: MailServer) -> None:
    mail.put("INBOX", "Kiln", "The kiln reaches 1,280 degrees.")
    mail.put("Work", "Clay", "Stoneware clay is gray.")
    mail.put("Work/Glaze", "Glaze", "Celadon is a green glaze.")
    mail.put("Workshop", "Wheel", "The wheel turns left.")
    done = sync(run, f"{mail.address}/Work")
    again = sync(run, f"{mail.address}/Work", "--meta", "team=harbor")

    assert done["added"] == again["updated"] == 2
    assert titles(run) == ["Clay", "Glaze"]
    assert len(run("search", "clay glaze", "-f", "team == harbor", "--json").data["hits"]) == 2


def test_many_messages_are_fetched_in_batches(run: Run, mail: MailServer) -> None:
    with mail.account() as client:
        for number in range(FETCH_BATCH_SIZE + 5):
            client.append("INBOX", f"Subject: Ship {number}\r\n\r\nShip number {number} came in.\r\n".encode())

    assert sync(run, mail.address)["added"] == FETCH_BATCH_SIZE + 5
    assert len(set(titles(run))) == FETCH_BATCH_SIZE + 5


def test_a_message_that_is_too_large_is_left_out_with_the_reason(run: Run, mail: MailServer) -> None:
    mail.put("INBOX", "Kiln", "The kiln reaches 1,280 degrees.")
    mail.put("INBOX", "Film", "frame " * 100_000)
    done = run("--set", 'limits={"file_bytes": 300000}', "sync", mail.address, "--json")

    assert len(done.data["added"]) == 1, done.err
    assert "larger than" in str(done.data["skipped"])


@pytest.mark.parametrize(
    ("place", "code", "said"),
    [
        ("{address}/Nowhere", 3, "There are: INBOX"),
        ("imap://127.0.0.1/INBOX", 2, "imaps://user@host"),
        ("imap://ann:secret@127.0.0.1/INBOX", 2, "without the password"),
        ("imap://ann@127.0.0.1:1/INBOX", 9, "cannot be reached"),
    ],
)
def test_a_mailbox_that_cannot_be_had_deletes_nothing(
    run: Run, mail: MailServer, place: str, code: int, said: str
) -> None:
    mail.put("INBOX", "Kiln", "The kiln reaches 1,280 degrees.")
    sync(run, mail.address)
    done = run("sync", place.format(address=mail.address))

    assert (done.code, len(done.err.strip().splitlines())) == (code, 2)
    assert said in done.err
    assert "secret" not in done.err
    assert titles(run) == ["Kiln"]


@pytest.mark.parametrize(("password", "code", "said"), [("wrong", 9, "refuses the password"), ("", 2, "IMAP_PASSWORD")])
def test_a_password_that_is_wrong_or_missing_is_asked_for(
    run: Run, mail: MailServer, monkeypatch: pytest.MonkeyPatch, password: str, code: int, said: str
) -> None:
    monkeypatch.setenv("IMAP_PASSWORD", password)
    done = run("sync", mail.address)

    assert (done.code, len(done.err.strip().splitlines())) == (code, 2)
    assert said in done.err


def test_a_mailbox_is_named_without_its_password() -> None:
    assert ImapConnector("imaps://ann%40example.org@mail.example.org/Work").root == (
        "imaps://ann%40example.org@mail.example.org/Work"
    )
    with pytest.raises(InvalidInputError):
        ImapConnector("imaps://ann:secret@mail.example.org/Work")
