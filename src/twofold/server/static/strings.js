// Everything that the page says comes from one file for each language; `t` fills in what varies.

export const LANGUAGES = { en: "English", de: "Deutsch" };
const KEPT = "twofold.language";

const wanted = () => {
  const said = localStorage.getItem(KEPT) ?? navigator.language.slice(0, 2);
  return said in LANGUAGES ? said : "en";
};

const current = wanted();
const MESSAGES = (await import(`/page/${current}.js`)).default;
// What the server says is English: where the page speaks another language, it says it by a file of its sentences.
const SENTENCES = current === "en" ? [] : (await import(`/page/${current}_server.js`)).default;
const HOLE = /\{(\w+)\}/g;
const known = SENTENCES.map(([english, own]) => [
  new RegExp(`^${english.replace(/[.*+?^$()|[\]\\]/g, "\\$&").replace(HOLE, "(?<$1>.+?)")}$`, "su"), own,
]);
const plural = new Intl.PluralRules(current);
const numbers = new Intl.NumberFormat(current);

export const language = () => current;

export const chooseLanguage = (code) => {
  localStorage.setItem(KEPT, code);
  location.reload();
};

// What stands for a code of the server, or the code where it is not known.
export const worded = (group, code) => (`${group}.${code}` in MESSAGES ? t(`${group}.${code}`) : code);

// A sentence of the server in the language of the page; one that is not known stays as it is.
export const said = (text) => {
  for (const [pattern, own] of known) {
    const found = pattern.exec(text);
    if (found) return own.replace(HOLE, (_, hole) => (hole === "list" ? found.groups.list.split(", ").map(said).join(", ") : found.groups[hole]));
  }
  return text.length > 1 && text.endsWith(".") && known.length ? `${said(text.slice(0, -1))}.` : text;
};

// A text by its name, with `{holes}` filled; where there is `count`, the form that suits it.
export const t = (name, values = {}) => {
  const found = MESSAGES[name] ?? name;
  const text = typeof found === "string" ? found : found[plural.select(values.count ?? 0)] ?? found.other;
  return text.replace(/\{(\w+)\}/g, (_, hole) => (typeof values[hole] === "number" ? numbers.format(values[hole]) : String(values[hole] ?? "")));
};
