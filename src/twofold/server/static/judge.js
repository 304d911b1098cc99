// Judge: say of passages how well they answer, a key each, without seeing which way found them or where they stood.

import { Refused, getJson, jointly, pathOf, postJson, putJson } from "/page/api.js";
import { meter } from "/page/charts.js";
import { lastPart, percent, placeOf } from "/page/format.js";
import { wordsOf } from "/page/marking.js";
import { sent } from "/page/parts.js";
import { passage } from "/page/passages.js";
import { address, patch } from "/page/router.js";
import { attempt, refusal } from "/page/notes.js";
import { saveAs } from "/page/save.js";
import { chosen, say, slice, update } from "/page/store.js";
import { t } from "/page/strings.js";
import { html, keyed } from "/page/ui.js";

const POOL = ["hybrid", "bm25", "vector"];
const DEPTH = 10;
const GRADES = [0, 1, 2, 3];
const MAX_QUESTIONS = 1_000;

let loading = Promise.resolve(); // what was judged before: nothing is offered until it is known

const own = slice("judge", { index: "", judgements: [], agreement: null, mine: "", questions: [], pools: new Map(), problem: null, busy: false, text: "", added: "" });

export const enter = async (params) => {
  const [index] = chosen();
  if (index !== own.index) {
    Object.assign(own, { index, judgements: [], questions: [], problem: null });
    own.pools.clear();
    loading = load();
  }
  await loading;
  const question = params.get("q");
  if (question && !own.questions.includes(question)) own.questions.push(question);
  if (question) await pool(question);
  if (question !== own.added) return;
  own.added = "";
  await update();
  document.querySelector(".judged-text")?.focus(); // a key grades there; in the box it would be written
};

const load = async () => {
  const { index } = own;
  try {
    const said = await getJson(pathOf(index, "judgements"));
    if (own.index !== index) return; // somebody chose another meanwhile
    Object.assign(own, { judgements: said.judgements, agreement: said.agreement, mine: said.judge });
    own.questions = [...new Set([...said.judgements.map((one) => one.query), ...own.questions])]; // some may be added already
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    own.problem = error;
  }
  update();
};

// A number from a text, the same everywhere: the order that hides who found what.
const shuffleKey = (text) => {
  let hash = 2_166_136_261;
  for (const one of text) hash = Math.imul(hash ^ one.codePointAt(0), 16_777_619) >>> 0;
  return hash;
};

// The documents that any of the ways finds, each by its best passage, in an order of their own.
const pool = async (question) => {
  if (own.pools.has(question)) return;
  own.busy = true;
  try {
    const found = await Promise.all(POOL.map((mode) => jointly([own.index], "search", { query: question, mode, k: 3 * DEPTH })
      .then(([said]) => said.hits, (error) => {
        if (mode === "hybrid") throw error; // the others may be impossible here
        return [];
      })));
    const items = new Map();
    for (const hits of found) {
      const best = new Map();
      for (const hit of hits) if (!best.has(hit.source)) best.set(hit.source, hit);
      for (const hit of [...best.values()].slice(0, DEPTH)) if (!items.has(hit.source)) items.set(hit.source, hit);
    }
    own.pools.set(question, [...items.values()].sort((a, b) => shuffleKey(question + a.source) - shuffleKey(question + b.source)));
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    own.problem = error;
  }
  update(() => { own.busy = false; });
};

const gradeOf = (question, source) => own.judgements.find((one) => one.query === question && one.source === source && one.judge === own.mine)?.grade;
const left = (question) => (own.pools.get(question) ?? []).filter((hit) => gradeOf(question, hit.source) === undefined);

// What is judged now: the one that the address names, else the next without a grade.
const currentOf = (params) => {
  const question = params.get("q");
  const items = own.pools.get(question) ?? [];
  return items.find((hit) => hit.source === params.get("source")) ?? left(question)[0] ?? null;
};

const judge = async (params, grade) => {
  const question = params.get("q");
  const hit = currentOf(params);
  if (!hit) return;
  const kept = await attempt(() => putJson(pathOf(own.index, "judgements"), { query: question, source: hit.source, grade, passage: hit.chunk_id }));
  if (!kept) return;
  own.judgements = own.judgements.filter((one) => !(one.query === question && one.source === hit.source && one.judge === own.mine));
  own.judgements.push({ query: question, source: hit.source, grade, judge: own.mine });
  patch({ source: null }, { replace: true });
};

const step = (params, by) => {
  const items = own.pools.get(params.get("q")) ?? [];
  const at = items.indexOf(currentOf(params));
  const next = items[(at < 0 ? items.length : at) + by];
  if (next) patch({ source: next.source }, { replace: true });
};

const addQuestion = () => {
  own.added = own.text.trim();
  addQuestions([own.text]);
  own.text = "";
};

const addQuestions = (texts) => {
  const clean = texts.map((text) => text.trim()).filter(Boolean).slice(0, MAX_QUESTIONS);
  own.questions = [...new Set([...own.questions, ...clean])];
  if (clean.length) patch({ q: clean[0], source: null });
};

// Questions of a file: one a line, or the `query` of each line of JSON, or the first column of a table.
const fromFile = async (event) => {
  const text = (await event.target.files[0]?.text()) ?? "";
  event.target.value = "";
  addQuestions(text.split(/\r?\n/).map((line) => {
    if (line.startsWith("{")) {
      try {
        const said = JSON.parse(line);
        return String(said.query ?? said.text ?? said.question ?? "");
      } catch {
        return "";
      }
    }
    return line.split("\t").at(-1);
  }));
};

const fromIndex = (what) => () => attempt(async () => {
  const { questions } = await postJson(pathOf(own.index, what), {});
  if (questions.length) addQuestions(questions);
  else say(t("questions.none"));
});

const exported = () => {
  const byPair = new Map();
  for (const one of own.judgements) byPair.set(`${one.query}\u0001${one.source}`, one); // of two judges the later one counts
  const lines = [...byPair.values()].map(({ query, source, grade }) => JSON.stringify({ query, relevant: { [source]: grade } }));
  saveAs(`${own.index}-qrels.jsonl`, `${lines.join("\n")}\n`, "application/jsonl");
};

const item = (params, hit) => {
  const mine = gradeOf(params.get("q"), hit.source);
  return html`<article class="judged" aria-labelledby="judged-title">
    <h2 id="judged-title">${params.get("q")}</h2>
    <p class="where">${lastPart(hit.source)} ${placeOf(hit)}</p>
    <div class="judged-text" tabindex="0" role="region" aria-label=${t("passage")}>${passage(hit.text, wordsOf(params.get("q")).filter((word) => word.length > 3))}</div>
    <div class="grades" role="group" aria-label=${t("grade")}>${GRADES.map((grade) => html`
      <button type="button" class=${mine === grade ? "" : "second"} aria-pressed=${String(mine === grade)} @click=${() => judge(params, grade)}>
        <kbd>${grade}</kbd> ${t(`grade.${grade}`)}</button>`)}</div>
    <p class="quiet">${t("judge.keys")} <a href=${address("document", { index: own.index, doc: hit.document, at: `${hit.start}-${hit.end}` })}>${t("open.document")}</a></p>
  </article>`;
};

const progressOf = (question) => {
  const items = own.pools.get(question);
  return items ? `${items.length - left(question).length} / ${items.length}` : String(own.judgements.filter((one) => one.query === question && one.judge === own.mine).length);
};

const work = (params) => {
  const question = params.get("q");
  if (!question) return html`<div class="lesson"><h2>${t("judge.lesson")}</h2><p>${t("judge.lesson.text")}</p></div>`;
  const items = own.pools.get(question);
  if (!items) return html`<p class="quiet" role="status">${own.busy && t("stage.search")}</p>`;
  const hit = currentOf(params);
  const next = own.questions.find((one) => one !== question && (!own.pools.has(one) || left(one).length));
  return html`${meter(t("judge.progress", { done: items.length - left(question).length, all: items.length }), items.length - left(question).length, items.length)}
    ${hit ? item(params, hit) : html`<div class="lesson" role="status"><h2>${t("judge.done")}</h2>
      ${next ? html`<p><a class="button" id="next-question" href=${address("judge", { index: own.index, q: next })}>${t("judge.next")}</a></p>`
        : html`<p><a class="button" href=${address("experiments", { index: own.index })}>${t("measure")}</a></p>`}</div>`}`;
};

export const title = (params) => [params.get("q"), t("nav.judge")].filter(Boolean).join(" · ");
export const terms = () => [];

export const view = (params) => html`<div class="judge-view">
  <h1 tabindex="-1">${t("nav.judge")}</h1>
  ${refusal(own.problem)}
  <div class="judge-in">
    <section class="questions" aria-label=${t("questions")}>
      <form @submit=${sent(addQuestion)}><label for="new-question">${t("question.add")}</label>
        <div class="box"><input id="new-question" type="text" maxlength="4096" .value=${own.text} @input=${(event) => { own.text = event.target.value; }}>
        <button type="submit" class="second">${t("add")}</button></div></form>
      <div class="buttons"><label class="button second">${t("questions.file")}<input type="file" class="hidden" accept=".txt,.tsv,.jsonl,.json,.csv" @change=${fromFile}></label>
        <button type="button" class="second" @click=${fromIndex("questions:logged")}>${t("questions.log")}</button>
        <button type="button" class="second" @click=${fromIndex("questions:made")}>${t("questions.made")}</button></div>
      <ol class="question-list">${own.questions.map((question) => keyed(question, html`<li><a href=${address("judge", { index: own.index, q: question })}
        aria-current=${question === params.get("q") ? "page" : null}>${question}</a> <span class="quiet number">${progressOf(question)}</span></li>`))}</ol>
      ${own.judgements.length > 0 && html`<p class="quiet">${t("judgements", { count: own.judgements.length })}
        ${own.agreement && ` · ${t("agreement", { share: percent(own.agreement.share), kappa: own.agreement.kappa.toFixed(2) })}`}</p>
        <button type="button" class="plain" @click=${exported}>${t("export")}</button>`}
    </section>
    <div class="judge-work">${work(params)}</div>
  </div>
</div>`;

export const keys = (event, typing) => {
  if (typing) return false;
  const params = new URLSearchParams(location.search);
  if (/^[0-3]$/.test(event.key)) judge(params, Number(event.key));
  else if (event.key === "j" || event.key === "ArrowRight") step(params, 1);
  else if (event.key === "k" || event.key === "ArrowLeft") step(params, -1);
  else if (event.key === "n") document.getElementById("next-question")?.click();
  else if (event.key === "/") document.getElementById("new-question").focus();
  else return false;
  return true;
};
