"""How well questions about manuals are answered: right passage, correct and usable extracts, irrelevant sentences.

    python benchmarks/manuals.py --packages DIR --memory DIR          measure, and print a table
    python benchmarks/manuals.py --packages DIR --memory DIR --show   and every answer
    python benchmarks/manuals.py --packages DIR --memory DIR --questions more-manuals

`--packages` holds Debian's documentation packages unpacked, each in a folder of its name (`apt-get download NAME`,
`dpkg-deb -x`). The questions and the rules of judging are in `benchmarks/questions`.
"""

import argparse
import json
import shutil
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from material import MODEL, SHARED
from remembered import MEMORY, remembering
from reporting import keep, machine

from twofold import Index
from twofold.answer.types import Answer
from twofold.config.load import load_settings
from twofold.search.result import SearchResult

QUESTIONS = Path(__file__).parent / "questions"
ASKED = ("manuals", "more-manuals", "mail-manual", "diff-manual", "shell-manual", "web-manual", "name-server-manual")
COMMANDS = (
    "add am bisect blame branch checkout cherry-pick clean clone commit diff fetch format-patch gc grep init log"
    " ls-files merge mv notes pull push rebase reflog remote reset restore revert rm show stash status submodule"
    " switch tag worktree"
)
SQLITE = (
    "faq whentouse pragma wal lockingv3 limits cli datatype3 foreignkeys lang_vacuum autoinc backup lang_attach"
    " lang_transaction tempfiles howtocorrupt uri withoutrowid partialindex nulls isolation mmap threadsafe"
    " lang_createtable lang_createindex lang_altertable quirks json1 fts5 atomiccommit"
)
DIFFUTILS = (
    "Adjusting-Output Comparing-Directories Comparing-Three-Files Comparison diff3-Merging diff-Performance"
    " Incomplete-Lines Interactive-Merging Invoking-cmp Invoking-diff Invoking-diff3 Invoking-patch Invoking-sdiff"
    " Making-Patches Merging-with-patch Output-Formats Overview Standards-conformance"
)
ZSH = (
    "Arithmetic-Evaluation Conditional-Expressions Expansion FAQ01 FAQ02 FAQ03 FAQ04 FAQ05 Files Functions Introduction"
    " Invocation Jobs-_0026-Signals Options Parameters Prompt-Expansion Redirection Shell-Grammar"
)
HTTPD = (
    "logs stopping urlmapping howto/access howto/auth howto/cgi howto/htaccess howto/public_html misc/perf-tuning"
    " misc/security_tips mod/core programs/ab programs/apachectl programs/htpasswd programs/httpd programs/rotatelogs"
    " rewrite/flags rewrite/intro ssl/ssl_faq ssl/ssl_howto vhosts/ip-based vhosts/name-based"
)
BIND = "chapter1 chapter2 chapter3 chapter4 chapter5 chapter6 chapter7 chapter9 dnssec-guide general manpages reference"
PAGES: Mapping[str, tuple[str, Sequence[str]]] = {
    "postgresql-doc-15": (
        "usr/share/doc/postgresql-doc-15/html",
        (
            "runtime-config*.html",
            "*auth*.html",
            "backup.html",
            "backup-dump.html",
            "backup-file.html",
            "continuous-archiving.html",
            "routine-*.html",
            "maintenance.html",
            "wal*.html",
            "server-*.html",
            "kernel-resources.html",
            "creating-cluster.html",
            "high-availability.html",
            "warm-standby*.html",
            "hot-standby.html",
            "monitoring-locks.html",
            "monitoring-ps.html",
            "ssl-tcp.html",
        ),
    ),
    "borgbackup-doc": (
        "usr/share/doc/borgbackup-doc/html",
        (
            "usage/*.html",
            "deployment/*.html",
            "faq.html",
            "quickstart.html",
            "installation.html",
            "introduction.html",
            "usage.html",
        ),
    ),
    "mutt": ("usr/share/doc/mutt/html", ("[a-ln-z]*.html", "mi*.html")),
    "sqlite3-doc": (
        "usr/share/doc/sqlite3",
        tuple(f"{name}.html" for name in SQLITE.split()),
    ),
    "debian-policy": ("usr/share/doc/debian-policy/policy.html", ("ch-*.html", "ap-*.html")),
    "bash-doc": ("usr/share/doc/bash", ("bashref.html",)),
    "exim4-doc-html": (
        "usr/share/doc/exim4-doc-html/spec_html",
        (
            "ch-retry_configuration.html",
            "ch-log_files.html",
            "ch-message_processing.html",
            "ch-dkim_*.html",
            "ch-encrypted_*.html",
            "ch-the_appendfile_transport.html",
            "ch-the_autoreply_transport.html",
            "ch-the_pipe_transport.html",
            "ch-the_redirect_router.html",
            "ch-exim_utilities.html",
            "ch-the_exim_command_line.html",
            "ch-customizing_*.html",
            "ch-smtp_authentication.html",
        ),
    ),
    "diffutils-doc": (
        "usr/share/doc/diffutils",
        tuple(f"{name}.html" for name in DIFFUTILS.split()),
    ),
    "zsh-doc": ("usr/share/doc/zsh-common/html", tuple(f"{name}.html" for name in ZSH.split())),
    "apache2-doc": (
        "usr/share/doc/apache2-doc/manual/en",
        tuple(f"{name}.html" for name in HTTPD.split()),
    ),
    "bind9-doc": (
        "usr/share/doc/bind9-doc/arm",
        tuple(f"{name}.html" for name in BIND.split()),
    ),
    "haproxy-doc": ("usr/share/doc/haproxy/html", ("intro.html", "management.html")),
}


@dataclass(frozen=True, slots=True)
class Judged:
    """What became of one question: the rank of the right passage (0 for none), and of its answer."""

    rank: int
    correct: bool
    usable: bool
    first: bool
    refused: bool
    shown: int
    irrelevant: int


def plain(text: str) -> str:
    """Fold case, apostrophes and white space."""
    return " ".join(text.casefold().replace("\u2019", "'").replace("\u2018", "'").replace("|", " ").split())


def copied(packages: Path, folder: Path) -> None:
    """Put the manuals' pages into a folder each."""
    for manual, (below, patterns) in PAGES.items():
        root = packages / manual / below
        for path in sorted({path for pattern in patterns for path in root.glob(pattern)}):
            target = folder / manual / path.relative_to(root)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, target)
    git = folder / "git-doc"
    git.mkdir()
    for command in COMMANDS.split():
        shutil.copy(SHARED / "docs" / "git-doc" / f"git-{command}.html", git)


def files_of(asked: Mapping[str, Any]) -> str | tuple[str, ...]:
    """Return the right file of a question, or the several that hold its answer."""
    named = asked["file"]
    return named if isinstance(named, str) else tuple(named)


def rank_of(found: SearchResult, asked: Mapping[str, Any]) -> int:
    """Return the rank of the first passage of the right file that holds an answer, 0 for none."""
    for rank, hit in enumerate(found.hits, start=1):
        holds = any(plain(one) in plain(hit.text) for one in asked["answers"])
        if hit.source.endswith(files_of(asked)) and holds:
            return rank
    return 0


def judge(answer: Answer, rank: int, asked: Mapping[str, Any]) -> Judged:
    """Judge one answer by the rules in `benchmarks/questions/README.md`."""
    units = [(one.text, [answer.citations[at] for at in one.citations]) for one in answer.sentences]
    if answer.refused:
        return Judged(rank, False, False, False, True, 0, 0)
    holds = [any(plain(one) in plain(text) for one in asked["answers"]) for text, _ in units]
    places = [plain(" ".join((text, *(name for one in cited for name in one.heading)))) for text, cited in units]
    named = [any(word in place for word in asked["about"]) for place in places]
    irrelevant = sum(not (one or other) for one, other in zip(holds, named, strict=True))
    right = any(one.source.endswith(files_of(asked)) for _, cited in units for one in cited)
    whole = plain(answer.text)
    correct = right and (any(holds) or any(plain(one) in whole for one in asked["answers"]))
    usable = correct and any(holds[:2]) and 2 * irrelevant <= len(units)
    return Judged(rank, correct, usable, bool(holds[:1] and holds[0]), False, len(units), irrelevant)


def table(judged: Sequence[Judged]) -> Mapping[str, float]:
    """Average what became of the questions."""
    ranks = np.array([one.rank for one in judged])
    shown = sum(one.shown for one in judged)
    figures = {
        "n": len(judged),
        "right passage first": np.mean(ranks == 1),
        "in the top three": np.mean((ranks > 0) & (ranks <= 3)),
        "in the top ten": np.mean(ranks > 0),
        "correct": np.mean([one.correct for one in judged]),
        "usable": np.mean([one.usable for one in judged]),
        "answer in the first sentence": np.mean([one.first for one in judged]),
        "refused": np.mean([one.refused for one in judged]),
        "irrelevant sentences": sum(one.irrelevant for one in judged) / max(1, shown),
        "sentences shown": shown / len(judged),
    }
    return {name: round(float(value), 3) for name, value in figures.items()}


def answered(index: Index, asked: Mapping[str, Any], settings: Mapping[str, Any]) -> tuple[Answer, Judged, float]:
    """Ask one question; return the answer, what became of it, and the seconds that it took."""
    rank = rank_of(index.search(asked["text"], k=10, settings=settings), asked)
    started = time.perf_counter()
    answer = index.ask(asked["text"], settings=settings)
    return answer, judge(answer, rank, asked), time.perf_counter() - started


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--packages", type=Path, required=True)
    parser.add_argument("--questions", default="manuals", choices=ASKED)
    parser.add_argument("--memory", type=Path, default=MEMORY, help="keep vectors in this folder")
    parser.add_argument("--set", action="append", default=[], help="a setting, NAME=VALUE")
    parser.add_argument("--show", action="store_true", help="print every answer")
    parser.add_argument("--keep", action="store_true", help="keep the figures in this commit's file")
    given = parser.parse_args()
    questions = [
        json.loads(line) for line in (QUESTIONS / f"{given.questions}.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    settings = dict(one.split("=", 1) for one in given.set)
    judged: dict[str, list[Judged]] = {}
    times, elsewhere = list[float](), list[bool]()
    with tempfile.TemporaryDirectory() as scratch, remembering(MODEL, given.memory) as embedder:
        copied(given.packages, Path(scratch))
        for manual in dict.fromkeys(one["manual"] for one in questions):
            with Index(":memory:", settings=load_settings(overrides={"offline": True}), embedder=embedder) as index:
                index.sync(Path(scratch) / manual)
                for asked in (one for one in questions if one["manual"] == manual):
                    answer, one, seconds = answered(index, asked, settings)
                    times.append(seconds)
                    if asked["answers"]:
                        judged.setdefault(manual, []).append(one)
                    else:
                        elsewhere.append(answer.refused)
                    if given.show:
                        print(f"\n{asked['_id']} {asked['text']}\n  {one}\n{answer.text}", flush=True)
            print(manual, json.dumps(table(judged[manual])), flush=True)
    whole = {
        **{name: table(each) for name, each in judged.items()},
        "all": table([one for each in judged.values() for one in each]),
        "seconds p50": round(float(np.median(times)), 3),
        "refused of those without an answer": f"{sum(elsewhere)} of {len(elsewhere)}",
    }
    print(json.dumps(whole, indent=1))
    if given.keep:
        print(keep(given.questions, {"machine": machine(), **whole}))


if __name__ == "__main__":
    main()
