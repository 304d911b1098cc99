"""No command leaves this machine: the kernel's own list of connections, with the default model loaded."""

import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import httpx2
import pytest

TWOFOLD = (sys.executable, "-m", "twofold")
CALLS = "connect,sendto,sendmsg,sendmmsg"
LOOPBACK = re.compile(r"127\.\d+\.\d+\.\d+|::1|::ffff:127\.\d+\.\d+\.\d+")
HOST = re.compile(r'inet_addr\("([^"]*)"\)|inet_pton\(AF_INET6, "([^"]*)"')
PORT = re.compile(r"sin6?_port=htons\((\d+)\)")
DNS_PORTS = {"53", "853", "5353", "5355"}
ASKED = "When was the Eiffel tower finished?"

pytestmark = pytest.mark.model


@pytest.fixture
def traced(tmp_path: Path) -> tuple[str, ...]:
    """What to put before a command, so that its connections and those of its children are written down."""
    strace = shutil.which("strace")
    if strace is None:
        pytest.skip("strace is not installed: `make setup` installs it on Debian")
    command = (strace, "-f", "-qq", "-s", "96", "-e", f"trace={CALLS}", "-o", str(tmp_path / "calls.txt"))
    allowed = subprocess.run([*command, "true"], capture_output=True, text=True, check=False)
    if allowed.returncode:
        pytest.skip(f"this machine forbids strace: {allowed.stderr.strip()}")
    return command


@pytest.fixture
def surroundings(tmp_path: Path) -> Mapping[str, str]:
    """A home folder of its own, the network not switched off, and no server for names but the usual one."""
    home = tmp_path / "user"
    home.mkdir()
    kept = {name: value for name, value in os.environ.items() if name not in {"TWOFOLD_OFFLINE", "TWOFOLD_EMBEDDER"}}
    return {**kept, "HOME": str(home), "PYTHONUNBUFFERED": "1"}


@pytest.fixture
def documents(tmp_path: Path) -> Path:
    folder = tmp_path / "documents"
    folder.mkdir()
    (folder / "tower.txt").write_text("The Eiffel tower stands in Paris. It was finished in 1889.\n")
    return folder


def outside(calls: str) -> list[str]:
    """Return the calls that reach another machine, or ask for a name, from what strace wrote down."""
    return [line for line in calls.splitlines() if _leaves(line)]


def _leaves(line: str) -> bool:
    if "sa_family=AF_UNIX" in line:
        return "resolve" in line
    if "sa_family=AF_INET" not in line:
        return False
    hosts = [one or other for one, other in HOST.findall(line)]
    ports = PORT.findall(line)
    return not hosts or not all(LOOPBACK.fullmatch(host) for host in hosts) or bool(DNS_PORTS & set(ports))


@pytest.mark.parametrize(
    "line",
    [
        'connect(15, {sa_family=AF_INET, sin_port=htons(53), sin_addr=inet_addr("10.0.0.53")}, 16) = 0',
        'connect(15, {sa_family=AF_INET, sin_port=htons(53), sin_addr=inet_addr("127.0.0.53")}, 16) = 0',
        'connect(3, {sa_family=AF_INET6, sin6_port=htons(443), inet_pton(AF_INET6, "2001:db8::1", &a)}, 28) = 0',
        'sendto(3, "x", 1, 0, {sa_family=AF_INET, sin_port=htons(9), sin_addr=inet_addr("192.0.2.1")}, 16) = 1',
        'connect(4, {sa_family=AF_UNIX, sun_path="/run/systemd/resolve/io.systemd.Resolve"}, 42) = 0',
    ],
)
def test_the_list_is_read_rightly(line: str) -> None:
    at_home = 'connect(3, {sa_family=AF_INET, sin_port=htons(80), sin_addr=inet_addr("127.0.0.1")}, 16) = 0'

    assert outside(f"1 {line}\n2 {at_home}\n") == [f"1 {line}"]


def checked(tmp_path: Path) -> None:
    """Hold a traced command to it: no call left the machine, and no id was left in the home folder."""
    assert outside((tmp_path / "calls.txt").read_text()) == []
    assert list((tmp_path / "user").rglob("intel*")) == []
    assert list((tmp_path / "user").rglob("*openvino*")) == []


def test_strace_sees_what_leaves(traced: tuple[str, ...], tmp_path: Path) -> None:
    """A datagram to an address for documentation is seen, so an empty list means something."""
    program = "import socket; socket.socket(socket.AF_INET, socket.SOCK_DGRAM).connect(('192.0.2.1', 9))"

    subprocess.run([*traced, sys.executable, "-c", program], capture_output=True, check=False)

    assert len(outside((tmp_path / "calls.txt").read_text())) == 1


def test_sync_search_and_ask_stay_at_home(
    traced: tuple[str, ...], surroundings: Mapping[str, str], documents: Path, tmp_path: Path
) -> None:
    for words in (("sync", documents, "-i", "n"), ("search", ASKED, "-i", "n"), ("ask", ASKED, "-i", "n")):
        done = subprocess.run(
            [*traced, *TWOFOLD, *map(str, words)], env=surroundings, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        assert "tower.txt" in done.stdout or words[0] == "sync"
        checked(tmp_path)


def test_a_server_stays_at_home(
    traced: tuple[str, ...], surroundings: Mapping[str, str], documents: Path, tmp_path: Path
) -> None:
    subprocess.run([*TWOFOLD, "sync", documents, "-i", "n"], env=surroundings, capture_output=True, check=True)
    command = [*traced, *TWOFOLD, "serve", "--port", "0"]
    with subprocess.Popen(
        command, env=surroundings, stdout=subprocess.PIPE, text=True, start_new_session=True
    ) as server:
        assert server.stdout is not None
        address = server.stdout.readline().rpartition(" on ")[2].split()[0]
        try:
            with httpx2.Client(base_url=address, timeout=60.0, trust_env=False) as client:
                found = client.post("/v1/indexes/n/search", json={"query": ASKED})
                answered = client.post("/v1/indexes/n/ask", json={"query": ASKED, "stream": False})
        finally:
            os.killpg(server.pid, signal.SIGINT)
        assert server.wait() is not None
    assert found.status_code == answered.status_code == 200, (found.text, answered.text)
    assert "1889" in found.text
    assert "1889" in answered.text
    checked(tmp_path)
