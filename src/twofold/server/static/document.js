// One document: its outline, its text, its pages, and the passages it was cut into.

import { Refused, documentPath, getBlob, getJson, getText, withQuery } from "/page/api.js";
import { edit, editor, isEditing, shown } from "/page/fields.js";
import { hasPages, isInLines, isRecording, lastPart, placeOf, whole } from "/page/format.js";
import { icon } from "/page/icons.js";
import { marked, occurrences, unitsAt } from "/page/marking.js";
import { facts, sent, slashTo } from "/page/parts.js";
import { passage } from "/page/passages.js";
import { address, patch, patchedAddress } from "/page/router.js";
import { attempt, note, refusal, tried } from "/page/notes.js";
import { saveAs } from "/page/save.js";
import { chosen, slice, update } from "/page/store.js";
import { t } from "/page/strings.js";
import { html, keyed } from "/page/ui.js";

const PIECE = 40_000; // UTF-16 units of a text that are shown at once
const own = slice("document", { key: "", index: "", pointed: null, info: null, chunks: [], text: "", problem: null, found: [], at: 0 });
let opening = new AbortController();

export const enter = async (params) => {
  const index = chosen()[0];
  const name = params.get("doc") ?? "";
  const key = [index, name, params.get("as_of")].join("\n");
  if (key === own.key) {
    look(params);
    return;
  }
  opening.abort();
  opening = new AbortController();
  const { signal } = opening;
  Object.assign(own, { key, index, path: (...parts) => documentPath(index, name, ...parts), info: null, chunks: [], text: "", problem: null, found: [], at: 0 });
  if (!name) return;
  await tried(async () => {
    const [info, chunks, text] = await Promise.all([
      getJson(own.path(), { signal }), getJson(own.path("chunks"), { signal }), getText(own.path("content"), { signal }),
    ]);
    if (isRecording(info)) await import("/page/recording.js");
    Object.assign(own, { info, chunks: chunks.chunks, text });
    look(params);
  }, (error) => { own.problem = error; });
  await update();
  reveal();
};

// Finds what is looked for, and what the address points at.
const look = (params) => {
  const [start, end] = (params.get("at") ?? "").split("-").map(Number);
  const sought = params.get("find") ?? "";
  own.pointed = Number.isFinite(end) ? [unitsAt(own.text, start).unit, unitsAt(own.text, end).unit] : null;
  own.found = sought ? occurrences(own.text, sought) : [];
  own.at = 0;
  update().then(reveal);
};

const reveal = () => {
  const mark = document.querySelector(".doc-body [data-target], .doc-body .current");
  mark?.scrollIntoView({ block: "center" });
};

const tabs = () => ["text", ...(hasPages(own.info) ? ["pages"] : []), "passages"];
const tabOf = (params) => (tabs().includes(params.get("tab")) ? params.get("tab") : "text");

// ---- Outline: headings in reading order, each with where it begins.

const outlineOf = (chunks) => {
  const seen = new Set();
  const lines = [];
  for (const chunk of chunks) {
    chunk.heading.forEach((heading, depth) => {
      const key = chunk.heading.slice(0, depth + 1).join("\u0001");
      if (!seen.has(key)) {
        seen.add(key);
        lines.push({ heading, depth, at: `${chunk.start}-${chunk.end}`, key });
      }
    });
  }
  return lines;
};

const outline = (params) => {
  const lines = outlineOf(own.chunks);
  return lines.length > 1 && html`<nav class="outline" aria-label=${t("outline")}><h2>${t("outline")}</h2>
    <ol>${lines.map((one) => keyed(one.key, html`<li class=${`depth-${Math.min(one.depth, 4)}`}>
      <a href=${patchedAddress({ at: one.at, tab: tabOf(params) === "pages" ? null : params.get("tab") })}
        aria-current=${params.get("at") === one.at ? "location" : null}>${one.heading}</a></li>`))}</ol></nav>`;
};

// ---- Text.

const text = () => {
  const target = own.found[own.at] ?? own.pointed;
  const middle = target ? target[0] : 0;
  const from = own.text.length > PIECE ? Math.max(0, Math.min(middle - PIECE / 2, own.text.length - PIECE)) : 0;
  const to = Math.min(own.text.length, from + PIECE);
  const shift = (spans) => spans.filter(([a, b]) => a >= from && b <= to).map(([a, b]) => [a - from, b - from]);
  const shown = own.text.slice(from, to);
  const spans = own.found.length ? shift(own.found) : own.pointed ? shift([own.pointed]) : [];
  const first = own.found.length ? own.found.findIndex(([a]) => a >= from) : 0;
  let number = -1;
  const pieces = marked(shown, spans, own.found.length ? "term" : "cited").map((one) =>
    (typeof one === "string" ? one : ++number + first === own.at ? html`<span data-target class="current">${one}</span>` : one));
  return html`<div class=${isInLines(own.info) ? "text whole lines" : "text whole"} tabindex="0" role="document" aria-label=${t("document.text")}>
    ${from > 0 && "…"}${pieces}${to < own.text.length && "…"}</div>`;
};

// ---- Passages with their boundaries.

const boundary = (chunk) => keyed(chunk.id, html`<li class=${isPointed(chunk) ? "chunk current" : "chunk"}>
  <p class="quiet chunk-head"><span>${t("passage.number", { number: chunk.ordinal + 1 })}</span>
    <span>${placeOf({ ...chunk, title: own.info.title })}</span>
    <span>${t("characters", { from: chunk.start, to: chunk.end })}</span>
    <a href=${address("search", { index: own.index, q: chunk.text.replace(/\s+/g, " ").slice(0, 200) })}>${t("more.like")}</a></p>
  ${passage(chunk.text, [])}</li>`);

// A recording, from where the passage that the address points at begins.
const player = () => isRecording(own.info) && html`<recording-player from=${own.path("original")}
  at=${(own.chunks.find(isPointed) ?? own.chunks[0])?.place || "00:00:00"}></recording-player>`;

const isPointed = (chunk) => {
  if (!own.pointed) return false;
  const start = unitsAt(own.text, chunk.start).unit;
  return start <= own.pointed[0] && own.pointed[0] < start + Math.max(1, chunk.text.length);
};

// ---- Pages: each drawn when it comes into sight.

class PageImage extends HTMLElement {
  connectedCallback() {
    this.watch = new IntersectionObserver((seen) => seen.some((one) => one.isIntersecting) && this.draw(), { rootMargin: "400px" });
    this.watch.observe(this);
  }

  disconnectedCallback() {
    this.watch.disconnect();
    if (this.address) URL.revokeObjectURL(this.address);
  }

  async draw() {
    this.watch.disconnect();
    const image = document.createElement("img");
    image.alt = this.getAttribute("label");
    try {
      this.address = URL.createObjectURL(await getBlob(this.getAttribute("from")));
      image.src = this.address;
      this.replaceChildren(image);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      this.textContent = error.message;
    }
  }
}

customElements.define("page-image", PageImage);

const pageNumbers = () => [...new Set(own.chunks.map((chunk) => chunk.page).filter((page) => page !== null))].sort((a, b) => a - b);

const pages = (params) => {
  const [start, end] = (params.get("at") ?? "0-0").split("-");
  const marks = own.chunks.find((chunk) => chunk.start <= Number(start) && Number(start) < chunk.end)?.page;
  return html`<ol class="page-list">${pageNumbers().map((page) => keyed(page, html`<li class=${page === marks ? "current" : ""}>
    <page-image from=${page === marks && params.get("at") ? withQuery(own.path("pages", page), `start=${start}&end=${end}`) : own.path("pages", page)}
      label=${t("page", { page })}></page-image><p class="quiet">${t("page", { page })}</p></li>`))}</ol>`;
};

// ---- Search inside, and downloads.

const step = async (by) => {
  await update(() => { own.at = (own.at + by + own.found.length) % own.found.length; });
  reveal();
};

const finder = (params) => html`<form class="inline finder" role="search" @submit=${sent((said) => {
  const sought = said.get("find");
  if (sought && sought === params.get("find")) step(1);
  else patch({ find: sought, tab: null }, { replace: true });
})}>
  <label class="hidden" for="find">${t("find.inside")}</label>
  <input id="find" name="find" type="search" placeholder=${t("find.inside")} ~value=${params.get("find") ?? ""} maxlength="200">
  ${params.get("find") && html`<span class="quiet" role="status">${own.found.length ? `${own.at + 1} / ${whole(own.found.length)}` : t("find.none")}</span>
    ${own.found.length > 1 && html`<button type="button" class="plain" aria-label=${t("find.before")} @click=${() => step(-1)}>↑</button>
    <button type="button" class="plain" aria-label=${t("find.next")} @click=${() => step(1)}>↓</button>`}`}
</form>`;

const save = (what) => attempt(async () => {
  const data = await getBlob(own.path(what));
  saveAs(lastPart(own.info.source) + (what === "content" && !/\.(txt|md)$/.test(own.info.source) ? ".txt" : ""), data);
});

const HIDDEN = new Set(["title"]);

const about = (info, past) => {
  const fields = Object.entries(info.metadata).filter(([name]) => !HIDDEN.has(name));
  const editing = isEditing(info);
  return html`<details class="facts-of"><summary>${t("details")}</summary>${facts([
    [t("source"), info.source], [t("type"), info.media_type],
    [t("length"), t("length.is", { characters: whole(info.characters), passages: whole(info.chunks) })],
    ...(editing ? [] : fields.map(([name, value]) => [name, shown(value)])),
  ])}
  ${editing ? editor(own.index, info, HIDDEN, ({ metadata }) => Object.assign(info, { metadata }))
    : !past && html`<button type="button" class="second" @click=${() => edit(info, HIDDEN)}>${icon("edit")}<span>${t("fields.edit")}</span></button>`}
  ${info.dropped.length > 0 && html`<h3>${t("dropped")}</h3><ul class="dropped">${info.dropped.map((one) => html`<li>
    <span class="verbatim">${one.text}</span> <span class="quiet">${one.reason}${one.count > 1 && ` · ${one.count}×`}${one.page && ` · ${t("page", { page: one.page })}`}</span></li>`)}</ul>`}
  </details>`;
};

const parts = { text, pages, passages: () => html`<ol class=${isInLines(own.info) ? "chunks lines" : "chunks"}>${own.chunks.map(boundary)}</ol>` };

export const title = () => (own.info ? own.info.title || lastPart(own.info.source) : t("document"));
export const terms = () => [];

export const view = (params) => {
  if (!params.get("doc")) return note(t("document.which"), "", "note");
  if (own.problem) return refusal(own.problem);
  if (!own.info) return html`<p class="quiet" role="status">${t("opening")}</p>`;
  const tab = tabOf(params);
  return html`<div class="document-view">
    <header class="doc-head">
      <h1 tabindex="-1">${title()}</h1>
      <p class="where">${own.info.source}</p>
      ${about(own.info, params.has("as_of"))}
      <div class="doc-tools">
        <nav class="tabs" aria-label=${t("document.as")}>${tabs().map((name) => html`
          <a href=${patchedAddress({ tab: name === "text" ? null : name })} aria-current=${name === tab ? "page" : null}>${t(`tab.${name}`)}</a>`)}</nav>
        ${finder(params)}
        ${(hasPages(own.info) || isRecording(own.info)) && html`<button type="button" class="plain" @click=${() => save("original")}>${icon("save")}<span>${t("download")}</span></button>`}
        <button type="button" class="plain" @click=${() => save("content")}>${icon("save")}<span>${t("download.text")}</span></button>
      </div>
      ${player()}
    </header>
    ${outline(params)}
    <div class="doc-body">${parts[tab](params)}</div>
  </div>`;
};

export const keys = slashTo("find");
