// Which stretches of a text to mark, and the text with its marks. Spans are [start, end).

import { html } from "/page/ui.js";

const WORD = /[\p{L}\p{N}\p{M}_]+/gu;
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}]/u;
const LONGEST_ENDING = 5;

const folded = (word) => word.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();

// The server counts characters, a script counts UTF-16 units: an emoji is one there and two here.
export const unitsAt = (text, characters, from = { unit: 0, character: 0 }) => {
  let { unit, character } = from;
  while (character < characters && unit < text.length) {
    unit += text.codePointAt(unit) > 0xffff ? 2 : 1;
    character += 1;
  }
  return { unit, character };
};

export const slicedBy = (text, start, end) => {
  const first = unitsAt(text, start);
  return text.slice(first.unit, unitsAt(text, end, first).unit);
};

const meets = (word, term) =>
  word === term || (term.length >= 3 && word.startsWith(term) && word.length - term.length <= LONGEST_ENDING) ||
  (term.length >= 4 && term.endsWith("i") && word.startsWith(term.slice(0, -1)) && word.endsWith("y"));

// The terms that were asked for: those of the traces that a word of the question has, without what the search added
// itself from the passages it found first; where words were not asked, the question's own words.
export const askedTerms = ({ query, queries, hits }) => {
  const words = ([query, ...queries].join(" ").match(WORD) ?? []).map(folded);
  const terms = new Set(hits.flatMap((hit) => hit.terms.filter(({ origin }) => origin === "query").map(({ term }) => folded(term))));
  const has = (word, term) => meets(word, term) || (UNSPACED.test(term) && word.includes(term));
  const asked = [...terms].filter((term) => words.some((word) => has(word, term)));
  return asked.length ? asked : words.filter((word) => word.length > 3);
};

export const wordsOf = (text) => (text.match(WORD) ?? []).map(folded);

// The spans of a text's words that are among the terms; a term in a script without spaces is found anywhere.
export const spansOf = (text, terms) => {
  const spans = [];
  for (const found of text.matchAll(WORD)) {
    const word = folded(found[0]);
    if (terms.some((term) => meets(word, term))) spans.push([found.index, found.index + found[0].length]);
    else if (UNSPACED.test(word)) spans.push(...within(found[0], terms).map(([a, b]) => [a + found.index, b + found.index]));
  }
  return spans;
};

const within = (word, terms) => {
  const spans = [];
  for (const term of terms.filter((one) => UNSPACED.test(one))) {
    for (let at = word.indexOf(term); at >= 0; at = word.indexOf(term, at + term.length)) spans.push([at, at + term.length]);
  }
  spans.sort(([a], [b]) => a - b);
  return joined(spans);
};

const joined = (spans) => spans.reduce((all, [start, end]) => {
  const last = all.at(-1);
  if (last && start <= last[1]) last[1] = Math.max(last[1], end);
  else all.push([start, end]);
  return all;
}, []);

// A text in lower case that is as long as it was: the Turkish İ alone becomes two units.
const lowered = (text) => {
  const low = text.toLowerCase();
  return low.length === text.length ? low : Array.from(text, (one) => one.toLowerCase().slice(0, one.length)).join("");
};

// Where a text says something verbatim, capitals aside.
export const occurrences = (text, sought) => {
  const [low, part] = [lowered(text), lowered(sought.trim())];
  const spans = [];
  if (part) for (let at = low.indexOf(part); at >= 0 && spans.length < 2_000; at = low.indexOf(part, at + part.length)) spans.push([at, at + part.length]);
  return spans;
};

// The text in pieces for a template, with a <mark> around each span.
export const marked = (text, spans, name = "term") => {
  const pieces = [];
  let at = 0;
  for (const [start, end] of spans) {
    if (start > at) pieces.push(text.slice(at, start));
    pieces.push(html`<mark class=${name}>${text.slice(start, end)}</mark>`);
    at = end;
  }
  if (at < text.length) pieces.push(text.slice(at));
  return pieces;
};

export const ROOM = 360; // characters of a passage that are shown in a result

// Where to cut a text so that most of the marks are in sight within `room`: [start, end).
export const windowOf = (text, spans, room) => {
  if (text.length <= room) return [0, text.length];
  const inSight = (from) => spans.filter(([start, end]) => start >= from && end <= from + room).length;
  const best = spans.slice(0, 200).reduce((top, [start]) => {
    const seen = inSight(start);
    return seen > top.seen ? { start, seen } : top;
  }, { start: 0, seen: 0 });
  const lead = Math.max(0, Math.min(best.start - room / 6, text.length - room));
  const start = lead > 0 ? text.indexOf(" ", lead) + 1 || lead : 0;
  const blank = text.lastIndexOf(" ", start + room);
  return [start, start + room >= text.length ? text.length : blank > start ? blank : start + room];
};
