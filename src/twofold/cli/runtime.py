"""How a command starts and how it fails: settings from the command line, one line and an exit code for every error."""

import os
import sys
import traceback
from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, cast

import typer

from twofold.cli.render.progress import model_progress
from twofold.cli.render.remote_notice import announced_remotes
from twofold.cli.render.terminal import one_line, printable, screen_on
from twofold.config.load import Resolved, resolve
from twofold.config.profiles import profile_named
from twofold.config.settings import known_settings
from twofold.domain.dataclass import dataclass
from twofold.domain.errors import InvalidInputError, TwofoldError
from twofold.index_reader import Collection

if TYPE_CHECKING:
    from twofold.index import Index

INTERRUPTED = 130
PIPE_CLOSED = 141
REPORTED = "twofold.reported"

_Arguments = ParamSpec("_Arguments")
Opened = TypeVar("Opened", bound=Collection)


@dataclass(frozen=True, slots=True)
class Runtime:
    """What was said before the command's name; `principals` are whose documents are meant, None for all."""

    config: Path | None
    overrides: Mapping[str, str]
    debug: bool
    yes: bool = False
    principals: tuple[str, ...] | None = None


def runtime_of(context: typer.Context) -> Runtime:
    """Return what was said before the command's name."""
    launch = context.find_object(Runtime)
    return launch if launch is not None else Runtime(None, {}, debug=False)


def settings_for(context: typer.Context, **overrides: str | None) -> Resolved:
    """Put the settings together; options that were not given are left to the file and the environment.

    `chunk__size=...` stands for `chunk.size`.
    """
    launch = runtime_of(context)
    found = resolve(config=launch.config, overrides={**launch.overrides, **_chosen_options(overrides)})
    tell(context, (one.line for one in found.ignored))
    return found


def tell(context: typer.Context, lines: Iterable[str]) -> None:
    """Write lines to standard error, each once in a command."""
    told: set[str] = context.find_root().meta.setdefault(REPORTED, set())
    for line in lines:
        if line not in told:
            told.add(line)
            screen_on(sys.stderr).line(f"twofold: {one_line(line)}")


def _chosen_options(overrides: Mapping[str, str | None]) -> Mapping[str, str]:
    return {name.replace("__", "."): value for name, value in overrides.items() if value is not None}


def open_index(
    context: typer.Context,
    name: str | None,
    *,
    create: bool = False,
    as_of: str | None = None,
    **overrides: str | None,
) -> "Index":
    """Open the index of that name, or the one that the settings name; `overrides` as for `settings_for`.

    With `as_of` it is as it was at a snapshot, and cannot be changed.
    """
    where, said = _named(context, name, overrides)
    opening, launch = command_part("twofold.index", "Index"), runtime_of(context)
    opened: Index = opening(
        where,
        config=launch.config,
        overrides=said,
        create=create,
        on_model=model_progress(yes=launch.yes),
        as_of=as_of or "",
    )
    tell_of(context, opened)
    return _as_principals(context, opened)


def open_collection(
    context: typer.Context, name: str | None, *, as_of: str | None = None, **overrides: str | None
) -> Collection:
    """Open an index that is there, for a command that changes nothing; arguments as for `open_index`."""
    where, said = _named(context, name, overrides)
    launch = runtime_of(context)
    hears = model_progress(yes=launch.yes)
    opened = Collection(where, config=launch.config, overrides=said, on_model=hears, as_of=as_of or "")
    tell_of(context, opened)
    return _as_principals(context, opened)


def _as_principals(context: typer.Context, opened: Opened) -> Opened:
    """Return an index as those may see it for whom the command is done."""
    principals = runtime_of(context).principals
    if principals is None:
        return opened
    context.call_on_close(opened.close)
    return opened.as_principals(principals)


def tell_of(context: typer.Context, opened: Collection) -> None:
    """Report ignored settings of an index or its folder, and what a profile cannot change in it."""
    tell(context, (one.line for one in opened.ignored))
    settings = opened.settings
    wanted = profile_named(settings.profile).values.get("analyzer")
    if "analyzer" not in settings.said and wanted not in (None, settings.analyzer):
        stays = f"The index keeps the analyzer {settings.analyzer!r} that it was made with"
        tell(context, [f"{stays}; the profile {settings.profile} would make it with {str(wanted)!r}."])


def _named(
    context: typer.Context, name: str | None, overrides: Mapping[str, str | None]
) -> tuple[str, Mapping[str, str]]:
    launch = runtime_of(context)
    said = {**launch.overrides, **_chosen_options(overrides)}
    return name if name is not None else resolve(config=launch.config, overrides=said).settings.index, said


def command_part(module: str, name: str) -> Callable[..., Any]:
    """Load a part that few commands need, as `app` loads commands: importing all costs a search 20 ms."""
    part: Callable[..., Any] = getattr(import_module(module), name)
    return part


def parsed_overrides(assignments: list[str]) -> Mapping[str, str]:
    """Read `--set KEY=VALUE` options; parts of one map may be said in several. Raises InvalidInputError for no `=`."""
    pairs = [one.partition("=") for one in assignments]
    for key, sign, _ in pairs:
        if not sign:
            raise InvalidInputError(f"--set {key} gives no value.", "Write --set KEY=VALUE, such as --set search.k=5.")
    found: dict[str, str] = {}
    for name, _, value in pairs:
        key = name.strip()
        known = known_settings().get(key)
        joins = known is not None and known.parts and key in found and not value.lstrip().startswith("{")
        found[key] = f"{found[key]} {value}" if joins else value
    return found


def guarded(command: Callable[_Arguments, None]) -> Callable[_Arguments, None]:
    """Turn whatever a command raises into one clear line on standard error and a documented exit code.

    Every command names its first argument `context`.
    """

    @wraps(command)
    def run(*arguments: _Arguments.args, **named: _Arguments.kwargs) -> None:
        debug = runtime_of(cast("typer.Context", named["context"])).debug
        try:
            with announced_remotes():
                command(*arguments, **named)
            sys.stdout.flush()
        except (typer.Exit, typer.Abort):
            raise
        except KeyboardInterrupt:
            _complain("interrupted.", "The index is consistent; run the command again to go on.")
            raise typer.Exit(INTERRUPTED) from None
        except BrokenPipeError:
            _forget_output()
            raise typer.Exit(PIPE_CLOSED) from None
        except Exception as error:  # noqa: BLE001  # this is the door: nothing may pass it as a traceback
            raise typer.Exit(_explained(error, debug=debug)) from None

    return run


def _explained(error: Exception, *, debug: bool) -> int:
    if debug:
        sys.stderr.write(printable("".join(traceback.format_exception(error))))
    if isinstance(error, TwofoldError):
        _complain(error.message, error.hint)
        return error.exit_code
    kind = type(error).__name__
    _complain(f"unforeseen {kind}: {error}", "" if debug else "Put --debug before the command's name to see more.")
    return 1


def _complain(message: str, hint: str) -> None:
    screen = screen_on(sys.stderr)
    screen.line(f"{screen.paint('twofold:', 'red')} {printable(message)}")
    if hint:
        screen.line(f"  {printable(hint)}")


def _forget_output() -> None:
    """Point standard output at nothing, so that the interpreter's last flush cannot fail."""
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, sys.stdout.fileno())
    os.close(nothing)
