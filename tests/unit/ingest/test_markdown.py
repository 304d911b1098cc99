"""Markdown keeps its own text; front matter becomes metadata."""

import pytest

from twofold.domain.types import Metadata
from twofold.ingest.readers.front_matter import read_front_matter
from twofold.ingest.readers.markdown import extract_markdown
from twofold.ingest.readers.types import Extract


def shown(extract: Extract) -> list[tuple[str, str, tuple[str, ...]]]:
    return [(block.kind.value, extract.text[block.start : block.end], block.heading) for block in extract.blocks]


def test_the_text_is_the_source_and_blocks_lie_under_their_headings() -> None:
    source = (
        "# The *big* `x` [link](u)\n\nLead\nmore.\n\n## Two ##\n\n- a\n  - b\n- c\n\n"
        "```sh\n# no heading\n```\n\nSetext\n======\n\n> quote\n"
    )
    extract = extract_markdown(source)
    top = "The big x link"

    assert extract.text == source
    assert extract.title == top
    assert shown(extract) == [
        ("heading", "# The *big* `x` [link](u)", ()),
        ("paragraph", "Lead\nmore.", (top,)),
        ("heading", "## Two ##", (top,)),
        ("list", "- a\n  - b\n- c", (top, "Two")),
        ("code", "```sh\n# no heading\n```", (top, "Two")),
        ("heading", "Setext\n======", ()),
        ("paragraph", "> quote", ("Setext",)),
    ]


def test_a_long_table_is_cut_every_twenty_rows_and_each_part_names_the_header() -> None:
    rows = "".join(f"| {number} | x |\n" for number in range(45))
    extract = extract_markdown(f"| n | v |\n|---|---|\n{rows}")

    assert [block.header for block in extract.blocks] == ["| n | v |"] * 3
    assert "\n".join(extract.text[block.start : block.end] for block in extract.blocks) == extract.text.rstrip("\n")


def test_a_long_list_is_cut_between_items() -> None:
    extract = extract_markdown("".join(f"- item {number} {'word ' * 30}\n" for number in range(40)))

    assert len(extract.blocks) > 2
    assert all(text.startswith("- item") for _, text, _ in shown(extract))


def test_comments_are_no_blocks() -> None:
    assert shown(extract_markdown("<!-- a\n\n b -->\n\ntext")) == [("paragraph", "text", ())]


@pytest.mark.parametrize(
    ("block", "expected"),
    [
        (
            "---\ntitle: T\ntags: [a, 1, {x: y}]\ndate: 2024-05-01\nnested: {a: 1}\nnone:\n---\n",
            {"title": "T", "tags": ("a", 1), "date": "2024-05-01"},
        ),
        ('+++\ntitle = "T"\ndate = 2024-05-01\n+++\n', {"title": "T", "date": "2024-05-01"}),
        ("---\nwhen: 2024-05-01 10:00:00\n...\n", {"when": "2024-05-01T10:00:00"}),
    ],
)
def test_front_matter_gives_scalars_and_lists_of_scalars(block: str, expected: Metadata) -> None:
    front = read_front_matter(block + "text")

    assert front.metadata == expected
    assert block[: front.end].strip() == block.strip()


@pytest.mark.parametrize(
    "block",
    [
        "---\n[1, 2\n---\n",
        "---\n- a\n- b\n---\n",
        "---\nnever closed\n",
        "---\nx: !!timestamp 'y'\n---\n",
        "---\nx: !!int ''\n---\n",
        "---\nx: !!bool maybe\n---\n",
        "---\nx: !!python/object/apply:os.getcwd []\n---\n",
        "---\nx: 2024-13-45\n---\n",
        "---\n" + "[" * 5000 + "\n---\n",
        "+++\nx = \n+++\n",
    ],
)
def test_bad_front_matter_is_text_and_no_error(block: str) -> None:
    assert read_front_matter(block).end == 0
    assert extract_markdown(block).text == block


def test_aliases_do_not_blow_up() -> None:
    lines = ["a0: &a0 [x, x]"] + [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 30)]

    assert read_front_matter("---\n" + "\n".join(lines) + "\n---\n").metadata == {"a0": ("x", "x")}


def test_the_title_of_the_front_matter_comes_before_the_first_heading() -> None:
    extract = extract_markdown("---\ntitle: From YAML\n---\n# Heading\n")

    assert (extract.title, dict(extract.metadata)) == ("From YAML", {})


def test_a_long_text_is_read_as_a_short_one_is() -> None:
    section = "## Part\n\nText *here*\n\n- a\n\n  b\n- c\n\n````\n# no heading\n\ntext\n````\n\n"
    once = shown(extract_markdown("# Top\n\n" + section))
    many = shown(extract_markdown("# Top\n\n" + section * 5_000))

    assert many == once[:1] + once[1:] * 5_000


def test_a_long_code_block_is_never_cut() -> None:
    code = "```\n" + "\n# comment\n\nword\n" * 50_000 + "```"

    assert shown(extract_markdown(f"# A\n\n{code}\n\n# B\n")) == [
        ("heading", "# A", ()),
        ("code", code, ("A",)),
        ("heading", "# B", ()),
    ]
