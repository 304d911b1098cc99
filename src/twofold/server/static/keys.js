// The keyboard: everything on the page can be reached without a mouse.

import { byId, isTyping } from "/page/dom.js";

const titles = () => [...document.querySelectorAll("#hits .title")];

// Moves the focus among results; above the first is the box.
const move = (by) => {
  const all = titles();
  const at = all.findIndex((title) => title.closest("li").contains(document.activeElement));
  const to = at < 0 ? (by > 0 ? 0 : -1) : at + by;
  if (to < 0) byId("query").focus();
  else all[Math.min(to, all.length - 1)]?.focus();
};

const explain = () => {
  const why = document.activeElement?.closest(".hit")?.querySelector("details");
  if (why) why.open = !why.open;
};

const cite = (number) =>
  [...document.querySelectorAll("#answer .chip:not([disabled])")].find((one) => one.textContent === `[${number}]`)?.click();

const MOVES = { j: 1, k: -1, ArrowDown: 1, ArrowUp: -1 };

const movesNow = (event) => {
  if (!(event.key in MOVES)) return false;
  if (isTyping(event.target)) return event.target === byId("query") && event.key === "ArrowDown";
  return event.key.length === 1 || event.target.closest?.(".hit") !== null && event.target !== document.body;
};

export const listenToKeys = ({ stop, ask }) => {
  document.addEventListener("keydown", (event) => {
    if (event.isComposing || event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
    if (event.key === "Enter" && event.shiftKey && byId("asking").contains(event.target)) ask();
    else if (event.key === "Escape" && !isTyping(event.target)) stop();
    else if (event.key === "Escape" && !byId("stop").hidden) stop();
    else if (movesNow(event)) move(MOVES[event.key]);
    else if (isTyping(event.target)) return;
    else if (event.key === "/") { byId("query").focus(); byId("query").select(); }
    else if (event.key === "?") byId("keys").showModal();
    else if (event.key === "e") explain();
    else if (/^[1-9]$/.test(event.key)) cite(event.key);
    else return;
    event.preventDefault();
  });
  for (const button of document.querySelectorAll("[data-closes]")) {
    button.addEventListener("click", () => button.closest("dialog").close());
  }
  byId("help").addEventListener("click", () => byId("keys").showModal());
};
