"""What stands in a mail's attachment is cited by the attachment's name, and by its page or sheet."""

from email.message import EmailMessage
from pathlib import Path

from support.documents import Words, pdf_of
from surfaces.conftest import Run

ANY = ("--set", "answer.min_answerability=0")


def message(subject: str) -> EmailMessage:
    mail = EmailMessage()
    mail["From"] = "ann@x.example"
    mail["Subject"] = subject
    mail.set_content("The ferry tables are attached.")
    return mail


def with_timetables(subject: str) -> EmailMessage:
    mail = message(subject)
    pages = [[Words(72, 700, "The first page.")], [Words(72, 700, "The night ferry leaves from quay nine.")]]
    mail.add_attachment(pdf_of(pages), maintype="application", subtype="pdf", filename="ferries.pdf")
    mail.add_attachment("stop,time\nOstend,23:15\nDover,06:40\n", subtype="csv", filename="stops.csv")
    return mail


def places(run: Run, words: str) -> dict[str, tuple[str, int | None]]:
    hits = run("search", words, "-i", "mail", "--mode", "bm25", "--json").data["hits"]
    return {hit["text"].split("\n")[-1]: (hit["place"], hit["page"]) for hit in hits}


def test_an_attachment_is_the_place_of_what_it_holds(run: Run, tmp_path: Path) -> None:
    (tmp_path / "ferries.eml").write_bytes(with_timetables("Ferries").as_bytes())
    run("sync", tmp_path, "-i", "mail")

    found = places(run, "ferry night Dover")

    assert found["The night ferry leaves from quay nine."] == ("attachment ferries.pdf", 2)
    assert found["Dover | 06:40"][0].startswith("attachment stops.csv")
    assert found["The ferry tables are attached."] == ("", None)
    shown = run("search", "night ferry quay", "-i", "mail", "--mode", "bm25").out
    asked = run(*ANY, "ask", "-i", "mail", "Where does the night ferry leave?").out
    assert "attachment ferries.pdf, p. 2" in shown
    assert "attachment ferries.pdf, p. 2" in asked


def test_in_a_mailbox_the_message_is_named_too(run: Run, tmp_path: Path) -> None:
    box = b"".join(b"From ann\n" + with_timetables(f"Ferries {at}").as_bytes() + b"\n\n" for at in (1, 2))
    (tmp_path / "inbox.mbox").write_bytes(box)
    run("sync", tmp_path, "-i", "mail")

    hits = run("search", "night ferry quay", "-i", "mail", "--mode", "bm25", "--json").data["hits"]

    assert {(hit["place"], hit["page"]) for hit in hits if "quay" in hit["text"]} == {
        (f"message {at}, attachment ferries.pdf", 2) for at in (1, 2)
    }
