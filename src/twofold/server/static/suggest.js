// Suggestions while a question is typed: a list below the box that the arrow keys and the mouse choose from.

import { getJson, pathOf } from "/page/api.js";
import { tried } from "/page/notes.js";
import { chosen, slice, update } from "/page/store.js";
import { t } from "/page/strings.js";
import { html, keyed } from "/page/ui.js";

const WAIT = 100; // milliseconds without a key, before the server is asked
const SHOWN = 8;

const own = slice("suggest", { items: [], active: -1, typed: "" });
let waiting = 0;
let running = new AbortController();

export const close = () => {
  clearTimeout(waiting);
  running.abort();
  if (own.items.length || own.active >= 0) update(() => Object.assign(own, { items: [], active: -1 }));
};

const ask = async (typed) => {
  running.abort();
  running = new AbortController();
  await tried(async () => {
    const path = `${pathOf(chosen()[0], "suggest")}?${new URLSearchParams({ q: typed, k: SHOWN })}`;
    const { suggestions } = await getJson(path, { signal: running.signal });
    update(() => Object.assign(own, { items: suggestions, active: -1, typed }));
  });
};

// Asks for what was typed, once nothing more is typed for a moment; several indexes at once suggest nothing.
export const typing = (typed) => {
  clearTimeout(waiting);
  if (!typed.trim() || chosen().length !== 1) close();
  else waiting = setTimeout(() => ask(typed), WAIT);
};

const choose = (input, text, take) => {
  take(text);
  close();
  input.form.requestSubmit();
};

// The keys of the box while the list is open; gives whether a key was one of them.
export const keys = (event, take) => {
  const count = own.items.length;
  if (!count || event.isComposing) return false;
  if (event.key === "ArrowDown" || event.key === "ArrowUp") {
    const step = event.key === "ArrowDown" ? 1 : -1;
    update(() => { own.active = (own.active + step + count + 1 + 1) % (count + 1) - 1; });
  } else if (event.key === "Escape") close();
  else if (event.key === "Enter" && own.active >= 0) choose(event.target, own.items[own.active].text, take);
  else return false;
  event.preventDefault();
  event.stopPropagation();
  return true;
};

// What the box says of its list.
export const expanded = () => String(own.items.length > 0);
export const active = () => (own.active >= 0 ? `suggestion-${own.active}` : null);

export const list = (take) => own.items.length > 0 && html`<ul class="suggestions" id="suggestions" role="listbox"
    aria-label=${t("suggestions")}>
  ${own.items.map((one, at) => keyed(one.text, html`<li role="option" id=${`suggestion-${at}`} aria-selected=${String(at === own.active)}
    @mousedown=${(event) => {
      event.preventDefault(); // the box keeps the focus
      choose(document.getElementById("query"), one.text, take);
    }}><span>${one.text}</span> <span class="quiet">${t(`suggestion.${one.kind}`)}</span></li>`))}
</ul>`;
