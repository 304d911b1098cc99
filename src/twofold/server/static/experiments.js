// Experiments: two ways to search, measured by what was judged, with how sure each figure is.

import { Refused, events, getJson, pathOf, postJson } from "/page/api.js";
import { intervals } from "/page/charts.js";
import { charts, pointsOf } from "/page/calibration.js";
import { configuration, nameOf, waysOf } from "/page/configuration.js";
import { duration, figure } from "/page/format.js";
import { icon } from "/page/icons.js";
import { differences } from "/page/measures.js";
import { address, patch } from "/page/router.js";
import { attempt, note, refusal, tried } from "/page/notes.js";
import { chosen, say, slice, state, update } from "/page/store.js";
import { t } from "/page/strings.js";
import { html } from "/page/ui.js";

const own = slice("experiments", { index: "", stale: false, count: null, key: "", result: null, busy: false, problem: null, tuning: null, tuned: 0, judgements: [], points: [] });
const BATCH = 50;
const MAX_CALIBRATED = 500;
const TUNABLE = 20; // questions; the server refuses to choose by fewer

export const enter = async (params) => {
  const [index] = chosen();
  const key = JSON.stringify([index, bodyOf(params)]);
  if (key !== own.key) Object.assign(own, { key, result: null, problem: null });
  if (index !== own.index || own.stale) await load(index);
  if (params.has("measured") && own.key === key && !own.result && !own.busy && own.count?.questions) await run(params);
};

const load = async (index) => {
  if (index !== own.index) Object.assign(own, { index, count: null, tuning: null });
  own.stale = false;
  const said = await getJson(pathOf(index, "judgements")).catch(() => ({ judgements: [] }));
  if (own.index !== index) return; // somebody chose another meanwhile
  const relevant = said.judgements.filter((one) => one.grade > 0);
  update(() => {
    if (JSON.stringify(said.judgements) !== JSON.stringify(own.judgements)) own.result = null; // it is of what was judged before
    own.judgements = said.judgements;
    own.count = { questions: new Set(relevant.map((one) => one.query)).size, judgements: said.judgements.length };
  });
};

export const leave = () => {
  own.stale = true; // more may be judged until somebody comes back
};

const bodyOf = (params) => ({ variants: ["a", "b"].map((side) => ({ name: side.toUpperCase(), ...waysOf(params, side) })) });

const run = async (params) => {
  const { key } = own;
  update(() => Object.assign(own, { busy: true, problem: null }));
  await tried(async () => {
    const [result, points] = await Promise.all([postJson(pathOf(own.index, "evaluations"), bodyOf(params)), calibrated(params)]);
    if (own.key === key) Object.assign(own, { result, points }); // else somebody chose other ways meanwhile
  }, (error) => { own.problem = error; }).finally(() => update(() => { own.busy = false; }));
};

// What was measured stands in the address, so that a reload shows it again.
const measure = () => {
  own.result = null;
  patch({ measured: 1 }, { replace: true });
};

// The chances that way A states for the judged questions, some at a time.
const calibrated = async (params) => {
  const relevant = new Map();
  for (const { query, source, grade } of own.judgements) {
    if (grade > 0) relevant.set(query, (relevant.get(query) ?? new Set()).add(source));
  }
  const questions = [...relevant.keys()].slice(0, MAX_CALIBRATED);
  const results = [];
  for (let at = 0; at < questions.length; at += BATCH) {
    results.push(...(await postJson(pathOf(own.index, "search:batch"), { queries: questions.slice(at, at + BATCH), ...waysOf(params, "a") })).results);
  }
  return pointsOf(questions, results, relevant);
};

const tune = async () => {
  update(() => Object.assign(own, { tuning: "…", tuned: 0, problem: null }));
  await tried(async () => {
    for await (const event of events(pathOf(own.index, "tune"), { body: {} })) {
      if (event.type === "measured") update(() => { own.tuned = event.count; });
      else if (event.type === "done") own.tuning = event.tuning;
      else if (event.type === "error") throw new Refused(event.problem ?? { ...event, detail: event.message });
    }
  }, (problem) => Object.assign(own, { problem, tuning: null }));
  update();
};

const apply = () => attempt(async () => {
  await postJson(pathOf(own.index, "settings"), { settings: own.tuning.winner });
  say(t("tune.applied"));
  state.changes += 1; // what was found and measured before was with other settings
  own.result = null;
  enter(state.route.params);
});

const lines = (rows, at, params) => rows.map((row) => {
  const { interval } = row.figures[at];
  return { name: `${row.name} ${nameOf(params, row.name.toLowerCase())}`, ...interval };
});

const changes = (label, list) => list.length > 0 && html`<h3>${label}</h3><ol class="changes">${list.map((one) => html`<li>
  <a href=${address("compare", { index: own.index, q: one.text, ...Object.fromEntries([...new URLSearchParams(location.search)].filter(([name]) => /^[ab]\./.test(name))) })}>${one.text}</a>
  <span class="quiet number">${figure(one.baseline)} → ${figure(one.value)}</span></li>`)}</ol>`;

const results = (params) => {
  const { rows, comparisons, queries, left_out: leftOut } = own.result;
  return html`
    <p class="quiet">${t("measured", { count: queries })}${leftOut > 0 && ` ${t("left.out", { count: leftOut })}`}
      ${rows.filter((row) => row.ms_per_query !== null).map((row) => ` ${row.name}: ${duration(row.ms_per_query)}`).join(",")}</p>
    ${queries < 25 && note(t("few.labels"), t("few.labels.says", { count: queries }))}
    <div class="charts">${rows[0].figures.map((one, at) => intervals(one.metric, lines(rows, at, params), { bounds: [0, 1] }))}</div>
    ${comparisons.map((one) => differences(one, [changes(t("gained"), one.gained), changes(t("lost"), one.lost)]))}
    <section aria-labelledby="calibration"><h2 id="calibration">${t("calibration")}</h2>${charts(own.points)}</section>
    <details class="snippet-ci"><summary>${t("ci")}</summary><p>${t("ci.says")}</p>
      <pre tabindex="0">twofold eval --index ${own.index} --qrels qrels.jsonl --fail-under "ndcg@10 >= ${(rows[0].figures[0].interval.low).toFixed(2)}"</pre></details>`;
};

const tuning = () => {
  const { tuning: outcome } = own;
  if (!outcome) return null;
  if (outcome === "…") return html`<p class="stage quiet" role="status"><span class="spinner" aria-hidden="true"></span>${t("tune.running", { count: own.tuned })}</p>`;
  const won = Object.entries(outcome.winner);
  return html`<div class="verdict" role="status"><p><strong>${won.length ? t("tune.won") : t("tune.kept")}</strong> ${outcome.reason}</p>
    ${won.length > 0 && html`<ul>${won.map(([name, value]) => html`<li><code>${name} = ${value}</code></li>`)}</ul>
      <button type="button" @click=${apply}>${t("tune.apply")}</button>`}
    ${outcome.confirmed.length > 0 && intervals(t("tune.held.out", { count: outcome.confirming }), outcome.confirmed.map((one) => {
      const [first] = one.differences;
      return { name: one.name, ...first.interval };
    }), { zero: true })}
    <details><summary>${t("details")}</summary><ol>${outcome.trials.map((one) => html`<li><code>${Object.entries(one.changes).map((pair) => pair.join("=")).join(" ") || t("as.set")}</code>
      <span class="quiet number">${figure(one.mean)}</span></li>`)}</ol></details></div>`;
};

export const title = () => t("nav.experiments");
export const terms = () => [];

export const view = (params) => html`<div class="experiments-view">
  <h1 tabindex="-1">${t("nav.experiments")}</h1>
  <p class="quiet">${t("experiments.says")}</p>
  <p>${own.count && t("labels", own.count)} <a href=${address("judge", { index: own.index })}>${t("judge.more")}</a></p>
  ${own.count?.questions === 0 && html`<div class="lesson"><h2>${t("labels.none")}</h2><p>${t("labels.none.says")}</p></div>`}
  <div class="configurations">${configuration(params, "a")}${configuration(params, "b")}</div>
  <div class="buttons"><button type="button" @click=${measure} ?disabled=${own.busy || !own.count?.questions}>${icon("experiments")}<span>${t("measure")}</span></button>
    <button type="button" class="second" @click=${tune} ?disabled=${own.tuning === "…" || !(own.count?.questions >= TUNABLE)}
      aria-describedby=${own.count?.questions < TUNABLE ? "tune-needs" : null}>${t("tune")}</button>
    ${own.count?.questions < TUNABLE && html`<span class="quiet" id="tune-needs">${t("tune.needs", { count: TUNABLE })}</span>`}</div>
  <p class="status" role="status">${own.busy && t("measuring")}</p>
  ${refusal(own.problem)}
  ${tuning()}
  ${own.result && results(params)}
</div>`;

export const keys = () => false;
