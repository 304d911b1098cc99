// Small charts as SVG: each is a function of its figures, with the figures in words for people who do not see it.

import { figure } from "/page/format.js";
import { t } from "/page/strings.js";
import { html } from "/page/ui.js";

const WIDTH = 520;
const LABEL = 130;
const ROW = 30;

const LETTER = 7.3;
const MOST_LETTERS = 30;

const scaleOf = (low, high, left) => {
  const [from, to] = low === high ? [low - 0.5, high + 0.5] : [low, high];
  return (value) => left + ((value - from) / (to - from)) * (WIDTH - left - 70);
};

const short = (text) => (text.length > MOST_LETTERS ? `${text.slice(0, MOST_LETTERS - 1)}…` : text);

// Means with their intervals, one line for each name. `values` are { name, mean, low, high }; `zero` draws a line at 0.
export const intervals = (label, values, { zero = false, bounds = null } = {}) => {
  const least = bounds?.[0] ?? Math.min(...values.map((one) => one.low), zero ? 0 : Infinity);
  const most = bounds?.[1] ?? Math.max(...values.map((one) => one.high), zero ? 0 : -Infinity);
  const left = Math.max(LABEL, LETTER * Math.max(...values.map((one) => short(one.name).length)));
  const x = scaleOf(least, most, left);
  const height = values.length * ROW + 22;
  const said = values.map((one) => `${one.name}: ${figure(one.mean)} (${figure(one.low)} – ${figure(one.high)})`).join("; ");
  return html`<figure class="chart"><figcaption>${label}</figcaption>
    <svg viewBox=${`0 0 ${WIDTH} ${height}`} role="img" aria-label=${`${label}: ${said}`}>
      <line class="axis" x1=${left} x2=${WIDTH - 70} y1=${height - 18} y2=${height - 18}></line>
      <text class="tick" x=${left} y=${height - 4}>${figure(least)}</text>
      <text class="tick end" x=${WIDTH - 70} y=${height - 4}>${figure(most)}</text>
      ${zero && html`<line class="zero" x1=${x(0)} x2=${x(0)} y1="0" y2=${height - 18}></line>`}
      ${values.map((one, at) => html`<g class=${`series series-${at % 4}`}>
        <text x="0" y=${at * ROW + 20}>${short(one.name)}</text>
        <line class="whisker" x1=${x(one.low)} x2=${x(one.high)} y1=${at * ROW + 15} y2=${at * ROW + 15}></line>
        <circle cx=${x(one.mean)} cy=${at * ROW + 15} r="5"></circle>
        <text class="value" x=${WIDTH - 60} y=${at * ROW + 20}>${figure(one.mean)}</text></g>`)}
    </svg></figure>`;
};

// How many questions got better, stayed and got worse.
export const winsAndLosses = (label, { better, same, worse }) => {
  const all = Math.max(1, better + same + worse);
  const piece = (name, count) => count > 0 && html`<span class=${`piece ${name}`} style=${{ width: `${(100 * count) / all}%` }}>${count}</span>`;
  return html`<figure class="chart"><figcaption>${label}</figcaption>
    <div class="wins" role="img" aria-label=${t("wins.says", { better, same, worse })}>${piece("better", better)}${piece("same", same)}${piece("worse", worse)}</div>
    <p class="quiet">${t("wins.says", { better, same, worse })}</p></figure>`;
};

// A share of something that is done.
export const meter = (label, done, all) => html`<p class="meter"><progress max=${Math.max(1, all)} .value=${done} aria-label=${label}></progress>
  <span class="quiet">${label}</span></p>`;

const SIDE = 300;
const EDGE = 44;

// Points from 0 to 1 on both axes, joined by a line; `size` makes a dot of each, `diagonal` draws where both are equal.
export const curve = (label, points, { x, y, diagonal = false }) => {
  const [across, up] = [(value) => EDGE + value * SIDE, (value) => 10 + (1 - value) * (SIDE - 60)];
  const most = Math.max(1, ...points.map((one) => one.size ?? 0));
  const said = points.filter((_, at) => at % Math.ceil(points.length / 10) === 0).map((one) => `${figure(one.x)}: ${figure(one.y)}`).join("; ");
  return html`<figure class="chart"><figcaption>${label}</figcaption>
    <svg viewBox=${`0 0 ${SIDE + EDGE + 20} ${SIDE}`} role="img" aria-label=${`${label}. ${x}: ${y}. ${said}`}>
      ${[0, 0.5, 1].map((value) => html`<g><line class="axis" x1=${EDGE} x2=${across(1)} y1=${up(value)} y2=${up(value)}></line>
        <text class="tick end" x=${EDGE - 6} y=${up(value) + 4}>${value}</text><text class="tick middle" x=${across(value)} y=${up(0) + 16}>${value}</text></g>`)}
      ${diagonal && html`<line class="zero" x1=${across(0)} y1=${up(0)} x2=${across(1)} y2=${up(1)}></line>`}
      <path class="curve" d=${points.map((one, at) => `${at ? "L" : "M"}${across(one.x)} ${up(one.y)}`).join(" ")}></path>
      ${points.filter((one) => one.size).map((one) => html`<circle class="dot-of" cx=${across(one.x)} cy=${up(one.y)} r=${3 + 6 * Math.sqrt(one.size / most)}></circle>`)}
      <text class="tick middle" x=${across(0.5)} y=${up(0) + 34}>${x}</text>
    </svg><p class="quiet">${y}</p></figure>`;
};
