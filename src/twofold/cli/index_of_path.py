"""Which index a path belongs to: one that was synced from it, or from a folder above it, else one of its own."""

import os
import re
import sys
from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path

from twofold.cli.commands.indexes import existing_indexes
from twofold.cli.render.terminal import from_here, one_line, screen_on
from twofold.config.load import Settings
from twofold.domain.dataclass import dataclass
from twofold.domain.errors import TwofoldError
from twofold.domain.filters import Condition, Filter, Operator, Or
from twofold.domain.ports import Store, StoreInfo
from twofold.factory.search import open_store
from twofold.indexing.diff import is_below
from twofold.ingest.walk import source_name
from twofold.system.paths import real_path


@dataclass(frozen=True, slots=True)
class Covering:
    """An index that holds a path, and the root it was synced from; `within` keeps to what lies below the path."""

    name: str
    root: Path
    within: Filter | None = None


def index_name(path: Path) -> str:
    """Return the name of the index that is kept for a folder or file: its own name and a hash of where it is."""
    whole = path.expanduser().resolve()
    readable = re.sub(r"[^A-Za-z0-9_-]+", "-", whole.name).strip("-")[:32] or "root"
    return f"{readable}-{blake2b(str(whole).encode('utf-8', 'surrogateescape'), digest_size=4).hexdigest()}"


def covering(path: Path, settings: Settings, embedder: str | None = None) -> Covering | None:
    """Return the index under `TWOFOLD_HOME` that was synced from a path or a folder above it; None without one.

    Of several the one that a sync changed last, said on standard error. With `embedder` only indexes made with it.
    """
    whole = source_name(real_path(path.expanduser()))
    found = sorted(_synced(whole, settings, embedder), reverse=True)
    if not found:
        return None
    _, name, root = found[0]
    if len(found) > 1:
        others = ", ".join(other for _, other, _ in found[1:])
        screen_on(sys.stderr).line(
            f"Asking the index {one_line(name)}, synced last; {from_here(whole)} is in {one_line(others)} too."
        )
    if name == index_name(path):
        return Covering(name, path)
    below = Or((Condition("source", Operator.EQ, whole), Condition("source", Operator.PREFIX, whole.rstrip("/") + "/")))
    return Covering(name, Path(os.fsdecode(root)), below)


def _synced(whole: str, settings: Settings, embedder: str | None) -> Iterator[tuple[int, str, str]]:
    """Yield when, into which index, and from which root a path was synced; of an index its latest root."""
    for name in existing_indexes(settings):
        try:
            store = open_store(name, settings, create=False)
        except TwofoldError:
            continue  # `doctor` says what is wrong with it
        info = _info(store)
        if info is None or (embedder is not None and _embedder_of(info) != embedder):
            continue
        times = [(at, name, root) for root, at in info.roots.items() if is_below(whole, root)]
        yield from sorted(times, reverse=True)[:1]


def _info(store: Store) -> StoreInfo | None:
    try:
        return store.info()
    except TwofoldError:
        return None
    finally:
        store.close()


def _embedder_of(info: StoreInfo) -> str:
    return "" if info.fingerprint is None else dict(info.fingerprint.settings).get("embedder", "")
