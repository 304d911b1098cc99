"""`synonyms`: the rules by which an index finds passages by other words than the question's."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from twofold.cli.options import IndexOption
from twofold.cli.render.terminal import one_line, screen_on
from twofold.cli.runtime import open_collection, open_index
from twofold.domain.errors import InvalidInputError, NotFoundError
from twofold.text.quantities import counted

FileArgument = Annotated[str, typer.Argument(metavar="FILE", help="Rules, one a line; - reads standard input.")]


def set_rules(context: typer.Context, file: FileArgument, *, index: IndexOption = None) -> None:
    """Replace an index's synonyms.

    `car, automobile` finds each by the other; `nyc => new york city^0.5` finds the second by the first. A number from 0
    to 1 says how much each time counts, 0.8 unless given.
    """
    try:
        rules = sys.stdin.read() if file == "-" else Path(file).read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise InvalidInputError(f"{file} is not UTF-8.", "Save it as UTF-8.") from error
    except OSError as error:
        raise NotFoundError(f"{file} cannot be read.", "Check its name.") from error
    with open_index(context, index) as opened:
        kept = opened.set_synonyms(rules)
    screen_on().line(f"{counted(len(kept), 'rule')} kept.")


def list_rules(context: typer.Context, *, index: IndexOption = None) -> None:
    """Print an index's synonyms as they were written."""
    with open_collection(context, index) as opened:
        rules = opened.get_synonyms()
    for line in rules.splitlines():
        screen_on().line(one_line(line))


def clear(context: typer.Context, *, index: IndexOption = None) -> None:
    """Remove an index's synonyms."""
    with open_index(context, index) as opened:
        opened.set_synonyms("")
