// An answer as it comes and as it stands, with its citations as chips that open what they cite.

import { Refused, answerOf } from "/page/api.js";
import { lastPart, percent, placeOf } from "/page/format.js";
import { slicedBy, unitsAt } from "/page/marking.js";
import { drawn, flatRunsOf, hasMarks, plainOf, runsOf } from "/page/markup.js";
import { stretchesOf, tableOf } from "/page/passages.js";
import { sourceHref } from "/page/places.js";
import { t } from "/page/strings.js";
import { html } from "/page/ui.js";

const MARKER = /\[(\d{1,3})\]/g;

export const nothingYet = () => ({ text: "", sources: [], citations: [], sentences: [], writing: true });

// Follows the events of one answer; `report` is given what is known each time, `stage` what is being done.
export const follow = async (events, report, stage) => {
  let known = nothingYet();
  for await (const event of events) {
    if (event.type === "stage") stage(event.name);
    else if (event.type === "reading") stage(t("stage.reading", { share: percent(event.done / event.total) }));
    else if (event.type === "sources") known = { ...known, sources: event.sources };
    else if (event.type === "answer_chunk") known = { ...known, text: known.text + event.content };
    else if (event.type === "citation") {
      const citations = [...known.citations];
      citations[event.index] = event.citation;
      known = { ...known, citations };
    } else if (event.type === "done") return { ...answerOf(event.answer), writing: false };
    else if (event.type === "error") throw new Refused(event.problem ?? { ...event, detail: event.message });
    report(known);
  }
  throw new Refused({ detail: t("cut.off"), hint: t("ask.again.hint") });
};

const sourceSpan = (source) => source?.parts.length > 0 && { ...source.parts[0], document: source.document, source: source.source,
  title: source.title, collection: source.collection, number: source.number, quote: source.text };

// Sentences with their places in UTF-16 units.
const placed = (answer) => {
  let from = { unit: 0, character: 0 };
  return answer.sentences.map((one) => {
    from = unitsAt(answer.text, one.start, from);
    return { ...one, from: from.unit, to: from.unit + slicedBy(answer.text, one.start, one.end).length };
  });
};

const NEXT = 2; // characters at most between sentences that follow each other

// A citation that goes on: what is cited in one piece is opened and marked in one piece.
const withNext = (one, next) => (next.document !== one.document || next.start < one.end || next.start > one.end + NEXT ? one
  : { ...one, end: next.end, quote: `${one.quote} ${next.quote}` });

// What a sentence cites of a source. Of a table those are its header, where the source has it there, and the rows: a row
// is what was asked for.
const citedIn = (said, answer, number) => {
  const all = said?.citations.map((at) => answer.citations[at]).filter((one) => one?.number === number) ?? [];
  return all.length > 1 && all.length === said.cells?.length ? all.slice(1) : all;
};

// The citation that a marker at `unit` of the text stands for: its sentence's, else the next of that number, else the source.
const citedBy = (answer, sentences, number, unit, taken) => {
  const mine = citedIn(sentences.findLast((one) => one.from <= unit), answer, number);
  if (mine.length) return mine.reduce(withNext);
  const ofNumber = answer.citations.filter((one) => one?.number === number);
  const next = ofNumber[Math.min(taken.get(number) ?? 0, ofNumber.length - 1)];
  taken.set(number, (taken.get(number) ?? 0) + 1);
  return next ?? sourceSpan(answer.sources.find((one) => one.number === number));
};

const chip = (citation, number) => {
  const label = t("citation", { number, name: citation ? citation.title || lastPart(citation.source) : "" });
  return citation ? html`<a class="chip" href=${sourceHref(citation, true)} aria-label=${label} title=${citation.quote?.slice(0, 300)}>${number}</a>`
    : html`<span class="chip" aria-label=${label}>${number}</span>`;
};

// Whether what stands at a place of the answer has marks to draw: what a model writes does, and what is taken from a
// document that does, which the next marker names.
const isMarked = ({ mode, text, sources }, at) => {
  const all = [...text.matchAll(MARKER)];
  const number = Number((all.find(({ index }) => index >= at) ?? all.at(-1))?.[1]);
  return mode === "generated" || hasMarks((sources.find((one) => one.number === number) ?? sources[0])?.source);
};

// A stretch of the answer: its tables drawn, and a chip for each marker.
const withChips = (answer, sentences, from, to, taken) => stretchesOf(answer.text.slice(from, to)).map((one) =>
  (one.rows ? tableOf(one, [], isMarked(answer, from + one.at)) : chipped(answer, sentences, from + one.at, from + one.at + one.text.length, taken)));

const chipped = (answer, sentences, from, to, taken) => {
  const pieces = [];
  const text = answer.text.slice(from, to);
  let last = 0;
  const put = (part) => pieces.push(isMarked(answer, from + last) ? drawn(runsOf(part)) : part);
  for (const found of text.matchAll(MARKER)) {
    const number = Number(found[1]);
    put(text.slice(last, found.index).replace(/ $/, "\u2009"));
    pieces.push(chip(citedBy(answer, sentences, number, from + found.index, taken), number));
    last = found.index + found[0].length;
  }
  put(text.slice(last));
  return pieces;
};

const SHORT = 240; // characters of a first sentence that stands on top by itself

// Where what stands on top ends: the short answer, or a first sentence of several.
const leadOf = ({ short, text, writing }, sentences) => {
  if (short && !writing && text.startsWith(short)) return short.length + text.slice(short.length).search(/\S|$/);
  return sentences.length > 2 && sentences[0].to < SHORT && /^[\p{L}\p{N}"“„(]/u.test(text) ? sentences[1].from : 0;
};

export const prose = (answer) => {
  const sentences = answer.writing ? [] : placed(answer);
  const taken = new Map();
  const pieces = [];
  let at = 0;
  for (const one of sentences.filter(({ supported }) => supported === false)) {
    pieces.push(withChips(answer, sentences, at, one.from, taken), html`<span class="unsupported" title=${t("unsupported")}>
      ${withChips(answer, sentences, one.from, one.to, taken)}<span class="hidden"> (${t("unsupported")})</span></span>`);
    at = one.to;
  }
  const lead = at ? 0 : leadOf(answer, sentences);
  if (lead) {
    pieces.push(html`<strong class="lead">${withChips(answer, sentences, 0, answer.text.slice(0, lead).trimEnd().length, taken)}</strong>`);
    at = lead;
  }
  pieces.push(withChips(answer, sentences, at, answer.text.length, taken));
  return html`<div class=${answer.writing ? "prose writing" : "prose"}>${pieces}</div>`;
};

const listed = (spans) => html`<ol class="source-list">${spans.map((span) => {
  const where = placeOf({ ...span, heading: [] });
  return html`<li><a href=${sourceHref(span)}><span class="chip" aria-hidden="true">${span.number}</span>
    <span class="source-name">${lastPart(span.source)}</span>${where && html` <span class="quiet number">${where}</span>`}</a></li>`;
})}</ol>`;

// What is cited, where the first citation stands; what was read besides lies folded beneath.
export const sourceList = ({ sources, citations }) => {
  const given = sources.filter((source) => source.given && source.parts.length);
  const first = ({ number }) => citations.find((one) => one?.number === number);
  const [cited, others] = [given.map(first).filter(Boolean), given.filter((source) => !first(source)).map(sourceSpan)];
  return [cited.length > 0 && listed(cited),
    others.length > 0 && html`<details class="sources-more"><summary>${t("sources.more", { count: others.length })}</summary>${listed(others)}</details>`];
};

export const nearest = (sources) => html`<ol class="nearest">${sources.filter((one) => one.parts.length).slice(0, 3).map((source) => html`<li>
  <a href=${sourceHref(sourceSpan(source))}>${lastPart(source.source)}</a>
  <p class="quiet">${plainOf(flatRunsOf(source.text, hasMarks(source.source))).slice(0, 200)}${source.text.length > 200 && " …"}</p></li>`)}</ol>`;

// In words how likely an answer is correct; null where nobody knows. On collections that the chance was never fitted on
// it is up to .16 off (docs/answerable.md): from .66 on an answer is more likely right than wrong on all of them, and
// below .34 more likely wrong.
export const surenessOf = ({ correct, refused }) => {
  if (refused || typeof correct !== "number") return null;
  return correct >= 0.66 ? "likely" : correct >= 0.34 ? "check" : "doubtful";
};

// Nothing is ever quite certain.
export const chanceOf = ({ correct }) => percent(Math.min(0.99, Math.max(0.01, correct)));

// What kind of answer it is and how sure, with the figure under “Details”.
export const certainty = (answer) => {
  const sure = surenessOf(answer);
  return html`<div class="quiet kind">${sure && html`<strong class=${`sure ${sure}`} title=${t(`sure.${sure}.says`)}>${t(`sure.${sure}`)}</strong>`}
    <span>${t(`kind.${answer.mode}`)}</span>
    ${sure && html`<details><summary>${t("details")}</summary><p>${t(`sure.${sure}.says`)} ${t("sure.chance", { share: chanceOf(answer) })}</p></details>`}</div>`;
};

// What it took besides the search: what was searched for again, and the documents cited because they are named.
export const further = ({ rounds = [], links = [] }) => [
  ...rounds.map(({ query }) => html`<p class="quiet further">${t("searched.again", { query })}</p>`),
  links.length > 0 && html`<p class="quiet further">${t("cited.named", { names: [...new Set(links.map(({ title }) => title))].join(", ") })}</p>`,
];

// The answer as plain text with numbered sources beneath.
export const asText = (answer) => {
  const cited = [...new Map(answer.citations.filter(Boolean).map((one) => [one.number, one])).values()];
  const lines = cited.sort((a, b) => a.number - b.number).map((one) => `[${one.number}] ${one.source}${one.place ? `, ${one.place}` : ""}${one.page ? `, ${t("page", { page: one.page })}` : ""}`);
  return [answer.text, ...(lines.length ? ["", ...lines] : [])].join("\n");
};
