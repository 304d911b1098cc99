// What an index keeps besides its documents: synonyms, what it shows first for a question, and states under names.

import { getJson, jobOf, pathOf, postJson, putJson, remove } from "/page/api.js";
import { bytes, lastPart, moment } from "/page/format.js";
import { attempt, tried } from "/page/notes.js";
import { sent } from "/page/parts.js";
import { address } from "/page/router.js";
import { say, slice, state, tellTabs, update } from "/page/store.js";
import { t } from "/page/strings.js";
import { html, keyed } from "/page/ui.js";

const own = slice("kept", { index: "", synonyms: null, pins: null, snapshots: null, diff: null });

const quietly = (path) => tried(() => getJson(path)); // what a token may not see is left out

export const enter = async (index) => {
  if (own.index === index) return;
  Object.assign(own, { index, synonyms: null, pins: null, snapshots: null, diff: null });
  const [synonyms, pins, snapshots] = await Promise.all(["synonyms", "pins", "snapshots"].map((what) => quietly(pathOf(index, what))));
  if (index === own.index) update(() => Object.assign(own, { synonyms, pins: pins?.pins ?? null, snapshots: snapshots?.snapshots ?? null }));
};

const changed = (change) => update(() => {
  Object.assign(own, change);
  state.changes += 1;
});

const saveSynonyms = sent((said) => attempt(async () => {
  changed({ synonyms: await putJson(pathOf(own.index, "synonyms"), { rules: said.get("rules") }) });
  say(t("saved"));
}));

const synonyms = () => own.synonyms && html`<section aria-labelledby="synonyms"><h2 id="synonyms">${t("synonyms")}</h2>
  <form @submit=${saveSynonyms}><label for="rules">${t("synonyms.says")}</label>
    <textarea id="rules" name="rules" rows="5" spellcheck="false" placeholder=${"car, automobile\nnyc => new york city"} ~value=${own.synonyms.rules}></textarea>
    <div class="buttons"><button type="submit" class="second">${t("save")}</button></div></form></section>`;

const unpin = (query) => attempt(async () => {
  const { pins } = await putJson(pathOf(own.index, "pins"), { query });
  changed({ pins });
});

const pins = () => own.pins && html`<section aria-labelledby="pins"><h2 id="pins">${t("pins")}</h2>
  ${!own.pins.length && html`<p class="quiet">${t("pins.none")}</p>`}
  <ul>${own.pins.map((one) => keyed(one.query, html`<li class="job"><a href=${address("search", { index: own.index, q: one.query })}>${one.query}</a>
    <span class="quiet">${one.documents.map((name) => (name.startsWith("-") ? `− ${lastPart(name.slice(1))}` : lastPart(name))).join(", ")}</span>
    <button type="button" class="plain" @click=${() => unpin(one.query)}>${t("pin.forget")}</button></li>`))}</ul></section>`;

const listSnapshots = async () => changed({ snapshots: (await getJson(pathOf(own.index, "snapshots"))).snapshots });

const snap = sent((said, form) => attempt(async () => {
  await postJson(pathOf(own.index, "snapshots"), { name: said.get("name").trim() });
  form.reset();
  await listSnapshots();
}));

const forget = (name) => confirm(t("snapshot.delete.sure", { name })) && attempt(async () => {
  await remove(pathOf(own.index, "snapshots", name));
  await listSnapshots();
});

const compare = (name) => attempt(async () => {
  const found = await postJson(pathOf(own.index, "diff"), { before: name, limit: 100 });
  update(() => { own.diff = { ...found, name }; });
});

const branch = (past) => {
  const name = prompt(t("snapshot.branch.name"))?.trim();
  if (!name) return;
  attempt(async () => {
    let job = jobOf(await postJson(pathOf(own.index, "branches"), { name, as_of: past }));
    while (!job.finished) {
      await new Promise((settle) => setTimeout(settle, 300));
      job = jobOf(await getJson(`/v1/jobs/${job.id}`));
    }
    if (job.state !== "done") {
      say(job.problem?.detail ?? t("job.state.failed"), "error");
      return;
    }
    update(() => { state.indexes = [...new Set([...state.indexes, name])].sort(); });
    tellTabs("indexes");
    say(t("index.made", { name }));
  });
};

const KINDS = { added: "+", removed: "−", changed: "~", fields: "=" };

const difference = () => own.diff && html`<div class="plan" role="status"><p><strong>${t("snapshot.since", { name: own.diff.name })}</strong> ${Object.keys(KINDS).map((kind) => t(`changed.${kind}`, { count: own.diff[kind] })).join(", ")}</p>
  <ul>${own.diff.documents.map((one) => html`<li>${KINDS[one.kind]} ${one.source}</li>`)}</ul></div>`;

const snapshot = (one) => keyed(one.name, html`<li class="job"><strong>${one.name}</strong> <span class="quiet">${moment(one.created)}, ${t("documents", { count: one.documents })}${one.retained_bytes > 0 && `, ${bytes(one.retained_bytes)}`}</span>
  <div class="buttons">
    <a class="plain-link" href=${address("search", { index: own.index, as_of: one.name })}>${t("snapshot.search")}</a>
    <button type="button" class="plain" @click=${() => compare(one.name)}>${t("snapshot.diff")}</button>
    <button type="button" class="plain" @click=${() => branch(one.name)}>${t("snapshot.branch")}</button>
    <button type="button" class="plain" aria-label=${t("delete.this", { title: one.name })} @click=${() => forget(one.name)}>${t("index.delete")}</button></div></li>`);

const snapshots = () => own.snapshots && html`<section aria-labelledby="snapshots"><h2 id="snapshots">${t("snapshots")}</h2>
  <p class="quiet">${t("snapshots.says")}</p>
  <form class="inline" @submit=${snap}><label for="snapshot-name">${t("snapshot.name")}</label>
    <input id="snapshot-name" name="name" required maxlength="64" pattern="[A-Za-z0-9][A-Za-z0-9._\\-]*" spellcheck="false">
    <button type="submit" class="second">${t("snapshot.make")}</button></form>
  <ul>${own.snapshots.map(snapshot)}</ul>${difference()}</section>`;

export const view = () => [synonyms(), pins(), snapshots()];
