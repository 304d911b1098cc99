"""Mail: headers, bodies, attachments, mailboxes."""

from dataclasses import replace
from email.message import EmailMessage

import pytest

from twofold.ingest.readers.mail import mail_reader, mailbox_reader
from twofold.ingest.readers.registry import read
from twofold.ingest.readers.types import DEFAULT_LIMITS, Extract, Source

read_mail = mail_reader(read)


def message(subject: str = "Lunch", body: str = "Soup today.") -> EmailMessage:
    mail = EmailMessage()
    mail["From"] = "Ann Lee <ann@x.example>"
    mail["To"] = "bob@x.example"
    mail["Date"] = "Tue, 02 Jan 2024 10:00:00 +0100"
    mail["Subject"] = subject
    mail.set_content(body)
    return mail


def texts(extract: Extract) -> list[str]:
    return [extract.text[block.start : block.end] for block in extract.blocks]


def test_headers_become_title_metadata_and_a_first_paragraph() -> None:
    extract = read_mail(Source("a.eml", message("Größe").as_bytes()))

    assert extract.title == "Größe"
    assert extract.metadata["from"] == "Ann Lee <ann@x.example>"
    assert extract.metadata["date"] == "2024-01-02T10:00:00+01:00"
    assert texts(extract)[0].startswith("From: Ann Lee <ann@x.example>\nTo: bob@x.example\nDate: ")
    assert texts(extract)[1] == "Soup today."


def test_plain_text_is_read_before_html_and_html_when_it_is_alone() -> None:
    both = message()
    both.add_alternative("<p>HTML</p>", subtype="html")
    alone = message()
    alone.set_content("<p>Only <b>HTML</b></p><script>x</script>", subtype="html")

    assert texts(read_mail(Source("a.eml", both.as_bytes())))[1:] == ["Soup today."]
    assert texts(read_mail(Source("a.eml", alone.as_bytes())))[1:] == ["Only HTML"]


def test_attachments_are_read_by_their_content_and_the_others_are_named_with_the_reason() -> None:
    mail = message()
    mail.add_attachment("# Menu\n\nFish", subtype="markdown", filename="menu.md")
    mail.add_attachment(b"\x89PNG\r\n\x1a\n", maintype="image", subtype="png", filename="cat.png")
    extract = read_mail(Source("a.eml", mail.as_bytes()))

    assert extract.metadata["attachments"] == ("menu.md", "cat.png")
    assert extract.metadata["attachments_not_read"] == (
        "cat.png: a picture; what is written on it can only be read by OCR",
    )
    assert texts(extract)[2:] == ["menu.md", "# Menu", "Fish"]
    assert extract.blocks[-1].heading == ("menu.md", "Menu")


def test_messages_inside_messages_are_read_as_deep_as_the_limit_allows() -> None:
    mail = message("Level 0", "body 0")
    for level in range(1, 5):
        outer = message(f"Level {level}", f"body {level}")
        outer.add_attachment(mail)
        mail = outer
    extract = read_mail(Source("a.eml", mail.as_bytes(), replace(DEFAULT_LIMITS, archive_depth=2)))

    assert [level for level in range(5) if f"body {level}" in extract.text] == [2, 3, 4]


def test_a_mailbox_gives_each_message_under_its_subject() -> None:
    data = b""
    for number in range(3):
        mail = message(f"Mail {number}", f"Text {number}\nFrom the start of a line\n")
        data += b"From ann Tue Jan  2 10:00:00 2024\n" + mail.as_bytes() + b"\n"
    extract = mailbox_reader(read)(Source("a.mbox", data))

    bodies = [block for block in extract.blocks if "Text" in extract.text[block.start : block.end]]
    assert [(block.heading, block.place) for block in bodies] == [
        ((f"Mail {number}",), f"message {number + 1}") for number in range(3)
    ]


@pytest.mark.parametrize(
    "head",
    [
        b"From: =?utf-8?b?\xff\xfe?=\nSubject: x",
        b"From: <<<>>>,;:\nSubject: =?bogus?q?x?=",
        b"Date: Foo, 99 Bar 99999 99:99\nSubject: x",
        b"Subject: x\nContent-Type: multipart/mixed; boundary=",
        b"Subject: x\nContent-Type: text/plain; charset=nope\nContent-Transfer-Encoding: base64",
        b"Subject: x\nContent-Disposition: attachment; filename*=x''%ff",
        b"Subject: x\nContent-Type: message/rfc822",
        b"To: " + b"(" * 3000 + b"\nSubject: x",
    ],
)
def test_damaged_headers_do_not_keep_the_rest_from_being_read(head: bytes) -> None:
    extract = read_mail(Source("a.eml", head + b"\n\nbody of words"))

    assert "Subject" in extract.text
