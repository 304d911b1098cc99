"""A real IMAP server for tests, `pymap`, in a process of its own with the mail in memory."""

import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from imapclient import IMAPClient

USER, PASSWORD = "ann", "correct horse"

# The server picks a free port itself; the program says which.
_PROGRAM = """
import asyncio

from pymap.main import main

start = asyncio.start_server

async def told(*words, **more):
    server = await start(*words, **more)
    print(server.sockets[0].getsockname()[1], flush=True)
    return server

asyncio.start_server = told
main()
"""


@dataclass(frozen=True)
class MailServer:
    """A server with one account that has an `INBOX`."""

    port: int

    @property
    def address(self) -> str:
        return f"imap://{USER}@127.0.0.1:{self.port}"

    @contextmanager
    def account(self) -> Iterator[IMAPClient]:
        with IMAPClient("127.0.0.1", self.port, ssl=False) as client:
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
def mail_server() -> Iterator[MailServer]:
    words = ["--host", "127.0.0.1", "--port", "0", "--no-tls", "dict", "--demo-user", USER, "--demo-password", PASSWORD]
    process = subprocess.Popen([sys.executable, "-c", _PROGRAM, *words], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield MailServer(int(process.stdout.readline()))
    finally:
        process.kill()
        process.communicate()
