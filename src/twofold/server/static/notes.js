// Short notices: within a view, what could not be done and why; in passing, what the server refused.

import { Refused } from "/page/api.js";
import { say } from "/page/store.js";
import { t } from "/page/strings.js";
import { html } from "/page/ui.js";

export const note = (title, text = "", kind = "note") => html`<div class=${kind} role=${kind === "error" ? "alert" : null}>
  <strong>${title}</strong> ${text}</div>`;

export const refusal = (problem) => problem && note(problem.message, problem.hint, "error");
export const warnings = (list) => list.map((one) => note(t("degraded"), one.text));

// Does what the server may refuse, and gives null then; `failed` is given why. What was broken off is nobody's failure.
export const tried = async (work, failed = () => {}) => {
  try {
    return await work();
  } catch (error) {
    if (error.name === "AbortError") return null;
    if (!(error instanceof Refused)) throw error;
    failed(error);
    return null;
  }
};

// The same, and says in passing why.
export const attempt = (work) => tried(work, (error) => say(`${error.message} ${error.hint}`, "error"));
