// Writes the documentation of the routes from /openapi.json: text nodes only, nothing is ever parsed as HTML.

const make = (name, text = "", children = []) => {
  const element = document.createElement(name);
  if (text) element.textContent = text;
  element.append(...children);
  return element;
};

const folded = (title, value) => {
  const code = make("pre", JSON.stringify(value, null, 2));
  return make("details", "", [make("summary", title), code]);
};

// Puts the schemas that a schema refers to in their places; one that stands within itself stays a reference.
const whole = (schema, all, above = []) => {
  if (Array.isArray(schema)) return schema.map((one) => whole(one, all, above));
  if (schema === null || typeof schema !== "object") return schema;
  const name = typeof schema.$ref === "string" ? schema.$ref.split("/").pop() : "";
  if (name) return above.includes(name) ? schema : whole(all[name] ?? {}, all, [...above, name]);
  return Object.fromEntries(Object.entries(schema).map(([key, one]) => [key, whole(one, all, above)]));
};

const described = (method, path, route, schemas) => {
  const verb = make("span", method.toUpperCase());
  verb.className = "method";
  const scope = make("span", ` needs ${route["x-twofold-scope"]}`);
  scope.className = "scope";
  const parts = [make("h3", "", [verb, path, scope]), make("p", route.description || route.summary || "")];
  if (route.parameters?.length) parts.push(folded("Parameters", whole(route.parameters, schemas)));
  for (const [type, body] of Object.entries(route.requestBody?.content ?? {})) {
    parts.push(folded(`Body: ${type}`, whole(body.schema, schemas)));
  }
  for (const [status, answer] of Object.entries(route.responses ?? {})) {
    for (const [type, body] of Object.entries(answer.content ?? {})) {
      parts.push(folded(`Answer ${status}: ${type}`, whole(body.schema ?? {}, schemas)));
    }
  }
  const article = make("article", "", parts);
  article.id = route.operationId;
  return article;
};

const show = (found) => {
  const schemas = found.components?.schemas ?? {};
  const contents = make("ul");
  for (const [path, methods] of Object.entries(found.paths)) {
    for (const [method, route] of Object.entries(methods)) {
      const link = make("a", `${method.toUpperCase()} ${path}`);
      link.href = `#${route.operationId}`;
      contents.append(make("li", "", [link]));
      document.getElementById("routes").append(described(method, path, route, schemas));
    }
  }
  document.getElementById("contents").append(contents);
};

const answer = await fetch("/openapi.json");
show(await answer.json());
