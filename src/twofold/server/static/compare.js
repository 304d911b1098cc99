// Compare: one question asked in two ways, side by side, with what moved; or a query set.

import { explain } from "/page/api.js";
import { configuration, nameOf, waysOf } from "/page/configuration.js";
import { duration, lastPart, percent, placeOf } from "/page/format.js";
import { icon } from "/page/icons.js";
import { askedTerms } from "/page/marking.js";
import { idsOf, jaccard, rankBiasedOverlap } from "/page/overlap.js";
import { facts, sent, slashTo } from "/page/parts.js";
import { snippet } from "/page/passages.js";
import { patch, patchedAddress } from "/page/router.js";
import { refusal, tried, warnings } from "/page/notes.js";
import { closing, openExplain, sourceHref } from "/page/places.js";
import { chosen, slice, state, update } from "/page/store.js";
import { t } from "/page/strings.js";
import { html, keyed } from "/page/ui.js";

const K = 10;

const own = slice("compare", { key: "", a: null, b: null, busy: false, problem: null, terms: [] });
let running = new AbortController();
let many = null; // what compares a query set, loaded when one is first chosen

export const enter = async (params) => {
  if (!params.has("set")) {
    leave();
    return enterOne(params);
  }
  many ??= await import("/page/query_set.js");
  if (!state.route.params.has("set")) return null; // somebody went on meanwhile
  return many.enterSet(params);
};

const enterOne = async (params) => {
  const query = params.get("q")?.trim() ?? "";
  const bodies = query ? ["a", "b"].map((side) => bodyOf(params, side)) : null;
  const key = bodies && JSON.stringify([chosen(), bodies, state.changes]);
  if (key === own.key) return;
  running.abort();
  Object.assign(own, { key, problem: null, busy: Boolean(key) });
  if (!key) {
    Object.assign(own, { a: null, b: null });
    return;
  }
  running = new AbortController();
  await tried(async () => {
    const [a, b] = await Promise.all(bodies.map((body) => explain(chosen(), body, { signal: running.signal })));
    Object.assign(own, { a, b, terms: [...new Set([...askedTerms(a), ...askedTerms(b)])], busy: false });
  }, (problem) => Object.assign(own, { problem, a: null, b: null, busy: false, key: null }));
  update();
};

export const leave = () => many?.leaveSet();
export const terms = () => own.terms;

const moveOf = (rank, other) => {
  if (other < 0) return html`<span class="move only">${t("move.only")}</span>`;
  const by = other + 1 - rank;
  if (by === 0) return html`<span class="move same">=</span>`;
  return by > 0 ? html`<span class="move up" aria-label=${t("move.up", { by })}>↑ ${by}</span>`
    : html`<span class="move down" aria-label=${t("move.down", { by: -by })}>↓ ${-by}</span>`;
};

const column = (params, side, found, other) => {
  const ids = idsOf(other);
  return html`<section class=${`column side-${side}`} aria-label=${`${side.toUpperCase()}: ${nameOf(params, side)}`}>
    <h2>${side.toUpperCase()} <span class="quiet">${nameOf(params, side)}, ${duration(found.timings.total ?? 0)}</span></h2>
    <p><button type="button" class="plain" @click=${() => openExplain(side)}>${t("how.found")}</button></p>
    ${warnings(found.warnings)}
    ${!found.hits.length && html`<p class="quiet">${t("nothing")}</p>`}
    <ol class="hits">${found.hits.map((hit) => keyed(`${hit.collection}/${hit.chunk_id}`, html`<li class="hit small-hit">
      <div class="top"><h3><a class="title" href=${sourceHref(hit)}>${icon("file")}<span>${lastPart(hit.source)}</span></a></h3>
        <span class="rank-of quiet">${hit.rank}.</span>${moveOf(hit.rank, ids.indexOf(`${hit.collection}/${hit.chunk_id}`))}</div>
      <p class="where">${placeOf(hit)}</p>
      <div class="snippet-of">${snippet(hit, own.terms)}</div></li>`))}</ol>
  </section>`;
};

const bodyOf = (params, side) => ({ query: params.get("q")?.trim() ?? "", k: K, ...waysOf(params, side) });

// One of the two searches, as the drawer shows how its passages were found.
export const explained = (params) => {
  const side = params.get("explain") === "b" ? "b" : "a";
  return own[side] && { result: own[side], body: bodyOf(params, side) };
};

const measures = () => {
  const [a, b] = [idsOf(own.a), idsOf(own.b)];
  const both = a.filter((one) => b.includes(one)).length;
  return facts([
    [t("both"), `${both} / ${Math.max(a.length, b.length)}`],
    [t("overlap"), percent(jaccard(a, b)), "Jaccard"],
    [t("overlap.ranks"), percent(rankBiasedOverlap(a, b)), "RBO, p = 0.9"],
    [t("first.same"), a[0] === b[0] ? t("yes") : t("no")],
  ], "measures");
};

export const title = (params) => [params.get("q"), t("nav.compare")].filter(Boolean).join(" · ");

const one = (params) => html`<form role="search" autocomplete="off" @submit=${sent((said) => patch({ ...closing, q: said.get("q") }))}>
    <div class="box"><label class="hidden" for="query">${t("search.label")}</label>
      <input id="query" name="q" type="search" maxlength="4096" placeholder=${t("search.label")} ~value=${params.get("q") ?? ""}>
      <button type="submit">${icon("compare")}<span>${t("compare")}</span></button></div>
  </form>`;

const foundOfOne = (params) => html`<p class="status" role="status">${own.busy && t("stage.search")}</p>
  ${refusal(own.problem)}
  ${own.a && own.b && html`${measures()}<div class="columns">${column(params, "a", own.a, own.b)}${column(params, "b", own.b, own.a)}</div>`}`;

const tabs = (isSet) => html`<nav class="tabs" aria-label=${t("compare.what")}>
  <a href=${patchedAddress({ set: null })} aria-current=${isSet ? null : "page"}>${t("compare.one")}</a>
  <a href=${patchedAddress({ ...closing, q: null, set: "judged" })} aria-current=${isSet ? "page" : null}>${t("compare.set")}</a></nav>`;

export const view = (params) => {
  const isSet = params.has("set");
  return html`<div class="compare-view">
    <h1 tabindex="-1">${t("nav.compare")}</h1>
    <p class="quiet">${t("compare.says")}</p>
    ${tabs(isSet)}
    ${isSet ? many?.choice(params) : one(params)}
    <div class="configurations">${configuration(params, "a")}${configuration(params, "b")}</div>
    ${isSet ? many?.compared(params) : foundOfOne(params)}
  </div>`;
};

export const keys = slashTo("query");
