"""The templates of the page: holes, keyed lists, the loop, and that no text ever becomes markup."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Error, Page

from support.api_client import Visit
from support.browser import opened

BEGIN = """
  const { html, keyed, mount, render } = await import("/page/ui.js");
  const root = document.createElement("div");
  document.body.append(root);
  const shown = () => root.innerHTML.replaceAll("<!---->", "");
"""


@pytest.fixture(scope="module")
def page(browser: Browser, visit: Visit) -> Iterator[Page]:
    with opened(browser, visit.address, "/docs") as one:  # none of the application is on it
        yield one


def run(page: Page, script: str) -> object:
    return page.evaluate(f"async () => {{ {BEGIN} {script} }}")


def test_text_in_a_hole_is_text_and_in_an_attribute_an_attribute(page: Page) -> None:
    shown = run(
        page,
        """const script = "<script>alert(1)</script>";
        render(html`<p class="a ${"b"}" title=${'"<i>'}>${script} and ${3}${null}${false}</p>`, root);
        const [line] = root.children;
        return [line.className, line.title, line.textContent, line.childElementCount];""",
    )
    assert shown == ["a b", '"<i>', "<script>alert(1)</script> and 3", 0]


def test_whitespace_beside_tags_goes_and_between_words_stays(page: Page) -> None:
    assert (
        run(
            page,
            """render(html`
              <p>
                one <b>two</b> ${"three"}
              </p>
              <p>four</p>`, root);
            return root.textContent;""",
        )
        == "one two threefour"
    )


def test_only_what_changed_is_written(page: Page) -> None:
    changes = run(
        page,
        """const view = (name) => html`<p class=${name}>still<b>${name}</b></p>`;
        render(view("a"), root);
        const kept = [...root.querySelectorAll("p, b")];
        const seen = [];
        const watch = new MutationObserver((all) => seen.push(...all.map((one) => one.type)));
        watch.observe(root, { subtree: true, childList: true, attributes: true, characterData: true });
        render(view("a"), root);
        render(view("b"), root);
        await null;
        return [seen.sort(), kept.every((one) => root.contains(one)), root.textContent];""",
    )
    assert changes == [["attributes", "characterData"], True, "stillb"]


def test_keyed_items_are_moved_and_keep_what_a_person_typed_and_the_focus(page: Page) -> None:
    assert run(
        page,
        """const view = (keys) => html`<ul>${keys.map((key) =>
          keyed(key, html`<li><input aria-label=${key}></li>`))}</ul>`;
        render(view(["a", "b", "c"]), root);
        const field = root.querySelector('[aria-label="c"]');
        field.value = "typed";
        field.focus();
        render(view(["c", "x", "a"]), root);
        const order = [...root.querySelectorAll("input")].map((one) => one.getAttribute("aria-label"));
        return [order, root.querySelector("input") === field, field.value, document.activeElement === field];""",
    ) == [["c", "x", "a"], True, "typed", True]


def test_every_order_of_a_list_comes_out_as_asked(page: Page) -> None:
    assert run(
        page,
        """const view = (keys) => html`<p>${keys.map((key) =>
          keyed(key, html`<b>${key}</b>${key}`))}!</p>`;
        const orders = ["abcd", "dcba", "bd", "", "eabfc", "cfbae", "a", "xyzabc", "cabxyz"];
        return orders.every((order) => {
          render(view([...order]), root);
          return root.textContent === [...order].map((key) => key + key).join("") + "!";
        });""",
    )


def test_an_item_may_turn_into_nothing_and_back(page: Page) -> None:
    assert run(
        page,
        """const view = (some) => html`<p>${some.map((one) => one && html`<b>${one}</b>`)}</p>`;
        const seen = [];
        for (const some of [["a", "b"], [null, "b"], ["a", "b", "c"], [false], ["z"]]) {
          render(view(some), root);
          seen.push(root.textContent);
        }
        return seen;""",
    ) == ["ab", "b", "abc", "", "z"]


def test_two_items_of_one_key_are_refused(page: Page) -> None:
    with pytest.raises(Error, match="two items have the key a"):
        run(page, 'render(html`${[keyed("a", html`<b></b>`), keyed("a", html`<b></b>`)]}`, root);')


def test_events_and_properties_follow_the_state(page: Page) -> None:
    assert run(
        page,
        """const state = { count: 0 };
        const view = ({ count }) => html`
          <button @click=${() => update((all) => { all.count += 1; })} ?disabled=${count > 1}>${count}</button>
          <input .value=${String(count)}>
          <select .value=${count ? "b" : "a"}><option value="a">A</option><option value="b">B</option></select>`;
        const update = mount(root, view, state);
        const [button, field, select] = root.children;
        button.click();
        button.click();
        await update();
        return [button.textContent, button.disabled, field.value, select.value];""",
    ) == ["2", True, "2", "b"]


def test_what_a_person_typed_or_chose_stays_until_the_state_says_otherwise(page: Page) -> None:
    assert run(
        page,
        """const view = (text, chosen, options) => html`<input ~value=${text}>
          ${["a", "b"].map((one) => html`<input type="radio" name="way" value=${one} ~checked=${chosen === one}>`)}
          <select ~value=${chosen}>${options.map((one) => html`<option value=${one}>${one}</option>`)}</select>`;
        render(view("", "a", ["a"]), root);
        const [field, , second, select] = root.children;
        const says = () => [field.value, root.querySelector("input:checked").value, select.value];
        field.value = "typed";
        field.dispatchEvent(new Event("input"));
        second.click();
        render(view("", "a", ["a", "b"]), root);
        const kept = says();
        render(view("new", "b", ["a", "b"]), root);
        const told = says();
        render(view("new", "a", ["a", "b"]), root);
        return [kept, told, says()];""",
    ) == [["typed", "b", "a"], ["new", "b", "b"], ["new", "a", "a"]]


def test_all_changes_of_one_turn_are_drawn_once(page: Page) -> None:
    assert (
        run(
            page,
            """let drawn = 0;
            const update = mount(root, () => { drawn += 1; return html`<p></p>`; }, {});
            update(); update(); await update();
            return drawn;""",
        )
        == 2
    )


def test_pictures_of_lines_are_svg_all_the_way_down(page: Page) -> None:
    assert (
        run(
            page,
            """const dot = (at) => html`<g>${html`<circle r=${at}></circle>`}</g>`;
            render(html`<svg viewBox="0 0 2 2">${[1, 2].map(dot)}</svg>`, root);
            return [...root.querySelectorAll("*")].every((one) => one.namespaceURI === "http://www.w3.org/2000/svg");""",
        )
        is True
    )


@pytest.mark.parametrize(
    "address",
    [
        "javascript:alert(1)",
        "//evil.example",
        "https://evil.example",
        "data:text/html,x",
        " javascript:alert(1)",
        "/\\evil.example",
    ],
)
def test_a_link_never_leaves_the_server(page: Page, address: str) -> None:
    found = page.evaluate(
        """async (address) => {
          const { html, render } = await import("/page/ui.js");
          const root = document.createElement("div");
          render(html`<a href=${address}>x</a>`, root);
          return root.querySelector("a").getAttribute("href");
        }""",
        address,
    )
    assert found is None


@pytest.mark.parametrize(
    "markup",
    [
        'html`<p onclick="alert(1)"></p>`',
        'html`<p onclick=${"alert(1)"}></p>`',
        'html`<p style="color: red"></p>`',
        'html`<p .innerHTML=${"<b></b>"}></p>`',
        'html`<iframe srcdoc="x"></iframe>`',
        "html`<p class=a></p>`",
        "html`<p><b></p>`",
        "html`</p>`",
    ],
)
def test_markup_that_could_run_or_is_broken_is_refused(page: Page, markup: str) -> None:
    with pytest.raises(Error):
        run(page, f"render({markup}, root);")


def test_the_browser_itself_refuses_markup_from_text(page: Page) -> None:
    with pytest.raises(Error, match="TrustedHTML"):
        page.evaluate("document.createElement('p').insertAdjacentHTML('beforeend', '<b></b>')")


def test_its_own_code_is_small(page: Page) -> None:
    source: str = page.evaluate("fetch('/page/ui.js').then((one) => one.text())")
    assert len(source.splitlines()) <= 400
