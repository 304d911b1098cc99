// What a score is made of: a bar split by arms, and the table that explains it.

import { figure, make } from "/page/dom.js";

const NAMES = { lexical: "Words", dense: "Meaning" };
const nameOf = (arm) => NAMES[arm] ?? arm;
const kindOf = (arm) => (arm === "lexical" ? "words" : arm === "dense" ? "meaning" : "other");

const partOf = ({ weight, normalized }) => weight * normalized;

// The parts of a score, each with its share; what a reranker said is one of them.
export const partsOf = ({ score, trace }) => {
  const read = trace.steps.map((step) => step.detail).find((detail) => detail.relevance != null);
  const reread = read ? Math.max(0, read.weight * read.relevance) : 0;
  const arms = trace.arms.map((arm) => ({ name: nameOf(arm.arm), kind: kindOf(arm.arm), size: Math.max(0, partOf(arm)) }));
  const total = arms.reduce((sum, arm) => sum + arm.size, 0);
  const left = Math.max(0, score - reread);
  const parts = arms.map((arm) => ({ ...arm, size: total ? (left * arm.size) / total : 0 }));
  if (read) parts.push({ name: "Read again", kind: "reread", size: reread });
  return parts.filter((part) => part.size > 0);
};

const percent = (share) => `${Math.round(share * 100)} %`;

// The bar: as long as the score beside the best one, split by arms.
export const scoreBar = (hit, best) => {
  const parts = partsOf(hit);
  const sum = parts.reduce((total, part) => total + part.size, 0);
  const said = parts.map((part) => `${part.name.toLowerCase()} ${percent(part.size / sum)}`).join(", ");
  const bar = make("span", { class: "bar", "aria-hidden": "true" });
  for (const part of parts) {
    const piece = make("span", { class: part.kind });
    piece.style.width = `${best > 0 ? Math.min(100, (100 * part.size) / best) : 0}%`;
    bar.append(piece);
  }
  return make("div", { class: "score", title: said },
    bar, make("span", { class: "figure" }, figure(hit.score)), make("span", { class: "hidden" }, said ? `: ${said}` : ""));
};

const row = (tag, cells) => make("tr", {}, ...cells.map((cell, at) =>
  make(tag, tag === "th" ? { scope: "col" } : at ? { class: "number" } : {}, cell)));

const table = (caption, head, rows) => make("table", {},
  make("caption", {}, caption), make("thead", {}, row("th", head)), make("tbody", {}, ...rows.map((cells) => row("td", cells))));

const CHANGES = { rerank: "read again by a reranker", boost: "raised by rules", metadata: "raised by its fields" };

// Everything that the score can be recomputed from.
export const explanation = ({ score, trace }, fusion) => {
  const arms = trace.arms.map((arm) => [
    nameOf(arm.arm), arm.rank ?? "–", figure(arm.raw), figure(arm.normalized), figure(arm.weight), figure(partOf(arm))]);
  const tables = [table(`By arm, put together by ${fusion}`, ["Arm", "Rank", "Its score", "Normalized", "Weight", "Part"], arms)];
  if (trace.steps.length) {
    const steps = trace.steps.map((step) => [CHANGES[step.stage] ?? step.stage, figure(step.before), figure(step.after)]);
    tables.push(table("Then", ["Step", "Before", "After"], steps));
  }
  const terms = [...trace.terms].sort((a, b) => b.score - a.score).slice(0, 8);
  if (terms.length) {
    const rows = terms.map((term) => [term.term, term.frequency, figure(term.idf), figure(term.score)]);
    const rest = trace.terms.length - terms.length;
    tables.push(table(rest ? `Terms, the ${terms.length} weightiest of ${trace.terms.length}` : "Terms",
      ["Term", "Times", "Rarity (idf)", "BM25"], rows));
  }
  return make("div", { class: "tables" }, ...tables, make("p", { class: "quiet" }, `Score ${score}`));
};
