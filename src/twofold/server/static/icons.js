// Icons of our own, drawn with lines on a square of 24; they are decoration, words say what they mean.

import { html } from "/page/ui.js";

const PATHS = {
  ask: "M4 5h16v11H9l-5 4z M8 9h8 M8 12h5",
  search: "M10.5 4a6.5 6.5 0 1 1 0 13a6.5 6.5 0 1 1 0-13z M15.5 15.5L20 20",
  library: "M4 4h5v16H4z M9 4h5v16H9z M14.5 6l4.5-1l3 14l-4.5 1z",
  compare: "M4 5h6v14H4z M14 5h6v14h-6z M10 9h4 M10 15h4",
  judge: "M12 4v16 M6 20h12 M4 8h16 M4 8l-2 6h6L4 8z M20 8l-2 6h6z",
  experiments: "M4 20V4 M4 20h16 M8 16v-5 M12 16V8 M16 16v-8 M20 16v-3",
  settings: "M4 7h9 M17 7h3 M4 17h3 M11 17h9 M13 7a2 2 0 1 0 4 0a2 2 0 1 0-4 0 M7 17a2 2 0 1 0 4 0a2 2 0 1 0-4 0",
  more: "M5 12h.1 M12 12h.1 M19 12h.1",
  close: "M6 6l12 12 M18 6L6 18",
  down: "M6 9l6 6l6-6",
  file: "M6 3h8l4 4v14H6z M14 3v4h4",
  copy: "M8 8h12v12H8z M4 16V4h12",
  good: "M7 11l4-7c2 0 3 1 2.5 3.500L13 10h6c1 0 2 1 1.5 2.5L18.5 19c0 .5-1 1-2 1H7z M3 11h4v9H3z",
  bad: "M7 13l4 7c2 0 3-1 2.5-3.500L13 14h6c1 0 2-1 1.5-2.5L18.5 5c0-.5-1-1-2-1H7z M3 4h4v9H3z",
  microphone: "M12 3a3 3 0 0 1 3 3v5a3 3 0 0 1-6 0V6a3 3 0 0 1 3-3z M6 11a6 6 0 0 0 12 0 M12 17v4",
  stop: "M7 7h10v10H7z",
  send: "M4 12h14 M12 5l7 7l-7 7",
  link: "M9 15l6-6 M10 6l2-2a4 4 0 0 1 6 6l-2 2 M14 18l-2 2a4 4 0 0 1-6-6l2-2",
  upload: "M12 16V4 M7 9l5-5l5 5 M4 20h16",
  trash: "M5 7h14 M9 7V4h6v3 M7 7l1 13h8l1-13",
  edit: "M4 20l1-5L16 4l4 4L9 19z",
  save: "M12 4v12 M7 11l5 5l5-5 M4 20h16",
  again: "M19 12a7 7 0 1 1-2-5 M19 4v4h-4",
  plus: "M12 5v14 M5 12h14",
};

export const icon = (name) => html`
  <svg class="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false"><path d=${PATHS[name]}></path></svg>`;
