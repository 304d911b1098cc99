// What a score is made of: a bar split by retrievers, and the table that explains it.

import { figure, make } from "/page/dom.js";

const NAMES = { bm25: "BM25", vector: "Vector" };
const nameOf = (retriever) => NAMES[retriever] ?? retriever;
const kindOf = (retriever) => (retriever === "bm25" ? "words" : retriever === "vector" ? "meaning" : "other");

const partOf = ({ weight, normalized }) => weight * normalized;

// The parts of a score, each with its share; what a reranker said is one of them.
export const partsOf = ({ score, trace }) => {
  const read = trace.steps.map((step) => step.detail).find((detail) => detail.relevance != null);
  const reread = read ? Math.max(0, read.weight * read.relevance) : 0;
  const retrievers = trace.retrievers.map((retriever) => ({ name: nameOf(retriever.retriever), kind: kindOf(retriever.retriever), size: Math.max(0, partOf(retriever)) }));
  const total = retrievers.reduce((sum, retriever) => sum + retriever.size, 0);
  const left = Math.max(0, score - reread);
  const parts = retrievers.map((retriever) => ({ ...retriever, size: total ? (left * retriever.size) / total : 0 }));
  if (read) parts.push({ name: "Read again", kind: "reread", size: reread });
  return parts.filter((part) => part.size > 0);
};

const percent = (share) => `${Math.round(share * 100)} %`;

// The bar: as long as the score beside the best one, split by retrievers.
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

const CHANGES = { rerank: "reranked", boost_fused: "boosted", boost_reranked: "boosted", metadata_boost: "raised by its fields" };

// Everything that the score can be recomputed from.
export const explanation = ({ score, trace }, fusion) => {
  const retrievers = trace.retrievers.map((retriever) => [
    nameOf(retriever.retriever), retriever.rank ?? "–", figure(retriever.raw), figure(retriever.normalized), figure(retriever.weight), figure(partOf(retriever))]);
  const tables = [table(`By retriever, put together by ${fusion}`, ["Retriever", "Rank", "Its score", "Normalized", "Weight", "Part"], retrievers)];
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
