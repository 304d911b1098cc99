// A query set asked in two ways: for each question how far the results agree, and where it was judged, which way is better.

import { getJson, pathOf, postJson } from "/page/api.js";
import { meter } from "/page/charts.js";
import { waysOf } from "/page/configuration.js";
import { figure, percent } from "/page/format.js";
import { differences } from "/page/measures.js";
import { refusal, tried } from "/page/notes.js";
import { idsOf, jaccard, rankBiasedOverlap } from "/page/overlap.js";
import { facts, figures, options } from "/page/parts.js";
import { address, patch, patchedAddress } from "/page/router.js";
import { chosen, slice, state, update } from "/page/store.js";
import { t } from "/page/strings.js";
import { html } from "/page/ui.js";

const SETS = { judged: "set.judged", logged: "questions.log", made: "questions.made" };
const K = 10;
const BATCH = 25;
const MAX_QUESTIONS = 500; // the server measures as many

const own = slice("query.set", { key: "", all: null, rows: [], measured: null, busy: false, problem: null });
let running = new AbortController();

const setOf = (params) => (params.get("set") in SETS ? params.get("set") : "judged");

// Asks all questions again where the address says other ones, or other ways.
export const enterSet = async (params) => {
  const asked = [chosen()[0], setOf(params), waysOf(params, "a"), waysOf(params, "b")];
  const key = JSON.stringify([asked, state.changes]);
  if (key === own.key) return;
  running.abort();
  running = new AbortController();
  const { signal } = running;
  Object.assign(own, { key, all: null, rows: [], measured: null, busy: true, problem: null });
  await tried(() => compareAll(...asked, signal), (problem) => Object.assign(own, { problem, key: "" })); // the same once more tries again
  if (!signal.aborted) update(() => { own.busy = false; });
};

// Breaks off; what was asked already stays on screen.
const stop = () => {
  running.abort();
  update(() => { own.busy = false; });
};

export const leaveSet = () => {
  if (!own.busy) return;
  stop();
  own.key = "";
};

const questionsOf = async (index, set, options) => {
  if (set !== "judged") return (await postJson(pathOf(index, `questions:${set}`), {}, options)).questions;
  const { judgements } = await getJson(pathOf(index, "judgements"), options);
  return [...new Set(judgements.filter((one) => one.grade > 0).map((one) => one.query))];
};

const compareAll = async (index, set, a, b, signal) => {
  const questions = (await questionsOf(index, set, { signal })).slice(0, MAX_QUESTIONS);
  update(() => { own.all = questions.length; });
  for (let at = 0; at < questions.length; at += BATCH) {
    const queries = questions.slice(at, at + BATCH);
    const [ofA, ofB] = await Promise.all([a, b].map((ways) => postJson(pathOf(index, "search:batch"), { queries, k: K, ...ways }, { signal })));
    update(() => own.rows.push(...queries.map((text, place) => agreement(text, idsOf(ofA.results[place]), idsOf(ofB.results[place])))));
  }
  if (set !== "judged" || !questions.length) return;
  const variants = [{ name: "A", ...a }, { name: "B", ...b }];
  own.measured = await postJson(pathOf(index, "evaluations"), { variants }, { signal });
  const values = new Map(own.measured.per_query.map((one) => [one.text, one.values]));
  for (const row of own.rows) row.values = values.get(row.text) ?? null;
};

const agreement = (text, a, b) => ({ text, values: null, overlap: jaccard(a, b), ranks: rankBiasedOverlap(a, b), first: a[0] === b[0], same: a.join() === b.join() });

const gainOf = ({ values }) => (values ? values[0] - values[1] : 0);

const measures = () => {
  const count = own.rows.length;
  const mean = (name) => percent(own.rows.reduce((sum, row) => sum + row[name], 0) / count);
  const many = (name) => `${own.rows.filter((row) => row[name]).length} / ${count}`;
  return facts([
    [t("overlap"), mean("overlap"), "Jaccard"], [t("overlap.ranks"), mean("ranks"), "RBO, p = 0.9"],
    [t("first.same"), many("first")], [t("set.same"), many("same")],
  ], "measures");
};

const rowOf = (row) => [
  html`<a href=${patchedAddress({ set: null, q: row.text })}>${row.text}</a>`, percent(row.overlap), percent(row.ranks), row.first ? t("yes") : t("no"),
  ...(own.measured ? [...(row.values ?? [NaN, NaN]), gainOf(row)].map((one) => (Number.isNaN(one) ? "" : figure(one))) : []),
];

const table = () => {
  const rows = [...own.rows].sort((a, b) => Math.abs(gainOf(b)) - Math.abs(gainOf(a)) || a.ranks - b.ranks);
  const metric = own.measured?.rows[0].figures[0].metric;
  return figures(t("set.says"), [t("question"), t("overlap"), t("overlap.ranks"), t("first.same"), ...(metric ? [`${metric} A`, `${metric} B`, "A − B"] : [])],
    rows.map(rowOf), { kind: "log-rows" });
};

const results = (params) => html`${measures()}
  ${own.measured && differences(own.measured.comparisons[0])}
  ${setOf(params) !== "judged" && !own.busy && html`<p class="quiet">${t("set.unjudged")} <a href=${address("judge", { index: chosen()[0] })}>${t("nav.judge")}</a></p>`}
  ${table()}`;

export const choice = (params) => html`<label>${t("questions")} <select .value=${setOf(params)} @change=${(event) => patch({ set: event.target.value }, { replace: true })}>
  ${options(Object.entries(SETS).map(([name, label]) => [name, t(label)]))}</select></label>`;

const progress = () => own.busy && html`<div class="inline">${own.all ? meter(t(own.rows.length < own.all ? "set.progress" : "measuring", { done: own.rows.length, all: own.all }), own.rows.length, own.all) : t("stage.search")}
  <button type="button" class="second" @click=${stop}>${t("stop")}</button></div>`;

export const compared = (params) => html`<div class="status" role="status">${progress()}</div>
  ${refusal(own.problem)}
  ${own.all === 0 && html`<div class="lesson"><h2>${t("questions.none")}</h2><p>${t("judge.lesson.text")} <a href=${address("judge", { index: chosen()[0] })}>${t("nav.judge")}</a></p></div>`}
  ${own.rows.length > 0 && results(params)}`;
