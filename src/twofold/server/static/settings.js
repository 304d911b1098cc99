// Settings and health: how this page looks, what the server runs with, who may ask it, and how it is doing.

import { Refused, getJson, getText, hasToken, keepToken, postJson, remove } from "/page/api.js";
import { moment } from "/page/format.js";
import { chosen, say, slice, state, update } from "/page/store.js";
import { LANGUAGES, chooseLanguage, language, t } from "/page/strings.js";
import { html, keyed } from "/page/ui.js";

const own = slice("settings", { tokens: null, secret: "", metrics: null, entered: false });

export const enter = async () => {
  if (own.entered) return;
  own.entered = true;
  const quietly = (work) => work.catch((error) => {
    if (!(error instanceof Refused)) throw error;
    return null; // what a token may not see is left out
  });
  const [tokens, metrics] = await Promise.all([quietly(getJson("/v1/tokens")), quietly(getText("/metrics"))]);
  update(() => Object.assign(own, { tokens: tokens?.tokens ?? null, metrics: metrics && figuresOf(metrics) }));
};

// The figures of the text that Prometheus reads: names without labels, and for each route how often and how long.
const figuresOf = (text) => {
  const single = [];
  const routes = new Map();
  for (const line of text.split("\n")) {
    const plain = /^(twofold_[a-z_]+) ([0-9.e+-]+)$/.exec(line);
    if (plain) single.push([plain[1], Number(plain[2])]);
    const route = /^twofold_http_request_seconds_(sum|count)\{method="([A-Z]+)",route="([^"]+)",status="\d+"\} ([0-9.e+-]+)$/.exec(line);
    if (route) {
      const key = `${route[2]} ${route[3]}`;
      const held = routes.get(key) ?? { sum: 0, count: 0 };
      held[route[1]] += Number(route[4]);
      routes.set(key, held);
    }
  }
  return { single, routes: [...routes].filter(([key]) => key.includes("/v1/")).sort((a, b) => b[1].count - a[1].count).slice(0, 12) };
};

const attempt = async (work) => {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    say(`${error.message} ${error.hint}`, "error");
  }
};

const createToken = (event) => {
  event.preventDefault();
  const form = event.target;
  const said = new FormData(form);
  attempt(async () => {
    const made = await postJson("/v1/tokens", { name: said.get("name"), scopes: [`${said.get("action")}:${said.get("index")}`] });
    own.secret = made.token;
    if (!hasToken() && said.get("action") === "admin" && said.get("index") === "*") { // from now on the server wants one of this page too
      keepToken(made.token);
      state.token.given = true;
    }
    own.tokens = [...own.tokens, made.record];
    form.reset();
    update();
  });
};

const revoke = (one) => {
  if (!confirm(t("token.revoke.sure", { name: one.name }))) return;
  attempt(async () => {
    await remove(`/v1/tokens/${one.id}`);
    update(() => { own.tokens = own.tokens.map((each) => (each.id === one.id ? { ...each, revoked: new Date().toISOString() } : each)); });
  });
};

const looks = () => html`<section aria-labelledby="looks"><h2 id="looks">${t("looks")}</h2>
  <div class="fields"><label>${t("language")} <select .value=${language()} @change=${(event) => chooseLanguage(event.target.value)}>
    ${Object.entries(LANGUAGES).map(([code, name]) => html`<option value=${code}>${name}</option>`)}</select></label></div></section>`;

const server = () => state.server && html`<section aria-labelledby="server"><h2 id="server">${t("server")}</h2>
  <dl class="facts">
    <div><dt>${t("version")}</dt><dd>${state.server.version}</dd></div>
    <div><dt>${t("model.answers")}</dt><dd>${state.server.generator || t("model.none")}</dd></div>
    <div><dt>${t("query.log")}</dt><dd>${state.server.query_log ? t("yes") : t("no")}</dd></div>
    ${state.server.roots.length > 0 && html`<div><dt>${t("folders.allowed")}</dt><dd>${state.server.roots.join(", ")}</dd></div>`}
  </dl>
  <h3>${t("profiles")}</h3>
  <dl class="facts profiles">${state.server.profiles.map((one) => html`<div><dt>${one.name}</dt><dd>${one.says}</dd></div>`)}</dl></section>`;

const ACTIONS = ["read", "write", "admin"];

const tokens = () => own.tokens && html`<section aria-labelledby="tokens"><h2 id="tokens">${t("tokens")}</h2>
  ${own.secret && html`<div class="note" role="status"><p><strong>${t("token.shown")}</strong></p><pre class="secret" tabindex="0">${own.secret}</pre></div>`}
  ${own.tokens.length > 0 ? html`<ul class="token-list">${own.tokens.map((one) => keyed(one.id, html`<li class=${one.revoked ? "revoked" : ""}>
    <strong>${one.name}</strong> <span>${one.scopes.join(", ")}</span> <span class="quiet">${moment(one.created)}</span>
    ${one.revoked ? html`<span class="quiet">${t("token.revoked")}</span>` : html`<button type="button" class="plain" @click=${() => revoke(one)}>${t("token.revoke")}</button>`}</li>`))}</ul>`
    : html`<p class="quiet">${t("tokens.none")}</p>`}
  <form class="inline" @submit=${createToken} autocomplete="off">
    <label>${t("token.name")} <input name="name" required maxlength="100"></label>
    <label>${t("token.may")} <select name="action">${ACTIONS.map((name) => html`<option value=${name}>${t(`may.${name}`)}</option>`)}</select></label>
    <label>${t("index")} <select name="index"><option value="*">${t("index.all")}</option>${(state.indexes ?? []).map((name) => html`<option value=${name}>${name}</option>`)}</select></label>
    <button type="submit" class="second">${t("token.make")}</button></form>
</section>`;

const metrics = () => own.metrics && html`<section aria-labelledby="metrics"><h2 id="metrics">${t("metrics")}</h2>
  <dl class="facts">${own.metrics.single.slice(0, 8).map(([name, value]) => html`<div><dt><code>${name.replace("twofold_", "")}</code></dt><dd>${value}</dd></div>`)}</dl>
  <div class="scrolls" tabindex="0" role="region" aria-label=${t("metrics.routes")}><table class="grid figures"><caption>${t("metrics.routes")}</caption>
    <thead><tr><th scope="col">${t("route")}</th><th scope="col">${t("count")}</th><th scope="col">ms</th></tr></thead>
    <tbody>${own.metrics.routes.map(([key, { sum, count }]) => html`<tr><td><code>${key}</code></td><td class="number">${count}</td>
      <td class="number">${((1000 * sum) / Math.max(1, count)).toFixed(1)}</td></tr>`)}</tbody></table></div></section>`;

export const title = () => t("nav.settings");
export const terms = () => [];

export const view = () => html`<div class="settings-view">
  <h1 tabindex="-1">${t("nav.settings")}</h1>
  ${looks()}${server()}${tokens()}${metrics()}
  ${!chosen().length && html`<p class="quiet">${t("first.title")}</p>`}
</div>`;

export const keys = () => false;
