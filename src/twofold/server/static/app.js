// The application: its frame, the way between views, tokens, keys, and what is said when the server is away.

import { Refused, forgetToken, getJson, hasToken, keepToken, pathOf, whenReached, whenTokenWanted } from "/page/api.js";
import { icon } from "/page/icons.js";
import { note } from "/page/notes.js";
import { closeExplain, closing, isExplaining, isReading } from "/page/places.js";
import { address, patch, patchedAddress, start } from "/page/router.js";
import { chosen, drawnBy, heardFromTabs, state, update } from "/page/store.js";
import { language, t } from "/page/strings.js";
import { html, mount } from "/page/ui.js";

const VIEWS = ["ask", "search", "library", "document", "compare", "judge", "experiments", "settings"]; // each a module of its own, loaded when it is looked at
const MAIN = ["ask", "search", "library"];
const MEASURING = ["compare", "judge", "experiments", "settings"];
const SHEETS = {
  ask: ["ask"], search: ["search"], library: ["library"], document: ["search", "source", "document"], compare: ["search", "measure"],
  judge: ["search", "measure"], experiments: ["measure"], settings: ["measure"], source: ["source"], explain: ["explain"],
};
const loaded = {};

// Loads a view, or what lies next to one, with its stylesheets.
const load = async (name) => {
  if (!loaded[name]) [loaded[name]] = await Promise.all([import(`/page/${name}.js`), ...SHEETS[name].map(sheet)]);
  return loaded[name];
};

// Adds a stylesheet, once.
const sheets = {};
const sheet = (name) => {
  sheets[name] ??= new Promise((settle) => {
    const link = document.createElement("link");
    link.rel = "stylesheet";
    link.href = `/page/${name}.css`;
    link.onload = link.onerror = settle;
    document.head.append(link);
  });
  return sheets[name];
};

const AWAY_MS = 1_500;

const isTyping = (target) =>
  target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement ||
  (target instanceof HTMLInputElement && !["radio", "checkbox", "button"].includes(target.type));

// ---- Drawing the frame.

const kept = () => ({ index: state.route.params.getAll("index"), as_of: state.route.params.get("as_of") });

const past = () => state.route.params.has("as_of") && html`<p class="note">${t("past", { name: state.route.params.get("as_of") })} <a href=${patchedAddress({ as_of: null, ...closing })}>${t("past.leave")}</a></p>`;

// What is asked while files are on their way is answered from those that are in.
const arriving = () => {
  const counts = state.route.view === "library" ? null : loaded.library?.arriving(chosen()[0]);
  return counts && html`<p class="note arriving">${t("upload.counts", counts)}. <a href=${address("library", kept())}>${t("uploads")}</a></p>`;
};

const link = (view) => html`<li><a class="nav-link" href=${address(view, kept())} aria-current=${state.route.view === view ? "page" : null}>
  ${icon(view)}<span>${t(`nav.${view}`)}</span></a></li>`;

const navigation = () => html`<nav class="nav" aria-label=${t("nav")}>
  <ul class="nav-main">${MAIN.map(link)}
    <li class="nav-more"><button type="button" class="nav-link" aria-current=${MEASURING.includes(state.route.view) ? "true" : null} aria-expanded=${String(Boolean(state.more))} aria-controls="nav-rest"
      @click=${() => update((all) => { all.more = !all.more; })}>${icon("more")}<span>${t("nav.more")}</span></button></li></ul>
  <ul class=${state.more ? "nav-rest open" : "nav-rest"} id="nav-rest">${MEASURING.map(link)}
    <li class="nav-docs"><a class="nav-link" href="/docs" target="_self">${icon("link")}<span>API</span></a></li></ul>
</nav>`;

const held = () => {
  const infos = chosen().map((name) => state.infos[name]).filter(Boolean);
  if (!infos.length) return "";
  const sum = (field) => infos.reduce((total, one) => total + one[field], 0);
  return `${t("documents", { count: sum("documents") })}, ${t("passages", { count: sum("chunks") })}`;
};

const MANY = ["ask", "search"];

const choose = (name, single) => {
  const now = new Set(single ? [] : chosen());
  if (!now.delete(name) || !now.size) now.add(name);
  patch({ index: (state.indexes ?? []).filter((one) => now.has(one)), page: null, ...closing, c: null, missing: null, as_of: null });
};

const indexPicker = () => {
  const names = state.indexes ?? [];
  const mine = chosen();
  const many = MANY.includes(state.route.view);
  if (!names.length || state.route.view === "settings") return null;
  return html`<details class="menu picker" id="picker"><summary><span class="quiet">${t("index")}</span>
    <strong>${mine.length > 1 ? t("indexes", { count: mine.length }) : mine[0]}</strong>${icon("down")}</summary>
    <fieldset class="menu-in"><legend class="hidden">${t("index.which")}</legend>
      ${names.map((name) => html`<label class="check"><input type=${many ? "checkbox" : "radio"} name="index" value=${name}
        .checked=${mine.includes(name)} @change=${() => choose(name, !many)}> ${name}</label>`)}</fieldset></details>`;
};

const top = () => html`<header class="top-bar">
  <a class="brand" href=${address("ask", kept())} aria-label="twofold"><img src="/page/icon.svg" alt="" width="24" height="24"><span>twofold</span></a>
  ${indexPicker()}
  <span class="quiet held" id="held">${held()}</span>
  <span class="corner">
    ${state.token.given && html`<button type="button" class="plain" id="forget" @click=${dropToken}>${t("token.forget")}</button>`}
    <button type="button" class="plain" id="help" aria-haspopup="dialog" @click=${() => showDialog("keys")}>${t("keys")} <kbd>?</kbd></button>
  </span>
</header>`;

const KEYS = [["/", "key.box"], ["Enter", "key.enter"], ["↓ j", "key.next"], ["↑ k", "key.before"], ["e", "key.explain"], ["1 … 9", "key.cite"],
  ["0 … 3", "key.judge"], ["Esc", "key.close"], ["?", "key.help"]];

const dialogs = () => html`
  <dialog id="keys" aria-labelledby="keys-title">
    <div class="bar-top"><h2 id="keys-title">${t("keys")}</h2>
      <button type="button" class="plain" @click=${closeDialog} aria-label=${t("close")}>${icon("close")}</button></div>
    <dl class="key-list">${KEYS.map(([key, what]) => html`<div><dt>${key.split(" ").map((one) => (one === "…" ? " … " : html`<kbd>${one}</kbd> `))}</dt><dd>${t(what)}</dd></div>`)}</dl>
  </dialog>
  <dialog id="token" aria-labelledby="token-title" @close=${tokenClosed}>
    <form @submit=${tokenGiven}>
      <h2 id="token-title">${t("token.title")}</h2>
      <p id="token-says">${state.token.wanted}</p>
      <label for="token-value">${t("token")}</label>
      <input id="token-value" type="password" autocomplete="off" spellcheck="false" required pattern="\\s*[!-~]+\\s*">
      <p class="quiet">${t("token.kept")}</p>
      <div class="buttons"><button type="submit">${t("token.use")}</button>
        <button type="button" class="second" @click=${closeDialog}>${t("token.later")}</button></div>
    </form>
  </dialog>`;

const closeDialog = (event) => event.target.closest("dialog").close();
const showDialog = (id) => document.getElementById(id).showModal();

const banner = () => !state.online && html`<p class="banner" role="alert">${t("server.away")}</p>`;
const notice = () => html`<p class=${`notice ${state.notice?.kind ?? "none"}`} role="status">${state.notice?.text}</p>`;

const current = () => loaded[state.route.view];
const explained = () => current()?.explained?.(state.route.params) ?? null;

const content = () => {
  if (state.failed) return refused(state.failed);
  if (!VIEWS.includes(state.route.view)) return note(t("nowhere"), "", "error");
  if (state.indexes === null || !current()) return html`<p class="quiet" role="status">${t("opening")}</p>`;
  if (isFirstRun()) return loaded.library ? loaded.library.firstRun() : null;
  return current().view(state.route.params);
};

// Nothing can be shown; what can be done is to ask again, for a token too.
const refused = ({ message, hint, status }) => html`${status === 401 ? note(t("token.title"), "", "error") : note(message, hint, "error")}
  <p><button type="button" class="second" @click=${() => onRoute(state.route)}>${t("retry")}</button></p>`;

const isFirstRun = () => !state.indexes.length && state.route.view !== "settings";

const app = () => {
  const panel = loaded.source?.sourcePanel(current()?.terms?.() ?? []) ?? loaded.explain?.drawer(explained());
  return html`
    <a class="skip" href="#main">${t("skip")}</a>
    ${top()}
    ${navigation()}
    <main id="main" class=${`view-${state.route.view}${panel ? " has-panel" : ""}`} tabindex="-1">
      ${banner()}${past()}${arriving()}
      ${content()}
    </main>
    ${panel}
    ${notice()}
    ${dialogs()}`;
};

// ---- Where one is.

const onRoute = async (route) => {
  const before = state.route;
  state.route = route;
  state.more = false;
  const again = Boolean(state.failed);
  state.failed = null;
  const turned = before.view !== route.view;
  if (turned) loaded[before.view]?.leave?.(); // a recording ends where its button is gone
  if (state.indexes !== null) await entered(route);
  else if (again) await connect();
  else if (VIEWS.includes(route.view)) load(route.view); // while the server is asked what there is
  await update();
  setTitle();
  if (turned && before.view) {
    scrollTo(0, 0);
    (document.querySelector("main h1") ?? document.getElementById("main")).focus({ preventScroll: true });
  }
};

const entered = async (route) => {
  if (!VIEWS.includes(route.view)) return;
  await load(route.view);
  if (isFirstRun()) {
    await load("library");
    return;
  }
  if (state.route !== route) return; // somebody went on meanwhile
  for (const name of chosen()) if (!state.infos[name]) describe(name);
  const done = current().enter(route.params); // what it loads is drawn when it comes
  read();
  Promise.resolve(done).then(async () => {
    setTitle();
    if (isExplaining()) await load("explain");
    loaded.explain?.followExplain(state.route.params, explained());
    update();
  }).catch(failed);
};

const read = async () => {
  if (isReading()) await load("source");
  loaded.source?.followSource(state.route.params);
};

const setTitle = () => {
  document.title = [current()?.title?.(state.route.params), "twofold"].filter(Boolean).join(" · ");
};

const failed = (error) => {
  if (!(error instanceof Refused)) throw error;
  update((all) => { all.failed = error; });
};

const describe = async (name) => {
  const info = await getJson(pathOf(name)).catch(() => null);
  if (info) update((all) => { all.infos[name] = info; });
};

// ---- Tokens: several requests may want one at once; it is asked for once.

let asked = null;
let answer = () => {};

const askForToken = async (why) => {
  await update((all) => { all.token.wanted = why; });
  const field = document.getElementById("token-value");
  field.value = "";
  showDialog("token");
  return new Promise((settle) => { answer = settle; });
};

const tokenGiven = (event) => {
  event.preventDefault();
  keepToken(document.getElementById("token-value").value.trim());
  state.token.given = true;
  answer(true);
  event.target.closest("dialog").close();
};

const tokenClosed = () => {
  document.getElementById("token-value").value = "";
  answer(false);
  update();
};

const dropToken = () => {
  forgetToken();
  location.reload();
};

// ---- The server away and back.

let looking = 0;

const reached = (there) => {
  if (there === state.online) return;
  update((all) => { all.online = there; });
  clearInterval(looking);
  if (there) {
    if (state.failed) onRoute(state.route);
    for (const view of Object.values(loaded)) view.resumed?.();
  } else looking = setInterval(() => fetch("/healthz", { credentials: "omit" }).then((response) => response.ok && reached(true), () => {}), AWAY_MS);
};

// ---- Keys.

// Another tab changed something: what this one knows of indexes is asked for again, and the view looks again.
const elsewhere = async (what) => {
  const { indexes } = await getJson("/v1/indexes").catch(() => ({ indexes: state.indexes }));
  update((all) => Object.assign(all, { indexes, infos: {}, changes: all.changes + 1 }));
  for (const name of chosen()) describe(name);
  for (const view of Object.values(loaded)) view.elsewhere?.(what);
};

const onKey = (event) => {
  if (event.isComposing || event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  const typing = isTyping(event.target);
  if (event.key === "Escape" && closeTop(typing)) event.preventDefault();
  else if (current()?.keys?.(event, typing)) event.preventDefault();
  else if (!typing && event.key === "?") showDialog("keys");
};

const closeTop = (typing) => {
  const menu = document.querySelector("details.menu[open]");
  if (menu) {
    menu.open = false;
    menu.querySelector("summary").focus();
  } else if (state.more) update((all) => { all.more = false; });
  else if (typing) return false;
  else if (isReading()) loaded.source?.closeSource();
  else if (isExplaining()) closeExplain();
  else return false;
  return true;
};

const closeMenus = (event) => {
  for (const menu of document.querySelectorAll("details.menu[open]")) if (!menu.contains(event.target) || event.target.closest("button")) menu.open = false;
};

// A file that is dropped where nothing takes it would be opened by the browser, in place of the page.
const missed = (event) => {
  if (event.defaultPrevented || !event.dataTransfer?.types.includes("Files")) return;
  event.preventDefault();
  event.dataTransfer.dropEffect = "none";
};

// ---- Beginning.

const begin = async () => {
  document.documentElement.lang = language();
  drawnBy(mount(document.body, app, state));
  whenReached(reached);
  whenTokenWanted((why) => {
    asked ??= askForToken(why).finally(() => { asked = null; });
    return asked;
  });
  state.token.given = hasToken();
  document.addEventListener("keydown", onKey);
  document.addEventListener("click", closeMenus);
  addEventListener("online", () => reached(true));
  addEventListener("offline", () => reached(false));
  heardFromTabs(elsewhere);
  for (const name of ["dragover", "drop"]) addEventListener(name, missed);
  start(onRoute, VIEWS);
  await connect();
};

const connect = async () => {
  try {
    state.indexes = (await getJson("/v1/indexes")).indexes;
    getJson("/v1/server").then((server) => update((all) => { all.server = server; }), () => {});
    await onRoute(state.route);
  } catch (error) {
    failed(error);
  }
};

begin();
