// Texts of documents as they are shown: cut to what matters, with marks, and tables as tables. Text stays text.

import { ROOM, marked, spansOf, windowOf } from "/page/marking.js";
import { drawn, flatRunsOf, hasMarks, plainOf } from "/page/markup.js";
import { t } from "/page/strings.js";
import { html } from "/page/ui.js";

const ROW = /^\s*\|.*\|\s*$/;
const RULE = /^\s*\|[\s:|-]+\|\s*$/;
const MOST_ROWS = 200;

const BAR = " | ";

const inBars = (line) => line.trim().slice(1, -1).split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll("\\|", "|"));

// A table of Markdown has bars around its rows; one of another file only between its cells, as many in each row. Of those
// a first row without figures, above some, names the columns.
const tableOfRows = (rows) => {
  if (ROW.test(rows[0])) {
    const headed = RULE.test(rows[1]);
    return { head: headed ? inBars(rows[0]) : null, rows: rows.filter((row) => !RULE.test(row)).slice(headed ? 1 : 0).map(inBars) };
  }
  const cells = rows.map((row) => row.replace(/\n$/, "").split(BAR).map((one) => one.trim()));
  const headed = !/\d/.test(rows[0]) && /\d/.test(rows[1]);
  return { head: headed ? cells[0] : null, rows: headed ? cells.slice(1) : cells };
};

const barsIn = (line) => (/^\s*[$>#]/.test(line) ? 0 : line.split(BAR).length - 1); // not those of a command

// How many of the lines from the first on are rows of one table.
const rowsFrom = (lines, first) => {
  const isRow = ROW.test(lines[first]) ? (line) => ROW.test(line) : (line) => !ROW.test(line) && barsIn(line) > 0 && barsIn(line) === barsIn(lines[first]);
  const end = lines.findIndex((line, at) => at >= first && !isRow(line));
  return (end < 0 ? lines.length : end) - first;
};

// A text as stretches of prose, { text, at }, and tables, { head, rows, at, end }, of two lines or more.
export const stretchesOf = (text) => {
  const found = [];
  let prose = { at: 0, end: 0 };
  const lines = [...text.matchAll(/[^\n]*(\n|$)/g)].filter((line) => line[0]);
  const texts = lines.map((line) => line[0]);
  const flush = () => {
    if (prose.end > prose.at) found.push({ text: text.slice(prose.at, prose.end), at: prose.at });
  };
  for (let number = 0; number < lines.length; number += 1) {
    const last = number + rowsFrom(texts, number);
    if (last - number >= 2) {
      flush();
      const end = lines[last - 1].index + lines[last - 1][0].length;
      found.push({ ...tableOfRows(texts.slice(number, last)), at: lines[number].index, end });
      prose = { at: end, end };
      number = last - 1;
    } else prose.end = lines[number].index + lines[number][0].length;
  }
  flush();
  return found;
};

const cell = (text, terms, marks) => {
  const runs = flatRunsOf(text, marks);
  return drawn(runs, terms.length ? spansOf(plainOf(runs), terms) : [], marked);
};

export const tableOf = ({ head, rows }, terms = [], marks = false, most = MOST_ROWS) => html`
  <div class="scrolls" tabindex="0" role="region" aria-label=${t("table")}>
    <table class="grid">
      ${head && html`<thead><tr>${head.map((text) => html`<th scope="col">${cell(text, terms, marks)}</th>`)}</tr></thead>`}
      <tbody>${rows.slice(0, most).map((row) => html`<tr>${row.map((text) => html`<td>${cell(text, terms, marks)}</td>`)}</tr>`)}</tbody>
    </table>
    ${rows.length > most && html`<p class="quiet">${t("rows.more", { count: rows.length - most })}</p>`}
  </div>`;

// A passage as it is, with its words marked and its tables drawn.
export const passage = (text, terms) => stretchesOf(text).map((one) =>
  (one.rows ? tableOf(one, terms) : html`<p class="verbatim">${marked(one.text, spansOf(one.text, terms))}</p>`));

const SHORT_TABLE = 6;

const withoutEmptyColumns = ({ head, rows, ...table }) => {
  const kept = (_, at) => rows.some((row) => row[at]);
  return { ...table, head: head?.filter(kept) ?? null, rows: rows.map((row) => row.filter(kept)) };
};

// The part of a passage that shows why it was found: a table's rows that have the words, else some lines of it.
export const snippet = ({ text, source }, terms) => {
  const marks = hasMarks(source);
  const table = stretchesOf(text).find((one) => one.rows);
  if (table && table.end - table.at > text.length / 2) {
    const telling = table.rows.filter((row) => row.some((one) => spansOf(one, terms).length));
    return tableOf(withoutEmptyColumns({ ...table, rows: (telling.length ? telling : table.rows).slice(0, SHORT_TABLE) }), terms, marks);
  }
  const runs = flatRunsOf(text.trim(), marks);
  const flat = plainOf(runs);
  const spans = spansOf(flat, terms);
  const [start, end] = windowOf(flat, spans, ROOM);
  return html`<p class="snippet">${start > 0 && "… "}${drawn(runs, spans, marked, start, end)}${end < flat.length && " …"}</p>`;
};
