// Draws an answer as it comes, and its citations as chips that open what they cite.

import { Refused } from "/page/api.js";
import { byId, lastPart, make } from "/page/dom.js";
import { slicedBy, unitsAt } from "/page/marking.js";
import { note } from "/page/results.js";

const MARKER = /\[(\d{1,3})\]/g;
const STAGES = {
  search: "Searching …", context: "Choosing passages …", extract: "Reading …", generate: "Writing …", check: "Checking citations …",
};

// What is known of an answer so far.
const nothingYet = () => ({ text: "", sources: [], citations: [], sentences: [], unsettled: true });

// The citation that a marker at `unit` of the text stands for: its sentence's, else the next of that number, else the source.
const citedBy = (state, number, unit, taken) => {
  const said = state.sentences.findLast((one) => one.from <= unit);
  const own = said?.citations.map((at) => state.citations[at]).find((one) => one?.number === number);
  if (own) return own;
  const ofNumber = state.citations.filter((one) => one?.number === number);
  const next = ofNumber[Math.min(taken.get(number) ?? 0, ofNumber.length - 1)];
  taken.set(number, (taken.get(number) ?? 0) + 1);
  return next ?? sourceSpan(state.sources.find((one) => one.number === number));
};

const sourceSpan = (source) => source && { ...source.parts[0], document: source.document, source: source.source,
  title: source.title, collection: source.collection, number: source.number, quote: source.text };

const chip = (citation, number, open) => {
  const says = citation ? `Citation ${number}: ${citation.title || lastPart(citation.source)}` : `Citation ${number}`;
  const button = make("button", { type: "button", class: "chip", "aria-haspopup": "dialog", "aria-label": says,
    title: citation?.quote?.slice(0, 300) ?? "", disabled: !citation }, `[${number}]`);
  button.addEventListener("click", () => open(citation));
  return button;
};

// A stretch of the answer as nodes: text, and chips for its markers.
const withChips = (text, at, state, taken, open) => {
  const nodes = [];
  let last = 0;
  for (const found of text.matchAll(MARKER)) {
    const number = Number(found[1]);
    nodes.push(text.slice(last, found.index), chip(citedBy(state, number, at + found.index, taken), number, open));
    last = found.index + found[0].length;
  }
  nodes.push(text.slice(last));
  return nodes;
};

const prose = (state, open) => {
  const taken = new Map();
  const nodes = [];
  let at = 0;
  for (const one of state.sentences.filter((sentence) => sentence.supported === false)) {
    nodes.push(...withChips(state.text.slice(at, one.from), at, state, taken, open));
    nodes.push(make("span", { class: "unsupported", title: "Nothing in the sources bears this out." },
      ...withChips(state.text.slice(one.from, one.to), one.from, state, taken, open),
      make("span", { class: "hidden" }, " (not borne out by the sources)")));
    at = one.to;
  }
  nodes.push(...withChips(state.text.slice(at), at, state, taken, open));
  return make("p", { class: state.unsettled ? "prose writing" : "prose" }, ...nodes);
};

const sourceList = (sources, open) => {
  const items = sources.filter((source) => source.given && source.parts.length).map((source) => {
    const button = make("button", { type: "button", class: "link", "aria-haspopup": "dialog" }, source.title || lastPart(source.source));
    button.addEventListener("click", () => open(sourceSpan(source)));
    return make("li", { value: source.number }, button);
  });
  return items.length ? make("details", { class: "sources" }, make("summary", {}, "What it was given"), make("ol", {}, ...items)) : null;
};

const settled = (state, answer) => {
  let from = { unit: 0, character: 0 };
  const sentences = answer.sentences.map((one) => {
    from = unitsAt(answer.text, one.start, from);
    return { ...one, from: from.unit, to: from.unit + slicedBy(answer.text, one.start, one.end).length };
  });
  return { ...state, text: answer.text, sources: answer.sources, citations: answer.citations, sentences, unsettled: false };
};

const refusal = (answer) => [
  make("p", { class: "refused" }, make("strong", {}, "Probably not in your documents.")),
  make("p", {}, answer.text),
  make("p", { class: "quiet" }, "The nearest passages are among the results. Other words may find it, a filter may be in the way, or no document says it."),
];

const KINDS = {
  extractive: "Sentences of your documents, word for word.",
  generated: "Written by a model from your documents; every citation was checked.",
  ungrounded: "Written by a model, with nothing of your documents behind it.",
};

const whole = (state, answer, open) => [
  ...(answer.refused ? refusal(answer) : [prose(state, open), make("p", { class: "quiet" }, KINDS[answer.mode])]),
  ...answer.warnings.map((one) => note("Not everything could be done:", `${one.stage}: ${one.message}`)),
  sourceList(state.sources, open),
].filter(Boolean);

// Draws the events of one answer; `tell` is given what is being done.
export const showAnswer = async (events, { open, tell }) => {
  const body = byId("answer-body");
  let state = nothingYet();
  body.setAttribute("aria-busy", "true");
  body.replaceChildren(make("p", { class: "quiet writing" }, ""));
  try {
    for await (const event of events) {
      if (event.type === "stage") tell(STAGES[event.name] ?? `${event.name} …`);
      else if (event.type === "sources") state = { ...state, sources: event.sources };
      else if (event.type === "answer_chunk") state = { ...state, text: state.text + event.content };
      else if (event.type === "citation") state.citations[event.index] = event.citation;
      else if (event.type === "done") {
        body.replaceChildren(...whole(settled(state, event.answer), event.answer, open));
        return event.answer;
      } else if (event.type === "error") throw new Refused(event.problem ?? { ...event, detail: event.message });
      if (state.text) body.replaceChildren(prose(state, open));
    }
    throw new Refused({ detail: "The answer was cut off.", hint: "Ask again." });
  } catch (error) {
    if (error.name !== "AbortError" && !(error instanceof Refused)) throw error;
    const why = error.name === "AbortError" ? note("Stopped.", "") : note(error.message, error.hint, "error");
    body.replaceChildren(...(state.text ? [prose({ ...state, unsettled: false }, open)] : []), why);
    return null;
  } finally {
    body.setAttribute("aria-busy", "false");
  }
};
