"""Writes `docs/cli.md` and `docs/settings.md` from the program itself; with --check it only says whether they are true.

python docs/reference.py [--check]
"""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import typer
from typer.testing import CliRunner

from twofold.cli.app import application
from twofold.settings import Settings, dials, value_of

HERE = Path(__file__).resolve().parent

CLI_HEAD = """\
# The command line

Written by `make docs` from the commands' own help. Data goes to standard output, progress and errors to standard error;
exit codes are in [exit-codes.md](exit-codes.md), settings in [settings.md](settings.md).
"""

SETTINGS_HEAD = """\
# The settings

Written by `make docs` from `twofold/settings.py`. A setting is, the later the stronger, a default, a line of
`twofold.yaml` (in the current folder, else in `TWOFOLD_HOME`, or the file that `--config` names), an environment
variable, or an option such as `twofold --set search.k=5 search ...`. `twofold config show --resolved` says what holds
and where it came from. An unknown name or a value out of range is refused.

```yaml
# twofold.yaml
index: notes
search:
  k: 5
```

| setting | variable | default | allowed | what it does |
| --- | --- | --- | --- | --- |
"""


def cli_page() -> str:
    """Put every command's help under its name."""
    sections = [f"\n## `{' '.join(words)}`\n\n```text\n{help_of(words)}\n```\n" for words in commands()]
    return CLI_HEAD + "".join(sections)


def commands() -> Iterator[tuple[str, ...]]:
    """List every command as one types it, groups before what is in them."""
    yield ("twofold",)
    for name, command in typer.main.get_command(application()).commands.items():  # type: ignore[attr-defined]
        yield ("twofold", name)
        yield from (("twofold", name, inner) for inner in getattr(command, "commands", ()))


def help_of(words: tuple[str, ...]) -> str:
    """Give a command's help as a terminal of 100 columns shows it."""
    surroundings = {"COLUMNS": "100", "TERMINAL_WIDTH": "100", "NO_COLOR": "1"}
    shown = CliRunner().invoke(
        application(), [*words[1:], "--help"], prog_name="twofold", env=surroundings, terminal_width=100
    )
    if shown.exit_code:
        raise SystemExit(f"{' '.join(words)} --help failed: {shown.output}")
    return "\n".join(line.rstrip() for line in shown.output.strip().splitlines())


def settings_page() -> str:
    """Put every setting in a table."""
    defaults = Settings()
    rows = []
    for dial in dials():
        value = value_of(defaults, dial.key)
        default = as_typed(value)
        rows.append(f"| `{dial.key}` | `{dial.variable}` | `{default}` | {dial.allowed} | {dial.description} |\n")
    return SETTINGS_HEAD + "".join(rows)


def as_typed(value: object) -> str:
    """Give a default as one would type it, with the user's own folder as a tilde."""
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return text.replace(str(Path.home()), "~") if isinstance(value, Path) else text


def main() -> int:
    """Write the pages, or compare them."""
    for variable in ("XDG_DATA_HOME", "XDG_CACHE_HOME"):
        os.environ.pop(variable, None)
    pages = {HERE / "cli.md": cli_page(), HERE / "settings.md": settings_page()}
    if "--check" not in sys.argv[1:]:
        for path, text in pages.items():
            path.write_text(text, encoding="utf-8")
        return 0
    stale = [path.name for path, text in pages.items() if not path.exists() or path.read_text(encoding="utf-8") != text]
    if stale:
        print(f"out of date: {', '.join(stale)}; run `make docs`", file=sys.stderr)
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
