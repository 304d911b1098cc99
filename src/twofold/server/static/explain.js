// How the passages were found, as a drawer over any search: the stages with their times, each retriever's order next to
// the one they make together, and what became of a document that is missing.

import { pathOf, postJson, whyNotOf } from "/page/api.js";
import { duration, lastPart, whole } from "/page/format.js";
import { icon } from "/page/icons.js";
import { refusal, tried } from "/page/notes.js";
import { facts, sent } from "/page/parts.js";
import { closeExplain, isExplaining } from "/page/places.js";
import { go, patch } from "/page/router.js";
import { kindOf, nameOf } from "/page/scores.js";
import { chosen, slice, state, update } from "/page/store.js";
import { t, worded } from "/page/strings.js";
import { html } from "/page/ui.js";

const own = slice("explain", { document: "", busy: false, said: null, problem: null, key: "" });
// Follows the address: asks what became of the document that it names.
export const followExplain = async (params, explained) => {
  const missing = isExplaining() ? params.get("missing") ?? "" : "";
  const key = missing && explained ? JSON.stringify([chosen(), explained.body, missing]) : "";
  if (key === own.key) return;
  Object.assign(own, { key, said: null, problem: null, document: missing || own.document });
  if (!key) return;
  own.busy = true;
  await tried(async () => {
    const { offset: _, ...body } = explained.body;
    own.said = whyNotOf(await postJson(pathOf(chosen()[0], "why-not"), { ...body, document: missing }));
  }, (error) => { own.problem = error; });
  update(() => { own.busy = false; });
};

const stageSays = (name) => worded("stage.of", name);

const waterfall = (stages, total) => {
  let start = 0;
  const all = Math.max(total ?? 0, stages.reduce((sum, one) => sum + one.ms, 0), 0.001);
  return html`<ol class="waterfall">${stages.map((one) => {
    const left = (100 * start) / all;
    start += one.ms;
    return html`<li>
      <span class="stage-name">${stageSays(one.name)}</span>
      <span class="lane" aria-hidden="true"><span class="span" style=${{ "margin-left": `${Math.min(left, 99)}%`, width: `${Math.max(1, (100 * one.ms) / all)}%` }}></span></span>
      <span class="number">${duration(one.ms)}</span>
      <span class="number quiet">${one.before !== one.after ? `${whole(one.before)} → ${whole(one.after)}` : whole(one.after)}</span>
      ${one.notes.length > 0 && html`<span class="stage-notes quiet">${one.notes.join("; ")}</span>`}
    </li>`;
  })}</ol>`;
};

const ROW = 34;
const GAP = 28;
const COLUMN = 115;

const LABEL = 16; // characters that a column has room for

const labelOf = (rank, hit) => {
  const label = `${rank}. ${lastPart(hit.source)}`;
  return label.length > LABEL ? `${label.slice(0, LABEL - 1)}…` : label;
};

// Each retriever's order of what was shown next to the order it became, with a line for each passage.
export const ladder = (hits) => {
  const names = [...new Set(hits.flatMap((hit) => hit.parts.map((one) => one.name)))];
  const rankOf = (hit, name) => hit.parts.find((one) => one.name === name)?.rank ?? null;
  const [left, right] = names;
  const sides = [left, right].filter(Boolean).map((name) => ({
    name, hits: hits.filter((hit) => rankOf(hit, name) !== null).sort((a, b) => rankOf(a, name) - rankOf(b, name)),
  }));
  const width = COLUMN * (sides.length + 1) + GAP * sides.length;
  const middle = sides.length > 1 ? COLUMN + GAP : 0;
  const y = (place) => 30 + place * ROW;
  const side = ({ name, hits: some }, at) => {
    const x = at === 0 && sides.length > 1 ? 0 : middle + COLUMN + GAP;
    const [from, to] = x < middle ? [COLUMN, middle] : [x, middle + COLUMN];
    return html`<g class=${`side ${kindOf(name)}`}>
      <text class="head" x=${x} y="14">${nameOf(name)}</text>
      ${some.map((hit, place) => html`
        <path class="line" d=${`M${from} ${y(place) + 8} C${(from + to) / 2} ${y(place) + 8} ${(from + to) / 2} ${y(hits.indexOf(hit)) + 8} ${to} ${y(hits.indexOf(hit)) + 8}`}></path>
        <text x=${x} y=${y(place) + 12}>${labelOf(rankOf(hit, name), hit)}</text>`)}
    </g>`;
  };
  return html`<div class="scrolls" tabindex="0" role="region" aria-label=${t("lists.drawn")}>
    <svg class="ladder" viewBox=${`0 0 ${width} ${y(hits.length)}`} width=${width} height=${y(hits.length)} role="img" aria-label=${t("lists.says")}>
      <text class="head" x=${middle} y="14">${t("together")}</text>
      ${hits.map((hit, place) => html`<text class="fused" x=${middle} y=${y(place) + 12}>${labelOf(hit.rank, hit)}</text>`)}
      ${sides.map(side)}
    </svg></div>`;
};

const CHANGES = { query: "change.query", mode: "change.mode", k: "change.k", filter: "change.filter", rerank: "change.rerank" };

const changeLines = (change) => [
  ...Object.keys(CHANGES).filter((name) => change[name] !== null && change[name] !== undefined)
    .map((name) => t(CHANGES[name], { value: name === "mode" ? t(`mode.${change[name]}`) : change[name] || t("filter.none") })),
  ...(change.without ?? []).map((name) => t("change.without", { name: stageSays(name) })),
  ...Object.entries(change.settings ?? {}).map(([name, value]) => t("change.setting", { name, value })),
];

const SHOWABLE = new Set(["search.context_window", "fusion.vector_weight", "rerank.candidates"]);

// Whether a search of this page can be made with the change: other settings are for the command line.
const canTry = (change) => Object.keys(change.settings ?? {}).every((name) => SHOWABLE.has(name)) && (change.k ?? 0) <= 50
  && !(change.without ?? []).some((name) => name === "hide" || name === "pin");

const tryIt = (change) => {
  const params = new URLSearchParams(state.route.params);
  const put = (name, value) => (value === "" ? params.delete(name) : params.set(name, value));
  for (const name of ["explain", "missing", "page"]) params.delete(name);
  if (change.query !== null) put("q", change.query);
  if (change.mode !== null) put("mode", change.mode === "hybrid" ? "" : change.mode);
  if (change.k !== null) put("k", String(change.k));
  if (change.filter !== null) put("filter", change.filter);
  if (change.rerank === "none") put("norerank", "1");
  if (change.without?.includes("collapse")) params.delete("group");
  if (change.without?.includes("extract_filters")) params.delete("read");
  for (const [name, value] of Object.entries(change.settings ?? {})) put(name, value);
  go("search", params);
};

const verdict = (said) => html`<div class="verdict" role="status">
  <p><strong>${said.rank ? t("missing.found", { rank: said.rank }) : t("missing.lost", { stage: stageSays(said.stage) })}</strong> ${said.reason}</p>
  ${said.hint && html`<p>${said.hint}</p>`}
  ${said.fix && html`<p>${t("change.smallest", { rank: said.rankAfterFix ?? "?" })}</p>
    <ul>${changeLines(said.fix).map((line) => html`<li>${line}</li>`)}</ul>
    ${canTry(said.fix) && html`<button type="button" @click=${() => tryIt(said.fix)}>${t("change.try")}</button>`}`}
  ${said.evidence.length > 0 && html`<details><summary>${t("details")}</summary>${facts(said.evidence.map((one) => [one.name, one.detail]))}</details>`}
</div>`;

const whyNot = () => html`<section aria-labelledby="missing-title"><h3 id="missing-title">${t("missing.title")}</h3>
  <form class="inline" @submit=${sent(() => own.document.trim() && patch({ missing: own.document.trim() }, { replace: true }))}>
    <label for="missing">${t("missing.label")}</label>
    <input id="missing" type="text" maxlength="1000" spellcheck="false" .value=${own.document} @input=${(event) => { own.document = event.target.value; }}>
    <button type="submit" class="second">${t("missing.ask")}</button>
  </form>
  ${chosen().length > 1 && html`<p class="quiet">${t("missing.first", { index: chosen()[0] })}</p>`}
  ${own.busy && html`<p class="quiet" role="status">${t("stage.search")}</p>`}
  ${refusal(own.problem)}
  ${own.said && verdict(own.said)}
</section>`;

export const drawer = (explained) => {
  if (!isExplaining()) return null;
  const found = explained?.result;
  return html`<aside class="drawer" id="explain" aria-labelledby="explain-title" tabindex="-1">
    <div class="bar-top"><h2 id="explain-title">${t("how.found")}</h2>
      <button type="button" class="plain" @click=${closeExplain} aria-label=${t("close")}>${icon("close")}</button></div>
    ${!found ? html`<p class="quiet">${t("explain.nothing")}</p>` : html`
      ${found.queries.length > 1 && html`<p class="quiet">${t("asked.as", { list: found.queries.slice(1).join("; ") })}</p>`}
      <section aria-labelledby="stages-title"><h3 id="stages-title">${t("stages")}</h3>${waterfall(found.stages, found.timings.total)}</section>
      ${found.hits.length > 0 && html`<section aria-labelledby="lists-title"><h3 id="lists-title">${t("lists")}</h3>
        <p class="quiet">${t("lists.says")}</p>${ladder(found.hits)}</section>`}
      ${whyNot()}`}
  </aside>`;
};
