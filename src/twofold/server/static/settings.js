// Settings and health: how this page looks, what the server runs with, who may ask it, and how it is doing.

import { Refused, events, getJson, getText, hasToken, keepToken, pathOf, postJson, remove } from "/page/api.js";
import { bytes, duration, moment, percent } from "/page/format.js";
import { attempt, note, tried } from "/page/notes.js";
import { facts, figures, options, section, sent } from "/page/parts.js";
import { address } from "/page/router.js";
import { chosen, say, slice, state, update } from "/page/store.js";
import { LANGUAGES, chooseLanguage, language, t, worded } from "/page/strings.js";
import { html, keyed } from "/page/ui.js";

const own = slice("settings", { tokens: null, secret: "", metrics: null, models: null, offline: false, fetching: new Map(), checks: null, log: null, of: "", entered: false });

const quietly = (work) => tried(() => work); // what a token may not see is left out

export const enter = async () => {
  const [of = ""] = chosen();
  if (of !== own.of) {
    Object.assign(own, { of, log: null });
    if (of) quietly(getJson(`${pathOf(of, "log")}?limit=50`)).then((log) => of === own.of && update(() => { own.log = log; }));
  }
  if (own.entered) return;
  own.entered = true;
  const [tokens, metrics, models] = await Promise.all([quietly(getJson("/v1/tokens")), quietly(getText("/metrics")), quietly(getJson("/v1/model-files"))]);
  update(() => Object.assign(own, { tokens: tokens?.tokens ?? null, metrics: metrics && figuresOf(metrics), ...models }));
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

const createToken = sent((said, form) => {
  attempt(async () => {
    const principals = said.get("principals").split(",").map((one) => one.trim()).filter(Boolean);
    const made = await postJson("/v1/tokens", { name: said.get("name"), scopes: [`${said.get("action")}:${said.get("index")}`],
      ...(principals.length ? { principals } : {}) });
    own.secret = made.token;
    if (!hasToken() && said.get("action") === "admin" && said.get("index") === "*" && !principals.length) { // from now on the server wants one of this page too
      keepToken(made.token);
      state.token.given = true;
    }
    own.tokens = [...own.tokens, made.record];
    form.reset();
    update();
  });
});

const revoke = (one) => {
  if (!confirm(t("token.revoke.sure", { name: one.name }))) return;
  attempt(async () => {
    await remove(`/v1/tokens/${one.id}`);
    update(() => { own.tokens = own.tokens.map((each) => (each.id === one.id ? { ...each, revoked: new Date().toISOString() } : each)); });
  });
};

const looks = () => section("looks", t("looks"), html`<div class="fields"><label>${t("language")}
  <select .value=${language()} @change=${(event) => chooseLanguage(event.target.value)}>${options(Object.entries(LANGUAGES))}</select></label></div>`);

const server = () => state.server && section("server", t("server"), [
  facts([
    [t("version"), state.server.version], [t("model.answers"), state.server.generator || t("model.none")],
    [t("query.log"), state.server.query_log ? t("yes") : t("no")],
    state.server.roots.length > 0 && [t("folders.allowed"), state.server.roots.join(", ")],
  ]),
  html`<details><summary>${t("profiles")}</summary>${facts(state.server.profiles.map(({ name, says }) => [name, says]), "profiles")}</details>`,
]);

const ACTIONS = ["read", "write", "admin"];

const tokens = () => own.tokens && html`<section aria-labelledby="tokens"><h2 id="tokens">${t("tokens")}</h2>
  ${own.secret && html`<div class="note" role="status"><p><strong>${t("token.shown")}</strong></p><pre class="secret" tabindex="0">${own.secret}</pre></div>`}
  ${own.tokens.length > 0 ? html`<ul class="token-list">${own.tokens.map((one) => keyed(one.id, html`<li class=${one.revoked ? "revoked" : ""}>
    <strong>${one.name}</strong> <span>${one.scopes.join(", ")}${one.principals && ` · ${t("token.reads", { list: one.principals.join(", ") })}`}</span> <span class="quiet">${moment(one.created)}</span>
    ${one.revoked ? html`<span class="quiet">${t("token.revoked")}</span>` : html`<button type="button" class="plain" @click=${() => revoke(one)}>${t("token.revoke")}</button>`}</li>`))}</ul>`
    : html`<p class="quiet">${t("tokens.none")}</p>`}
  <form class="inline" @submit=${createToken} autocomplete="off">
    <label>${t("token.name")} <input name="name" required maxlength="100"></label>
    <label>${t("token.may")} <select name="action">${options(ACTIONS.map((name) => [name, t(`may.${name}`)]))}</select></label>
    <label>${t("index")} <select name="index">${options([["*", t("index.all")], ...(state.indexes ?? []).map((name) => [name, name])])}</select></label>
    <label>${t("token.principals")} <input name="principals" maxlength="2000" spellcheck="false" placeholder=${t("token.principals.none")} title="user:ann, group:legal"></label>
    <button type="submit" class="second">${t("token.make")}</button></form>
</section>`;

// ---- Models: their files are fetched while one watches; leaving the page stops it.

const fetchModel = async (one) => {
  update(() => own.fetching.set(one.name, { done: 0, total: 0, step: "" }));
  await attempt(async () => {
    for await (const event of events(`/v1/model-files/${encodeURIComponent(one.name)}`, { body: {} })) {
      if (event.type === "error") throw new Refused(event.problem);
      update(() => own.fetching.set(one.name, event));
    }
    one.present = true;
  });
  update(() => own.fetching.delete(one.name));
};

const fetched = ({ step, done, total }) => html`<progress max=${Math.max(1, total)} .value=${done} aria-label=${t("model.fetch")}></progress>
  <span class="quiet number">${total > 0 ? `${bytes(done)} / ${bytes(total)}` : step}</span>`;

const models = () => own.models && html`<section aria-labelledby="models"><h2 id="models">${t("models")}</h2>
  ${own.offline && note(t("models.offline"))}
  <ul class="model-list">${own.models.map((one) => keyed(one.name, html`<li><strong>${one.name}</strong> <span>${worded("model.for", one.task)}</span>
    <span class="quiet">${bytes(one.bytes)}, ${one.licence}</span>
    ${own.fetching.has(one.name) ? fetched(own.fetching.get(one.name)) : one.present ? html`<span class="good">${t("model.here")}</span>`
      : html`<button type="button" class="plain" ?disabled=${own.offline} @click=${() => fetchModel(one)}>${t("model.fetch")}</button>`}</li>`))}</ul></section>`;

// ---- Whether everything works.

const look = async () => {
  update(() => { own.checks = "…"; });
  const found = await attempt(() => getJson("/v1/checkup"));
  update(() => { own.checks = found?.checks ?? null; });
};

const checkup = () => own.tokens && html`<section aria-labelledby="checkup"><h2 id="checkup">${t("checkup")}</h2>
  <div class="buttons"><button type="button" class="second" @click=${look} ?disabled=${own.checks === "…"}>${t("checkup.do")}</button></div>
  ${own.checks === "…" ? html`<p class="quiet" role="status">${t("health.checking")}</p>` : own.checks && html`<div role="status"><ul class="items">${own.checks.map((one) => html`
    <li class=${`item ${one.state === "ok" ? "done" : one.state === "fail" ? "failed" : ""}`}><span class="item-name"><strong>${one.what}</strong> ${one.says}</span>
      <span class="item-state">${t(`check.${one.state}`)}</span>${one.state !== "ok" && one.hint && html`<span class="item-why">${one.hint}</span>`}</li>`)}</ul></div>`}
</section>`;

// ---- What was asked.

const asked = (one) => [html`<a href=${address("search", { index: own.of, q: one.question })}>${one.question}</a>`, moment(one.at),
  one.p_answerable === null ? "" : percent(one.p_answerable), one.milliseconds === null ? "" : duration(one.milliseconds), one.why.join(", ")];

const log = () => own.log && html`<section aria-labelledby="log"><h2 id="log">${t("log", { index: own.of })}</h2>
  ${!own.log.kept && html`<p class="quiet">${t("log.off")} <code>twofold --set log=queries:true serve</code></p>`}
  ${own.log.weak.questions.length > 0 && html`<p>${t("log.weak", { count: own.log.weak.questions.length })} <a href=${address("judge", { index: own.of, q: own.log.weak.questions[0].question })}>${t("judge.more")}</a></p>`}
  ${own.log.entries.length > 0 && figures(t("questions"), [t("question"), t("log.when"), t("chance.said"), t("log.took"), t("log.why")],
    own.log.entries.map(asked), { left: [t("log.when"), t("log.why")], kind: "log-rows" })}</section>`;

const metrics = () => own.metrics && section("metrics", t("metrics"), html`<details><summary>${t("details")}</summary>
  ${facts(own.metrics.single.slice(0, 8).map(([name, value]) => [html`<code>${name.replace("twofold_", "")}</code>`, value]))}
  ${figures(t("metrics.routes"), [t("route"), t("count"), "ms"],
    own.metrics.routes.map(([key, { sum, count }]) => [html`<code>${key}</code>`, count, ((1000 * sum) / Math.max(1, count)).toFixed(1)]))}</details>`);

export const title = () => t("nav.settings");
export const terms = () => [];

export const view = () => html`<div class="settings-view">
  <h1 tabindex="-1">${t("nav.settings")}</h1>
  ${looks()}${server()}${models()}${tokens()}${checkup()}${log()}${metrics()}
</div>`;

export const keys = () => false;
