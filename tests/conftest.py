"""What holds for every test: no network, a home of its own, and no silent skips where nothing may be skipped."""

import logging
import os
import secrets
import signal
import socket
from collections.abc import Generator
from pathlib import Path

import psycopg
import pytest
from hypothesis import HealthCheck, settings

from support.postgres_server import PostgresServer
from support.s3_server import S3Server
from twofold.config.load import models_folder

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as in a job that a shell put into the background
    signal.signal(signal.SIGINT, signal.default_int_handler)  # else what the tests start ignores Ctrl-C, and never ends

settings.register_profile("day", max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("night", settings.get_profile("day"), max_examples=1000)
settings.load_profile("day")

collect_ignore = ["frameworks"]  # the published suites bring plugins of their own: `make frameworks` runs them

REPOSITORY = Path(__file__).resolve().parent.parent
MODELS = Path(os.environ.get("TWOFOLD_MODELS") or models_folder())
NO_SKIPS = os.environ.get("TWOFOLD_NO_SKIPS", "") not in {"", "0"}


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--rewrite-golden", action="store_true", help="write the golden files anew instead of comparing")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave the soak runs out unless they are asked for by name."""
    if "soak" in (config.option.markexpr or ""):
        return
    soak = [item for item in items if item.get_closest_marker("soak")]
    if soak:
        config.hook.pytest_deselected(items=soak)
        items[:] = [item for item in items if item not in soak]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if NO_SKIPS and report.skipped and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"skipped where TWOFOLD_NO_SKIPS forbids it: {report.longrepr}"
    return report


@pytest.fixture(scope="session", autouse=True)
def no_network() -> Generator[None, None, None]:
    """Shut every socket but those that stay on this machine."""
    patch = pytest.MonkeyPatch()
    connect, connect_ex = socket.socket.connect, socket.socket.connect_ex

    def guarded_connect(self: socket.socket, address: object) -> None:
        _must_be_local(self, address)
        connect(self, address)  # type: ignore[arg-type]

    def guarded_connect_ex(self: socket.socket, address: object) -> int:
        _must_be_local(self, address)
        return connect_ex(self, address)  # type: ignore[arg-type]

    patch.setattr(socket.socket, "connect", guarded_connect)
    patch.setattr(socket.socket, "connect_ex", guarded_connect_ex)
    yield
    patch.undo()


def _must_be_local(connection: socket.socket, address: object) -> None:
    if connection.family in {socket.AF_INET, socket.AF_INET6}:
        host = address[0] if isinstance(address, tuple) else ""
        if not (host in {"localhost", "::1"} or host.startswith("127.")):
            message = f"a test reached out to {host}; tests stay on this machine"
            raise RuntimeError(message)


@pytest.fixture(scope="session")
def postgres_server() -> Generator[PostgresServer, None, None]:
    """A database server that the tests of this process share; each takes a database or an index of its own."""
    server = PostgresServer()
    yield server
    server.remove()


@pytest.fixture
def postgres(postgres_server: PostgresServer) -> str:
    """The address of an index that is not there yet, on a server that is shared."""
    return postgres_server.address(index=secrets.token_hex(8))


@pytest.fixture(scope="session")
def pgvector_database(postgres_server: PostgresServer) -> str:
    """A database of the shared server that has the extension `vector`."""
    database = postgres_server.create_database("pgvector")
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute("CREATE EXTENSION vector")
    return database


@pytest.fixture
def pgvector(pgvector_database: str) -> str:
    """The address of an index that is not there yet, in a database that has pgvector."""
    return f"{pgvector_database}&index={secrets.token_hex(8)}"


@pytest.fixture(scope="session")
def s3_server() -> Generator[S3Server, None, None]:
    """An S3 server that the tests of this process share; each takes an address of its own."""
    server = S3Server()
    yield server
    server.remove()


@pytest.fixture
def s3(s3_server: S3Server, monkeypatch: pytest.MonkeyPatch) -> str:
    """The address of an index that is not there yet, on a server that is shared and that the environment names."""
    for name, value in s3_server.environment.items():
        monkeypatch.setenv(name, value)
    return s3_server.address()


@pytest.fixture(autouse=True)
def own_home(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the user's indexes and settings out of the tests; only tests marked `model` see the user's model files."""
    home = request.getfixturevalue("tmp_path_factory").mktemp("home")
    for name in [name for name in os.environ if name.startswith("TWOFOLD_") and "SHARED" not in name]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("TWOFOLD_HOME", str(home))
    monkeypatch.setenv("TWOFOLD_OFFLINE", "1")
    monkeypatch.setenv("TWOFOLD_MODELS", str(MODELS if request.node.get_closest_marker("model") else home / "models"))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(REPOSITORY / "src"), os.environ.get("PYTHONPATH", "")]))


@pytest.fixture(autouse=True)
def logging_left_as_found() -> Generator[None, None, None]:
    """Fail a test that leaves a handler at the root logger, which would write into the output of tests after it."""
    before = _own_handlers()
    yield
    left = [one for one in _own_handlers() if one not in before]
    for one in left:
        logging.getLogger().removeHandler(one)
    assert not left


def _own_handlers() -> list[logging.Handler]:
    """Return the root logger's handlers, except those that pytest puts there for the phase of a test."""
    return [one for one in logging.getLogger().handlers if not type(one).__module__.startswith("_pytest.")]


@pytest.fixture(scope="session")
def repository() -> Path:
    """The root of the repository."""
    return REPOSITORY


@pytest.fixture(scope="session")
def real_models() -> Path:
    """Where this machine keeps its model files, whatever a test's own settings say."""
    return MODELS


@pytest.fixture(scope="session")
def shared() -> Path:
    """Real documents and judged collections: TWOFOLD_SHARED, else `../shared` beside the repository."""
    folder = Path(os.environ.get("TWOFOLD_SHARED") or REPOSITORY.parent / "shared")
    if not folder.is_dir():
        pytest.skip("no real documents here: set TWOFOLD_SHARED or put them in ../shared")
    return folder
