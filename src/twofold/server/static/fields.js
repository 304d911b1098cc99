// The fields of a document, to be changed: what one filters and counts by.

import { documentPath, putJson } from "/page/api.js";
import { attempt } from "/page/notes.js";
import { say, slice, update } from "/page/store.js";
import { t } from "/page/strings.js";
import { html, keyed } from "/page/ui.js";

const own = slice("fields", { editing: "", rows: [] });
let number = 0;

export const isEditing = (info) => own.editing === info.id;
export const shown = (value) => (Array.isArray(value) ? value.join(", ") : String(value));

export const edit = (info, hidden) => update(() => {
  const fields = Object.entries(info.metadata).filter(([name]) => !hidden.has(name));
  Object.assign(own, { editing: info.id, rows: fields.map(([name, value]) => ({ id: ++number, name, value: shown(value), was: value })) });
});

// A text as the field had it: a list stays one, and a number or truth value that was one, or could be one where it is new.
export const valueOf = (text, was) => {
  const said = text.trim();
  if (Array.isArray(was)) return said.split(",").map((one) => one.trim()).filter(Boolean);
  if (typeof was === "string" || !said) return said;
  if (said === "true" || said === "false") return said === "true";
  return /^-?\d{1,15}(\.\d+)?$/.test(said) ? Number(said) : said;
};

// What changed, as the server wants it: an empty text takes a field away.
export const changesOf = (rows, before) => {
  const now = Object.fromEntries(rows.filter((row) => row.name.trim()).map((row) => [row.name.trim(), valueOf(row.value, row.was)]));
  const gone = Object.keys(before).filter((name) => !(name in now));
  const set = Object.entries(now).filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(before[name]));
  return Object.fromEntries([...set, ...gone.map((name) => [name, ""])]);
};

const save = (event, index, info, hidden, saved) => {
  event.preventDefault();
  const before = Object.fromEntries(Object.entries(info.metadata).filter(([name]) => !hidden.has(name)));
  const metadata = changesOf(own.rows, before);
  attempt(async () => {
    if (Object.keys(metadata).length) saved(await putJson(documentPath(index, info.id, "metadata"), { metadata }));
    say(t("saved"));
    update(() => { own.editing = ""; });
  });
};

const row = (one) => keyed(one.id, html`<div class="inline field-row">
  <input aria-label=${t("field.name")} placeholder=${t("field.name")} maxlength="200" .value=${one.name} ?disabled=${one.was !== undefined}
    @input=${(event) => { one.name = event.target.value; }}>
  <input aria-label=${t("field.value", { name: one.name })} placeholder=${t("field.is")} maxlength="10000" .value=${one.value} @input=${(event) => { one.value = event.target.value; }}>
  <button type="button" class="plain" aria-label=${t("delete.this", { title: one.name })}
    @click=${() => update(() => { own.rows = own.rows.filter((each) => each !== one); })}>×</button></div>`);

export const editor = (index, info, hidden, saved) => html`<form class="field-form" @submit=${(event) => save(event, index, info, hidden, saved)} autocomplete="off">
  ${own.rows.map(row)}
  <div class="buttons"><button type="button" class="second" @click=${() => update(() => { own.rows.push({ id: ++number, name: "", value: "", was: undefined }); })}>${t("field.add")}</button>
    <button type="submit">${t("save")}</button>
    <button type="button" class="plain" @click=${() => update(() => { own.editing = ""; })}>${t("cancel")}</button></div></form>`;
