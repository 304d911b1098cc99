// Speaks to the server: JSON, events, text and pictures, with the token where one is wanted.

const KEPT = "twofold.token";

// A refusal, as the server's problem+json says it.
export class Refused extends Error {
  constructor({ detail = "", hint = "", status = 0, type = "" }) {
    super(detail || "The server refused, and did not say why.");
    this.hint = hint;
    this.status = status;
    this.type = type;
  }
}

export const hasToken = () => sessionStorage.getItem(KEPT) !== null;
export const keepToken = (token) => sessionStorage.setItem(KEPT, token);
export const forgetToken = () => sessionStorage.removeItem(KEPT);

export const pathOf = (index, ...parts) => ["/v1/indexes", ...[index, ...parts].map(encodeURIComponent)].join("/");

// Where indexes are asked, and with what: one by its own route, several together.
export const askedOf = (indexes, what, body) =>
  indexes.length === 1 ? [pathOf(indexes[0], what), body] : [`/v1/${what}`, { ...body, indexes }];

// Asks the page's owner for a token; gives whether there is a new one. Set by whoever draws the page.
let wanted = async () => false;
export const whenTokenWanted = (ask) => {
  wanted = ask;
};

const sent = async (path, { body, signal, accept = "application/json" } = {}) => {
  const headers = { Accept: accept };
  if (hasToken()) headers.Authorization = `Bearer ${sessionStorage.getItem(KEPT)}`;
  if (body !== undefined) headers["Content-Type"] = "application/json";
  try {
    return await fetch(path, {
      method: body === undefined ? "GET" : "POST",
      headers, signal, body: body === undefined ? undefined : JSON.stringify(body), credentials: "omit",
    });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Refused({ detail: "The server cannot be reached.", hint: "Start it again: twofold serve" });
  }
};

const problemIn = async (response) => {
  const said = await response.json().catch(() => ({}));
  return new Refused({ detail: `${response.status} ${response.statusText}`, ...said, status: response.status });
};

const answered = async (path, options) => {
  for (;;) {
    const response = await sent(path, options);
    if (response.ok) return response;
    const problem = await problemIn(response);
    if (problem.status !== 401 || !(await wanted(problem.message))) throw problem;
  }
};

export const getJson = async (path, options) => (await answered(path, options)).json();
export const postJson = async (path, body, options) => (await answered(path, { ...options, body })).json();
export const getText = async (path, options) => (await answered(path, { ...options, accept: "text/plain" })).text();
export const getPicture = async (path, options) => (await answered(path, { ...options, accept: "image/*" })).blob();

// Gives the data of one block of server-sent events; null for a block that is only a comment.
export const eventIn = (block) => {
  const data = block.split("\n").filter((line) => line.startsWith("data:"));
  return data.length ? JSON.parse(data.map((line) => line.slice(5).trimStart()).join("\n")) : null;
};

// Gives events as they come.
export async function* postForEvents(path, body, options) {
  const response = await answered(path, { ...options, body, accept: "text/event-stream" });
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const blocks = (rest + value).split("\n\n");
    rest = blocks.pop();
    for (const block of blocks) {
      const event = eventIn(block);
      if (event !== null) yield event;
    }
  }
}
