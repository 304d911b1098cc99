"""What must work here: the installation, the models of the settings, the disk and the indexes, one check each."""

import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from enum import StrEnum
from functools import partial
from importlib.util import find_spec
from pathlib import Path

from twofold.config.load import Settings
from twofold.domain.dataclass import dataclass
from twofold.domain.errors import ModelError, TwofoldError
from twofold.factory.places import not_notified, shown_name
from twofold.factory.search import is_read, reranker_names
from twofold.index import Index
from twofold.kernels import KERNELS
from twofold.models.catalog.entries import CATALOG, READER
from twofold.models.catalog.files import is_missing
from twofold.models.catalog.files import verify as verify_model
from twofold.models.catalog.identities import members_of
from twofold.models.catalog.types import ModelEntry, Task
from twofold.models.embedders.openvino_library import openvino_library, telemetry_is_blocked
from twofold.models.generators.factory import LOCAL, open_generator
from twofold.models.generators.factory import NONE as NO_GENERATOR
from twofold.models.generators.speed import default_local
from twofold.models.rerankers.factory import open_reranker
from twofold.search.metrics import MEGABYTE, MemoryUse
from twofold.system.limits import LIMITED
from twofold.system.memory import resident_bytes
from twofold.text.quantities import counted, sized

PYTHON_FLOOR = (3, 11)
SQLITE_FLOOR = "3.51.3"
BYTES_FLOOR = 1_000_000_000


class State(StrEnum):
    """How a check came out."""

    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at. `exit_code` counts when it failed."""

    what: str
    state: State
    says: str
    hint: str = ""
    exit_code: int = 1


def checks(settings: Settings) -> Iterator[Check]:
    """Look at everything but the indexes."""
    yield _python()
    yield _kernels()
    yield _sqlite()
    yield from _model(settings)
    yield from _device(settings)
    yield from _reranker(settings)
    yield from _answers(settings)
    yield from _generator(settings)
    yield _readers()
    yield _memory(settings)
    yield _disk(settings.home)


def _python() -> Check:
    found = ".".join(str(part) for part in sys.version_info[:3])
    state = State.OK if sys.version_info >= PYTHON_FLOOR else State.FAIL
    return Check("python", state, found, "Use Python 3.11 or newer.")


def _kernels() -> Check:
    if KERNELS == "c":
        return Check("kernels", State.OK, "built in C")
    hint = "Install a C compiler and install twofold again."
    return Check("kernels", State.WARN, "numpy stands in for C: the same results, slower", hint)


def _sqlite() -> Check:
    import apsw

    found = apsw.sqlite_lib_version()
    recent = [int(part) for part in found.split(".")] >= [int(part) for part in SQLITE_FLOOR.split(".")]
    hint = f"Install a newer apsw: SQLite before {SQLITE_FLOOR} can damage a database in WAL mode."
    return Check("sqlite", State.OK if recent else State.FAIL, found, hint)


def _model(settings: Settings) -> Iterator[Check]:
    entries = [CATALOG[one] for one in members_of(settings.embedder) if one in CATALOG]
    if not entries:
        yield Check("model", State.OK, f"{settings.embedder}: no files to check")
        return
    runtime = "openvino" if find_spec("openvino") is not None else ""
    yield Check(
        "runtime",
        State.OK if runtime else State.FAIL,
        runtime or "openvino is not installed",
        "Install it with `pip install openvino`, or use another embedder.",
        ModelError.exit_code,
    )
    for entry in entries:
        yield _files("model", entry, settings, State.FAIL)


def _device(settings: Settings) -> Iterator[Check]:
    """Look at what the models of the catalog compute on, and that OpenVINO's telemetry stays shut."""
    if find_spec("openvino") is None or not any(one in CATALOG for one in members_of(settings.embedder)):
        return
    openvino = openvino_library()
    core = openvino.Core()
    there = list(core.available_devices)
    wanted = "GPU" if settings.device == "gpu" else "CPU"
    found = next((name for name in there if name.split(".")[0] == wanted), "")
    name = core.get_property(found, "FULL_DEVICE_NAME") if found else f"not found; OpenVINO has {', '.join(there)}"
    yield Check(
        "device",
        State.OK if found else State.FAIL,
        f"{settings.device}: {found or wanted}, {name}",
        "Set `device` to cpu or auto; docs/models.md says what runs on which GPU.",
        ModelError.exit_code,
    )
    yield Check(
        "telemetry",
        State.OK if telemetry_is_blocked() else State.FAIL,
        "openvino_telemetry is blocked" if telemetry_is_blocked() else "openvino_telemetry can be imported",
        "Uninstall it with `pip uninstall openvino-telemetry`.",
    )


def _readers() -> Check:
    """Look at what the system limits of a process that reads a document."""
    missing = [what for what in ("memory", "processor time", "files") if what not in LIMITED]
    says = f"limited: {', '.join(LIMITED) or 'nothing'}" + (
        f"; not limited here: {', '.join(missing)}" if missing else ""
    )
    hint = "Read only documents that you trust, or run twofold on Linux or macOS."
    return Check("readers", State.OK if LIMITED else State.WARN, says, hint)


def _memory(settings: Settings) -> Check:
    use = MemoryUse(resident_bytes() / MEGABYTE, settings.limits.memory_mb)
    limit = f"warned of above {use.limit_mb:,.0f} MB" if use.limit_mb else "without a limit"
    says = f"{use.resident_mb:,.0f} MB in use, {limit}"
    return Check("memory", State.WARN if use.warning else State.OK, says, "Raise `limits.memory_mb`, or close indexes.")


def _reranker(settings: Settings) -> Iterator[Check]:
    """Look at the reranker, if one is set. Without its files searches go on, in the fused order."""
    for what, spec in zip(("reranker", "fallback reranker"), reranker_names(settings), strict=False):
        entry = CATALOG.get(spec)
        if entry is not None and entry.task is Task.RERANK:
            yield _files(what, entry, settings, State.WARN)
            continue
        yield _opens(what, spec, partial(open_reranker, spec, cache=settings.models, offline=settings.offline))


def _answers(settings: Settings) -> Iterator[Check]:
    """Look at what reads the sentences of answers, if that is asked for. Without it words and vectors choose them."""
    if is_read(settings, settings.embedder) and READER not in reranker_names(settings):
        yield _files("answers", CATALOG[READER], settings, State.WARN)


def _generator(settings: Settings) -> Iterator[Check]:
    """Look at the language model, if one is set. Nothing is started or asked."""
    spec = settings.generator
    if spec == NO_GENERATOR:
        return
    name = local_name_of(spec, settings.models)
    entry = CATALOG.get(name)
    if entry is not None and entry.task is Task.GENERATE:
        yield _files("generator", entry, settings, State.WARN)
        return
    yield _opens("generator", spec, partial(open_generator, spec, cache=settings.models, offline=settings.offline))


def local_name_of(spec: str, models: Path) -> str:
    """Return the name in the catalog that a local generator has; empty for one elsewhere.

    >>> local_name_of("local/qwen2.5-coder-0.5b&threads=2", Path()), local_name_of("ollama/qwen3:8b", Path())
    ('qwen2.5-coder-0.5b', '')
    """
    front, _, name = spec.partition("&")[0].partition("/")
    return (name or default_local(models).name) if front == LOCAL else ""


def _opens(what: str, spec: str, make: Callable[[], object]) -> Check:
    try:
        make()
    except TwofoldError as error:
        return Check(what, State.FAIL, error.message, error.hint, error.exit_code)
    return Check(what, State.OK, f"{spec}: no files to check")


def _files(what: str, entry: ModelEntry, settings: Settings, damaged: State) -> Check:
    hint = f"Run `twofold models pull {entry.name}`."
    damage = verify_model(entry, settings.models)
    if is_missing(entry, settings.models):
        says = f"{entry.name}: not fetched"
    else:
        says = f"{entry.name}: {damage[0].what}" if damage else f"{entry.name}: every byte is right"
    return Check(what, damaged if damage else State.OK, says, hint, ModelError.exit_code)


def _disk(home: Path) -> Check:
    there = next(folder for folder in (home, *home.parents) if folder.exists())
    free = shutil.disk_usage(there).free
    state = State.OK if free >= BYTES_FLOOR else State.WARN
    return Check("disk", state, f"{sized(free)} free for {home}", "Make room: a full disk stops `sync`, not search.")


def notice_check(where: str) -> Iterator[Check]:
    """Look at whether a server of a database would be notified of changes. Nothing to look at elsewhere."""
    try:
        missing = not_notified(where)
    except TwofoldError as error:
        yield Check("notifications", State.FAIL, error.message, error.hint, error.exit_code)
        return
    if missing:
        hint = "Servers ask for changes every 2 s instead: give them an address without the pooler, or let them."
        yield Check("notifications", State.WARN, missing, hint)
    elif missing is not None:
        yield Check("notifications", State.OK, "a server is notified of changes")


def index_check(name: str, held: Callable[[], AbstractContextManager[Index]]) -> Check:
    """Recompute every checksum of an index, which `held` opens."""
    shown = shown_name(name)
    what = f"index {shown}"
    try:
        with held() as opened:
            findings = opened.verify()
            info = None if findings else opened.info()  # damaged, documents may not be countable
    except TwofoldError as error:
        return Check(what, State.FAIL, error.message, error.hint, error.exit_code)
    if info is not None:
        says = f"{counted(info.documents, 'document')}, every checksum is right"
        if not info.pending:
            return Check(what, State.OK, says)
        waiting = f"{says}; {counted(info.pending, 'passage')} without a vector yet"
        return Check(what, State.WARN, waiting, f"Run `twofold sync PATH --index {shown}`: it goes on with them.")
    says = f"{findings[0].where}: {findings[0].what}"
    repairable = all(finding.repairable for finding in findings)
    hint = f"Run `twofold index {'compact' if repairable else 'verify'} --index {shown}`."
    return Check(what, State.WARN if repairable else State.FAIL, says, hint, 7)
