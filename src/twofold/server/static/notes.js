// Short notices within a view: what could not be done, and why.

import { t } from "/page/strings.js";
import { html } from "/page/ui.js";

export const note = (title, text = "", kind = "note") => html`<div class=${kind} role=${kind === "error" ? "alert" : null}>
  <strong>${title}</strong> ${text}</div>`;

export const warnings = (list) => list.map((one) => note(t("degraded"), one.text));
