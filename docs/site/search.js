// The search of the documentation site, by twofold itself: where a server answers at `_search` beside the pages, its
// passages take the place of the built-in search. Without one (pages alone, or opened as files) nothing changes.

const ROOT = new URL("../", document.currentScript.src);
const SEARCH = new URL("_search", ROOT);
const SHOWN = 8;
const WAIT_MS = 120;

async function ask(query, signal) {
  const body = JSON.stringify({ query, k: SHOWN, highlight: true });
  const answer = await fetch(SEARCH, { method: "POST", headers: { "Content-Type": "application/json" }, body, signal });
  if (!answer.ok) throw new Error(String(answer.status));
  return (await answer.json()).hits;
}

/** The address of a hit's heading: the page is its file's name, the anchor is made of the heading as the site does. */
function addressOf(hit) {
  const file = hit.source.split("/docs/").pop().replace(/\.md$/, "");
  const page = file.replace(/(^|\/)index$/, "$1");
  const heading = hit.heading.length > 1 ? hit.heading[hit.heading.length - 1] : "";
  const anchor = heading.toLowerCase().replace(/[^\p{L}\p{N}\s_-]/gu, "").trim().replace(/[\s-]+/g, "-");
  return new URL(`${page}${page && !page.endsWith("/") ? "/" : ""}${anchor ? `#${anchor}` : ""}`, ROOT).href;
}

/** The beginning of a passage without the marks of Markdown. */
function gist(text) {
  const plain = text.replace(/^#+ .*$/gm, "").replace(/[`*|]+/g, " ").replace(/\[([^\]]*)\]\([^)]*\)/g, "$1");
  return plain.replace(/\s+/g, " ").trim().slice(0, 180);
}

function made(name, className, text) {
  const element = document.createElement(name);
  element.className = className;
  if (text !== undefined) element.textContent = text;
  return element;
}

function entry(hit) {
  const link = made("a", "twofold-hit");
  link.href = addressOf(hit);
  link.append(made("strong", "", hit.heading.join(" › ") || hit.title), made("span", "", gist(hit.text)));
  const item = document.createElement("li");
  item.append(link);
  return item;
}

function build(button) {
  const dialog = made("dialog", "twofold-search");
  const field = made("input", "");
  Object.assign(field, { type: "search", placeholder: "Search the documentation", ariaLabel: "Search the documentation" });
  const list = made("ul", "");
  const note = made("p", "", "");
  note.setAttribute("role", "status");
  dialog.append(field, note, list);
  document.body.append(dialog);

  let waiting = 0;
  let running = new AbortController();
  const search = async () => {
    running.abort();
    running = new AbortController();
    const { signal } = running;
    const query = field.value.trim();
    if (!query) return list.replaceChildren();
    try {
      const hits = await ask(query, signal);
      list.replaceChildren(...hits.map(entry));
      note.textContent = hits.length ? "" : "Nothing was found.";
    } catch {
      if (!signal.aborted) note.textContent = "The search does not answer now.";
    }
  };
  field.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(search, WAIT_MS);
  });
  dialog.addEventListener("keydown", (event) => {
    const links = [...list.querySelectorAll("a")];
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === "Enter" && document.activeElement === field && links[0]) links[0].click();
    if (!step || !links.length) return;
    event.preventDefault();
    const next = links.indexOf(document.activeElement) + step;
    (links[Math.min(next, links.length - 1)] ?? field).focus();
  });
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
  const open = (event) => {
    event.preventDefault();
    event.stopImmediatePropagation();
    dialog.showModal();
    field.select();
  };
  button.addEventListener("click", open, true);
  document.addEventListener("keydown", (event) => {
    const typing = event.target.closest?.("input, textarea, select, dialog");
    if ((event.key === "/" || event.key === "s") && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) open(event);
    if (event.key === "k" && (event.ctrlKey || event.metaKey)) open(event);
  }, true);
  button.dataset.search = "twofold";
}

addEventListener("DOMContentLoaded", async () => {
  const button = document.querySelector("[data-md-component=search] button");
  if (!button || !location.protocol.startsWith("http")) return;
  const known = await ask("twofold").catch(() => null);
  if (known) build(button);
});
