"""Mail over TLS and STARTTLS from a real server; a certificate that is not trusted ends the sync in one line."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from support.certificates import write_certificate
from support.mail_server import PASSWORD, USER, MailServer, mail_server
from surfaces.conftest import Run
from twofold import Index, TwofoldError
from twofold.connectors.imap import ImapConnector


def pem(folder: Path, name: str = "localhost") -> Path:
    """Return a file with a certificate and its key."""
    folder.mkdir()
    certificate, key = write_certificate(folder, name)
    both = folder / "both.pem"
    both.write_bytes(certificate.read_bytes() + key.read_bytes())
    return both


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return pem(tmp_path_factory.mktemp("mail") / "good")


@pytest.fixture(scope="module")
def encrypted(certificate: Path) -> Iterator[MailServer]:
    with mail_server(tls=certificate) as one:
        one.put("INBOX", "Kiln", "The kiln reaches 1,280 degrees.")
        yield one


@pytest.fixture(scope="module")
def upgraded(certificate: Path) -> Iterator[MailServer]:
    with mail_server(starttls=certificate) as one:
        one.put("INBOX", "Ferry", "The night ferry leaves at 23:15.")
        yield one


@pytest.fixture(autouse=True)
def password(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IMAP_PASSWORD", PASSWORD)


@pytest.fixture
def trusted(certificate: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))


def refusal(run: Run, address: str) -> str:
    """Return the one line that says why a mailbox cannot be synced."""
    done = run("sync", address)
    assert done.code != 0
    assert "Traceback" not in done.err
    (line,) = [line for line in (done.err + done.out).splitlines() if "mail server" in line]
    return str(line)


def starttls(server: MailServer) -> ImapConnector:
    return ImapConnector(f"imap://{USER}@localhost:{server.port}/INBOX", plain_here=False)


@pytest.mark.usefixtures("trusted")
def test_mail_is_read_over_tls(run: Run, encrypted: MailServer) -> None:
    done = run("sync", f"imaps://{USER}@localhost:{encrypted.port}/INBOX", "--json")

    assert done.code == 0, done.err
    (added,) = done.data["added"]
    assert added.startswith(f"imaps://{USER}@localhost:{encrypted.port}/INBOX/")


@pytest.mark.usefixtures("trusted")
def test_mail_is_read_after_starttls(upgraded: MailServer) -> None:
    with Index(":memory:", overrides={"embedder": "hashing"}) as index:
        index.sync(starttls(upgraded))

        assert "23:15" in index.search("night ferry").hits[0].text


def test_a_certificate_that_nobody_trusts_is_refused_in_one_line(run: Run, encrypted: MailServer) -> None:
    said = refusal(run, f"imaps://{USER}@localhost:{encrypted.port}/INBOX")

    assert "the mail server's certificate is refused: self-signed certificate" in said


def test_starttls_with_a_certificate_that_nobody_trusts_is_refused(upgraded: MailServer) -> None:
    with (
        Index(":memory:", overrides={"embedder": "hashing"}) as index,
        pytest.raises(TwofoldError, match="certificate is refused: self-signed certificate"),
    ):
        index.sync(starttls(upgraded))


@pytest.mark.usefixtures("trusted")
def test_a_certificate_for_another_name_is_refused(run: Run, encrypted: MailServer) -> None:
    said = refusal(run, f"imaps://{USER}@127.0.0.1:{encrypted.port}/INBOX")

    assert "IP address mismatch, certificate is not valid for '127.0.0.1'" in said


def test_a_plain_port_is_named_where_tls_was_asked_for(run: Run) -> None:
    with mail_server() as plain:
        said = refusal(run, f"imaps://{USER}@127.0.0.1:{plain.port}/INBOX")

        assert "does not speak TLS on this port" in said
        with (
            Index(":memory:", overrides={"embedder": "hashing"}) as index,
            pytest.raises(TwofoldError, match="offers no encryption, and gets no password"),
        ):
            index.sync(starttls(plain))
