"""A real IMAP server for tests, `pymap`, in a process of its own with the mail in memory."""

import ssl
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from imapclient import IMAPClient

USER, PASSWORD = "ann", "correct horse"

# The server picks a free port itself; the program says which.
_PROGRAM = """
import asyncio, ssl, sys

from pymap.main import main

start = asyncio.start_server
certificate = sys.argv.pop(1)
context = None
if certificate:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate)

async def told(*words, **more):
    server = await start(*words, **more, ssl=context)
    print(server.sockets[0].getsockname()[1], flush=True)
    return server

asyncio.start_server = told
main()
"""


@dataclass(frozen=True)
class MailServer:
    """A server with one account that has an `INBOX`."""

    port: int
    tls: Path | None = None
    starttls: Path | None = None

    @property
    def address(self) -> str:
        return f"imap://{USER}@127.0.0.1:{self.port}"

    @contextmanager
    def account(self) -> Iterator[IMAPClient]:
        trusted = ssl.create_default_context(cafile=self.tls or self.starttls)
        context = trusted if self.tls else None
        with IMAPClient("localhost", self.port, ssl=self.tls is not None, ssl_context=context) as client:
            if self.starttls:
                client.starttls(trusted)
            client.login(USER, PASSWORD)
            yield client

    def put(self, folder: str, subject: str, text: str, identity: str = "") -> None:
        """Put a message into a folder, which is made."""
        lines = [f"Subject: {subject}", "From: bob@example.org", f"Message-ID: <{identity or subject}@example.org>"]
        with self.account() as client:
            if not client.folder_exists(folder):
                client.create_folder(folder)
            client.append(folder, "\r\n".join([*lines, "", text, ""]).encode())

    def numbers(self, folder: str, condition: str = "ALL") -> Sequence[int]:
        with self.account() as client:
            client.select_folder(folder, readonly=True)
            return list(client.search(condition))


@contextmanager
def mail_server(tls: Path | None = None, starttls: Path | None = None) -> Iterator[MailServer]:
    """Serve plainly, encrypted from the beginning, or with STARTTLS; a certificate is a PEM file that holds its key."""
    encrypted = ["--no-tls"] if starttls is None else ["--cert", str(starttls), "--key", str(starttls)]
    account = ["dict", "--demo-user", USER, "--demo-password", PASSWORD]
    words = [str(tls or ""), "--host", "127.0.0.1", "--port", "0", *encrypted, *account]
    process = subprocess.Popen([sys.executable, "-c", _PROGRAM, *words], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield MailServer(int(process.stdout.readline()), tls, starttls)
    finally:
        process.kill()
        process.communicate()
