// What a score is made of: a bar split by what gave it, and an explanation in plain words with the figures beneath.

import { figure, percent } from "/page/format.js";
import { figures } from "/page/parts.js";
import { t } from "/page/strings.js";
import { html } from "/page/ui.js";

const KINDS = { bm25: "words", vector: "meaning" };
export const kindOf = (name) => KINDS[name] ?? "other";
export const nameOf = (name) => (name in KINDS ? t(`by.${KINDS[name]}`) : name);

const rerankOf = ({ steps }) => steps.map((step) => step.detail).find((detail) => detail.relevance !== null && detail.relevance !== undefined);

// The parts of a score, each with its size; what a second reading said is one of them.
export const partsOf = (hit) => {
  const read = rerankOf(hit);
  const reread = read ? Math.max(0, read.weight * read.relevance) : 0;
  const parts = hit.parts.map((one) => ({ name: nameOf(one.name), kind: kindOf(one.name), size: Math.max(0, one.part) }));
  const total = parts.reduce((sum, part) => sum + part.size, 0);
  const left = Math.max(0, hit.score - reread);
  const shares = parts.map((part) => ({ ...part, size: total ? (left * part.size) / total : 0 }));
  if (read) shares.push({ name: t("by.reread"), kind: "reread", size: reread });
  return shares.filter((part) => part.size > 0);
};

export const sharesOf = (hit) => {
  const parts = partsOf(hit);
  const sum = parts.reduce((total, part) => total + part.size, 0);
  return parts.map((part) => ({ ...part, share: part.size / sum }));
};

// The bar: as long as the score next to the best one, split by what gave it.
export const scoreBar = (hit, best) => {
  const parts = sharesOf(hit);
  const said = parts.map((part) => `${part.name} ${percent(part.share)}`).join(", ");
  return html`<span class="score" title=${said}>
    <span class="bar" aria-hidden="true">${parts.map((part) => html`
      <span class=${part.kind} style=${{ width: `${best > 0 ? Math.min(100, (100 * part.size) / best) : 0}%` }}></span>`)}</span>
    <span class="figure">${figure(hit.score)}</span>
    <span class="hidden">${said && `: ${said}`}</span>
  </span>`;
};

const foundBy = (hit) => {
  const ranked = hit.parts.filter((one) => one.rank !== null && one.rank !== undefined);
  return ranked.length ? t("found", { list: ranked.map((one) => t("found.at", { by: nameOf(one.name), rank: one.rank })).join(t("and")) }) : t("found.late");
};

const SHOWN = 8;

const wordLines = (terms) => [...terms].sort((a, b) => b.score - a.score).slice(0, SHOWN);

const wordBars = (title, terms) => {
  const best = Math.max(...terms.map((one) => one.score));
  return terms.length > 0 && html`<div class="words-of"><h4>${title}</h4>
    <ul class="word-bars">${wordLines(terms).map((one) => html`<li>
      <span class="word">${one.word || one.term}</span>
      <span class="bar" aria-hidden="true"><span class="words" style=${{ width: `${best > 0 ? (100 * one.score) / best : 0}%` }}></span></span>
      <span class="quiet">${t("times", { count: one.frequency })}</span></li>`)}</ul></div>`;
};

const CHANGES = { rerank: "step.rerank", boost: "step.boost", boost_fused: "step.boost", boost_reranked: "step.boost", metadata: "step.metadata", metadata_boost: "step.metadata",
  score: "step.score", recency: "step.recency" };

const details = (hit, fusion) => html`<details class="figures-of"><summary>${t("details")}</summary>
  ${figures(t("score.by", { fusion }), [t("by"), t("rank"), t("score.own"), t("normalized"), t("weight"), t("part")],
    hit.parts.map((one) => [nameOf(one.name), one.rank ?? "–", one.raw === null ? t("pending") : figure(one.raw), figure(one.normalized ?? 0), figure(one.weight ?? 0), figure(one.part)]))}
  ${hit.steps.length > 0 && figures(t("then"), [t("step"), t("before"), t("after")],
    hit.steps.map((step) => [CHANGES[step.stage] ? t(CHANGES[step.stage]) : step.stage, figure(step.before), figure(step.after)]))}
  ${hit.terms.length > 0 && figures(t("terms"), [t("term"), t("times.head"), t("rarity"), "BM25"],
    wordLines(hit.terms).map((one) => [one.term, one.frequency, figure(one.idf), figure(one.score)]))}
  <p class="quiet exact">${t("score.exact", { score: hit.score })}</p>
</details>`;

// Why a passage is where it is: a sentence, the words that counted, and all figures for people who want them.
export const explanation = (hit, fusion) => {
  const own = hit.terms.filter(({ origin }) => origin === "query");
  const added = hit.terms.filter(({ origin }) => origin !== "query");
  const parts = sharesOf(hit);
  const read = rerankOf(hit);
  return html`<div class="explanation">
    <p>${foundBy(hit)} ${parts.length > 1 && t("shares", { list: parts.map((one) => `${one.name} ${percent(one.share)}`).join(", ") })}
      ${read && ` ${t("reread.says", { share: percent(read.relevance) })}`}</p>
    ${own.length > 0 && wordBars(t("words.yours"), own)}
    ${added.length > 0 && wordBars(t("words.added"), added)}
    ${details(hit, fusion)}
  </div>`;
};

export const legend = (hits) => {
  const kinds = new Map(hits.flatMap(partsOf).map((part) => [part.kind, part.name]));
  return html`<p class="legend quiet">${t("legend")} ${[...kinds].map(([kind, name]) => html`
    <span class="key"><span class=${`dot ${kind}`} aria-hidden="true"></span>${name}</span>`)}</p>`;
};
