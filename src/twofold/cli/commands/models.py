"""`models`: what the catalog knows, and the files of it that are here."""

import sys
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer

from twofold.cli.options import JsonOption
from twofold.cli.render.progress import model_progress
from twofold.cli.render.results import write_json
from twofold.cli.render.terminal import columns, one_line, screen_on
from twofold.cli.runtime import runtime_of, settings_for
from twofold.config.load import Settings
from twofold.domain.errors import CorruptError, ModelError
from twofold.factory.search import is_read
from twofold.models.catalog.entries import CATALOG, READER, entry_named
from twofold.models.catalog.files import awaits_conversion, is_missing, is_present
from twofold.models.catalog.files import pull as pull_files
from twofold.models.catalog.files import verify as verify_files
from twofold.models.catalog.identities import members_of
from twofold.models.catalog.types import ModelEntry
from twofold.text.quantities import sized

NamesArgument = Annotated[
    list[str] | None, typer.Argument(metavar="[MODEL]...", help="Default: the models that the settings name.")
]


def list_models(context: typer.Context, *, as_json: JsonOption = False) -> None:
    """List the models that twofold knows by name."""
    cache = settings_for(context).settings.models
    if as_json:
        write_json([_described(entry, cache) for entry in CATALOG.values()])
        return
    rows = [("", "model", "task", "dimensions", "tokens", "size", "licence")]
    for entry in CATALOG.values():
        size = sum(file.size for file in entry.files)
        width = str(entry.dimensions) if entry.dimensions else "–"
        here = "✓" if is_present(entry, cache) else ""
        rows.append((here, entry.name, entry.task, width, str(entry.max_tokens), sized(size), entry.licence))
    screen = screen_on()
    for line in columns(rows, right=frozenset({3, 4, 5})):
        screen.line(line)
    screen.line(screen.paint(f"✓ is in {cache}", "dim"))


def pull(
    context: typer.Context,
    names: NamesArgument = None,
    *,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask, however large it is.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Download models, verify their checksums, and convert them to the fastest format.

    A download of more than 200 MB is asked about on a terminal, and refused elsewhere, unless --yes agrees to it.
    """
    agreed = yes or runtime_of(context).yes
    settings = settings_for(context).settings
    screen = screen_on()
    for entry in _chosen(names, settings):
        folder = pull_files(entry, settings.models, offline=settings.offline, progress=model_progress(yes=agreed))
        if as_json:
            write_json(_described(entry, settings.models))
        else:
            screen.line(f"{entry.name} is in {folder}")


def verify(context: typer.Context, names: NamesArgument = None, *, as_json: JsonOption = False) -> None:
    """Recompute the checksums of model files; where some are damaged or missing the exit code is 7."""
    settings = settings_for(context).settings
    entries = _chosen(names, settings)
    findings = {entry.name: verify_files(entry, settings.models) for entry in entries}
    screen = screen_on()
    if as_json:
        write_json(findings)
    else:
        for entry in entries:
            found = findings[entry.name]
            screen.line(f"{entry.name}: {_state_of(entry, settings.models, damaged=bool(found))}")
            for finding in () if is_missing(entry, settings.models) else found:
                screen.line(f"  {one_line(finding.where)}: {one_line(finding.what)}")
    damaged = [name for name, found in findings.items() if found]
    if damaged:
        raise CorruptError(
            f"{', '.join(damaged)} cannot be used as it is.", f"Run `twofold models pull {' '.join(damaged)}`."
        )


def ensure_present(settings: Settings) -> None:
    """Fetch the embedder's files before they are needed, where somebody can watch. Raises ModelError."""
    for one in members_of(settings.embedder):
        entry = CATALOG.get(one.removeprefix("onnxruntime:"))
        if entry is not None and not is_present(entry, settings.models):
            pull_files(entry, settings.models, offline=settings.offline, progress=model_progress())


def ensure_reader(settings: Settings) -> None:
    """Fetch what reads the sentences of answers, as `ensure_present` does; answers do without it where that fails."""
    wanted = is_read(settings, settings.embedder) and not settings.offline
    if wanted and not is_present(CATALOG[READER], settings.models):
        with suppress(ModelError):
            pull_files(CATALOG[READER], settings.models, progress=model_progress())


def _chosen(names: list[str] | None, settings: Settings) -> list[ModelEntry]:
    if names:
        return [entry_named(one) for name in names for one in members_of(name)]
    reader = READER if is_read(settings, settings.embedder) else ""
    named = dict.fromkeys((*members_of(settings.embedder), settings.rerank.model, reader))
    known = [CATALOG[name] for name in named if name in CATALOG]
    if _of_catalog(settings):
        return known
    screen_on(sys.stderr).line(f"The embedder {one_line(settings.embedder)} has no files in the catalog.")
    return known


def _state_of(entry: ModelEntry, cache: Path, *, damaged: bool) -> str:
    if is_missing(entry, cache):
        return "not fetched"
    if damaged:
        return "damaged"
    return "every byte is right" + ("; converted when it is first used" if awaits_conversion(entry, cache) else "")


def _of_catalog(settings: Settings) -> bool:
    return all(one in CATALOG for one in members_of(settings.embedder))


def _described(entry: ModelEntry, cache: Path) -> dict[str, object]:
    return {
        "name": entry.name,
        "task": entry.task,
        "licence": entry.licence,
        "dimensions": entry.dimensions,
        "max_tokens": entry.max_tokens,
        "bytes": sum(file.size for file in entry.files),
        "revision": entry.revision,
        "present": is_present(entry, cache),
    }
