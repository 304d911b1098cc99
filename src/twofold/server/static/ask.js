// Ask: a conversation with the documents. What was asked is kept by the server, for its owner alone.

import { Refused, askBody, events, explain, getJson, jointly, pathOf, postJson, putJson, remove } from "/page/api.js";
import { asText, certainty, chanceOf, follow, further, nearest, nothingYet, prose, sourceList, surenessOf } from "/page/answers.js";
import { duration, moment, seconds } from "/page/format.js";
import { icon } from "/page/icons.js";
import { options, profiles } from "/page/parts.js";
import { isExplaining, isReading, openExplain } from "/page/places.js";
import { address, go, patch } from "/page/router.js";
import { attempt, note, refusal as problem, tried, warnings } from "/page/notes.js";
import { saveAs } from "/page/save.js";
import { chosen, say, slice, state, tellTabs, update } from "/page/store.js";
import { t, worded } from "/page/strings.js";
import { html, keyed } from "/page/ui.js";

const HISTORY_TURNS = 20;
const MAX_TITLE = 80;

const own = slice("ask", { id: "", list: null, sought: "", text: "", loading: false, problem: null, renaming: "", hearing: "", heard: 0, how: null });
const open = new Map(); // conversations that were looked at, by their ids

const fresh = () => ({ id: "", title: "", turns: [], running: null });
let current = fresh();
let loading = Promise.resolve(); // what a link names: nothing is asked in it until it is here

export const enter = async (params) => {
  const id = params.get("c") ?? "";
  if (params.get("q") && !own.text) own.text = params.get("q");
  if (own.list === null) listAll();
  await opened(id);
  await followHow(params);
};

// The search behind an answer, made again for the drawer: the address says which question.
const followHow = async (params) => {
  const query = params.get("explain") ?? "";
  if (!query || query === own.how?.body.query) return;
  own.how = null;
  const body = { query, k: 10, ...(params.get("profile") ? { profile: params.get("profile") } : {}) };
  await attempt(async () => {
    const result = await explain(chosen(), body);
    update(() => { own.how = { result, body }; });
  });
};

export const explained = (params) => (own.how?.body.query === params.get("explain") ? own.how : null);

const opened = async (id) => {
  if (id === current.id && (id || !current.turns.length)) return;
  own.problem = null;
  current = open.get(id) ?? { ...fresh(), id, kept: Boolean(id) };
  if (!id || open.has(id)) return;
  own.loading = true;
  loading = load(id);
  await loading;
};

const load = async (id) => {
  await tried(async () => {
    const kept = await getJson(`/v1/conversations/${encodeURIComponent(id)}`);
    const turns = kept.turns.map((turn) => ({ ...turn, stage: "", error: null }));
    open.set(id, { ...fresh(), id, title: kept.title, turns, kept: true });
    if (state.route.params.get("c") === id) current = open.get(id);
  }, (error) => { own.problem = error; });
  update(() => { own.loading = false; });
};

export const elsewhere = async (what) => {
  if (what !== "conversations") return;
  await listAll();
  if (!current.id || current.running) return;
  const { turns } = await getJson(`/v1/conversations/${current.id}`).catch(() => ({ turns: [] }));
  update(() => { current.turns = joined(current.turns, turns); });
};

const listAll = async () => {
  own.list ??= [];
  const { conversations } = await getJson("/v1/conversations").catch(() => ({ conversations: [] }));
  update(() => { own.list = conversations; });
};

// ---- Asking.

const submit = async (event) => {
  event?.preventDefault();
  await loading;
  const question = own.text.trim();
  if (!question || current.running) {
    document.getElementById("question").focus();
    return;
  }
  own.text = "";
  document.getElementById("question").style.height = "auto";
  ask(current, question);
};

const turnsBefore = (turns) => turns.filter((turn) => turn.answer).slice(-HISTORY_TURNS).flatMap(({ question, answer }) => [
  { role: "user", text: question }, { role: "assistant", text: answer.text.slice(0, 4_000) },
]);

const ask = async (talk, question, again = null) => {
  const turn = again ?? { question, answer: null, asked: new Date().toISOString(), rating: 0 };
  const before = again ? talk.turns.slice(0, talk.turns.indexOf(again)) : talk.turns;
  const body = askBody({ query: question, history: turnsBefore(before) }, state.route.params);
  Object.assign(turn, { stage: "search", error: null, draft: nothingYet(), interrupted: false });
  if (!again) talk.turns.push(turn);
  talk.title ||= question.slice(0, MAX_TITLE);
  talk.running = new AbortController();
  if (!talk.id) {
    talk.id = identity();
    open.set(talk.id, talk);
    patch({ c: talk.id, q: null }, { replace: true });
  }
  await update();
  showLast();
  await answered(talk, turn, body);
  talk.running = null;
  if (turn.answer) keep(talk);
  await update();
};

const identity = () => [...crypto.getRandomValues(new Uint8Array(8))].map((one) => one.toString(16).padStart(2, "0")).join("");

const begin = async (path, body, { signal }) => {
  const stream = events(path, { body, signal });
  const first = await stream.next();
  return (async function* all() {
    if (!first.done) yield first.value;
    yield* stream;
  })();
};

const answered = async (talk, turn, body) => {
  const { signal } = talk.running;
  try {
    const [stream] = await jointly(chosen(), "ask", body, { signal }, begin);
    turn.answer = await follow(stream, (draft) => update(() => { turn.draft = draft; }), (name) => update(() => { turn.stage = name; }));
    turn.indexes = chosen();
  } catch (error) {
    if (error.name !== "AbortError" && !(error instanceof Refused)) throw error;
    turn.error = error.name === "AbortError" ? { message: t("stopped"), hint: "", kind: "note" } : { message: error.message, hint: error.hint, kind: "error" };
    turn.interrupted = error.unreachable === true;
  }
  turn.stage = "";
};

export const stop = () => current.running?.abort();

// The server is back: what it did not get to answer is asked again.
export const resumed = () => {
  for (const talk of open.values()) if (talk.unkept) keep(talk);
  const turn = current.turns.findLast((one) => one.interrupted);
  if (turn && !current.running) ask(current, turn.question, turn);
};

const showLast = () => {
  const last = document.querySelector(".turn:last-of-type");
  last?.scrollIntoView({ block: "start", behavior: matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth" });
};

// ---- Keeping.

const recordOf = (talk) => ({
  title: talk.title, indexes: chosen(),
  turns: talk.turns.filter((turn) => turn.answer).map(({ question, answer, asked, rating }) => ({ question, answer, asked, rating })),
});

// What the page needs to draw an answer again: where its sources lie, and how they begin.
const BEGINNING = 300; // characters of a source
const brief = (answer) => ({ ...answer, sources: answer.sources.map(({ metadata, ...one }) => ({ ...one, text: one.text.slice(0, BEGINNING) })) });
const briefly = (talk) => ({ ...recordOf(talk), turns: recordOf(talk).turns.map((turn) => ({ ...turn, answer: brief(turn.answer) })) });

// What another tab asked in the same conversation meanwhile stays in it, and so does what it is called.
const joined = (mine, theirs) => {
  const turns = new Map([...theirs, ...mine].map((turn) => [`${turn.asked}\n${turn.question}`, turn]));
  return [...turns.values()].sort((a, b) => (a.asked < b.asked ? -1 : 1));
};

const keep = (talk) => tried(async () => {
  const path = `/v1/conversations/${talk.id}`;
  if (talk.kept) {
    const { title, turns } = await getJson(path).catch(() => talk);
    Object.assign(talk, { title, turns: joined(talk.turns, turns) });
  }
  talk.unkept = true; // until the server has it
  const kept = await putJson(path, briefly(talk));
  Object.assign(talk, { kept: true, unkept: false });
  tellTabs("conversations");
  update(() => { own.list = [kept, ...(own.list ?? []).filter(({ id }) => id !== talk.id)]; });
}, (error) => error.unreachable || say(`${t("not.kept")} ${error.message}`, "error"));

const forget = async (id) => {
  if (!confirm(t("conversation.delete.sure"))) return;
  await remove(`/v1/conversations/${id}`).catch((error) => say(error.message, "error"));
  open.delete(id);
  tellTabs("conversations");
  update(() => { own.list = own.list.filter((one) => one.id !== id); });
  if (current.id === id) go("ask", { index: chosen() });
};

// The list shows a new title once the server has it, so that a reload shows the same.
const rename = async (id, text) => {
  own.renaming = "";
  update();
  const title = text.trim().slice(0, MAX_TITLE);
  const kept = own.list.find((one) => one.id === id);
  if (!title || !kept || kept.title === title) return;
  if (open.has(id)) open.get(id).title = title;
  await attempt(async () => {
    const { indexes, turns } = await getJson(`/v1/conversations/${id}`);
    await putJson(`/v1/conversations/${id}`, { title, indexes, turns });
    update(() => { own.list = own.list.map((one) => (one.id === id ? { ...one, title } : one)); });
  });
};

// ---- What can be done with an answer.

const copy = async (answer) => {
  await navigator.clipboard.writeText(asText(answer)).then(() => say(t("copied")), () => say(t("copy.failed"), "error"));
};

const GOOD = 2;

// An opinion is kept as feedback; of a good answer, what it cites becomes a judgement too.
const rate = async (talk, turn, rating) => {
  turn.rating = turn.rating === rating ? 0 : rating;
  update();
  const [index] = turn.indexes ?? chosen();
  await attempt(async () => {
    await postJson(pathOf(index, "feedback"), { query: turn.question, rating: turn.rating });
    if (turn.rating > 0) {
      for (const one of new Map(turn.answer.citations.filter(Boolean).map((each) => [each.source, each])).values()) {
        await putJson(pathOf(one.collection || index, "judgements"), { query: turn.question, source: one.source, grade: GOOD });
      }
    }
    say(turn.rating ? t("rated") : t("rated.not"));
    keep(talk);
  });
};

const fileName = () => current.title.replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "").slice(0, 40) || "conversation";

// What the screen shows of a turn, for people who read it elsewhere.
const turnText = ({ question, answer }) => {
  const sure = surenessOf(answer);
  return [`## ${question}`, asText(answer), ...(sure ? [`*${t(`sure.${sure}`)}. ${t("sure.chance", { share: chanceOf(answer) })}*`] : [])].join("\n\n");
};

const exportAs = {
  markdown: () => saveAs(`${fileName()}.md`, [`# ${current.title}`, ...current.turns.filter((turn) => turn.answer).map(turnText)].join("\n\n"), "text/markdown"),
  json: () => saveAs(`${fileName()}.json`, JSON.stringify(recordOf(current), null, 2), "application/json"),
};

// ---- Drawing.

const refusal = (answer) => html`<p class="refused"><strong>${t("not.inside")}</strong> ${t("refusal")}</p>
  ${answer.sources.length > 0 && html`<h3 class="small">${t("nearest.title")}</h3>${nearest(answer.sources)}`}`;

const actions = (talk, turn) => html`<div class="actions">
  <button type="button" class="plain" @click=${() => copy(turn.answer)}>${icon("copy")}<span>${t("copy")}</span></button>
  <button type="button" class="plain" aria-pressed=${String(turn.rating === 1)} aria-label=${t("good")} title=${t("good")} @click=${() => rate(talk, turn, 1)}>${icon("good")}</button>
  <button type="button" class="plain" aria-pressed=${String(turn.rating === -1)} aria-label=${t("bad")} title=${t("bad")} @click=${() => rate(talk, turn, -1)}>${icon("bad")}</button>
  <a class="plain-link" href=${address("search", { index: chosen(), q: turn.question })}>${t("show.passages")}</a>
  <button type="button" class="plain" @click=${() => openExplain(turn.answer.question || turn.question)}>${t("how.found")}</button>
  <span class="quiet took">${turn.answer.ms > 0 && duration(turn.answer.ms)}</span>
</div>`;

const finished = (talk, turn) => html`
  ${turn.answer.refused ? refusal(turn.answer) : prose(turn.answer)}
  ${!turn.answer.refused && sourceList(turn.answer)}
  ${warnings(turn.answer.warnings)}
  ${!turn.answer.refused && [further(turn.answer), certainty(turn.answer)]}
  ${actions(talk, turn)}`;

const unfinished = (turn) => html`
  ${turn.draft?.text && prose({ ...turn.draft, writing: turn.stage !== "" })}
  ${turn.stage && html`<p class="stage quiet"><span class="spinner" aria-hidden="true"></span>${worded("stage", turn.stage)}</p>`}
  ${turn.error && html`${note(turn.error.message, turn.error.hint, turn.error.kind)}
    <p><button type="button" class="second" @click=${() => ask(current, turn.question, turn)}>${icon("again")}<span>${t("ask.again")}</span></button></p>`}`;

const turnOf = (talk, turn, at) => keyed(at, html`<article class="turn">
  <h2 class="question">${turn.question}</h2>
  <div class="answer" aria-live="polite" aria-busy=${String(turn.stage !== "" && turn.stage !== undefined)}>
    ${turn.answer && !turn.stage ? finished(talk, turn) : unfinished(turn)}</div>
</article>`);

const matching = () => {
  const sought = own.sought.trim().toLowerCase();
  return (own.list ?? []).filter((one) => !sought || [one.title, ...one.questions].some((text) => text.toLowerCase().includes(sought)));
};

const entry = (one) => keyed(one.id, html`<li class=${one.id === current.id ? "current" : ""}>
  ${own.renaming === one.id
    ? html`<input class="rename" aria-label=${t("rename")} ~value=${one.title} maxlength="80" ref=${focusOnce}
        @keydown=${(event) => {
          if (event.key === "Enter") rename(one.id, event.target.value);
          if (event.key === "Escape") update(() => { own.renaming = ""; });
        }} @blur=${(event) => own.renaming === one.id && rename(one.id, event.target.value)}>`
    : html`<a href=${address("ask", { index: one.indexes, c: one.id })} aria-current=${one.id === current.id ? "page" : null}
        title=${moment(one.updated)}>${one.title}</a>`}
  <button type="button" class="plain tiny" aria-label=${t("rename.this", { title: one.title })} @click=${() => update(() => { own.renaming = one.id; })}>${icon("edit")}</button>
  <button type="button" class="plain tiny" aria-label=${t("delete.this", { title: one.title })} @click=${() => forget(one.id)}>${icon("trash")}</button>
</li>`);

const focusOnce = (element) => queueMicrotask(() => {
  element.focus();
  element.select();
});

// Conversations stand open where there is room for them, the talk and what lies next to it.
const hasRoom = () => matchMedia(`(min-width: ${isReading() || isExplaining() ? 100 : 64}rem)`).matches;

const historyList = () => html`<details class="history" ?open=${hasRoom()}>
  <summary>${t("conversations")}</summary>
  <a class="new" href=${address("ask", { index: chosen() })}>${icon("plus")}<span>${t("conversation.new")}</span></a>
  ${(own.list ?? []).length > 0 && html`<label class="hidden" for="history-search">${t("conversations.search")}</label>
    <input id="history-search" type="search" placeholder=${t("conversations.search")} .value=${own.sought}
      @input=${(event) => update(() => { own.sought = event.target.value; })}>`}
  <ul>${matching().map(entry)}</ul>
  ${own.list?.length === 0 && html`<p class="quiet">${t("conversations.none")}</p>`}
</details>`;

const onKey = (event) => {
  if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
  event.preventDefault();
  submit();
};

const grow = (event) => {
  own.text = event.target.value;
  event.target.style.height = "auto";
  event.target.style.height = `${Math.min(event.target.scrollHeight, 200)}px`;
};

const EXTRACTS = "extracts"; // as the address says it

// Who writes the answer: the server's own model, one that it lets people choose, or the documents themselves.
const writers = (params) => {
  const { generator = "", models = [] } = state.server ?? {};
  if (!generator && !models.length) return html`<span class="quiet model">${state.server && t("model.none")}</span>`;
  const names = [["", generator || t("extracts.only")], ...models.map((name) => [name, name]), ...(generator ? [[EXTRACTS, t("extracts.only")]] : [])];
  return html`<label>${t("model.by")} <select class="model" .value=${params.get("by") ?? ""} @change=${(event) => patch({ by: event.target.value }, { replace: true })}>
    ${options(names)}</select></label>`;
};

const EFFORTS = ["", "medium", "high"]; // none in the address is `low`

// How often an answer may be searched for again.
const effort = (params) => html`<label title=${t("effort.says")}>${t("effort")} <select .value=${params.get("effort") ?? ""} @change=${(event) => patch({ effort: event.target.value }, { replace: true })}>
  ${options(EFFORTS.map((name) => [name, t(`effort.${name || "low"}`)]))}</select></label>`;

// ---- Speaking: what was heard stands in the box, to be read before it is asked. What records is loaded then.

// Whether there is somebody to hear it, and a microphone that a page may ask for.
const canHear = (server) => Boolean(server?.speech && navigator.mediaDevices?.getUserMedia && window.MediaRecorder);

let heard = null; // the recording that runs

const speak = async () => {
  if (own.hearing === "reading" || own.hearing === "wanted") return;
  if (!heard) {
    own.hearing = "wanted"; // until the person allows it
    try {
      const { listen } = await import("/page/speech.js");
      const recording = await listen(speak, (count) => update(() => { own.heard = count; }));
      if (own.hearing !== "wanted") {
        recording.drop(); // somebody went elsewhere meanwhile
        return;
      }
      heard = recording;
      update(() => Object.assign(own, { hearing: "listening", heard: 0 }));
    } catch {
      own.hearing = "";
      say(t("mic.denied"), "error");
    }
    return;
  }
  const { words } = heard;
  heard = null;
  update(() => { own.hearing = "reading"; });
  try {
    const text = await words();
    update(() => { own.text = [own.text.trim(), text].filter(Boolean).join(" "); });
    if (!text) say(t("mic.nothing"));
  } catch (error) {
    say(error instanceof Refused ? error.message : t("mic.nothing"), "error");
  }
  update(() => { own.hearing = ""; });
  document.getElementById("question")?.focus();
};

export const leave = () => {
  heard?.drop();
  heard = null;
  own.hearing = "";
};

const microphone = () => canHear(state.server) && html`<button type="button" class="second" @click=${speak}
  aria-pressed=${String(own.hearing === "listening")} .disabled=${own.hearing === "reading"} title=${t("mic.hint")}>
  ${icon("microphone")}<span>${t(own.hearing === "listening" ? "mic.stop" : own.hearing === "reading" ? "mic.reading" : "mic")}${own.hearing === "listening" && html` <span class="number">${seconds(own.heard)}</span>`}</span></button>`;

const composer = (params) => html`<form class="composer" @submit=${submit} autocomplete="off">
  <label class="hidden" for="question">${t("question.label")}</label>
  <textarea id="question" rows="1" maxlength="4096" placeholder=${current.turns.length ? t("question.follow") : t("question.label")}
    .value=${own.text} @input=${grow} @keydown=${onKey} aria-keyshortcuts="/"></textarea>
  ${microphone()}
  ${current.running ? html`<button type="button" class="second" @click=${stop}>${icon("stop")}<span>${t("stop")}</span></button>`
    : html`<button type="submit">${icon("send")}<span>${t("ask")}</span></button>`}
  <div class="composer-ways">
    ${writers(params)}
    <label>${t("profile")} <select .value=${params.get("profile") ?? ""} @change=${(event) => patch({ profile: event.target.value }, { replace: true })}>${profiles()}</select></label>
    ${effort(params)}
  </div>
</form>`;

const EXAMPLES = ["example.1", "example.2", "example.3"];

const lesson = () => html`<div class="lesson"><h2>${t("ask.lesson")}</h2>
  <p>${t("ask.lesson.text")}</p>
  <ul class="examples">${EXAMPLES.map((key) => html`<li><button type="button" class="second" @click=${() => {
    own.text = t(key);
    submit();
  }}>${t(key)}</button></li>`)}</ul></div>`;

const top = () => current.turns.length > 0 && html`<div class="talk-top">
  <p class="talk-title">${current.title}</p>
  <details class="menu"><summary>${t("export")}</summary><div class="menu-in">
    <button type="button" class="plain" @click=${exportAs.markdown}>Markdown</button>
    <button type="button" class="plain" @click=${exportAs.json}>JSON</button></div></details>
</div>`;

export const title = () => [current.title, t("ask")].filter(Boolean).join(" · ");
export const terms = () => [];

export const view = (params) => html`<div class="ask-view">
  ${historyList()}
  <div class="talk">
    <h1 class="hidden" tabindex="-1">${t("ask")}</h1>
    ${top()}
    <div class="turns">
      ${problem(own.problem)}
      ${own.loading && html`<p class="quiet" role="status">${t("opening")}</p>`}
      ${!current.turns.length && !own.loading && !own.problem && lesson()}
      ${current.turns.map((turn, at) => turnOf(current, turn, at))}
    </div>
    ${composer(params)}
  </div>
</div>`;

export const keys = (event, typing) => {
  if (event.key === "Escape" && current.running) stop();
  else if (typing) return false;
  else if (event.key === "/") document.getElementById("question").focus();
  else if (/^[1-9]$/.test(event.key)) {
    const chips = [...document.querySelectorAll(".turn:last-of-type .prose a.chip")];
    chips.find((one) => one.textContent === event.key)?.click();
  } else return false;
  return true;
};
