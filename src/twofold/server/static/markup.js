// Marks of Markdown (and those that reStructuredText and AsciiDoc share with it), drawn: stretches of text, each with how
// it is shown. Text stays text, no address can be opened, and what is no whole mark stays as it is written.

import { html } from "/page/ui.js";

const WRITTEN = /\.(md|markdown|mdx|qmd|rmd|rst|adoc)(\.gz)?$/i;
export const hasMarks = (source) => WRITTEN.test(source ?? "");

const IN = String.raw`(?:(?!\n\s*\n)[^])`; // a character of the same paragraph
const INLINE = new RegExp([
  String.raw`\\(?<escaped>[!-/:-@\[-\x60{-~])`,
  String.raw`(?<!\x60)(?<ticks>\x60+)(?!\x60)(?<code>${IN}{0,400}?[^\x60])\k<ticks>(?![\x60_])`,
  String.raw`!?\[(?<linked>[^\[\]\n]{0,300}(?:\[[^\[\]\n]*\][^\[\]\n]*)?)\]\(<?[^()\s<>]*(?:\([^()\s]*\)[^()\s<>]*)?>?(?:\s+"[^"\n]*")?\)`,
  String.raw`(?<![\w\]])\[(?!\d+\])(?<named>[^\[\]\n]{1,300})\]\[[^\[\]\n]{0,100}\]`,
  String.raw`<(?<address>https?://[^\s<>]{1,500})>`,
  String.raw`(?<!\*)\*\*(?=[^\s*]|\*[^\s*])(?<strong>${IN}{1,400}?)(?<=\S)\*\*(?!\*)`,
  String.raw`(?<![\p{L}\p{N}_])__(?=[^\s_])(?<strong_>${IN}{1,400}?)(?<=[^\s_])__(?![\p{L}\p{N}_])`,
  String.raw`(?<![\p{L}\p{N}_*])\*(?=[^\s*])(?<em>${IN}{1,400}?)(?<=[^\s*])\*(?![\p{L}\p{N}_*])`,
  String.raw`(?<![\p{L}\p{N}_])_(?=[^\s_])(?<em_>${IN}{1,400}?)(?<=[^\s_])_(?![\p{L}\p{N}_])`,
].join("|"), "gu");

const DEEPEST = 4;

const inline = (text, kinds, runs) => {
  let at = 0;
  const put = (part, kind) => part && runs.push({ text: part, kinds: kind ? [...kinds, kind] : kinds });
  for (const { 0: whole, index, groups } of kinds.length < DEEPEST ? text.matchAll(INLINE) : []) {
    const { escaped, code, linked, named, address, strong, strong_, em, em_ } = groups;
    put(text.slice(at, index));
    at = index + whole.length;
    if (escaped ?? address) put(escaped ?? address);
    else if (code !== undefined) put(/^ .*\S.* $/su.test(code) ? code.slice(1, -1) : code, "code");
    else if (linked ?? named) inline(linked ?? named, kinds, runs);
    else if (strong ?? strong_) inline(strong ?? strong_, [...kinds, "strong"], runs);
    else if (em ?? em_) inline(em ?? em_, [...kinds, "em"], runs);
  }
  put(text.slice(at));
};

const FENCE = /^\s{0,3}(?:`{3,}|~{3,})[^`]*$/;
const HEADING = /^\s{0,3}#{1,6}[ \t]+(.*?)[ \t]*#*(\n?)$/s;
const RULE = /^\s{0,3}([-*_=])(?:[ \t]*\1){2,}\s*$/;
const ITEM = /^(\s*)[-*+][ \t]+(?:\[([ xX])\][ \t]+)?/;
const box = (ticked) => (ticked === undefined ? "•" : ticked === " " ? "☐" : "☑");

// A text as runs: { text, kinds }, where kinds are of "code", "strong" and "em".
export const runsOf = (text) => {
  const runs = [];
  const lines = text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
  const fences = lines.filter((line) => FENCE.test(line)).length;
  let [prose, within] = ["", false];
  const flush = () => {
    inline(prose, [], runs);
    prose = "";
  };
  for (const line of lines) {
    const heading = within ? null : HEADING.exec(line);
    if (FENCE.test(line)) {
      flush();
      within = fences % 2 === 0 && !within;
    } else if (within) runs.push({ text: line, kinds: ["code"] });
    else if (heading) {
      flush();
      inline(heading[1], ["strong"], runs);
      prose = heading[2];
    } else if (!RULE.test(line)) prose += line.replace(/^(?:[ \t]{0,3}>[ \t]?)+/, "").replace(ITEM, (_, indent, ticked) => `${indent}${box(ticked)} `);
  }
  flush();
  return runs;
};

// The same with every stretch of blanks as one.
export const flatRunsOf = (text, marks) => {
  let open = false; // whether a blank would be one too many
  return (marks ? runsOf(text) : [{ text, kinds: [] }]).map(({ text: part, kinds }) => {
    const one = part.replace(/\s+/g, " ");
    const kept = open || !one ? one.replace(/^ /, "") : one;
    open = kept ? kept.endsWith(" ") : open;
    return { text: kept, kinds };
  });
};

export const plainOf = (runs) => runs.map(({ text }) => text).join("");

const TAGS = {
  code: (inside, text) => html`<code class=${text.trimEnd().includes("\n") ? "block" : null}>${inside}</code>`,
  strong: (inside) => html`<strong>${inside}</strong>`,
  em: (inside) => html`<em>${inside}</em>`,
};

// The stretch [start, end) of runs, drawn; `marked(text, spans)` marks what was searched for, spans being those of all.
export const drawn = (runs, spans = [], marked = (text) => text, start = 0, end = Infinity) => {
  let at = 0;
  return joinedCode(runs).map(({ text, kinds }) => {
    const [from, to] = [Math.max(start, at), Math.min(end, at + text.length)];
    const part = text.slice(from - at, Math.max(from, to) - at);
    const inside = spans.filter(([a, b]) => a < to && b > from).map(([a, b]) => [Math.max(a, from) - from, Math.min(b, to) - from]);
    at += text.length;
    return part && kinds.reduceRight((drawing, kind) => TAGS[kind](drawing, part), inside.length ? marked(part, inside) : part);
  });
};

// Lines of one block of code are one.
const joinedCode = (runs) => runs.reduce((all, one) => {
  const last = all.at(-1);
  if (last?.text.endsWith("\n") && last.kinds[0] === "code" && one.kinds[0] === "code") all[all.length - 1] = { ...last, text: last.text + one.text };
  else all.push(one);
  return all;
}, []);
