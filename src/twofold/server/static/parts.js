// What several views are put together from: forms, choices, lists of facts, tables of figures, titled sections.

import { state } from "/page/store.js";
import { t } from "/page/strings.js";
import { html } from "/page/ui.js";

// Hears of a form that is sent: `work` is given what it says, and the form.
export const sent = (work) => (event) => {
  event.preventDefault();
  return work(new FormData(event.target), event.target);
};

// The options of a choice, from pairs of a value and what it is called.
export const options = (pairs) => pairs.map(([value, name]) => html`<option value=${value}>${name}</option>`);
export const profiles = () => options([["", t("as.set")], ...(state.server?.profiles ?? []).map(({ name }) => [name, name])]);

// Facts, from pairs of a name and what it is; a pair that is false is left out.
export const facts = (pairs, kind = "") => html`<dl class=${`facts ${kind}`}>${pairs.filter(Boolean).map(([name, value, title]) => html`
  <div><dt title=${title}>${name}</dt><dd>${value}</dd></div>`)}</dl>`;

export const section = (id, title, content) => html`<section aria-labelledby=${id}><h2 id=${id}>${title}</h2>${content}</section>`;

// A table of figures, which scrolls by itself where it is wide. Columns with names in `left` hold words.
export const figures = (caption, head, rows, { left = [], kind = "" } = {}) => html`<div class=${`scrolls ${kind}`} tabindex="0" role="region" aria-label=${caption}>
  <table class="grid figures"><caption>${caption}</caption>
    <thead><tr>${head.map((name) => html`<th scope="col" class=${left.includes(name) ? "left" : null}>${name}</th>`)}</tr></thead>
    <tbody>${rows.map((row) => html`<tr>${row.map((one, at) => html`<td class=${at && !left.includes(head[at]) ? "number" : null}>${one}</td>`)}</tr>`)}</tbody>
  </table></div>`;

// The key that goes to the box of a view.
export const slashTo = (id) => (event, typing) => {
  if (typing || event.key !== "/") return false;
  document.getElementById(id)?.focus();
  return true;
};
