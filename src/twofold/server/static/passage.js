// Opens a passage in its document: the text around it, with the cited words marked and in sight.

import { Refused, getJson, getPicture, getText, pathOf } from "/page/api.js";
import { byId, lastPart, make, placeOf } from "/page/dom.js";
import { ROOM, marked, spansOf, unitsAt, windowOf } from "/page/marking.js";

const AROUND = 20_000; // UTF-16 units of a long document that are shown before and after

let opening = new AbortController();
let picture = "";

// `span` has document, source, title, page, place, heading, start and end; `terms` are marked within it.
export const openPassage = async (index, span, terms = []) => {
  const dialog = byId("passage");
  opening.abort();
  opening = new AbortController();
  const { signal } = opening;
  byId("passage-title").textContent = span.title || lastPart(span.source);
  byId("passage-place").textContent = [span.collection, span.source, placeOf(span)].filter(Boolean).join(" · ");
  const text = byId("passage-text");
  text.setAttribute("aria-busy", "true");
  text.replaceChildren(make("p", { class: "quiet" }, "Opening …"));
  clearPage();
  if (!dialog.open) dialog.showModal();
  text.focus();
  try {
    const whole = await getText(pathOf(index, "documents", span.document, "content"), { signal });
    showText(text, whole, span, terms);
    if (span.page != null) await showPage(index, span, signal);
  } catch (error) {
    if (error.name === "AbortError") return;
    if (!(error instanceof Refused)) throw error;
    text.replaceChildren(make("p", { class: "error", role: "alert" }, `${error.message} ${error.hint}`));
  } finally {
    if (!signal.aborted) text.setAttribute("aria-busy", "false");
  }
};

const showText = (box, whole, span, terms) => {
  const first = unitsAt(whole, span.start);
  const start = first.unit;
  const end = unitsAt(whole, span.end, first).unit;
  const from = start > AROUND ? whole.indexOf("\n", start - AROUND) + 1 || start - AROUND : 0;
  const to = whole.length - end > AROUND ? end + AROUND : whole.length;
  const inside = whole.slice(start, end);
  const spans = spansOf(inside, terms);
  const shown = terms.length
    ? make("span", { class: "found" }, ...marked(inside, spans))
    : make("mark", { class: "cited" }, inside);
  shown.id = "span";
  box.replaceChildren(from > 0 ? "…\n" : "", whole.slice(from, start), shown, whole.slice(end, to), to < whole.length ? "\n…" : "");
  const [best] = windowOf(inside, spans, ROOM);
  const target = shown.querySelectorAll("mark")[spans.findIndex(([at]) => at >= best)] ?? shown;
  const gap = target.getBoundingClientRect().top - box.getBoundingClientRect().top;
  box.scrollTop += gap - Math.min(96, box.clientHeight / 4);
};

const clearPage = () => {
  if (picture) URL.revokeObjectURL(picture);
  picture = "";
  const frame = byId("passage-page");
  frame.replaceChildren();
  frame.hidden = true;
};

// The picture of a page, for documents that have any; where there is none the text is all there is.
const showPage = async (index, span, signal) => {
  const info = await getJson(pathOf(index, "documents", span.document), { signal });
  if (info.media_type !== "application/pdf") return;
  const frame = byId("passage-page");
  frame.hidden = false;
  frame.replaceChildren(make("p", { class: "quiet" }, `Drawing page ${span.page} …`));
  const where = `${pathOf(index, "documents", span.document, "pages", span.page)}?start=${span.start}&end=${span.end}`;
  try {
    picture = URL.createObjectURL(await getPicture(where, { signal }));
    frame.replaceChildren(make("img", { src: picture, alt: `Page ${span.page}, with the passage marked` }));
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    frame.replaceChildren(make("p", { class: "quiet" }, `There is no picture of page ${span.page}.`));
  }
};
