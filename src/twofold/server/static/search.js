// Search: the file first, the words that were found, and why it is where it is.

import { explain, getJson, pathOf, putJson } from "/page/api.js";
import { duration, folderOf, lastPart, placeOf } from "/page/format.js";
import { icon } from "/page/icons.js";
import { askedTerms, wordsOf } from "/page/marking.js";
import { attempt, note, refusal, tried, warnings } from "/page/notes.js";
import { options, profiles } from "/page/parts.js";
import { snippet } from "/page/passages.js";
import { closing, openExplain, sourceHref } from "/page/places.js";
import { address, go, patch, patchedAddress } from "/page/router.js";
import { explanation, legend, scoreBar } from "/page/scores.js";
import { chosen, say, slice, state, update } from "/page/store.js";
import { t } from "/page/strings.js";
import { html, keyed } from "/page/ui.js";

const DOUBTFUL = 0.3;
const KEPT = 20; // results of earlier addresses, so that Back shows them at once
const NUMBERS = ["search.context_window", "fusion.vector_weight", "rerank.candidates"];
const EXPERT = [...NUMBERS, "score"];
const PER_PAGE = 10;
const FRESH = ["30d", "180d", "1095d"]; // half-lives
const SORTS = { newest: ["modified:desc"], oldest: ["modified"], name: ["source"] };

const own = slice("search", { key: "", result: null, page: 1, busy: false, problem: null, terms: [], open: new Set(), text: "" });
const remembered = new Map();
let running = new AbortController();

const pageOf = (params) => Math.max(1, Number(params.get("page")) || 1);

// What the address asks for, as the body of a request; null where nothing is asked.
export const bodyOf = (params, defaults = {}) => {
  const query = params.get("q")?.trim();
  if (!query) return null;
  const settings = Object.fromEntries(NUMBERS.filter((name) => params.get(name)).map((name) => [name, Number(params.get(name))]));
  const k = Number(params.get("k")) || PER_PAGE;
  const page = pageOf(params);
  return {
    query, k, mode: params.get("mode") || "hybrid", ...defaults,
    ...(page > 1 ? { offset: (page - 1) * k } : {}),
    ...(params.get("filter") ? { filter: params.get("filter") } : {}),
    ...(params.get("as_of") ? { as_of: params.get("as_of") } : {}),
    ...(params.get("title") ? { boosts: { title: Number(params.get("title")) } } : {}),
    ...(params.get("fresh") ? { recency: `modified:${params.get("fresh")}` } : {}),
    ...(params.get("score") ? { score: params.get("score") } : {}),
    ...(params.get("profile") ? { profile: params.get("profile") } : {}),
    ...(params.has("norerank") ? { rerank: false } : {}),
    ...(params.get("sort") in SORTS ? { sort: SORTS[params.get("sort")] } : {}),
    ...(params.has("group") ? { collapse: true } : {}),
    ...(params.has("narrow") ? { facets: FACETS } : {}),
    ...(params.has("read") ? { extract_filters: true, keep: params.getAll("keep") } : {}),
    ...(Object.keys(settings).length ? { settings } : {}),
  };
};

let facets = null; // loaded where somebody narrows a search down, or the question does
const FACETS = ["type", "author", "modified:year"];
const narrowing = (found, params) => params.has("narrow") && facets?.narrowing(found, params);

export const enter = async (params) => {
  own.text = params.get("q") ?? "";
  const body = bodyOf(params);
  const key = body && JSON.stringify([chosen(), body, state.changes]);
  if (key === own.key) return;
  running.abort();
  own.key = key;
  Object.assign(own, { problem: null, busy: false });
  own.open.clear();
  if (body === null) {
    own.result = null;
    return;
  }
  if (remembered.has(key)) {
    show(remembered.get(key), pageOf(params));
    return;
  }
  await find(key, body, pageOf(params));
};

const find = async (key, body, page) => {
  running = new AbortController();
  const { signal } = running;
  update(() => { own.busy = true; });
  await tried(async () => {
    const result = await explain(chosen(), body, { signal });
    if (body.facets || result.extracted.length) facets ??= await import("/page/facets.js");
    remembered.set(key, result);
    if (remembered.size > KEPT) remembered.delete(remembered.keys().next().value);
    update(() => show(result, page));
  }, (problem) => update(() => Object.assign(own, { key: null, problem, result: null, busy: false }))); // the same once more tries again
};

const show = (result, page) => { // the number is that of the hits on screen: while others come the address is ahead
  Object.assign(own, { result, page, busy: false, problem: null, terms: askedTerms(result) });
};

export const terms = () => own.terms;
let suggest = null; // loaded when somebody types
let keysSeen = 0;
const unsuggested = () => {
  keysSeen += 1;
  suggest?.close();
};

const submit = (event) => {
  unsuggested();
  event.preventDefault();
  const said = new FormData(event.target.closest("form"));
  const texts = Object.fromEntries(["q", "filter", "k", "profile", "title", "fresh", "score", ...NUMBERS].map((name) => [name, said.get(name)?.toString().trim() ?? ""]));
  if (!texts.q) {
    document.getElementById("query").focus();
    return;
  }
  if (texts.k === String(PER_PAGE)) texts.k = "";
  go("search", { index: chosen(), ...texts, mode: said.get("mode") === "hybrid" ? "" : said.get("mode"),
    norerank: !said.has("rerank"), read: said.has("read"), sort: state.route.params.get("sort"), group: state.route.params.get("group"),
    narrow: state.route.params.get("narrow"), as_of: state.route.params.get("as_of") });
};

const typed = async (event) => {
  own.text = event.target.value;
  const mine = ++keysSeen;
  suggest ??= await import("/page/suggest.js").catch(() => null); // without a server nothing is suggested
  if (suggest && mine === keysSeen) suggest.typing(own.text); // nothing else was typed, sent or left meanwhile
};

// Puts a suggestion into the box.
const take = (text) => {
  own.text = text;
  document.getElementById("query").value = text;
};

// Options change the result at once where there is one.
const changed = (event) => {
  if (own.result && event.target.form.checkValidity()) event.target.form.requestSubmit();
};

const isOfFilter = (problem) => problem?.status === 400 && /filter|character \d+/i.test(problem.message);

const MODES = ["hybrid", "bm25", "vector"];

const option = (name, label, attributes) => html`<label class="option">${label}
  <input type="number" name=${name} min=${attributes.min} max=${attributes.max} step=${attributes.step ?? 1}
    placeholder=${t("as.set")} ~value=${state.route.params.get(name) ?? ""} @change=${changed}></label>`;

const invalid = () => {
  for (const one of document.querySelectorAll(".options, .expert")) one.open = true; // else nobody sees what is wrong
};

const form = (params) => html`<form role="search" class="search-form" autocomplete="off" @submit=${submit}>
  <div class="box">
    <label class="hidden" for="query">${t("search.label")}</label>
    <input id="query" name="q" type="search" maxlength="4096" enterkeyhint="search" spellcheck="false"
      placeholder=${t("search.label")} .value=${own.text} @input=${typed} @keydown=${(event) => suggest?.keys(event, take)}
      @blur=${unsuggested} role="combobox" aria-autocomplete="list" aria-controls="suggestions"
      aria-expanded=${suggest?.expanded() ?? "false"} aria-activedescendant=${suggest?.active() ?? null} aria-keyshortcuts="/">
    <button type="submit">${icon("search")}<span>${t("search")}</span></button>
    ${suggest?.list(take)}
  </div>
  <div class="ways">
    <fieldset class="segments"><legend class="hidden">${t("search.by")}</legend>
      ${MODES.map((mode) => html`<label><input type="radio" name="mode" value=${mode}
        ~checked=${(params.get("mode") ?? "hybrid") === mode} @change=${changed}><span>${t(`mode.${mode}`)}</span></label>`)}
    </fieldset>
    <details class="options" id="options"><summary>${t("options")}</summary>
      <div class="options-in" @invalid=${invalid}>
        <label class="option wide">${t("filter")} <input name="filter" type="text" maxlength="4000" spellcheck="false"
          aria-describedby="filter-says" aria-invalid=${String(isOfFilter(own.problem))} placeholder=${t("filter.none")}
          ~value=${params.get("filter") ?? ""} @change=${changed}></label>
        <p id="filter-says" class=${isOfFilter(own.problem) ? "says wrong" : "says"}>${isOfFilter(own.problem)
          ? `${own.problem.message} ${own.problem.hint}` : html`${t("for.example")} <code>type == .md and modified >= 2025</code>`}</p>
        ${option("k", t("passages.a.page"), { min: 1, max: 50 })}
        ${option("title", t("weight.title"), { min: 0, max: 100, step: 0.5 })}
        <label class="option">${t("fresh")} <select name="fresh" ~value=${params.get("fresh") ?? ""} @change=${changed}>
          ${options([["", t("as.set")], ...FRESH.map((span) => [span, t(`fresh.${span}`)])])}</select></label>
        <label class="option">${t("profile")} <select name="profile" ~value=${params.get("profile") ?? ""} @change=${changed}>${profiles()}</select></label>
        <label class="option check"><input type="checkbox" name="rerank" ~checked=${!params.has("norerank")} @change=${changed}>
          ${t("rerank")}</label>
        <label class="option check"><input type="checkbox" name="read" ~checked=${params.has("read")} @change=${changed}>
          ${t("read.filters")}</label>
        <details class="expert" ?open=${EXPERT.some((name) => params.has(name))}><summary>${t("details")}</summary><div class="options-in">
        ${option("search.context_window", t("neighbors"), { min: 0, max: 50 })}
        ${option("fusion.vector_weight", t("weight.meaning"), { min: 0, max: 1, step: 0.05 })}
        ${option("rerank.candidates", t("rerank.count"), { min: 1, max: 1000 })}
        <label class="option wide">${t("formula")} <input name="score" type="text" maxlength="1000" spellcheck="false" placeholder="0.7 * score + 0.3 / (1 + age_days)"
          ~value=${params.get("score") ?? ""} @change=${changed}></label>
        </div></details>
      </div>
    </details>
  </div>
</form>`;

const notes = (found, params) => [
  facets?.readings(found, params),
  found.hits.length > 0 && typeof found.answerable === "number" && found.answerable < DOUBTFUL && note(t("not.inside"), t("nearest")),
  ...warnings(found.warnings),
];

const toggle = (id) => update(() => {
  if (!own.open.delete(id)) own.open.add(id);
});

const idOf = (hit) => `${hit.collection}/${hit.chunk_id}`;

const drawn = (hit, best, fusion) => {
  const id = idOf(hit);
  const isOpen = own.open.has(id);
  const place = placeOf(hit);
  const name = lastPart(hit.source);
  return keyed(id, html`<li class="hit" data-chunk=${hit.chunk_id}>
    <div class="top">
      <h3><a class="title" href=${sourceHref(hit)}>${icon("file")}<span>${name}</span></a></h3>
      <button type="button" class="why" aria-expanded=${String(isOpen)} aria-label=${t("why.this", { name })}
        @click=${() => toggle(id)}>${scoreBar(hit, best)}${icon("down")}</button>
    </div>
    <p class="where">${hit.collection && html`<span class="collection">${hit.collection}</span>`}
      ${hit.title && hit.title !== name && html`<span class="doc-title">${hit.title}</span>`}
      ${place && html`<span class="place">${place}</span>`}
      <span class="folder">${folderOf(hit.source)}</span></p>
    <div class="snippet-of">${snippet(hit, own.terms)}</div>
    ${hit.more > 0 && html`<p class="quiet more-of">${t("more.of", { count: hit.more })}</p>`}
    ${isOpen && html`<div class="why-body">${explanation(hit, fusion)}
      <p class="links"><a href=${address("search", { index: chosen(), q: likeOf(hit) })}>${t("more.like")}</a>
        ${!state.route.params.has("as_of") && PINS.map((what) => html`<button type="button" class="plain" @click=${() => pin(hit, what)}>${t(`pin.${what}`)}</button>`)}</p></div>`}
  </li>`);
};

// A question made of a passage: its beginning, in whole words.
const likeOf = (hit) => hit.text.replace(/[^\p{L}\p{N}\s.-]+/gu, " ").replace(/\s+/g, " ").trim().slice(0, 240).replace(/\s\S*$/, "");

const PINS = ["first", "never"];
const plain = (text) => wordsOf(text).join(" ");

// Keeps for this question that a document comes first, or never; what the index keeps for it already stays.
const pin = (hit, what) => attempt(async () => {
  const path = pathOf(hit.collection || chosen()[0], "pins");
  const { query } = own.result;
  const { pins } = await getJson(path);
  const kept = (pins.find((one) => plain(one.query) === plain(query))?.documents ?? []).filter((name) => name.replace(/^-/, "") !== hit.source);
  const [first, never] = [kept.filter((name) => !name.startsWith("-")), kept.filter((name) => name.startsWith("-")).map((name) => name.slice(1))];
  await putJson(path, { query, pin: what === "first" ? [hit.source, ...first] : first, hide: what === "never" ? [...never, hit.source] : never });
  say(t(`pin.${what}.done`));
  state.changes += 1;
  enter(state.route.params);
});

const arrange = (params) => html`<div class="arrange">
  <label>${t("sort")} <select .value=${params.get("sort") ?? "best"} @change=${(event) => patch({ sort: event.target.value === "best" ? null : event.target.value, page: null }, { replace: true })}>
    ${options(["best", ...Object.keys(SORTS)].map((name) => [name, t(`sort.${name}`)]))}</select></label>
  <label class="check"><input type="checkbox" .checked=${params.has("group")}
    @change=${(event) => patch({ group: event.target.checked, page: null }, { replace: true })}> ${t("group")}</label>
  <button type="button" class="plain" aria-expanded=${String(params.has("narrow"))}
    @click=${() => patch({ narrow: !params.has("narrow") }, { replace: true })}>${t("narrow")}</button>
  <button type="button" class="plain" @click=${() => openExplain()}>${t("how.found")}</button>
  <button type="button" class="plain" @click=${share}>${icon("link")}<span>${t("share")}</span></button>
</div>`;

const share = async () => {
  await navigator.clipboard.writeText(location.href).then(() => say(t("share.done")), () => say(location.href));
};

const list = (found) => {
  const best = Math.max(0, ...found.hits.map((hit) => hit.score));
  return html`<ol class="hits" id="hits">${found.hits.map((hit) => drawn(hit, best, found.fusion))}</ol>`;
};

const pages = (found, params) => {
  const { page } = own;
  const full = found.total > page * (Number(params.get("k")) || PER_PAGE) && found.hits.length > 0;
  return (page > 1 || full) && html`<nav class="pages" aria-label=${t("pages")}>
    ${page > 1 && html`<a href=${patchedAddress({ ...closing, page: page > 2 ? page - 1 : null })}>${t("page.before")}</a>`}
    <span class="quiet">${t("page", { page })}</span>
    ${full && html`<a href=${patchedAddress({ ...closing, page: page + 1 })}>${t("page.after")}</a>`}</nav>`;
};

// The question as it may have been meant, to be asked instead.
const meant = (found) => found.meant && html`<p class="meant">${t("did.you.mean")} <a href=${patchedAddress({ q: found.meant, page: null })}>${found.meant}</a></p>`;

const empty = (found) => html`<div class="lesson"><h2>${t("nothing")}</h2>${meant(found)}
  <ul><li>${t("nothing.operators")}</li><li>${t("nothing.filter")}</li><li>${t("nothing.meaning")}</li></ul>
  <p><button type="button" class="second" @click=${() => openExplain()}>${t("why.missing")}</button></p></div>`;

const lesson = () => html`<div class="lesson"><h2>${t("search.lesson")}</h2>
  <p>${t("search.lesson.operators")}</p><p>${t("search.lesson.keys")}</p></div>`;

const summary = (found) => [
  t("passages", { count: found.hits.length }),
  found.timings.total === undefined ? "" : t("in.time", { time: duration(found.timings.total) }),
  found.cache ? t("from.cache") : "",
].filter(Boolean).join(" ");

const results = (params) => {
  if (own.problem && !isOfFilter(own.problem)) return refusal(own.problem);
  if (!own.result) return own.busy || own.problem ? null : lesson();
  const found = own.result;
  if (!found.hits.length) return [facets?.readings(found, params), narrowing(found, params), empty(found)];
  return html`<h2 class="hidden">${t("results")}</h2>${meant(found)}${notes(found, params)}${arrange(params)}${narrowing(found, params)}${list(found)}${pages(found, params)}${legend(found.hits)}`;
};

export const title = (params) => [params.get("q"), t("search")].filter(Boolean).join(" · ");

export const view = (params) => html`<div class="search-view">
  <h1 class="hidden" tabindex="-1">${t("search")}</h1>
  ${form(params)}
  <p class="status" role="status" id="status">${own.busy ? t("stage.search") : own.result ? summary(own.result) : ""}</p>
  <section id="results" aria-label=${t("results")} aria-busy=${String(own.busy)} tabindex="-1">${results(params)}</section>
</div>`;

const titles = () => [...document.querySelectorAll("#hits .title")];

const move = (by) => {
  const all = titles();
  const at = all.findIndex((one) => one.closest("li").contains(document.activeElement));
  const to = at < 0 ? (by > 0 ? 0 : -1) : at + by;
  if (to < 0) document.getElementById("query")?.focus();
  else all[Math.min(to, all.length - 1)]?.focus();
};

const MOVES = { j: 1, k: -1, ArrowDown: 1, ArrowUp: -1 };

// The keys of this view; gives whether a key was one of them.
export const keys = (event, typing) => {
  const inBox = event.target.id === "query";
  if (event.key in MOVES && (typing ? inBox && event.key === "ArrowDown" : event.key.length === 1 || event.target.closest?.(".hit"))) {
    move(MOVES[event.key]);
    return true;
  }
  if (typing) return false;
  if (event.key === "e") document.activeElement?.closest(".hit")?.querySelector(".why")?.click();
  else if (event.key === "/") {
    document.getElementById("query").focus();
    document.getElementById("query").select();
  } else return false;
  return true;
};

export const explained = () => (own.result ? { result: own.result, body: bodyOf(state.route.params) } : null);
