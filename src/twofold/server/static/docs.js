// The routes of /openapi.json, described, and each with a form that tries it. Text nodes only: nothing is parsed as HTML.

const KEPT = "twofold.token"; // where the application keeps the token of this tab

const make = (name, given = {}, ...children) => {
  const element = Object.assign(document.createElement(name), given);
  element.append(...children);
  return element;
};

const folded = (title, value) => make("details", {}, make("summary", { textContent: title }), make("pre", { tabIndex: 0, textContent: JSON.stringify(value, null, 2) }));

// Puts the schemas that a schema refers to in their places; one that stands within itself stays a reference.
const whole = (schema, all, above = []) => {
  if (Array.isArray(schema)) return schema.map((one) => whole(one, all, above));
  if (schema === null || typeof schema !== "object") return schema;
  const name = typeof schema.$ref === "string" ? schema.$ref.split("/").pop() : "";
  if (name) return above.includes(name) ? schema : whole(all[name] ?? {}, all, [...above, name]);
  return Object.fromEntries(Object.entries(schema).map(([key, one]) => [key, whole(one, all, above)]));
};

// A value that fits a schema: what must be there, and no more.
const sampleOf = (schema) => {
  if (schema.examples?.length) return schema.examples[0];
  if (schema.default !== undefined) return schema.default;
  if (schema.enum) return schema.enum[0];
  const either = schema.anyOf ?? schema.oneOf;
  if (either) return sampleOf(either[0]);
  if (schema.type === "object") return Object.fromEntries((schema.required ?? []).map((key) => [key, sampleOf(schema.properties?.[key] ?? {})]));
  if (schema.type === "array") return schema.minItems ? [sampleOf(schema.items ?? {})] : [];
  return { integer: schema.minimum ?? 0, number: 0, boolean: false, null: null }[schema.type] ?? (schema.minLength ? "text" : "");
};

let indexes = [];

const field = (one) => {
  const input = make("input", { name: one.name, required: one.in === "path", title: one.description ?? "", spellcheck: false,
    value: one.name === "index" && one.in === "path" ? indexes[0] ?? "" : "", placeholder: String(one.schema?.default ?? "") });
  return make("label", {}, `${one.name} `, input);
};

const show = async (response, output) => {
  output.textContent = "";
  const type = response.headers.get("content-type") ?? "";
  if (/^(image|application\/pdf|application\/octet)/.test(type)) {
    output.textContent = `${type}, ${(await response.blob()).size} bytes`;
    return;
  }
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
    text += piece.value;
    output.textContent = text;
  }
  if (type.includes("json")) output.textContent = JSON.stringify(JSON.parse(text), null, 2);
};

const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;

// The form of a route: its parameters, its body, and below what came back, with the same as a command.
const trial = (method, path, route, schemas) => {
  const parameters = (route.parameters ?? []).filter((one) => one.in === "path" || one.in === "query");
  const body = route.requestBody?.content?.["application/json"];
  const text = body && make("textarea", { name: "body", rows: 6, spellcheck: false, value: JSON.stringify(sampleOf(whole(body.schema, schemas)), null, 2) });
  const [status, command, output] = [make("p", { role: "status" }), make("pre", { hidden: true, tabIndex: 0 }), make("pre", { hidden: true, tabIndex: 0 })];
  const form = make("form", { className: "trial" }, ...parameters.map(field), ...(text ? [make("label", {}, "Body", text)] : []),
    make("button", { type: "submit", textContent: "Send" }), status, command, output);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const said = new FormData(form);
    const query = new URLSearchParams(parameters.filter((one) => one.in === "query" && said.get(one.name)).map((one) => [one.name, said.get(one.name)]));
    const place = path.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(said.get(name))) + (query.size ? `?${query}` : "");
    const headers = { ...(text ? { "Content-Type": "application/json" } : {}) };
    const token = document.getElementById("token").value.trim();
    command.hidden = output.hidden = false;
    command.textContent = [`curl -X ${method.toUpperCase()} ${quoted(location.origin + place)}`, ...(token ? ["-H 'Authorization: Bearer TOKEN'"] : []),
      ...(text ? ["-H 'Content-Type: application/json'", `-d ${quoted(text.value)}`] : [])].join(" \\\n  ");
    if (token) headers.Authorization = `Bearer ${token}`;
    status.textContent = "…";
    const began = performance.now();
    try {
      const response = await fetch(place, { method: method.toUpperCase(), headers, body: text?.value, credentials: "omit" });
      status.textContent = `${response.status} ${response.statusText}`;
      await show(response, output);
      status.textContent += `, ${Math.round(performance.now() - began)} ms`;
    } catch (error) {
      status.textContent = String(error.message);
    }
  });
  return form;
};

const described = (method, path, route, schemas) => {
  const parts = [
    make("h2", {}, make("span", { className: "method", textContent: method.toUpperCase() }), make("span", { textContent: path }),
      make("span", { className: "scope", textContent: ` needs ${route["x-twofold-scope"]}` })),
    make("p", { textContent: route.description || route.summary || "" }),
  ];
  const attempt = make("details", { className: "try" }, make("summary", { textContent: "Try it" }));
  attempt.addEventListener("toggle", () => attempt.open && attempt.childElementCount === 1 && attempt.append(trial(method, path, route, schemas)));
  parts.push(attempt);
  if (route.parameters?.length) parts.push(folded("Parameters", whole(route.parameters, schemas)));
  for (const [type, body] of Object.entries(route.requestBody?.content ?? {})) parts.push(folded(`Body: ${type}`, whole(body.schema, schemas)));
  for (const [status, answer] of Object.entries(route.responses ?? {})) {
    for (const [type, body] of Object.entries(answer.content ?? {})) parts.push(folded(`Answer ${status}: ${type}`, whole(body.schema ?? {}, schemas)));
  }
  return make("article", { id: route.operationId }, ...parts);
};

const tokenField = document.getElementById("token");
tokenField.value = sessionStorage.getItem(KEPT) ?? "";

const begin = async () => {
  const answer = await fetch("/openapi.json").catch(() => null);
  if (!answer?.ok) {
    const why = answer ? `the server answered ${answer.status}` : "the server cannot be reached";
    document.getElementById("routes").append(make("p", { role: "alert", textContent: `The routes cannot be shown: ${why}. Load the page again.` }));
    return;
  }
  const found = await answer.json();
  const headers = tokenField.value ? { Authorization: `Bearer ${tokenField.value}` } : {};
  ({ indexes } = await fetch("/v1/indexes", { headers, credentials: "omit" }).then((one) => (one.ok ? one.json() : { indexes: [] })).catch(() => ({ indexes: [] })));
  const schemas = found.components?.schemas ?? {};
  const contents = make("ul");
  for (const [path, methods] of Object.entries(found.paths)) {
    for (const [method, route] of Object.entries(methods)) {
      const name = `${method.toUpperCase()} ${path}`;
      contents.append(make("li", {}, make("a", { href: `#${route.operationId}`, textContent: name })));
      document.getElementById("routes").append(described(method, path, route, schemas));
    }
  }
  document.getElementById("contents").append(contents);
  if (location.hash) document.getElementById(location.hash.slice(1))?.scrollIntoView();
};

begin();
