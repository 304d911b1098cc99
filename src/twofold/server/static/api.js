// Speaks to the server: JSON, events, uploads, pictures. Everything else sees only the shapes that are made here.

import { said, t } from "/page/strings.js";

const KEPT = "twofold.token";

// A refusal, as the server's problem+json says it.
export class Refused extends Error {
  constructor({ detail = "", hint = "", status = 0, type = "", wait = 0 }) {
    super(said(detail) || t("refused.silent"));
    this.hint = said(hint);
    this.status = status;
    this.type = type;
    this.wait = wait; // seconds after which the server takes it
  }

  get unreachable() {
    return this.status === 0;
  }
}

export const hasToken = () => sessionStorage.getItem(KEPT) !== null;
export const keepToken = (token) => sessionStorage.setItem(KEPT, token);
export const forgetToken = () => sessionStorage.removeItem(KEPT);

export const pathOf = (index, ...parts) => ["/v1/indexes", ...[index, ...parts].map(encodeURIComponent)].join("/");

export const withQuery = (path, text) => path + (path.includes("?") ? "&" : "?") + text;

// Where indexes are asked, and with what: one by its own route, several together.
export const askedOf = (indexes, what, body) =>
  indexes.length === 1 ? [pathOf(indexes[0], what), body] : [`/v1/${what}`, { ...body, indexes }];

// Asks the page's owner for a token; gives whether there is a new one. Set by the part that draws the page.
let wanted = async () => false;
let heard = () => {};
export const whenTokenWanted = (ask) => {
  wanted = ask;
};
// Hears after each request whether the server could be reached.
export const whenReached = (tell) => {
  heard = tell;
};

const unreachable = () => new Refused({ detail: t("server.gone"), hint: t("server.gone.hint") });

const sent = async (path, { method, body, form, sound, signal, accept = "application/json" } = {}) => {
  const headers = { Accept: accept };
  if (hasToken()) headers.Authorization = `Bearer ${sessionStorage.getItem(KEPT)}`;
  if (body !== undefined) headers["Content-Type"] = "application/json";
  if (sound) headers["Content-Type"] = sound.type;
  const content = form ?? sound ?? (body === undefined ? undefined : JSON.stringify(body));
  try {
    const response = await fetch(path, {
      method: method ?? (content === undefined ? "GET" : "POST"), headers, signal, body: content, credentials: "omit",
    });
    heard(true);
    return response;
  } catch (error) {
    if (error.name === "AbortError") throw error;
    heard(false);
    throw unreachable();
  }
};

const problemIn = async (response) => {
  const problem = await response.json().catch(() => ({}));
  return new Refused({ detail: `${response.status} ${response.statusText}`, ...problem, status: response.status, wait: Number(response.headers.get("Retry-After")) });
};

const MOST_WAITED = 10; // seconds in all; after that the page says so

const waited = (seconds, signal) => new Promise((settle, fail) => {
  const timer = setTimeout(settle, 1_000 * seconds);
  signal?.addEventListener("abort", () => {
    clearTimeout(timer);
    fail(signal.reason);
  }, { once: true });
});

// Does what may need a token, again with each that the page's owner gives.
const withToken = async (work) => {
  for (;;) {
    try {
      return await work();
    } catch (problem) {
      if (problem.status !== 401 || !(await wanted(problem.message))) throw problem;
    }
  }
};

const answered = (path, options) => withToken(async () => {
  for (let left = MOST_WAITED; ;) {
    const response = await sent(path, options);
    if (response.ok) return response;
    const problem = await problemIn(response);
    left -= problem.wait;
    if (problem.status !== 429 || !problem.wait || left < 0) throw problem;
    await waited(problem.wait, options?.signal);
  }
});

const jsonOf = (response) => (response.status === 204 ? null : response.json()); // done, and nothing to say

export const getJson = async (path, options) => jsonOf(await answered(path, options));
export const postJson = async (path, body, options) => jsonOf(await answered(path, { ...options, body }));
export const postSound = async (path, sound) => jsonOf(await answered(path, { sound }));
export const putJson = async (path, body, options) => jsonOf(await answered(path, { ...options, method: "PUT", body }));
export const getText = async (path, options) => (await answered(path, { ...options, accept: "text/plain" })).text();
export const getBlob = async (path, options) => (await answered(path, { ...options, accept: "*/*" })).blob();
export const remove = async (path, options) => void (await answered(path, { ...options, method: "DELETE" }));

// Gives the data of one block of server-sent events; null for a block that is only a comment.
export const eventIn = (block) => {
  const data = block.split("\n").filter((line) => line.startsWith("data:"));
  return data.length ? JSON.parse(data.map((line) => line.slice(5).trimStart()).join("\n")) : null;
};

// Gives events as they come.
export async function* events(path, { body, signal } = {}) {
  const response = await answered(path, { body, signal, accept: "text/event-stream" });
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  try {
    for (;;) {
      const { done, value } = await reader.read().catch((error) => {
        if (error.name === "AbortError" || signal?.aborted) throw error;
        heard(false);
        throw unreachable();
      });
      if (done) return;
      const blocks = (rest + value).split("\n\n");
      rest = blocks.pop();
      for (const block of blocks) {
        const event = eventIn(block);
        if (event !== null) yield event;
      }
    }
  } finally {
    reader.cancel().catch(() => {}); // who has heard enough keeps no connection: a browser has six
  }
}

// Sends files and gives the job; `progress` hears of the bytes that are on their way. Aborting the signal cancels.
export const upload = (index, files, ways) => withToken(() => uploaded(index, files, ways));

const uploaded = (index, files, { signal, progress = () => {} }) => new Promise((settle, fail) => {
  const request = new XMLHttpRequest();
  const form = new FormData();
  for (const { file, name } of files) form.append("file", file, name);
  request.open("POST", pathOf(index, "documents"));
  request.setRequestHeader("Accept", "application/json");
  if (hasToken()) request.setRequestHeader("Authorization", `Bearer ${sessionStorage.getItem(KEPT)}`);
  request.upload.onprogress = ({ loaded, total }) => progress(loaded, total);
  request.onload = () => {
    heard(true);
    let answer = {};
    try {
      answer = JSON.parse(request.responseText);
    } catch {
      // what is no JSON says nothing
    }
    if (request.status < 300) settle(answer);
    else fail(new Refused({ detail: `${request.status} ${request.statusText}`, ...answer, status: request.status }));
  };
  request.onerror = () => {
    heard(false);
    fail(unreachable());
  };
  request.onabort = () => fail(new DOMException("stopped", "AbortError"));
  signal?.addEventListener("abort", () => request.abort());
  request.send(form);
});

// ---- Shapes: what the server says, under the names that this page uses.

// What could not be done, as { stage, text }.
const warningsOf = ({ warnings }) => warnings.map(({ stage, message }) => ({ stage, text: said(message) }));

// Where it was kept from an earlier question: in which way, and for how many seconds.
const cacheOf = ({ cache }) => (cache.hit ? { kind: cache.kind, age: cache.age_s } : null);

const partOf = (one) => ({
  name: one.retriever, rank: one.rank, raw: one.raw, normalized: one.normalized, weight: one.weight,
  part: one.weight * one.normalized,
});

const hitOf = ({ trace, ...hit }) => ({ ...hit, parts: trace.retrievers.map(partOf), terms: trace.terms, steps: trace.steps });

const stageOf = ({ name, candidates_in, candidates_out, milliseconds, notes, terms }) => ({
  name, before: candidates_in, after: candidates_out, ms: milliseconds, notes: notes.map(said), terms,
});

export const resultOf = (found) => ({
  query: found.query, fusion: found.fusion, queries: found.queries, hits: found.hits.map(hitOf), warnings: warningsOf(found),
  cache: cacheOf(found), stages: found.stages.map(stageOf), timings: found.timings_ms, answerable: found.p_answerable,
  meant: found.did_you_mean, facets: found.facets, extracted: found.extracted, total: found.counts.total,
});

export const whyNotOf = (found) => ({
  rank: found.rank, stage: found.stage, reason: said(found.reason), hint: said(found.hint), rankAfterFix: found.rank_after_fix,
  evidence: found.evidence, fix: found.fix,
});

export const answerOf = (answer) => ({
  question: answer.question, text: answer.text, short: answer.short, mode: answer.mode, sources: answer.sources, citations: answer.citations,
  sentences: answer.sentences, refused: answer.refused, answerable: answer.p_answerable, correct: answer.p_correct, warnings: warningsOf(answer),
  rounds: answer.rounds ?? [], links: answer.links ?? [], cache: cacheOf(answer), ms: answer.timings_ms?.total ?? 0, model: answer.usage?.model ?? "",
});

// The body of a question, with what the address says of it: its profile, a snapshot, and who answers.
export const askBody = (body, params) => {
  const [by, profile, past, effort] = ["by", "profile", "as_of", "effort"].map((name) => params.get(name));
  return { ...body, ...(profile ? { profile } : {}), ...(past ? { as_of: past } : {}), ...(effort ? { effort } : {}),
    ...(by === "extracts" ? { mode: "extractive" } : by ? { model: by } : {}) };
};

// Where a document is asked for: today, or as it was at the snapshot that the address names.
export const documentPath = (index, document, ...parts) => {
  const past = new URLSearchParams(location.search).get("as_of");
  return pathOf(index, "documents", document, ...parts) + (past ? `?as_of=${encodeURIComponent(past)}` : "");
};

// Searches with the whole explanation. Where the indexes cannot be searched as one, since their models differ, their
// results are joined by rank.
export const explain = async (indexes, body, options) => resultOf((await jointly(indexes, "explain", body, options))[0]);

export const jointly = async (indexes, what, body, options, post = postJson) => {
  try {
    return [await post(...askedOf(indexes, what, body), options), body];
  } catch (error) {
    if (!(error instanceof Refused) || error.status !== 409 || indexes.length === 1) throw error;
    const joined = { ...body, settings: { ...body.settings, "search.multi_index_merge": "rrf" } };
    return [await post(...askedOf(indexes, what, joined), options), joined];
  }
};

const problemOf = (problem) => problem && { ...problem, detail: said(problem.detail ?? ""), hint: said(problem.hint ?? "") };

export const jobOf = (job) => ({
  ...job, problem: problemOf(job.problem),
  files: job.files.map((file) => ({ ...file, problem: problemOf(file.problem), state: file.state === "cancelled" ? "stopped" : file.state })),
});
