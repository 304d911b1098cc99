// Two ways to search, A and B, as the address says them (`a.mode`, `b.profile`, …), and the form that changes them.

import { options, profiles } from "/page/parts.js";
import { patch } from "/page/router.js";
import { t } from "/page/strings.js";
import { html } from "/page/ui.js";

const DEFAULT_MODES = { a: "hybrid", b: "bm25" };
const MODES = ["hybrid", "bm25", "vector"];

// What one way asks for, as options of a search.
export const waysOf = (params, side) => {
  const weight = params.get(`${side}.weight`);
  return {
    mode: params.get(`${side}.mode`) || DEFAULT_MODES[side],
    ...(params.get(`${side}.profile`) ? { profile: params.get(`${side}.profile`) } : {}),
    ...(params.has(`${side}.norerank`) ? { rerank: false } : {}),
    ...(weight ? { settings: { "fusion.vector_weight": Number(weight) } } : {}),
  };
};

export const nameOf = (params, side) => {
  const ways = waysOf(params, side);
  return [t(`mode.${ways.mode}`), ways.profile, ways.settings && `${t("by.meaning")} ${params.get(`${side}.weight`)}`,
    ways.rerank === false && t("rerank.off")].filter(Boolean).join(", ");
};

export const configuration = (params, side) => {
  const set = (name) => (event) => patch({ measured: null, [`${side}.${name}`]: event.target.value }, { replace: true });
  const ways = waysOf(params, side);
  return html`<fieldset class=${`configuration side-${side}`}><legend>${side.toUpperCase()}</legend>
    <label>${t("search.by")} <select .value=${ways.mode} @change=${set("mode")}>${options(MODES.map((mode) => [mode, t(`mode.${mode}`)]))}</select></label>
    <label>${t("profile")} <select .value=${ways.profile ?? ""} @change=${set("profile")}>${profiles()}</select></label>
    <label>${t("weight.meaning")} <input type="number" min="0" max="1" step="0.05" placeholder=${t("as.set")}
      ~value=${params.get(`${side}.weight`) ?? ""} @change=${(event) => event.target.checkValidity() && set("weight")(event)}></label>
    <label class="check"><input type="checkbox" .checked=${ways.rerank !== false}
      @change=${(event) => patch({ measured: null, [`${side}.norerank`]: !event.target.checked }, { replace: true })}> ${t("rerank")}</label>
  </fieldset>`;
};
