// Narrowing a search: how many documents have which value, a click away from being a filter, and a range of dates.

import { lastPart, whole } from "/page/format.js";
import { patch } from "/page/router.js";
import { state } from "/page/store.js";
import { t } from "/page/strings.js";
import { html } from "/page/ui.js";

const DATE = /\s*(?:and\s+)?modified (>=|<=) (\d{4}-\d{2}-\d{2})/g;

const joined = (filter, more) => (filter ? `${/\bor\b/.test(filter) && !/^\(.*\)$/.test(filter) ? `(${filter})` : filter} and ${more}` : more);

// A filter without one of its parts, as this page puts them together.
const without = (filter, part) => {
  for (const written of [` and ${part}`, `${part} and `, part]) if (filter.includes(written)) return filter.replace(written, "");
  return filter;
};

const put = (filter) => patch({ filter: filter.trim(), page: null });

const toggle = (value) => {
  const filter = state.route.params.get("filter") ?? "";
  put(filter.includes(value.filter) ? without(filter, value.filter) : joined(filter, value.filter));
};

const dateOf = (sign) => [...(state.route.params.get("filter") ?? "").matchAll(DATE)].find((found) => found[1] === sign)?.[2] ?? "";

const dated = (event) => {
  const said = new FormData(event.target.form);
  const rest = (state.route.params.get("filter") ?? "").replace(DATE, "").replace(/^\s*and\s+/, "");
  put([[">=", said.get("from")], ["<=", said.get("to")]].reduce((filter, [sign, day]) => (day ? joined(filter, `modified ${sign} ${day}`) : filter), rest));
};

const shown = (facet, value) => (facet.field === "source" ? lastPart(String(value)) : String(value));

const list = (facet, filter) => html`<section class="facet" aria-label=${t(`facet.${facet.field}`)}><h3>${t(`facet.${facet.field}`)}</h3>
  <ul>${facet.values.map((one) => html`<li><button type="button" class="plain" aria-pressed=${String(filter.includes(one.filter))}
    @click=${() => toggle(one)}>${shown(facet, one.value)} <span class="quiet">${whole(one.count)}</span></button></li>`)}</ul></section>`;

export const narrowing = (found, params) => {
  const filter = params.get("filter") ?? "";
  const facets = found.facets.filter((facet) => facet.values.length);
  return html`<div class="narrow" id="narrow">
    ${facets.map((facet) => list(facet, filter))}
    <form class="facet" @submit=${(event) => event.preventDefault()}><h3>${t("facet.between")}</h3>
      <label>${t("facet.from")} <input type="date" name="from" .value=${dateOf(">=")} @change=${dated}></label>
      <label>${t("facet.to")} <input type="date" name="to" .value=${dateOf("<=")} @change=${dated}></label></form>
  </div>`;
};

// The phrases of the question that were read as filters, each to be taken back.
export const readings = (found, params) => found.extracted.length > 0 && html`<p class="readings">${t("read.as.filter")}
  ${found.extracted.map((one) => html`<span class="chip" title=${one.filter}>${one.phrase}
    <button type="button" class="plain" aria-label=${t("take.back", { phrase: one.phrase })}
      @click=${() => patch({ keep: [...params.getAll("keep"), one.phrase], page: null })}>×</button></span>`)}</p>`;
