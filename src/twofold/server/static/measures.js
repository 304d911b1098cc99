// What measuring two ways to search gives: differences with their intervals, and what they mean.

import { intervals, winsAndLosses } from "/page/charts.js";
import { figure } from "/page/format.js";
import { figures, section } from "/page/parts.js";
import { t } from "/page/strings.js";
import { html } from "/page/ui.js";

const MIN_P = 0.001; // smaller ones are as many as the test has draws
const chance = (p) => (p < MIN_P ? `< ${figure(MIN_P)}` : figure(p));

const verdict = (difference) => {
  if (!difference.better && !difference.worse) return t("difference.none");
  if (difference.p_holm >= 0.05) return t("difference.unsure", { detectable: difference.detectable === null ? "?" : figure(difference.detectable) });
  return difference.interval.mean > 0 ? t("difference.better") : t("difference.worse");
};

// A against B in each metric, and on how many questions; `more` follows.
export const differences = ({ differences: each }, more) => section("differences", t("differences"), html`<div class="charts">
  ${intervals(t("differences.says"), each.map((one) => ({ name: one.metric, ...one.interval })), { zero: true })}
  ${figures(t("verdict"), [t("metric"), "A − B", "p", t("verdict")],
    each.map((one) => [one.metric, figure(one.interval.mean), chance(one.p_holm), verdict(one)]), { left: [t("verdict")] })}</div>
  ${winsAndLosses(each[0].metric, each[0])}${more}`);
