"""What of a file is no content, such as menus and running headers, is not found, and `show --dropped` tells it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from support.documents import Words, pdf_of

Run = Callable[..., Any]

LICENCE = "Permission is granted to copy these quartz pages under the terms of the house."


def manual_page(name: str) -> str:
    """A page whose frame no markup names: rows of links above and below, and credits."""
    return (
        '<html><body><table><tr><td><a href="a">Prev</a></td><td><a href="b">Up</a></td><td><a href="c">Next</a></td>'
        '</tr><tr><td>Zebra guide</td><td></td><td></td></tr></table><ul><li><a href="/">Zebra home</a></li>'
        f'<li><a href="/d">Zebra downloads</a></li></ul><h1>{name}</h1><p>The {name} kiln is fired once a day, and'
        f" cools down over night.</p><p>{LICENCE}</p>"
        '<p><a href="a">Zebra basics</a> | <a href="b">Zebra terms</a></p>'
        "<p>This site uses cookies to measure zebras.</p><p>Last updated 2024-05-31</p></body></html>"
    )


def found(run: Run, words: str) -> list[str]:
    return [hit["text"] for hit in run("search", "-i", "notes", "--mode", "bm25", words, "--json").data["hits"]]


def test_the_frame_of_a_page_is_not_found_but_shown_as_dropped(run: Run, tmp_path: Path) -> None:
    (tmp_path / "kiln.html").write_text(manual_page("Small"))
    run("sync", tmp_path, "-i", "notes")

    shown = run("show", "-i", "notes", "kiln.html", "--dropped")
    reasons = {one["text"]: one["reason"] for one in run("show", "-i", "notes", "kiln.html", "--json").data["dropped"]}

    assert found(run, "zebra prev cookies updated") == []
    assert "fired once a day" in found(run, "kiln")[0]
    assert reasons["- Zebra home - Zebra downloads"] == "navigation"
    assert reasons["This site uses cookies to measure zebras."] == "notice"
    assert "notice\nLast updated 2024-05-31" in shown.out


def test_a_block_that_many_files_share_is_not_indexed(run: Run, tmp_path: Path) -> None:
    for name in ("Small", "Large", "Round", "Square", "Gas"):
        (tmp_path / f"{name}.html").write_text(manual_page(name))
    run("sync", tmp_path, "-i", "notes")
    (tmp_path / "Wood.html").write_text(manual_page("Wood"))  # comes later, alone
    run("sync", tmp_path, "-i", "notes")

    assert found(run, "permission granted quartz") == []
    assert "shared block\n" + LICENCE in run("show", "-i", "notes", "Wood.html", "--dropped").out
    assert len(found(run, "kiln fired")) == 6


def test_what_few_files_share_is_kept(run: Run, tmp_path: Path) -> None:
    for name in ("Small", "Large", "Round", "Square"):
        (tmp_path / f"{name}.html").write_text(manual_page(name))
    run("sync", tmp_path, "-i", "notes")

    assert len(found(run, "permission granted quartz")) == 4


def test_running_headers_and_page_numbers_are_not_found(run: Run, tmp_path: Path) -> None:
    pages = [
        [
            Words(72, 760, "Quartz report"),
            Words(72, 600, f"In year {at} the kiln was fired often, and nobody counted."),
            Words(300, 30, str(at)),
        ]
        for at in range(1, 5)
    ]
    (tmp_path / "report.pdf").write_bytes(pdf_of(pages))
    run("sync", tmp_path, "-i", "notes")

    shown = run("show", "-i", "notes", "report.pdf", "--dropped").out

    assert found(run, "quartz") == []
    assert len(found(run, "kiln fired")) == 4
    assert (
        shown == "running header · from page 1 · 4 times\nQuartz report\n\npage number · from page 1 · 4 times\n1\n\n"
    )


def test_a_document_without_a_frame_says_so(run: Run, tmp_path: Path) -> None:
    (tmp_path / "plain.txt").write_text("All of this is content.")
    run("sync", tmp_path, "-i", "notes")

    assert (
        run("show", "-i", "notes", "plain.txt", "--dropped").out == "Nothing was dropped: all of its text is indexed.\n"
    )


def test_front_matter_is_shown_as_dropped(run: Run, tmp_path: Path) -> None:
    (tmp_path / "tide.md").write_text("---\ntitle: The tide\n---\nThe moon pulls the sea.\n")
    run("sync", tmp_path, "-i", "notes")

    assert "front matter\n--- title: The tide ---" in run("show", "-i", "notes", "tide.md", "--dropped").out
