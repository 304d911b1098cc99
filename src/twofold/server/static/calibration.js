// How far the chances that searches state are true: of the questions of which it says 70 %, seven of ten should be found.

import { curve } from "/page/charts.js";
import { figure, percent } from "/page/format.js";
import { t } from "/page/strings.js";
import { html } from "/page/ui.js";

const BINS = 10;

// Groups of { chance, found } by chance, each with its mean chance, the share that was found, and how many there are.
export const reliability = (points, bins = BINS) => {
  const groups = Array.from({ length: bins }, () => []);
  for (const one of points) groups[Math.min(bins - 1, Math.floor(one.chance * bins))].push(one);
  const mean = (some, of) => some.reduce((sum, one) => sum + of(one), 0) / some.length;
  return groups.filter((some) => some.length).map((some) => ({
    chance: mean(some, (one) => one.chance), found: mean(some, (one) => Number(one.found)), count: some.length,
  }));
};

// The expected calibration error: how far chance and truth are apart, on average over all questions.
export const calibrationError = (points, bins = BINS) =>
  reliability(points, bins).reduce((sum, one) => sum + (one.count / points.length) * Math.abs(one.chance - one.found), 0);

// For each share of questions that would be answered, the surest first: how many of them would be wrong.
export const riskCoverage = (points) => {
  let wrong = 0;
  return [...points].sort((a, b) => b.chance - a.chance).map((one, at) => {
    wrong += one.found ? 0 : 1;
    return { coverage: (at + 1) / points.length, risk: wrong / (at + 1), chance: one.chance };
  });
};

// Questions as points: the chance that its search states, and whether what was judged relevant is among what it found.
export const pointsOf = (questions, results, relevant) => questions.flatMap((question, at) => {
  const { p_answerable: chance, hits } = results[at];
  return chance === null ? [] : [{ question, chance, found: hits.some((hit) => relevant.get(question).has(hit.source)) }];
});

export const charts = (points) => {
  if (!points.length) return html`<p class="quiet">${t("calibration.none")}</p>`;
  const groups = reliability(points);
  const risks = riskCoverage(points);
  const found = points.filter((one) => one.found).length / points.length;
  const mean = points.reduce((sum, one) => sum + one.chance, 0) / points.length;
  return html`<p>${t("calibration.says", { said: percent(mean), found: percent(found), error: figure(calibrationError(points)) })}</p>
    <div class="charts">
      ${curve(t("reliability"), groups.map((one) => ({ x: one.chance, y: one.found, size: one.count })), { x: t("chance.said"), y: t("chance.true"), diagonal: true })}
      ${curve(t("risk.coverage"), risks.map((one) => ({ x: one.coverage, y: one.risk })), { x: t("answered.share"), y: t("wrong.share") })}
    </div>`;
};
