// This module draws receipts over time by verdict, in at most 60 columns of the same duration.
import { h, s } from "../../../../../receipt/serve/page/view/dom.js";
import { clock, number, plural } from "../../../../../receipt/serve/page/view/text.js";

const most = 60, width = 600, height = 80;
const units = [[60_000, "minute"], [3_600_000, "hour"], [86_400_000, "day"], [7 * 86_400_000, "week"], [30 * 86_400_000, "30 days"], [365 * 86_400_000, "365 days"], [3650 * 86_400_000, "3,650 days"], [36500 * 86_400_000, "36,500 days"]];

export function renderTimeline(table, rows) {
  let first = Infinity, last = -Infinity, timed = 0;
  for (const row of rows) {
    const time = table.times[row];
    if (Number.isNaN(time)) continue;
    timed++;
    if (time < first) first = time;
    if (time > last) last = time;
  }
  if (timed === 0) return [h("p", { class: "rest" }, "No receipt states a time.")];

  const [unit, name] = units.find(([size]) => Math.floor(last / size) - Math.floor(first / size) < most) ?? units.at(-1);
  const start = Math.floor(first / unit), bins = Math.min(Math.floor(last / unit) - start + 1, most);
  const { values, at } = table.columns.get("verdict"), counts = values.map(() => new Uint32Array(bins)), total = new Uint32Array(bins);
  for (const row of rows) {
    const bin = Math.min(Math.floor(table.times[row] / unit) - start, bins - 1);
    if (Number.isNaN(bin)) continue;
    counts[at[row]][bin]++;
    total[bin]++;
  }
  const top = total.reduce((a, b) => Math.max(a, b), 1), step = width / bins;
  const columns = [];
  for (let bin = 0; bin < bins; bin++) {
    let y = height;
    for (const [i, verdict] of values.entries()) {
      const tall = counts[i][bin] / top * height;
      if (tall > 0) columns.push(s("rect", { class: `of-${verdict.replaceAll(" ", "-")}`, x: bin * step + 0.5, width: Math.min(Math.max(step - 1, 1), 24), y: (y -= tall), height: tall }));
    }
  }
  const said = `${plural(timed, "receipt")} from ${clock(first)} to ${clock(last)}, at most ${number(top)} per ${name}`;
  return [h("p", { class: "of" }, said, rows.length > timed && `; ${number(rows.length - timed)} without a time`),
    s("svg", { class: "timeline", viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: "none", role: "img", "aria-label": said }, columns)];
}
