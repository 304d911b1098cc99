// Draws what a search found.

import { byId, counted, duration, lastPart, make, placeOf } from "/page/dom.js";
import { ROOM, askedTerms, marked, spansOf, windowOf } from "/page/marking.js";
import { explanation, scoreBar } from "/page/scores.js";

const DOUBTFUL = 0.3;

const snippet = (text, terms) => {
  const flat = text.replace(/\s+/g, " ").trim();
  const spans = spansOf(flat, terms);
  const [start, end] = windowOf(flat, spans, ROOM);
  const inside = spans.filter(([a, b]) => a >= start && b <= end).map(([a, b]) => [a - start, b - start]);
  return make("p", { class: "snippet" }, start > 0 ? "… " : null, ...marked(flat.slice(start, end), inside),
    end < flat.length ? " …" : null);
};

const drawn = (hit, { best, terms, fusion, open }) => {
  const title = make("button", { type: "button", class: "title", "aria-haspopup": "dialog" }, hit.title || lastPart(hit.source));
  title.addEventListener("click", () => open(hit, terms));
  const why = make("details", {}, make("summary", {}, "Why it is here"));
  why.addEventListener("toggle", () => {
    if (why.open && why.children.length === 1) why.append(explanation(hit, fusion));
  });
  const heading = placeOf(hit);
  return make("li", { class: "hit" },
    make("span", { class: "rank", "aria-hidden": "true" }, String(hit.rank)),
    make("div", { class: "of" },
      make("div", { class: "top" }, make("h3", {}, title), scoreBar(hit, best)),
      make("p", { class: "where" }, hit.collection ? make("span", { class: "collection" }, hit.collection) : null,
        make("span", { class: "source", title: hit.source }, lastPart(hit.source)),
        heading ? make("span", { class: "heading" }, heading) : null),
      snippet(hit.text, terms), why));
};

export const note = (title, text, kind = "note") =>
  make("div", { class: kind, role: kind === "error" ? "alert" : null }, make("strong", {}, title), " ", text);

const doubts = (found) => {
  const notes = found.warnings.map((one) => note("Not everything could be done:", `${one.stage}: ${one.message}`));
  if (found.hits.length && found.p_answerable != null && found.p_answerable < DOUBTFUL) {
    notes.unshift(note("Probably not in your documents.", "These passages are the nearest there are."));
  }
  return notes;
};

export const showResults = (found, open) => {
  const best = Math.max(0, ...found.hits.map((hit) => hit.score));
  const terms = askedTerms(found);
  byId("notes").replaceChildren(...doubts(found));
  byId("hits").replaceChildren(...found.hits.map((hit) => drawn(hit, { best, terms, fusion: found.fusion, open })));
  byId("legend").replaceChildren(...(found.hits.length ? [legend(found)] : []));
  byId("teaching").replaceChildren(...(found.hits.length ? [] : [nothing()]));
};

// One line for the status: how many, how fast.
export const summary = (found) => {
  const total = found.timings_ms.total;
  return counted(found.hits.length, "passage") + (total == null ? "" : ` in ${duration(total)}`);
};

const LEGEND = [["bm25", "words", "bm25"], ["vector", "meaning", "vector"]];

const legend = (found) => {
  const retrievers = new Set(found.hits.flatMap((hit) => hit.trace.retrievers.map((retriever) => retriever.retriever)));
  const kinds = LEGEND.filter(([retriever]) => retrievers.has(retriever)).map(([, kind, name]) => [kind, name]);
  if (found.rerank) kinds.push(["reread", "read again"]);
  return make("p", { class: "legend quiet" }, "The bars: ",
    ...kinds.flatMap(([kind, name]) => [make("span", { class: `dot ${kind}`, "aria-hidden": "true" }), `${name} `]));
};

const nothing = () => make("div", { class: "lesson" },
  make("h2", {}, "Nothing was found"),
  make("ul", {},
    make("li", {}, "Quoted phrases and ", make("kbd", {}, "+words"), " must occur, ", make("kbd", {}, "-words"), " must not: leave them out."),
    make("li", {}, "A filter on a field that no document has passes none: empty it."),
    make("li", {}, "Vector and hybrid search also find other words for the same thing.")));

const clear = () => {
  for (const id of ["notes", "hits", "legend", "teaching"]) byId(id).replaceChildren();
};

export const showLesson = (title, ...lines) => {
  clear();
  byId("teaching").replaceChildren(make("div", { class: "lesson" }, make("h2", {}, title), ...lines));
};

export const showRefused = (problem) => {
  clear();
  byId("notes").replaceChildren(note(problem.message, problem.hint, "error"));
};
