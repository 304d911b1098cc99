// Figures, sizes, times and names as people read them, in the language of the page.

import { language, t } from "/page/strings.js";

const numbers = (options) => new Intl.NumberFormat(language(), options);

// Digits that suit a score: 0.873, 12.85, 1.000, 0.00012.
export const figure = (value) => {
  if (value === 0) return "0";
  const text = value.toPrecision(Math.abs(value) >= 1 ? 4 : 3);
  return language() === "de" ? text.replace(".", ",") : text;
};

export const whole = (count) => numbers().format(count);
export const percent = (share) => numbers({ style: "percent" }).format(share);

export const duration = (ms) => {
  if (ms < 10) return `${numbers({ maximumFractionDigits: 1 }).format(ms)} ms`;
  return ms < 1000 ? `${Math.round(ms)} ms` : seconds(ms / 1000);
};

export const seconds = (value) => {
  if (value < 60) return `${numbers({ maximumFractionDigits: value < 10 ? 1 : 0 }).format(value)} s`;
  return `${Math.floor(value / 60)} min ${Math.round(value % 60)} s`;
};

const UNITS = ["B", "kB", "MB", "GB", "TB"];

export const bytes = (count) => {
  const step = count < 1 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log10(count) / 3));
  return `${numbers({ maximumFractionDigits: step > 1 ? 1 : 0 }).format(count / 1000 ** step)} ${UNITS[step]}`;
};

export const moment = (iso) => new Date(iso).toLocaleString(language(), { dateStyle: "medium", timeStyle: "short" });

// The last part of a path or an address.
export const lastPart = (source) => source.replace(/\/+$/, "").split("/").pop() || source;

// What comes before it, shortened from the left.
export const folderOf = (source) => {
  const folder = source.replace(/\/+$/, "").split("/").slice(0, -1).join("/");
  return folder.length > 60 ? `…${folder.slice(-58)}` : folder;
};

// Where in its document a passage stands, in words; a heading that is the title says nothing new.
// Whether pages of a document can be drawn: of a PDF, or of an image whose text was recognized.
export const hasPages = (info) => /^(application\/pdf|image\/(png|jpeg|tiff))$/.test(info?.media_type ?? "");

// Whether a text is written in lines whose columns mean something: code, data, Markdown with its blocks of code.
export const isInLines = (info) => /^text\/(x-|markdown|css|javascript|csv|tab)|json|xml|yaml|toml/.test(info?.media_type ?? "");

// Whether a document can be heard.
export const isRecording = (info) => info?.media_type === "audio/wav";

export const placeOf = ({ page, place, heading = [], title }) =>
  [page === null || page === undefined ? "" : t("page", { page }), place, ...heading.filter((one) => one !== title)]
    .filter(Boolean).join(" › ");
