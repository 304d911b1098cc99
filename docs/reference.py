"""Writes the references in `docs/` from the program itself; with --check it only says whether they are true.

python docs/reference.py [--check]
"""

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer
from api_reference import api_page
from typer.rich_utils import rich_render_text
from typer.testing import CliRunner

from twofold.cli.app import application
from twofold.config.load import Setting, Settings, all_settings, as_text, value_of
from twofold.config.other_systems import KNOWN, RENAMED, TOGGLES, UNUSED, WEIGHTS, stand_ins, words_of
from twofold.config.profiles import PROFILES, Profile
from twofold.config.settings import COMMON

HERE = Path(__file__).resolve().parent

CLI_HEAD = """\
# The command line

Written by `make docs` from the commands' own help. Data goes to standard output, progress and errors to standard error;
exit codes are in [exit-codes.md](exit-codes.md), settings in [settings.md](settings.md).
"""

SETTINGS_HEAD = """\
# The settings

Written by `make docs` from the program. A setting is, the later the stronger, a default, a value of the chosen
[profile](profiles.md), a line of `twofold.yaml` in `TWOFOLD_HOME`, a line of `twofold.yaml` in the current folder (or
instead of both, of the file that `--config` names), what an index keeps for itself, an environment variable, or an
option such as `twofold --set search.k=5 search ...`. `twofold config show --all` says what holds and where it came
from. An unknown name, a name said twice or a value out of range is refused. The profile itself may be named in any of
these places. What was set in any of them is stronger than a profile, also one that a single search names.

The current folder's file and an index may not set everything: see [security.md](security.md).

```yaml
# twofold.yaml
profile: precise
index: notes
search:
  k: 5
boost:
  patterns: ['ERR-\\d{3,6}']
  rules: {"type == '.md'": 0.1}
timeouts: {rerank: 2}
```

A setting is one value, or a map of a few parts that belong together, such as `timeouts`. Parts that a map leaves out
stay as a weaker place has them. After `--set` and in a variable a map is written `timeouts=rerank:2 generate:60`; that,
and a list, may be JSON as well: `--set 'boost={"patterns": ["ERR-\\\\d{3,6}"]}'`. An empty variable says nothing; to
take a filter away write `()`, which lets everything through. Configurations of other systems are read
as well, see [seed-settings.md](seed-settings.md).

## The twenty that matter first

"""

ADVANCED_HEAD = """
## Advanced

"""

TABLE_HEAD = """\
| setting | variable | default | allowed | what it does |
| --- | --- | --- | --- | --- |
"""


PROFILES_HEAD = """\
# The profiles

Written by `make docs` from `twofold/config/profiles.py`. Choose one with `profile: NAME` in `twofold.yaml`,
`TWOFOLD_PROFILE`, or `twofold --set profile=NAME search ...`.
A profile is only a layer above the defaults: a file, an index, the
environment and options change single values of it. `twofold config show --profile NAME --all` says what it comes
to, `twofold config profiles` lists them. What a profile does not set has its default, see [settings.md](settings.md).
The items are numbers of the project's checklist of retrieval systems.

A value that a file, an index, the environment or an option says is kept under every profile, also where it is the
default, and also under a profile that one search names. `--profile NAME` means the same before and after the command.

An index keeps the embedder, the analyzer and the cutting that it was made with; a profile's own count when it is made.
Where the chosen profile has another analyzer, a command says once that the index keeps its own.

## Which one

- Not sure: `balanced`. Exact names and numbers, or speed: `search.mode: bm25`. Concepts alone: `search.mode: vector`.
- Every passage must be right (audits, compliance, ambiguous questions): `precise`. It reads 20 passages with a
  cross-encoder, so leave it where a search must take less than 100 ms or more than 50 passages would have to be read.
- Nothing may be missed: `recall`. An answer at once: `fast`.
- The systems' own advice for `fusion.vector_weight`: 0.7 for concepts, 0.6 as a rule, 0.4 for technical look-ups.
"""

NO_STAND_IN = "not used: the embedder stays as it is set"

SEEDS_HEAD = """\
# Configurations of other systems

Written by `make docs` from `twofold/config/other_systems.py`. `twofold.yaml`, or the file that `--config` names, may
hold the configuration of one of these systems, alone or with our own settings.
It chooses that system's [profile](profiles.md)
unless the file has a `profile:`, and then sets what it says. `twofold config show` tells what came of each line, and
what has no counterpart here. A name that is in no table is refused, and so are two lines that disagree.

```yaml
retrieval:
  top_k: 3
  hybrid_search: {semantic_weight: 0.5, keyword_weight: 0.5}
  reranking: {enabled: true, top_k_final: 3, relevance_threshold: 0.5}
```

- `retrieval:`: profile `orchestrator`.
- `searchType`, `retrievalK`, `contextWindowSize`, `rerankerTopK`, `denseWeight`, `aiRerank`: profile `localgpt-ui`.
- `RETRIEVAL_CONFIG:`, `MODEL_CONFIG:`, `PERFORMANCE_CONFIG:`: profile `localgpt`.
- `retrieval_mode`, `bm25_k1`, `bm25_b`, `hybrid_fusion_method`, its weights, `chunking_strategy`: profile `modes`.

A switch that is off leaves its part out, whatever else is said of it; one that is on keeps what is said and fills in
what is missing. `searchType: hybrid` reranks unless `aiRerank: false`. Two weights become the share of meaning,
meaning / (meaning + words), so 0.7 and 0.3 are 0.7, and 3 and 1 are 0.75; one that is missing has the system's default.

| there | here |
| --- | --- |
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


def completions() -> str:
    """Put what the shell's completion needs of every command in a table, a line for each."""
    root = typer.main.get_command(application())
    context = typer.Context(root, **root.context_settings)
    table = {"": completion_of(root, context)}
    for name, command in root.commands.items():  # type: ignore[attr-defined]
        table[name] = completion_of(command, context)
        for inner, one in getattr(command, "commands", {}).items():
            table[f"{name} {inner}"] = completion_of(one, context)
    lines = (f"{json.dumps(name)}: {json.dumps(one, ensure_ascii=False)}" for name, one in table.items())
    return "{\n" + ",\n".join(lines) + "\n}\n"


def completion_of(command: Any, root: typer.Context) -> dict[str, object]:  # noqa: ANN401  # of typer's own click
    """Return a command's options by name, the choices of its arguments, and the commands in it."""
    options: dict[str, object] = {}
    arguments = []
    for parameter in command.get_params(typer.Context(command, parent=root)):
        if parameter.param_type_name == "argument":
            arguments.append(parameter)
        elif not parameter.hidden:
            names = [*parameter.opts, *parameter.secondary_opts]
            names = sorted(names) if "--help" in names else names  # typer keeps these two in a set
            value = None if parameter.is_flag or parameter.count else choices_of(parameter)
            says = " ".join(rich_render_text(parameter.help or "").split())
            held = {"names": names, "says": says, "many": parameter.multiple, "value": value}
            options |= {name: held for name in names}  # noqa: C420  # never changed
    found: dict[str, object] = {"options": options}
    if inner := getattr(command, "commands", None):
        return found | {"commands": {name: rich_render_text(one.get_short_help_str()) for name, one in inner.items()}}
    many = any(one.nargs == -1 for one in arguments)
    return found | {"arguments": [choices_of(one) for one in arguments], "many": many}


def choices_of(parameter: Any) -> list[str]:  # noqa: ANN401  # of typer's own click
    """Return the words that a value is one of; none where it is any text, or a path."""
    return list(getattr(parameter.type, "choices", ()))


def help_of(words: tuple[str, ...]) -> str:
    """Return a command's help as a terminal of 100 columns shows it."""
    environment = {"COLUMNS": "100", "TERMINAL_WIDTH": "100", "NO_COLOR": "1"}
    shown = CliRunner().invoke(
        application(), [*words[1:], "--help"], prog_name="twofold", env=environment, terminal_width=100
    )
    if shown.exit_code:
        raise SystemExit(f"{' '.join(words)} --help failed: {shown.output}")
    return "\n".join(line.rstrip() for line in shown.output.strip().splitlines())


def settings_page() -> str:
    """Put every setting in a table, the common ones first."""
    known = {one.key: one for one in all_settings()}
    common = [known[key] for key in COMMON]
    others = [one for one in known.values() if one.key not in COMMON]
    tables = ["".join([TABLE_HEAD, *map(settings_rows, some)]) for some in (common, others)]
    return SETTINGS_HEAD + tables[0] + ADVANCED_HEAD + tables[1]


def settings_rows(setting: Setting) -> str:
    """Put a setting in a line, and each of its parts in one below it."""
    if not setting.parts:
        return row(f"`{setting.key}`", f"`{setting.variable}`", default_of(setting.key), setting)
    parts = (row(f"· `{part.name}`", "", default_of(part.key), part) for part in setting.parts)
    return row(f"`{setting.key}`", f"`{setting.variable}`", "", setting) + "".join(parts)


def row(name: str, variable: str, default: str, setting: Setting) -> str:
    """Put one line of the table."""
    allowed = "a map of what follows" if setting.parts else setting.allowed
    return f"| {name} | {variable} | {default} | {allowed} | {setting.description} |\n"


def default_of(key: str) -> str:
    """Return a default as one would type it; `empty` for an empty text."""
    text = as_typed(value_of(Settings(), key))
    return f"`{text}`" if text else "empty"


def as_typed(value: object) -> str:
    """Return a default as one would type it, with the user's own folder as a tilde."""
    text = as_text(value)
    return text.replace(str(Path.home()), "~") if isinstance(value, Path) else text


def profiles_page() -> str:
    """Put every profile with its values, and what it could not take over."""
    return PROFILES_HEAD + "".join(map(profile_section, PROFILES))


def profile_section(profile: Profile) -> str:
    """Put one profile's values in a table."""
    also = f" Also `{'`, `'.join(profile.aliases)}`." if profile.aliases else ""
    rows = [f"| `{key}` | {code(as_text(value))} | {profile.items[key]} |\n" for key, value in profile.values.items()]
    table = "\n| setting | value | item |\n| --- | --- | --- |\n" + "".join(rows) if rows else ""
    lacks = (
        "\nTaken over otherwise, or not:\n\n" + "".join(f"- {one}\n" for one in profile.lacks) if profile.lacks else ""
    )
    return f"\n## `{profile.name}`\n\n{profile.description}{also}\n{table}{lacks}"


def seeds_page() -> str:
    """Put every name of other systems with what becomes of it, and the models that stand for theirs."""
    rows = [f"| `{name}` | {meaning_of(name)} |\n" for name in KNOWN]
    models = [f"| `{theirs}` | {code(ours) if ours else NO_STAND_IN} |\n" for theirs, ours in stand_ins().items()]
    return "".join([SEEDS_HEAD, *rows, "\n| model there | model here |\n| --- | --- |\n", *models])


def meaning_of(name: str) -> str:
    """Return what becomes of a name of another system."""
    if name in UNUSED:
        return f"not used: {UNUSED[name]}"
    if name in TOGGLES:
        toggle = TOGGLES[name]
        off, on = (code(as_text(value)) for value in (toggle.off, toggle.on))
        return f"`{toggle.key}`: off {off}, on as said, else {on}"
    if name in RENAMED:
        words = ", ".join(f"{theirs} is {ours}" for theirs, ours in words_of(name).items())
        return " and ".join(f"`{ours}`" for ours in RENAMED[name]) + (f": {words}" if words else "")
    pair = next(pair for pair in WEIGHTS if name in pair)
    return f"`fusion.vector_weight`, with `{pair.words if name == pair.meaning else pair.meaning}`"


def code(text: str) -> str:
    """Put text in a cell of a table as code."""
    return f"`{text}`".replace("|", "\\|") if text else "empty"


def main() -> int:
    """Write the pages, or compare them."""
    for variable in ("XDG_DATA_HOME", "XDG_CACHE_HOME"):
        os.environ.pop(variable, None)
    pages = {
        HERE / "cli.md": cli_page(),
        HERE / "settings.md": settings_page(),
        HERE / "profiles.md": profiles_page(),
        HERE / "seed-settings.md": seeds_page(),
        HERE / "api.md": api_page(),
        HERE.parent / "src" / "twofold" / "cli" / "completions.json": completions(),
    }
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
