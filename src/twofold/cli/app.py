"""The commands by name, the options that stand before them, and `main`."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from twofold.cli import config, doctor, documents, evaluate, indexes, models, search, sync
from twofold.cli.launch import INTERRUPTED, Launch, guarded, parsed_overrides

app = typer.Typer(
    name="twofold",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Exit codes: 0 done, 2 bad input, 3 not found, 4 mismatch, 5 busy, 6 disk full, 7 damaged, 8 model, "
    "9 unreadable documents, 10 store, 11 a --fail-if test holds, 1 unforeseen, 130 interrupted. More in docs/exit-codes.md.",
)
_index = typer.Typer(name="index", no_args_is_help=True, help="Whole indexes: list, create, look at, mend, drop.")
_models = typer.Typer(name="models", no_args_is_help=True, help="The models that turn text into vectors.")
_config = typer.Typer(name="config", no_args_is_help=True, help="The settings and where they came from.")

app.command("sync")(guarded(sync.sync))
app.command("add")(guarded(documents.add))
app.command("rm")(guarded(documents.rm))
app.command("ls")(guarded(documents.ls))
app.command("show")(guarded(documents.show))
app.command("search")(guarded(search.search))
app.add_typer(_index)
_index.command("list")(guarded(indexes.list_indexes))
_index.command("create")(guarded(indexes.create))
_index.command("info")(guarded(indexes.info))
_index.command("drop")(guarded(indexes.drop))
_index.command("verify")(guarded(indexes.verify))
_index.command("compact")(guarded(indexes.compact))
_index.command("reindex")(guarded(indexes.reindex))
app.add_typer(_models)
_models.command("list")(guarded(models.list_models))
_models.command("pull")(guarded(models.pull))
_models.command("verify")(guarded(models.verify))
app.add_typer(_config)
_config.command("show")(guarded(config.show))
app.command("doctor")(guarded(doctor.doctor))
app.command("eval")(guarded(evaluate.evaluate))


def _say_version(asked: bool) -> None:  # noqa: FBT001  # typer's callbacks take one value
    if asked:
        from importlib.metadata import PackageNotFoundError, version  # 20 ms that no other command needs

        try:
            typer.echo(f"twofold {version('twofold')}")
        except PackageNotFoundError:
            typer.echo("twofold (not installed)")
        raise typer.Exit


@app.callback()
@guarded
def _before(
    context: typer.Context,
    *,
    config: Annotated[
        Path | None, typer.Option("--config", metavar="FILE", help="Read settings from here.", show_default=False)
    ] = None,
    assignments: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            help="Set one setting, such as search.k1=1.5; repeat for more.",
            show_default=False,
        ),
    ] = None,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
    _version: Annotated[
        bool, typer.Option("--version", callback=_say_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Search your own documents, by words and by meaning, with every score explained."""
    context.obj = Launch(config, parsed_overrides(assignments or []), debug=debug)


def main() -> None:
    """Run the command line and leave with its exit code."""
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]  # real streams can
    try:
        app(prog_name="twofold")
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
