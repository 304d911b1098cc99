"""The commands by name, the options that stand before them, and `main`.

A process runs one command, so only that command's module is loaded: importing all of them costs a search 50 ms.
"""

import gc
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Annotated, NamedTuple

import typer

from twofold import __version__
from twofold.cli.runtime import INTERRUPTED, Runtime, guarded, parsed_overrides
from twofold.domain.errors import InvalidInputError


class Command(NamedTuple):
    """Where a command stands, `function` of `twofold.cli.commands.module`, and what it does, in a few words."""

    module: str
    function: str
    says: str

    def load(self) -> Callable[..., None]:
        """Load the command, guarded."""
        function: Callable[..., None] = getattr(import_module(f"twofold.cli.commands.{self.module}"), self.function)
        return guarded(function)


class Group(NamedTuple):
    """Commands under one word."""

    help: str
    commands: Mapping[str, Command]


COMMANDS: Mapping[str, Command] = {
    "sync": Command("sync", "sync", "Index files and folders, and follow their changes."),
    "add": Command("documents", "add", "Add single documents, or replace them."),
    "rm": Command("documents", "rm", "Remove documents from an index."),
    "ls": Command("documents", "ls", "List the documents of an index."),
    "show": Command("documents", "show", "Show the text of a document, or its passages."),
    "search": Command("search", "search", "Find passages with BM25 and vectors."),
    "suggest": Command("suggest", "suggest", "Suggest how a question may go on."),
    "ask": Command("ask", "ask", "Answer a question from documents, with citations."),
    "chat": Command("chat", "chat", "Hold a conversation with follow-up questions."),
    "why-not": Command("why_not", "why_not", "Explain why a search does not find a document."),
    "migrate": Command("migrate", "migrate", "Copy an index to another place, such as a database."),
    "serve": Command("serve", "serve", "Serve indexes over HTTP, with a web page."),
    "mcp": Command("mcp", "mcp", "Serve an index to a language model, by the Model Context Protocol."),
    "doctor": Command("doctor", "doctor", "Check the installation and suggest fixes."),
    "eval": Command("eval", "evaluate", "Measure search on judged questions."),
    "tune": Command("tune", "tune", "Choose settings with judged questions."),
    "judge": Command("judge", "judge", "Judge search results, for eval and tune."),
    "pin": Command("pin", "pin", "Show documents first for a question, or leave them out."),
    "log": Command("log", "log", "Show the questions that an index was asked."),
}
GROUPS: Mapping[str, Group] = {
    "index": Group(
        "Manage indexes: list, create, inspect, repair, delete.",
        {
            "list": Command("indexes", "list_indexes", "List the indexes under TWOFOLD_HOME."),
            "create": Command("indexes", "create", "Create an empty index."),
            "info": Command("indexes", "info", "Show what an index holds and how it was made."),
            "drop": Command("indexes", "drop", "Delete an index permanently."),
            "verify": Command("indexes", "verify", "Recompute every checksum."),
            "compact": Command("indexes", "compact", "Merge segments and rebuild damaged ones."),
            "reindex": Command("indexes", "reindex", "Rebuild all passages with other settings."),
            "snapshot": Command("snapshots", "snapshot", "Name the present state, or delete a snapshot."),
            "snapshots": Command("snapshots", "snapshots", "List the snapshots with the space each retains."),
            "diff": Command("snapshots", "diff", "Show what changed between two states."),
            "branch": Command("snapshots", "branch", "Make a new index of a snapshot."),
            "export": Command("snapshots", "export", "Write an index to one file."),
            "import": Command("snapshots", "import_", "Make an index of an exported file."),
            "graph": Command("graph", "graph", "Write a graph of entities, for questions about relations."),
        },
    ),
    "synonyms": Group(
        "The synonyms of an index.",
        {
            "set": Command("synonyms", "set_rules", "Replace the rules by those of a file."),
            "list": Command("synonyms", "list_rules", "Print the rules."),
            "clear": Command("synonyms", "clear", "Remove all rules."),
        },
    ),
    "access": Group(
        "Who may read documents.",
        {
            "show": Command("access", "show", "Show who may read documents."),
            "set": Command("access", "set_readers", "Set who may read a document."),
            "default": Command("access", "set_default", "Set who may read documents that name no readers."),
        },
    ),
    "models": Group(
        "The models that turn text into vectors.",
        {
            "list": Command("models", "list_models", "List the models that twofold knows by name."),
            "pull": Command("models", "pull", "Download models and verify their checksums."),
            "verify": Command("models", "verify", "Recompute the checksums of model files."),
        },
    ),
    "token": Group(
        "Access tokens of the HTTP server.",
        {
            "create": Command("tokens", "create", "Make a token."),
            "list": Command("tokens", "list_tokens", "List the tokens, the revoked ones too."),
            "revoke": Command("tokens", "revoke", "Revoke a token from the next request on."),
        },
    ),
    "config": Group(
        "The settings, where they came from, and the profiles.",
        {
            "show": Command("config", "show", "Show the settings and where each came from."),
            "profiles": Command("config", "profiles", "List the profiles."),
        },
    ),
}
VERSION = "--version"
OPTIONS_WITH_VALUES = frozenset({"--config", "--set", "--profile", "--as"})
FOR_SOMEBODY = frozenset({"add", "rm", "ls", "show", "search", "suggest", "ask", "chat", "why-not", "mcp", "access"})
"""The commands that can do their work as somebody who may not read everything."""


def application(only: str = "") -> typer.Typer:
    """Build the command line; with `only`, the name of a command or a group, that one alone; with `VERSION`, none."""
    app = typer.Typer(
        name="twofold",
        no_args_is_help=True,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
        epilog="Exit codes: 0 done, 2 bad input, 3 not found, 4 mismatch, 5 busy, 6 disk full, 7 damaged, 8 model, "
        "9 unreadable documents, 10 store, 11 a --fail-if test holds, 1 unforeseen, 130 interrupted. "
        "More in docs/exit-codes.md.",
    )
    app.callback()(guarded(_before))
    known = only in {VERSION, *COMMANDS, *GROUPS}
    for name, command in COMMANDS.items():
        if name == only or not known:
            app.command(name, short_help=command.says)(command.load())
    for name, group in GROUPS.items():
        if name == only or not known:
            inner = typer.Typer(name=name, no_args_is_help=True, help=group.help)
            for inner_name, command in group.commands.items():
                inner.command(inner_name, short_help=command.says)(command.load())
            app.add_typer(inner)
    return app


def command_of(arguments: Sequence[str]) -> str:
    """Return the first argument that is neither an option nor an option's value, or `VERSION`; empty without one."""
    rest = iter(arguments)
    for argument in rest:
        if argument in OPTIONS_WITH_VALUES:
            next(rest, None)
        elif argument == VERSION or not argument.startswith("-"):
            return argument
    return ""


def _say_version(asked: bool) -> None:  # noqa: FBT001  # typer's callbacks take one value
    if asked:
        typer.echo(f"twofold {__version__}")
        raise typer.Exit


def _check_for_somebody(command: str | None, principals: list[str] | None) -> None:
    """Refuse to do as somebody what concerns all documents. Raises InvalidInputError."""
    if principals and command not in FOR_SOMEBODY:
        raise InvalidInputError(
            f"`{command}` works on all documents, so it cannot be used with --as.",
            f"--as goes with {', '.join(sorted(FOR_SOMEBODY))}.",
        )


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
            help="Change a setting, such as search.k=5 or retries=count:2; repeat for more.",
            show_default=False,
        ),
    ] = None,
    profile: Annotated[
        str | None,
        typer.Option("--profile", metavar="NAME", help="The same as --set profile=NAME.", show_default=False),
    ] = None,
    principals: Annotated[
        list[str] | None,
        typer.Option(
            "--as",
            metavar="PRINCIPAL",
            help="See what user:ann or group:legal may read, and nothing else; repeat for more.",
            show_default=False,
        ),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Fetch models of more than 200 MB without asking.")] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
    _version: Annotated[
        bool, typer.Option(VERSION, callback=_say_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Search your own documents with BM25 and vectors; every score is explained."""
    said = {} if profile is None else {"profile": profile}
    _check_for_somebody(context.invoked_subcommand, principals)
    overrides = {**said, **parsed_overrides(assignments or [])}
    context.obj = Runtime(config, overrides, debug=debug, yes=yes, principals=tuple(principals or ()) or None)


def main() -> None:
    """Run the command line and leave with its exit code."""
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]  # real streams can
    try:
        app = application(command_of(sys.argv[1:]))
        gc.freeze()  # what is loaded stays: no collection looks at it again
        gc.enable()
        app(prog_name="twofold")
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
