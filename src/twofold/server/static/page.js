// The page: what is asked, of which index, and where what comes back is drawn.

import { Refused, askedOf, forgetToken, getJson, hasToken, keepToken, pathOf, postForEvents, postJson, whenTokenWanted } from "/page/api.js";
import { showAnswer } from "/page/answer.js";
import { byId, counted, duration, make } from "/page/dom.js";
import { listenToKeys } from "/page/keys.js";
import { openPassage } from "/page/passage.js";
import { showLesson, showRefused, showResults, summary } from "/page/results.js";

const FILTER_HINT = "type == .md and modified >= 2025";
const form = byId("asking");
let searching = new AbortController();
let answering = new AbortController();
let untouched = true; // nothing was asked of this index yet
let searched = false;

const tell = (text) => {
  byId("status").textContent = text;
};

const sayOfFilter = (problem) => {
  const says = byId("filter-says");
  byId("filter").setAttribute("aria-invalid", String(problem !== null));
  says.classList.toggle("wrong", problem !== null);
  says.replaceChildren(...(problem === null
    ? ["For example ", make("code", {}, FILTER_HINT)]
    : [`${problem.message} ${problem.hint}`]));
};

const NUMBERS = ["search.context_window", "fusion.vector_weight", "rerank.candidates"];
const WORDS = ["answer.unsupported"];

// The settings that are asked for; those left empty are as the server has them.
const tuned = (said) => Object.fromEntries([
  ...NUMBERS.filter((name) => said.get(name)).map((name) => [name, Number(said.get(name))]),
  ...WORDS.filter((name) => said.get(name)).map((name) => [name, said.get(name)]),
]);

const asked = () => {
  const said = new FormData(form);
  const filter = said.get("filter").trim();
  const settings = tuned(said);
  return { query: said.get("query").trim(), mode: said.get("mode"), k: Number(said.get("k")), ...(filter ? { filter } : {}),
    ...(said.has("rerank") ? {} : { rerank: false }), ...(Object.keys(settings).length ? { settings } : {}) };
};

const isOfFilter = (problem, body) =>
  body.filter !== undefined && problem.status === 400 && /filter|character \d+/i.test(problem.message);

const refuse = (problem, body) => {
  if (!(problem instanceof Refused)) throw problem;
  tell("");
  if (!isOfFilter(problem, body)) {
    showRefused(problem);
    return;
  }
  sayOfFilter(problem);
  byId("filter").focus();
};

const others = () => [...document.querySelectorAll("#others input:checked")].map((one) => one.value);
const indexes = () => [byId("index").value, ...others()];

const open = (span, terms) => openPassage(span.collection || byId("index").value, span, terms);

// Asks, and where the indexes cannot be searched as one, since their models differ, has their results joined by rank.
const postToAll = async (what, body, options) => {
  try {
    return [await postJson(...askedOf(indexes(), what, body), options), body];
  } catch (error) {
    if (!(error instanceof Refused) || error.status !== 409 || !others().length) throw error;
    const joined = { ...body, settings: { ...body.settings, "search.multi_index_merge": "rrf" } };
    return [await postJson(...askedOf(indexes(), what, joined), options), joined];
  }
};

// Gives what is asked, where there is anything: an empty box is told so by the browser.
const ready = () => {
  const body = asked();
  if (!body.query) byId("query").focus();
  return body.query && form.reportValidity() ? body : null;
};

const search = async (body) => {
  searching.abort();
  searching = new AbortController();
  const { signal } = searching;
  const results = byId("results");
  untouched = false;
  results.setAttribute("aria-busy", "true");
  try {
    const [found, sent] = await postToAll("explain", body, { signal });
    sayOfFilter(null);
    showResults(found, open);
    searched = true;
    return { ...found, sent };
  } catch (error) {
    if (error.name !== "AbortError") refuse(error, body);
    return null;
  } finally {
    if (!signal.aborted) results.setAttribute("aria-busy", "false");
  }
};

const stop = () => answering.abort();

const hideAnswer = () => {
  stop();
  byId("answer").hidden = true;
};

const searchOnly = async () => {
  const body = ready();
  if (body === null) return;
  hideAnswer();
  tell("Searching …");
  const found = await search(body);
  if (found) tell(summary(found));
};

const ask = async () => {
  const body = ready();
  if (body === null) return;
  stop();
  answering = new AbortController();
  const { signal } = answering;
  byId("answer").hidden = false;
  byId("stop").hidden = false;
  byId("answer-body").replaceChildren();
  tell("Searching …");
  const found = await search(body);
  if (found === null || signal.aborted) {
    if (answering.signal === signal) hideAnswer();
    byId("stop").hidden = true;
    return;
  }
  const events = postForEvents(...askedOf(indexes(), "ask", found.sent), { signal });
  const answer = await showAnswer(events, { open, tell });
  if (answering.signal !== signal) return;
  byId("stop").hidden = true;
  if (answer === null) tell(summary(found));
  else tell(answer.refused ? "Probably not in your documents" : `Answered in ${duration(answer.timings_ms.total)}`);
};

const askForToken = (why) => new Promise((settle) => {
  const dialog = byId("token");
  const field = byId("token-value");
  byId("token-says").textContent = why;
  field.value = "";
  dialog.returnValue = "";
  const given = () => {
    keepToken(field.value.trim());
    dialog.close("given");
  };
  const onSubmit = (event) => {
    event.preventDefault();
    given();
  };
  byId("token-form").addEventListener("submit", onSubmit);
  dialog.addEventListener("close", () => {
    byId("token-form").removeEventListener("submit", onSubmit);
    field.value = "";
    byId("forget").hidden = !hasToken();
    settle(dialog.returnValue === "given");
  }, { once: true });
  dialog.showModal();
});

// The other indexes, to be ticked where they are to be asked as well.
const showOthers = (names) => {
  const ticked = new Set(others());
  const rest = names.filter((name) => name !== byId("index").value);
  byId("others").replaceChildren(byId("others").querySelector("legend"), ...rest.map((name) =>
    make("label", {}, make("input", { type: "checkbox", name: "other", value: name, checked: ticked.has(name) }), name)));
  byId("more").hidden = !rest.length;
  sayOthers();
};

const sayOthers = () => {
  const count = others().length;
  byId("more").querySelector("summary").textContent = count ? `and ${counted(count, "other")}` : "and others";
};

const describe = async (index) => {
  const info = await getJson(pathOf(index));
  if (index !== byId("index").value) return;
  byId("held").textContent = `${counted(info.documents, "document")}, ${counted(info.chunks, "passage")}`;
  if (!untouched) return;
  if (info.documents) {
    showLesson("Ask your documents",
      make("p", {}, make("kbd", {}, "Enter"), " searches, ", make("kbd", {}, "Shift"), " ", make("kbd", {}, "Enter"),
        " asks for an answer with citations, ", make("kbd", {}, "?"), " shows all keys."),
      make("p", {}, "“Quoted phrases” must occur, and so must ", make("kbd", {}, "+words"), "; ", make("kbd", {}, "-words"), " must not."));
  } else showEmpty(index);
};

const showEmpty = (index) => showLesson(`The index “${index}” is empty`,
  make("p", {}, "Put a folder into it, then search here:"), make("pre", {}, `twofold sync FOLDER --index ${index}`));

const choose = async () => {
  showOthers([...byId("index").options].map((one) => one.value));
  untouched = true;
  searched = false;
  searching.abort();
  hideAnswer();
  tell("");
  byId("query").focus();
  await describe(byId("index").value).catch((error) => refuse(error, {}));
};

const begin = async () => {
  const { indexes } = await getJson("/v1/indexes");
  byId("index").replaceChildren(...indexes.map((name) => make("option", { value: name }, name)));
  byId("forget").hidden = !hasToken();
  if (indexes.length) await choose();
  else showLesson("There is no index yet", make("p", {}, "Make one from a folder, then load this page again:"),
    make("pre", {}, "twofold sync FOLDER --index notes"));
};

const again = () => {
  if (searched) searchOnly();
};

form.addEventListener("submit", (event) => {
  event.preventDefault();
  searchOnly();
});
byId("ask").addEventListener("click", ask);
byId("stop").addEventListener("click", stop);
byId("index").addEventListener("change", choose);
byId("others").addEventListener("change", () => {
  sayOthers();
  again();
});
byId("mode").addEventListener("change", again);
byId("k").addEventListener("change", again);
byId("tuning").addEventListener("change", again);
byId("tuning").addEventListener("invalid", () => { byId("tuning").open = true; }, true); // else nobody sees what is wrong
byId("filter").addEventListener("input", () => sayOfFilter(null));
byId("forget").addEventListener("click", () => {
  forgetToken();
  location.reload();
});
let tokenAsked = null; // several requests may want one at once; it is asked for once
whenTokenWanted((why) => {
  tokenAsked ??= askForToken(why).finally(() => {
    tokenAsked = null;
  });
  return tokenAsked;
});
listenToKeys({ stop, ask });
sayOfFilter(null);
await begin().catch((error) => refuse(error, {}));
