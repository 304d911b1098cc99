"""How well menus, running headers and page numbers are kept apart from content, beside trafilatura and in PDF.

    python benchmarks/boilerplate.py --packages DIR         measure, and print

HTML: five pages of each of six sites. What is content is labelled by hand, once a site, as the element that holds it
and the elements in it that do not belong; words are counted as multisets. PDF: the lines of twelve files that are
running headers, footers or numbers of pages are labelled by patterns, and lines are counted.
"""

import argparse
import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from material import SHARED
from reporting import keep, machine
from selectolax.lexbor import LexborHTMLParser

from twofold.ingest.boilerplate import SharedBlocks
from twofold.ingest.document import document_from
from twofold.ingest.readers.html.reader import read_html
from twofold.ingest.readers.pdf.lines import lines_of
from twofold.ingest.readers.pdf.reader import _opened, _page
from twofold.ingest.readers.pdf.running import running_lines
from twofold.ingest.readers.types import Source

PAGES = 5
NEVER = "script, style, noscript, head, input, select, button, textarea, template"
SITES: Mapping[str, tuple[str, str, str]] = {
    "postgresql-doc-15": (
        "usr/share/doc/postgresql-doc-15/html/runtime-config-*.html",
        "body",
        ".navheader, .navfooter",
    ),
    "borgbackup-doc": ("usr/share/doc/borgbackup-doc/html/usage/*.html", ".document", ".headerlink"),
    "sqlite3-doc": ("usr/share/doc/sqlite3/[c-f]*.html", "body", ".nosearch, p[align=center] > small"),
    "exim4-doc-html": ("usr/share/doc/exim4-doc-html/spec_html/ch[1-3]*.html", "#chapter", "#none"),
    "debian-policy": ("usr/share/doc/debian-policy/policy.html/ch-*.html", "[role=main]", ".headerlink, .footer"),
    "git-doc": ("git-[a-d]*.html", "body", "#footer, #footer-text"),
}
FILINGS = "data/financebench/pdfs"
FORMATS = "docs/formats/pdf"
NUMBER = r"(?:[A-Z]-)?\d{1,3}"
FILES: Mapping[str, str] = {
    f"{FILINGS}/3M_2018_10K.pdf": rf"Table of Contents|{NUMBER}",
    f"{FILINGS}/3M_2022_10K.pdf": rf"Table of Contents|{NUMBER}",
    f"{FILINGS}/AMCOR_2023Q4_EARNINGS.pdf": NUMBER,
    f"{FILINGS}/BESTBUY_2024Q2_10Q.pdf": rf"Table of Contents|{NUMBER}",
    f"{FILINGS}/BOEING_2022_10K.pdf": rf"Table of Contents|{NUMBER}",
    f"{FILINGS}/JOHNSON_JOHNSON_2022Q4_EARNINGS.pdf": r"Johnson & Johnson and Subsidiaries",
    f"{FILINGS}/MGMRESORTS_2022Q4_EARNINGS.pdf": r"Page \d+ of \d+|MGM RESORTS INTERNATIONAL AND SUBSIDIARIES",
    f"{FORMATS}/normal_4pages.pdf": NUMBER,
    f"{FORMATS}/multi_page.pdf": NUMBER,
    f"{FORMATS}/skipped_2pages.pdf": NUMBER,
    f"{FORMATS}/D-BQSC-0004-1003.pdf": "-",
    f"{FORMATS}/code_and_formula.pdf": "-",
}
EDGE = 4


def words(text: str) -> Counter[str]:
    """Count the words of a text."""
    return Counter(re.findall(r"\w+", text.casefold()))


def content(markup: str, holds: str, not_content: str) -> Counter[str]:
    """Count the words of a page's content, as it is labelled."""
    tree = LexborHTMLParser(markup)
    for node in tree.css(f"{NEVER}, {not_content}"):
        node.decompose()
    found = tree.css_first(holds)
    return words(found.text(separator=" ") if found is not None else "")


def rates(extracted: Counter[str], wanted: Counter[str]) -> tuple[float, float]:
    """Return precision and recall of words."""
    shared = (extracted & wanted).total()
    return shared / max(1, extracted.total()), shared / max(1, wanted.total())


def by_trafilatura(markup: str) -> str:
    """Extract with trafilatura's default settings, tables included."""
    import trafilatura

    return trafilatura.extract(markup, include_tables=True, include_comments=False) or ""


def by_twofold(paths: Sequence[Path]) -> list[str]:
    """Extract as a sync of all of these pages does."""
    documents = [
        document_from(path.name, read_html(Source(path.name, path.read_bytes())), "text/html", "") for path in paths
    ]
    return [f"{one.title}\n{one.text}" for one in SharedBlocks().cleaned(documents)]


def pages(packages: Path) -> Mapping[str, object]:
    """Measure HTML."""
    found: dict[str, object] = {}
    whole: dict[str, list[tuple[float, float]]] = {"twofold": [], "trafilatura": [], "everything": []}
    for site, (pattern, holds, not_content) in SITES.items():
        root = SHARED / "docs" / "git-doc" if site == "git-doc" else packages / site
        paths = sorted(root.glob(pattern))
        paths = paths[:: max(1, len(paths) // PAGES)][:PAGES]
        marked = [path.read_text(encoding="utf-8", errors="replace") for path in paths]
        wanted = [content(one, holds, not_content) for one in marked]
        made = {
            "twofold": by_twofold(paths),
            "trafilatura": [by_trafilatura(one) for one in marked],
            "everything": [LexborHTMLParser(one).body.text(separator=" ") for one in marked],
        }
        own: dict[str, tuple[float, float]] = {}
        for name, texts in made.items():
            each = [rates(words(text), gold) for text, gold in zip(texts, wanted, strict=True)]
            whole[name] += each
            own[name] = tuple(np.round(np.mean(each, axis=0), 3).tolist())
        found[site] = own
        print(site, len(paths), own, flush=True)
    found["all"] = {name: np.round(np.mean(each, axis=0), 3).tolist() for name, each in whole.items()}
    return found


def files() -> Mapping[str, object]:
    """Measure PDF: lines near the edges of pages."""
    right = dropped = labelled = 0
    found: dict[str, object] = {}
    for name, pattern in FILES.items():
        with _opened(Source(name, (SHARED / name).read_bytes())) as document:
            lines = []
            for number in range(len(document)):
                with _page(document, number) as text:
                    lines.append(lines_of(text))
            heights = [document.get_page_size(number)[1] for number in range(len(document))]
        running = set(running_lines(lines, heights))
        gold = {
            (page, at)
            for page, each in enumerate(lines)
            for at in sorted(range(len(each)), key=lambda at: each[at].bottom)[:EDGE]
            + sorted(range(len(each)), key=lambda at: -each[at].bottom)[:EDGE]
            if re.fullmatch(pattern, each[at].text.strip())
        }
        found[Path(name).name] = (len(running & gold), len(running), len(gold))
        print(name, found[Path(name).name], [lines[p][a].text[:60] for p, a in sorted(running - gold)][:5], flush=True)
        right, dropped, labelled = right + len(running & gold), dropped + len(running), labelled + len(gold)
    return {**found, "precision": round(right / max(1, dropped), 3), "recall": round(right / max(1, labelled), 3)}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--packages", type=Path, required=True)
    parser.add_argument("--keep", action="store_true", help="keep the figures in this commit's file")
    given = parser.parse_args()
    result = {"machine": machine(), "html": pages(given.packages), "pdf": files()}
    print(json.dumps({"html": result["html"]["all"], "pdf": result["pdf"]}, indent=1))  # type: ignore[index]
    if given.keep:
        print(keep("boilerplate", result))


if __name__ == "__main__":
    main()
