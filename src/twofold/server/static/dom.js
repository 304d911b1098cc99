// Elements and text. Nothing is ever parsed as HTML: what documents say is put in as text.

export const byId = (id) => document.getElementById(id);

// An element with attributes and children; a child that is a string becomes text.
export const make = (name, attributes = {}, ...children) => {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === true) element.setAttribute(key, "");
    else if (value !== false && value != null) element.setAttribute(key, value);
  }
  element.append(...children.filter((child) => child != null));
  return element;
};

// Digits that suit a score: 0.873, 12.85, 1.000, 0.00012.
export const figure = (value) => (value === 0 ? "0" : value.toPrecision(Math.abs(value) >= 1 ? 4 : 3));

export const duration = (ms) => (ms < 10 ? `${ms.toFixed(1)} ms` : ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`);

export const counted = (count, noun) => `${count.toLocaleString()} ${noun}${count === 1 ? "" : "s"}`;

// The last part of a path or an address.
export const lastPart = (source) => source.replace(/\/+$/, "").split("/").pop() || source;

// Where in its document a passage stands, in words; a heading that is the title says nothing new.
export const placeOf = ({ page, place, heading, title }) =>
  [page != null ? `page ${page}` : "", place, ...heading.filter((one) => one !== title)].filter(Boolean).join(" › ");

export const isTyping = (target) =>
  target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement ||
  (target instanceof HTMLInputElement && !["radio", "checkbox", "button"].includes(target.type));
