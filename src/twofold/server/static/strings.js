// Everything that the page says comes from one file for each language; `t` fills in what varies.

export const LANGUAGES = { en: "English", de: "Deutsch" };
const KEPT = "twofold.language";

const wanted = () => {
  const said = localStorage.getItem(KEPT) ?? navigator.language.slice(0, 2);
  return said in LANGUAGES ? said : "en";
};

const current = wanted();
const MESSAGES = (await import(`/page/${current}.js`)).default;
const plural = new Intl.PluralRules(current);
const numbers = new Intl.NumberFormat(current);

export const language = () => current;

export const chooseLanguage = (code) => {
  localStorage.setItem(KEPT, code);
  location.reload();
};

// What stands for a code of the server, or the code where it is not known.
export const worded = (group, code) => (`${group}.${code}` in MESSAGES ? t(`${group}.${code}`) : code);

// A text by its name, with `{holes}` filled; where there is `count`, the form that suits it.
export const t = (name, values = {}) => {
  const found = MESSAGES[name] ?? name;
  const text = typeof found === "string" ? found : found[plural.select(values.count ?? 0)] ?? found.other;
  return text.replace(/\{(\w+)\}/g, (_, hole) => (typeof values[hole] === "number" ? numbers.format(values[hole]) : String(values[hole] ?? "")));
};
