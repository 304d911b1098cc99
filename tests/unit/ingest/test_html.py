"""HTML: content without boilerplate, nothing lost, nothing glued together."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from twofold.ingest.readers.html.reader import extract_html, read_html
from twofold.ingest.readers.types import Extract, Source


def shown(extract: Extract) -> list[tuple[str, str, tuple[str, ...]]]:
    return [(block.kind.value, extract.text[block.start : block.end], block.heading) for block in extract.blocks]


def test_headings_paragraphs_and_code_keep_order_and_path() -> None:
    page = (
        "<title> My\n page </title><h1>Top</h1>loose <b>text</b><p>One&amp;two<br>line</p>"
        "<div><h2>Sub</h2><pre>  a\n    b &lt;</pre>tail</div><h1>Next</h1><p>end"
    )
    extract = extract_html(page)

    assert extract.title == "My page"
    assert shown(extract) == [
        ("heading", "Top", ()),
        ("paragraph", "loose text", ("Top",)),
        ("paragraph", "One&two\nline", ("Top",)),
        ("heading", "Sub", ("Top",)),
        ("code", "  a\n    b <", ("Top", "Sub")),
        ("paragraph", "tail", ("Top", "Sub")),
        ("heading", "Next", ()),
        ("paragraph", "end", ("Next",)),
    ]


@pytest.mark.parametrize(
    "boilerplate",
    [
        "<nav>DROP</nav>",
        "<script>DROP</script>",
        "<style>DROP</style>",
        "<aside>DROP</aside>",
        "<header><a>DROP</a></header>",
        "<footer><p>DROP</p></footer>",
        "<form><input><label>DROP</label></form>",
        "<div hidden>DROP</div>",
        "<p style='color:red; DISPLAY : none'>DROP</p>",
        "<span aria-hidden=true>DROP</span>",
        "<div role=navigation>DROP</div>",
        "<div class=list-of-examples>DROP</div>",
        "<div class='x breadcrumbs'>DROP</div>",
        "<div id=footer>DROP</div>",
        "<noscript>DROP</noscript>",
        "<template>DROP</template>",
        "<!-- DROP -->",
        "<svg><text>DROP</text></svg>",
        "<button>DROP</button>",
    ],
)
def test_what_is_not_content_is_dropped(boilerplate: str) -> None:
    assert extract_html(f"<body>{boilerplate}<p>kept</p>{boilerplate}").text == "kept"


@pytest.mark.parametrize(
    "page",
    [
        "<header><h1>KEEP</h1></header>",
        "<article><footer>KEEP</footer></article>",
        "<form><h2>KEEP</h2></form>",
        "<body class=menu><p>KEEP",
        "<main class=sidebar>KEEP</main>",
        "<nav>KEEP</nav>",
        "<img alt=KEEP>",
    ],
)
def test_what_looks_like_boilerplate_but_holds_the_content_is_kept(page: str) -> None:
    assert extract_html(page).text == "KEEP"


def test_lists_are_one_block_with_marks_and_indentation() -> None:
    page = "<ul><li>a<li>b<ol start=3><li>x<li>y<p>more</p></ol><li>c</ul>"

    assert shown(extract_html(page)) == [("list", "- a\n- b\n  3. x\n  4. y\n    more\n- c", ())]


def test_terms_stand_with_what_defines_them_and_over_what_is_nested_below() -> None:
    page = "<dl><dt>-a<dt>--all<dd>First.<dl><dt>mode<dd>Inner.</dl><pre>code</pre><dt>-b<dd>Second.</dl>"

    assert shown(extract_html(page)) == [
        ("list", "-a\n--all\n  First.", ()),
        ("list", "  mode\n    Inner.", ("-a, --all",)),
        ("code", "code", ("-a, --all",)),
        ("list", "-b\n  Second.", ()),
    ]


def test_tables_become_rows_with_a_header_and_spans_filled_in() -> None:
    page = (
        "<table><caption>Cap</caption><tr><th>Year<th>Month<th>Sum</tr>"
        "<tr><td rowspan=2>2025<td>May<td>1<tr><td>June<td><p>2</p><p>3</p></table>"
    )
    extract = extract_html(page)

    assert shown(extract)[1][1] == "Year | Month | Sum\n2025 | May | 1\n2025 | June | 2 3"
    assert extract.blocks[1].header == "Year | Month | Sum"


def test_tables_that_lay_out_a_page_are_read_as_text() -> None:
    page = "<table><tr><td>Note</td><td><p>Body</p></td></tr></table>"

    assert shown(extract_html(page)) == [("paragraph", "Note", ()), ("paragraph", "Body", ())]


def test_metadata_come_from_meta_elements() -> None:
    page = (
        "<html lang=de><meta name=Description content='About  ducks'><meta name=author content=Ann>"
        "<meta property=article:published_time content=2024-01-02><meta name=viewport content=x><p>x"
    )

    assert extract_html(page).metadata == {
        "language": "de",
        "description": "About ducks",
        "author": "Ann",
        "date": "2024-01-02",
    }


def test_the_declared_charset_is_used() -> None:
    data = "<meta charset=windows-1251><p>Привет".encode("cp1251")

    assert read_html(Source("a.html", data)).text == "Привет"


def test_a_page_nested_five_thousand_deep_is_read() -> None:
    assert extract_html("<div>" * 5_000 + "deep").text == "deep"


WORDS = st.lists(st.from_regex(r"[a-z]{1,6}", fullmatch=True), min_size=1, max_size=8)
ELEMENTS = st.sampled_from(["p", "div", "h2", "li", "td", "blockquote", "section", "dd", "dt", "pre", "center", "tr"])


@given(st.lists(st.tuples(ELEMENTS, WORDS), min_size=1, max_size=8))
def test_words_of_different_elements_are_never_lost_and_never_glued(parts: list[tuple[str, list[str]]]) -> None:
    wrapped = {"li": "ul", "td": "table", "tr": "table", "dd": "dl", "dt": "dl"}
    page = ""
    for tag, words in parts:
        outer = wrapped.get(tag, "div")
        inner = "<b>" + "</b> <i>x</i> <b>".join(words) + "</b>"
        cell = f"<td>{inner}</td>" if tag == "tr" else inner
        page += f"<{outer}><{tag}>{cell}</{tag}></{outer}>"

    expected = [word for _, words in parts for word in re.findall(r"\w+", " x ".join(words))]
    assert re.findall(r"\w+", extract_html(page).text) == expected


@given(st.text("<>/apredivtblshu&;=\"' \n", max_size=200))
def test_broken_markup_is_read_without_an_error(markup: str) -> None:
    extract = extract_html(markup)

    assert all(extract.text[block.start : block.end].strip() for block in extract.blocks)
