"""What every view keeps: an address that Back, reload and a link show again, and nothing that needs a mouse."""

import pytest
from playwright.sync_api import Browser, expect

from support.api_client import Visit
from support.browser import opened
from support.page_views import READY, VIEWS, address

OF_THE_APPLICATION = [view for view in VIEWS if view not in ("docs", "kept", "fields")]
REACHED = """() => {
  const seen = new Set();
  const usable = (one) => one.checkVisibility({ checkVisibilityCSS: true }) && !one.disabled && one.tabIndex >= 0
    && !(one.type === "radio" && !one.checked) && !one.closest("dialog");
  const kinds = "a[href], button, input, select, textarea, summary, [tabindex='0']";
  const wanted = [...document.querySelectorAll(kinds)].filter(usable);
  document.addEventListener("focusin", (event) => seen.add(event.target));
  const left = () => wanted.filter((one) => one.isConnected && !seen.has(one));
  window.missed = () => left().map((one) => one.outerHTML.slice(0, 120));
}"""


@pytest.mark.parametrize("view", OF_THE_APPLICATION)
def test_a_view_is_a_link_that_reload_back_and_forward_show_again(browser: Browser, visit: Visit, view: str) -> None:
    path = address(visit, view)
    with opened(browser, visit.address, path) as page:
        ready = page.locator(READY[view]).first
        expect(ready).to_be_visible()
        title = page.title()
        page.reload()
        expect(ready).to_be_visible()
        expect(page).to_have_title(title)
        elsewhere = "Library" if view == "settings" else "Settings"
        page.get_by_role("link", name=elsewhere, exact=True).click()
        expect(page.locator("h1")).not_to_have_text(title.split(" · ")[0])
        page.go_back()
        expect(ready).to_be_visible()
        assert page.url == visit.address + path
        page.go_forward()
        expect(page.locator(READY[elsewhere.lower()]).first).to_be_visible()
        page.go_back()
        expect(ready).to_be_visible()
        expect(page).to_have_title(title)


@pytest.mark.parametrize("view", OF_THE_APPLICATION)
def test_all_that_can_be_used_is_reached_by_the_tab_key(browser: Browser, visit: Visit, view: str) -> None:
    with opened(browser, visit.address, address(visit, view)) as page:
        expect(page.locator(READY[view]).first).to_be_visible()
        page.wait_for_load_state("networkidle")
        page.evaluate(REACHED)
        missed: list[str] = page.evaluate("missed()")
        assert len(missed) > 5
        for _ in range(150):
            if missed:
                page.keyboard.press("Tab")
                missed = page.evaluate("missed()")
        assert missed == []
