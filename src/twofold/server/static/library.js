// The library: what an index holds and how it comes in. Files from here, folders of the server, and all documents.

import { getJson, jobOf, pathOf, postJson, remove } from "/page/api.js";
import { bytes, lastPart, moment, percent, seconds, whole } from "/page/format.js";
import { icon } from "/page/icons.js";
import { attempt, refusal, tried } from "/page/notes.js";
import { facts, sent, slashTo } from "/page/parts.js";
import { address, go, patch } from "/page/router.js";
import { chosen, say, slice, state, tellTabs, update } from "/page/store.js";
import { t } from "/page/strings.js";
import { html, keyed } from "/page/ui.js";
import { Uploads, filesOf } from "/page/uploads.js";

const PAGE = 200;
const ROW = 44; // pixels; the stylesheet says the same
const SPARE = 6;
const SHOWN_ITEMS = 300;

const own = slice("library", { index: "", total: null, pages: new Map(), first: 0, seen: 20, sought: "", jobs: [], problem: null, over: false,
  plan: null, planning: false, findings: null });
const queues = new Map();

const queueOf = (index) => {
  if (!queues.has(index)) {
    queues.set(index, new Uploads(index, () => update(), () => arrived(index)));
  }
  return queues.get(index);
};

// How far the files of an index are that are on their way; null where none is.
export const arriving = (index) => (queues.get(index)?.running ? queues.get(index).counts : null);

export const resumed = () => {
  for (const queue of queues.values()) queue.resume();
};

// Files that were not sent yet would be lost with the page: the browser asks first.
addEventListener("beforeunload", (event) => {
  if ([...queues.values()].some((line) => line.sending)) event.preventDefault();
});

export const enter = async (params) => {
  const [index] = chosen();
  const sought = params.get("q") ?? "";
  if (index === own.index && sought === own.sought) return;
  Object.assign(own, { index, sought, total: null, first: 0, plan: null, findings: null, problem: null });
  own.pages.clear();
  loading.clear();
  turn += 1;
  if (document.querySelector(".kept[open]")) openKept({ target: { open: true } });
  await Promise.all([load(0), loadJobs()]);
};

const changedNow = (index) => {
  state.changes += 1;
  tellTabs("documents");
  getJson(pathOf(index)).then((info) => update((all) => { all.infos[index] = info; }), () => {});
};

const arrived = (index) => {
  changedNow(index);
  lookAgain(index);
};

export const elsewhere = (what) => what === "documents" && own.index && lookAgain(own.index);

const lookAgain = (index) => {
  if (index !== own.index) return;
  loading.clear();
  turn += 1;
  for (const at of new Set([own.first, own.first + own.seen].map((row) => Math.floor(Math.min(row, own.total ?? 0) / PAGE)))) load(at, true);
  loadJobs();
};

// ---- The list of documents: the rows in sight alone, from pages that are fetched as they come into sight.

const loading = new Set();
let turn = 0; // how often the list was looked at again: what was asked for before says what was

// `again`: the index has changed. What is in sight stays until the new is there; what is not is fetched when it comes.
const load = async (page, again = false) => {
  if (!again && (own.pages.has(page) || loading.has(page))) return;
  loading.add(page);
  const before = again ? [...own.pages.keys()] : [];
  const asked = turn;
  const { index, sought } = own;
  await tried(async () => {
    const found = await getJson(`${pathOf(index, "documents")}?limit=${PAGE}&offset=${page * PAGE}${sought ? `&q=${encodeURIComponent(sought)}` : ""}`);
    if (index !== own.index || sought !== own.sought || asked !== turn) return;
    for (const one of before) if (!loading.has(one)) own.pages.delete(one);
    own.pages.set(page, found.documents);
    update(() => { own.total = found.total; });
  }, (error) => update(() => { own.problem = error; })).finally(() => asked === turn && loading.delete(page));
};

let settling = 0;

const onScroll = (event) => {
  const { scrollTop, clientHeight } = event.target;
  const first = Math.floor(scrollTop / ROW);
  if (first === own.first && own.seen) return;
  update(() => Object.assign(own, { first, seen: Math.ceil(clientHeight / ROW) }));
  clearTimeout(settling);
  settling = setTimeout(() => { // pages that were only flown over are not fetched
    for (const at of [own.first, own.first + own.seen]) if (at < own.total) load(Math.floor(at / PAGE));
  }, 60);
};

const kindOf = (info) => (/\.([A-Za-z0-9]{1,8})$/.exec(info.source)?.[1] ?? info.media_type.split("/").pop()).slice(0, 8).toLowerCase();

const row = (at) => {
  const info = own.pages.get(Math.floor(at / PAGE))?.[at % PAGE];
  return keyed(at, html`<li class="row" style=${{ top: `${at * ROW}px` }} aria-setsize=${own.total} aria-posinset=${at + 1}>
    ${info ? html`<span class="badge">${kindOf(info)}</span>
      <a class="row-name" href=${address("document", { index: own.index, doc: info.id })} title=${info.source}>${lastPart(info.source)}</a>
      <span class="row-title quiet">${info.title !== lastPart(info.source) && info.title}</span>
      <span class="row-size quiet number">${t("passages", { count: info.chunks })}</span>
      <button type="button" class="plain tiny" aria-label=${t("delete.this", { title: lastPart(info.source) })} @click=${() => drop(info)}>${icon("trash")}</button>`
    : html`<span class="quiet">…</span>`}</li>`);
};

const drop = async (info) => {
  if (!confirm(t("document.delete.sure", { name: lastPart(info.source) }))) return;
  await attempt(async () => {
    await remove(pathOf(own.index, "documents", info.id));
    arrived(own.index);
    say(t("deleted"));
  });
};

const rowsInSight = () => {
  const from = Math.max(0, own.first - SPARE);
  const to = Math.min(own.total, own.first + own.seen + SPARE);
  return Array.from({ length: Math.max(0, to - from) }, (_, at) => row(from + at));
};

const documents = () => html`<section class="documents" aria-labelledby="documents-title">
  <div class="section-top"><h2 id="documents-title">${own.total === null ? t("documents.title") : t("documents", { count: own.total })}</h2>
    <form role="search" class="inline" @submit=${sent((said) => patch({ q: said.get("q") }, { replace: true }))}><label class="hidden" for="documents-search">${t("documents.search")}</label>
      <input id="documents-search" name="q" type="search" maxlength="200" placeholder=${t("documents.search")} ~value=${own.sought}>
    </form></div>
  ${refusal(own.problem)}
  ${own.total === 0 && html`<p class="quiet">${own.sought ? t("documents.no.match") : t("documents.none")}</p>`}
  ${own.total > 0 && html`<div class="rows" tabindex="0" role="region" aria-label=${t("documents.title")} @scroll=${onScroll}
    style=${{ height: `min(${own.total * ROW + 2}px, 70vh)` }}>
    <ul class="rows-in" style=${{ height: `${own.total * ROW}px` }}>${rowsInSight()}</ul></div>`}
</section>`;

// ---- Bringing documents in.

const receive = (files) => {
  if (files.length) queueOf(own.index).add(files);
};

// Where files are dropped or chosen; `take` is given them.
const dropZone = (take, kind = "") => {
  const over = (is) => own.over === is || update(() => { own.over = is; });
  const onDrop = async (event) => {
    event.preventDefault();
    const files = filesOf(event.dataTransfer); // the list is only there during the event
    over(false);
    take(await files);
  };
  const onOver = (event) => {
    event.preventDefault();
    over(true);
  };
  const picked = (event) => {
    take([...event.target.files].map((file) => ({ file, name: file.webkitRelativePath || file.name })));
    event.target.value = "";
  };
  return html`<div class=${`drop ${kind}${own.over ? " over" : ""}`} @dragover=${onOver} @dragleave=${() => over(false)} @drop=${onDrop}>
    ${icon("upload")}
    <p><strong>${t("drop.here")}</strong><br><span class="quiet">${t("drop.kinds")}</span></p>
    <div class="buttons">
      <label class="button">${t("choose.files")}<input type="file" id="files" class="hidden" multiple @change=${picked}></label>
      <label class="button second">${t("choose.folder")}<input type="file" id="folder" class="hidden" webkitdirectory @change=${picked}></label>
    </div>
  </div>`;
};

// What is wrong and what to do, as two sentences.
const why = ({ detail = "", hint = "" }) => `${detail.charAt(0).toUpperCase()}${detail.slice(1)}${/\p{L}$/u.test(detail) ? "." : ""} ${hint}`.trim();

const STATES = { waiting: "upload.waiting", sending: "upload.sending", reading: "upload.reading", done: "upload.done", failed: "upload.failed", stopped: "upload.stopped" };

const item = (one) => keyed(one.id, html`<li class=${`item ${one.state}`}>
  <span class="item-name">${one.document ? html`<a href=${address("document", { index: own.index, doc: one.document })}>${one.name}</a>` : one.name}</span>
  <span class="quiet number">${bytes(one.size)}</span>
  <span class="item-state">${t(STATES[one.state])}${one.state === "sending" && one.size > 0 && ` ${percent(one.sent / one.size)}`}
    ${one.state === "done" && html`<span class="quiet"> ${t("passages", { count: one.chunks })}</span>`}</span>
  ${one.problem && html`<span class="item-why">${why(one.problem)}</span>`}
</li>`);

const ORDER = { failed: 0, sending: 1, reading: 2, waiting: 3, stopped: 4, done: 5 };

const queue = () => {
  const line = queues.get(own.index);
  if (!line?.items.length) return null;
  const { done, failed, all } = line.counts;
  const { share, left, rate } = line.progress;
  const sorted = [...line.items].sort((a, b) => ORDER[a.state] - ORDER[b.state]).slice(0, SHOWN_ITEMS);
  return html`<section class="queue" aria-labelledby="queue-title">
    <div class="section-top"><h2 id="queue-title">${t("uploads")}</h2>
      <span class="buttons">
        ${line.running && html`<button type="button" class="second" @click=${() => line.cancel()}>${t("cancel")}</button>`}
        ${!line.running && (failed > 0 || line.items.some((one) => one.state === "stopped")) && html`<button type="button" @click=${() => line.retry()}>${t("retry")}</button>`}
        ${!line.running && !line.away && html`<button type="button" class="plain" @click=${() => line.clear()}>${t("clear")}</button>`}
      </span></div>
    <progress max="1" .value=${share} aria-label=${t("uploads")}></progress>
    <p class="quiet" role="status">${t("upload.counts", { done, all })}${failed > 0 && `, ${t("upload.failures", { count: failed })}`}
      ${line.running && rate > 0 && ` · ${bytes(rate)}/s`}${line.running && left !== null && ` · ${t("time.left", { time: seconds(left) })}`}
      ${line.away && ` · ${t("upload.away")}`}</p>
    <ul class="items">${sorted.map(item)}</ul>
  </section>`;
};

// ---- Folders of the server: first the plan, then the sync.

const planSync = sent((said) => {
  const path = said.get("path").trim();
  if (!path) return;
  update(() => Object.assign(own, { planning: true, plan: null }));
  attempt(async () => {
    const plan = await postJson(pathOf(own.index, "sync:plan"), { paths: [path] });
    own.plan = { ...plan, path };
  }).then(() => update(() => { own.planning = false; }));
});

const sync = () => attempt(async () => {
  const { path } = own.plan;
  own.plan = null;
  const job = jobOf(await postJson(pathOf(own.index, "sync"), { paths: [path] }));
  own.jobs = [job, ...own.jobs];
  update();
  watch(job.id);
});

const watched = new Set(); // each job is followed once, however often the list is looked at again

const watch = async (id) => {
  if (watched.has(id)) return;
  watched.add(id);
  const { index } = own;
  for (;;) {
    const job = await getJson(`/v1/jobs/${id}`).then(jobOf, () => null);
    update(() => { own.jobs = job ? own.jobs.map((one) => (one.id === id ? job : one)) : own.jobs; });
    if (!job || job.finished) break;
    await new Promise((settle) => setTimeout(settle, 400));
  }
  watched.delete(id);
  arrived(index);
};

const PLANNED = ["added", "updated", "renamed", "deleted"];

const planned = (plan) => html`<div class="plan" role="status">
  <p><strong>${t("plan.says")}</strong></p>
  <ul>${PLANNED.map((name) => html`<li>${t(`plan.${name}`, { count: plan[name].length })}
    ${plan[name].length > 0 && html`<span class="quiet"> ${plan[name].slice(0, 3).map(lastPart).join(", ")}${plan[name].length > 3 && " …"}</span>`}</li>`)}
    <li>${t("plan.unchanged", { count: plan.unchanged })}</li></ul>
  <div class="buttons"><button type="button" @click=${sync}>${t("plan.do")}</button>
    <button type="button" class="second" @click=${() => update(() => { own.plan = null; })}>${t("cancel")}</button></div>
</div>`;

const folders = () => state.server?.roots?.length > 0 && html`<details class="folders"><summary>${t("folders")}</summary>
  <form class="inline" @submit=${planSync}><label for="path">${t("folder.path")}</label>
    <input id="path" name="path" list="roots" maxlength="4096" spellcheck="false" ~value=${own.plan?.path ?? state.server.roots[0]}>
    <datalist id="roots">${state.server.roots.map((root) => html`<option value=${root}></option>`)}</datalist>
    <button type="submit" class="second" ?disabled=${own.planning}>${t("plan.make")}</button></form>
  ${own.planning && html`<p class="quiet" role="status">${t("plan.making")}</p>`}
  ${own.plan && planned(own.plan)}</details>`;

// ---- What the server does and did.

const loadJobs = async () => {
  const { jobs } = await getJson("/v1/jobs").catch(() => ({ jobs: [] }));
  const mine = jobs.map(jobOf).filter((job) => job.index === own.index).reverse().slice(0, 20);
  update(() => { own.jobs = mine; });
  for (const job of mine) if (!job.finished && !queues.get(own.index)?.running) watch(job.id);
};

const cancelJob = (job) => attempt(async () => {
  await remove(`/v1/jobs/${job.id}`);
  say(t("job.stopped"));
  loadJobs();
});

const jobLine = (job) => {
  const failures = job.files.filter((file) => file.state === "failed");
  const counts = Object.entries(job.counts).filter(([, count]) => count > 0).map(([name, count]) => t(`job.${name}`, { count }));
  return keyed(job.id, html`<li class=${`job ${job.state}`}>
    <span>${t(`job.${job.kind}`)}</span> <span class="quiet">${moment(job.created)}</span> <span>${job.finished ? counts.join(", ") || t(`job.state.${job.state}`) : t("job.progress", { done: job.done, total: job.total })}</span>
    ${!job.finished && html`<button type="button" class="plain" @click=${() => cancelJob(job)}>${t("cancel")}</button>`}
    ${job.problem && html`<p class="item-why">${why(job.problem)}</p>`}
    ${failures.length > 0 && html`<details><summary>${t("upload.failures", { count: failures.length })}</summary><ul class="items">${failures.slice(0, 200).map((file) => html`
      <li class="item failed"><span class="item-name">${file.name}</span><span class="item-why">${why(file.problem ?? {})}</span></li>`)}</ul></details>`}
  </li>`);
};

const work = () => own.jobs.length > 0 && html`<details class="work"><summary>${t("jobs")}</summary><ul class="jobs">${own.jobs.map(jobLine)}</ul></details>`;

// ---- The index itself.

const create = sent((said, form) => {
  const name = said.get("name").trim();
  attempt(async () => {
    await postJson("/v1/indexes", { name });
    form.reset();
    state.indexes = [...(state.indexes ?? []), name].sort();
    tellTabs("indexes");
    go("library", { index: name });
    say(t("index.made", { name }));
  });
});

const dropIndex = sent((said, form) => {
  const name = own.index;
  if (said.get("name") !== name) {
    say(t("index.delete.name"), "error");
    return;
  }
  attempt(async () => {
    await remove(pathOf(name));
    form.reset();
    document.getElementById("delete-index").close();
    queues.delete(name);
    state.indexes = state.indexes.filter((one) => one !== name);
    delete state.infos[name];
    tellTabs("indexes");
    state.changes += 1;
    say(t("index.gone", { name }));
    go("library", {});
  });
});

const check = () => attempt(async () => {
  update(() => { own.findings = "…"; });
  const { findings } = await postJson(pathOf(own.index, "verify"), {});
  update(() => { own.findings = findings; });
}).then((done) => done === null && update(() => { own.findings = null; }));

const health = () => {
  if (own.findings === null) return null;
  if (own.findings === "…") return html`<p class="quiet" role="status">${t("health.checking")}</p>`;
  return own.findings.length ? html`<ul class="items">${own.findings.map((one) => html`<li class="item failed"><span class="item-name">${one.where}</span>
    <span class="item-why">${one.what}</span></li>`)}</ul>` : html`<p role="status">${t("health.good")}</p>`;
};

const about = (info) => facts([
  [t("documents.title"), whole(info.documents)], [t("passages.title"), whole(info.chunks)], [t("size"), bytes(info.bytes_on_disk)],
  info.pending > 0 && [t("pending"), whole(info.pending)],
  info.embedder && [t("model.of.index"), info.embedder],
  info.analyzer && [t("language"), info.analyzer.split(" ")[0], info.analyzer],
], "index-facts");

const nameField = () => html`<input id="new-name" name="name" required maxlength="64" pattern="[A-Za-z0-9_][A-Za-z0-9._\\-]*" placeholder=${t("index.name.example")} spellcheck="false">`;

const manage = () => html`<details class="manage"><summary>${t("index.manage")}</summary>
  <form class="inline" @submit=${create}><label for="new-name">${t("index.new")}</label>${nameField()}
    <button type="submit" class="second">${t("index.make")}</button></form>
  <div class="buttons"><button type="button" class="second" @click=${check}>${t("health.check")}</button>
    <button type="button" class="danger" @click=${() => document.getElementById("delete-index").showModal()}>${t("index.delete")}</button></div>
  ${health()}
</details>
<dialog id="delete-index" aria-labelledby="delete-title"><form @submit=${dropIndex}>
  <h2 id="delete-title">${t("index.delete.title", { name: own.index })}</h2>
  <p>${t("index.delete.says")}</p>
  <label for="delete-name">${t("index.delete.type", { name: own.index })}</label><input id="delete-name" name="name" autocomplete="off" spellcheck="false">
  <div class="buttons"><button type="submit" class="danger">${t("index.delete")}</button>
    <button type="button" class="second" @click=${(event) => event.target.closest("dialog").close()}>${t("cancel")}</button></div></form></dialog>`;

// ---- What the index keeps besides: a module of its own, loaded when it is looked at.

let keeping = null;

const openKept = async (event) => {
  if (!event.target.open) return;
  keeping ??= await import("/page/kept.js");
  own.kept = own.index;
  await keeping.enter(own.index);
};

const kept = () => html`<details class="kept" @toggle=${openKept}><summary>${t("kept")}</summary>
  ${keeping && own.kept === own.index && keeping.view()}</details>`;

export const title = () => [chosen()[0], t("library")].filter(Boolean).join(" · ");
export const terms = () => [];

export const view = () => {
  const info = state.infos[own.index];
  return html`<div class="library-view">
    <h1 tabindex="-1">${own.index}</h1>
    <div class="library-in">
      <div class="library-side">
        ${info && about(info)}
        ${dropZone(receive)}
        ${queue()}
        ${folders()}
        ${work()}
        ${kept()}
        ${manage()}
      </div>
      ${documents()}
    </div>
  </div>`;
};

export const keys = slashTo("documents-search");

// ---- The first run: nothing is there yet.

const firstFiles = (files) => {
  if (!files.length) return;
  const field = document.getElementById("new-name");
  const name = field?.value.trim() || "documents";
  attempt(async () => {
    await postJson("/v1/indexes", { name });
    state.indexes = [name];
    go("library", { index: name });
    queueOf(name).add(files);
  });
};

export const firstRun = () => html`<div class="first-run">
  <h1 tabindex="-1">${t("first.title")}</h1>
  <p>${t("first.says")}</p>
  <p class="inline"><label for="new-name">${t("index.name")}</label>${nameField()}</p>
  ${dropZone(firstFiles, "big")}
  <p class="quiet">${t("first.command")} <code>twofold sync FOLDER --index documents</code></p>
</div>`;
