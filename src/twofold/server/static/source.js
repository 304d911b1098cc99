// The panel next to the work: a passage in its document, as the page of a PDF with its marks or as text. What it shows
// stands in the address (`doc`, `at`, `of`, `cite`), so that Back closes it and a link opens it.

import { documentPath, getBlob, getJson, getText, withQuery } from "/page/api.js";
import { hasPages, isInLines, isRecording, lastPart, placeOf } from "/page/format.js";
import { icon } from "/page/icons.js";
import { ROOM, marked, spansOf, unitsAt, windowOf } from "/page/marking.js";
import { refusal, tried } from "/page/notes.js";
import { closing, isReading } from "/page/places.js";
import { address, patch } from "/page/router.js";
import { chosen, slice, state, update } from "/page/store.js";
import { t } from "/page/strings.js";
import { html } from "/page/ui.js";

const AROUND = 20_000; // UTF-16 units of a long document that are shown before and after

const own = slice("source", { key: "", opener: null, info: null, text: null, page: null, problem: null, tab: "page" });
let opening = new AbortController();

export const closeSource = () => {
  patch(closing);
  own.opener?.focus?.();
};

const keyOf = (params) => ["of", "doc", "at", "as_of"].map((name) => params.get(name)).join("\n");

// Follows the address: opens, changes or leaves the passage. `terms` are marked in it.
export const followSource = async (params) => {
  if (!isReading()) {
    forgetPicture();
    opening.abort();
    own.key = "";
    return;
  }
  const key = keyOf(params);
  if (key === own.key) return;
  opening.abort();
  opening = new AbortController();
  const { signal } = opening;
  const [start, end] = (params.get("at") ?? "0-0").split("-").map(Number);
  const [index, document_] = [params.get("of") || chosen()[0], params.get("doc")];
  forgetPicture();
  Object.assign(own, { key, index, document: document_, start, end, info: null, text: null, page: null, problem: null,
    tab: "page", opener: document.activeElement });
  update();
  await tried(async () => {
    const [info, chunks] = await Promise.all([
      getJson(documentPath(index, document_), { signal }),
      getJson(documentPath(index, document_, "chunks"), { signal }),
    ]);
    const chunk = chunks.chunks.find((one) => one.start <= start && start < Math.max(one.end, one.start + 1)) ?? chunks.chunks[0];
    Object.assign(own, { info, chunk, page: hasPages(info) ? chunk?.page ?? null : null });
    if (isRecording(info)) await import("/page/recording.js");
    own.text = await getText(documentPath(index, document_, "content"), { signal });
    await update();
    scrollToMark();
    if (own.page !== null) await drawPage(signal);
  }, (error) => update(() => { own.problem = error; }));
};

const forgetPicture = () => {
  if (own.picture) URL.revokeObjectURL(own.picture);
  own.picture = "";
  own.pictureFailed = false;
};

const drawPage = async (signal) => {
  try {
    const where = withQuery(documentPath(own.index, own.document, "pages", own.page), `start=${own.start}&end=${own.end}`);
    own.picture = URL.createObjectURL(await getBlob(where, { signal }));
  } catch (error) {
    if (error.name === "AbortError") throw error;
    own.pictureFailed = true;
  }
  await update();
  scrollToMark();
};

const scrollToMark = () => {
  const box = document.getElementById("source-text");
  const mark = box?.querySelector("[data-target]") ?? box?.querySelector("#span");
  if (!mark) return;
  const gap = mark.getBoundingClientRect().top - box.getBoundingClientRect().top;
  box.scrollTop += gap - Math.min(96, box.clientHeight / 4);
};

const textOf = (terms, cited) => {
  const first = unitsAt(own.text, own.start);
  const [start, end] = [first.unit, unitsAt(own.text, own.end, first).unit];
  const from = start > AROUND ? own.text.indexOf("\n", start - AROUND) + 1 || start - AROUND : 0;
  const to = own.text.length - end > AROUND ? end + AROUND : own.text.length;
  const inside = own.text.slice(start, end);
  const spans = spansOf(inside, terms);
  const [best] = windowOf(inside, spans, ROOM);
  const target = Math.max(0, spans.findIndex(([at]) => at >= best));
  const pieces = cited ? html`<mark class="cited" id="span">${inside}</mark>`
    : html`<span class="found" id="span">${pointed(marked(inside, spans), target)}</span>`;
  return [from > 0 && "…\n", own.text.slice(from, start), pieces, own.text.slice(end, to), to < own.text.length && "\n…"];
};

// The mark that is brought into sight.
const pointed = (pieces, target) => {
  let at = -1;
  return pieces.map((one) => (typeof one !== "string" && ++at === target ? html`<span data-target>${one}</span>` : one));
};

const spanOf = () => ({ index: own.index, doc: own.document, at: `${own.start}-${own.end}`, as_of: state.route.params.get("as_of") });

const picture = () => {
  if (own.pictureFailed) return html`<p class="quiet">${t("page.none", { page: own.page })}</p>`;
  return own.picture ? html`<a href=${address("document", { ...spanOf(), tab: "pages" })} title=${t("page.larger")}><img src=${own.picture} alt=${t("page.marked", { page: own.page })}></a>`
    : html`<p class="quiet" role="status">${t("page.drawing", { page: own.page })}</p>`;
};

const tab = (name) => html`<button type="button" role="tab" aria-selected=${String(own.tab === name)}
  tabindex=${own.tab === name ? "0" : "-1"} id=${`source-tab-${name}`} aria-controls=${`source-${name}`}
  @click=${() => showTab(name)} @keydown=${onTabKey}>${t(`source.${name}`)}</button>`;

const showTab = async (name) => {
  await update(() => { own.tab = name; });
  scrollToMark();
};

const onTabKey = (event) => {
  if (event.key !== "ArrowLeft" && event.key !== "ArrowRight") return;
  event.stopPropagation();
  const name = own.tab === "page" ? "text" : "page";
  showTab(name).then(() => document.getElementById(`source-tab-${name}`)?.focus());
};

const body = (terms, cited) => {
  if (own.problem) return refusal(own.problem);
  if (own.text === null) return html`<p class="quiet" role="status">${t("opening")}</p>`;
  const paged = own.page !== null;
  return html`
    ${paged && html`<div class="tabs" role="tablist" aria-label=${t("source.as")}>${tab("page")}${tab("text")}</div>`}
    <div class="leaf">
      ${paged && html`<figure id="source-page" role="tabpanel" tabindex="0" aria-labelledby="source-tab-page"
        ?hidden=${own.tab !== "page"}>${picture()}</figure>`}
      <div id="source-text" class=${isInLines(own.info) ? "text lines" : "text"} tabindex="0" role=${paged ? "tabpanel" : "document"}
        aria-label=${t("document.text")} ?hidden=${paged && own.tab !== "text"}>${textOf(terms, cited)}</div>
    </div>`;
};

export const sourcePanel = (terms = []) => {
  if (!isReading()) return null;
  const title = own.info ? own.info.title || lastPart(own.info.source) : "…";
  const cited = state.route.params.has("cite");
  return html`<aside class="source" id="source" aria-labelledby="source-title" tabindex="-1">
    <div class="bar-top">
      <h2 id="source-title"><a href=${address("document", spanOf())}>${title}</a></h2>
      <button type="button" class="plain" @click=${closeSource} aria-label=${t("close.source")}>${icon("close")}</button>
    </div>
    <p class="quiet where">${own.info && [lastPart(own.info.source), own.chunk && placeOf({ ...own.chunk, title })].filter(Boolean).join(" · ")}</p>
    ${isRecording(own.info) && own.chunk?.place && html`<recording-player from=${documentPath(own.index, own.document, "original")} at=${own.chunk.place}></recording-player>`}
    ${body(terms, cited)}
  </aside>`;
};
