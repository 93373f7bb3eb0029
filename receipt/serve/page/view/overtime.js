// This module displays the statements of receipts over time. Only receipts that match their
// stated hash are included. Verified receipts are drawn separately from all others.
import { columns } from "./charts.js";
import { h, section, table } from "./dom.js";
import { list, member } from "./json.js";
import { cut, group, instant, number, plural } from "./text.js";

const series = [{ name: "verified", tone: "solid" }, { name: "not verified", tone: "hatched" }];

// renderOverTime displays an aggregate in the JSON form of the Go package of this name.
export function renderOverTime(aggregate) {
  const bins = list(member(aggregate, "bins")).slice(0, 100), unit = lengths.has(member(aggregate, "unit")) ? aggregate.unit : "unknown unit";
  if (bins.length === 0) return renderTimeless(aggregate);
  const measures = [
    { name: "Receipts", of: (counts) => count(counts, "receipts") },
    ...list(member(aggregate, "currencies")).filter((currency) => typeof currency === "string").slice(0, 8).map((currency) => cut(currency, 12).text).map((currency) => ({ name: `Cost in ${currency}`, of: (counts) => decimal(member(counts, "cost", currency)), told: (counts) => member(counts, "cost", currency) !== undefined })),
    { name: "Writes to files", of: (counts) => count(counts, "files") },
    { name: "Bytes sent", of: (counts) => decimal(member(counts, "bytes_sent")) },
    { name: "Tool calls", of: (counts) => count(counts, "tool_calls") },
    { name: "Handoffs", of: (counts) => count(counts, "handoffs") },
    { name: "Approved", of: (counts) => count(member(counts, "approvals"), "approved") },
    { name: "Denied", of: (counts) => count(member(counts, "approvals"), "denied") },
    { name: "Approval canceled", of: (counts) => count(member(counts, "approvals"), "canceled") },
    { name: "Approval timed out", of: (counts) => count(member(counts, "approvals"), "timeout") },
  ];
  const drawn = measures.filter((measure) => total(aggregate, measure).some((sum) => sum !== "0"));
  const verified = plural(count(member(aggregate, "totals", "verified"), "receipts"), "verified receipt"), others = count(member(aggregate, "totals", "other"), "receipts");
  return section("over-time", "Over time",
    h("p", {}, `By ${unit}, UTC, when the tasks were completed. These are the issuers’ statements. Only receipts that match their own hash are counted: ${verified}`,
      others > 0 ? `, and apart from ${count(member(aggregate, "totals", "verified"), "receipts") === 1 ? "it" : "them"} ${number(others)} that nobody has confirmed.` : "."),
    others > 0 && h("ul", { class: "legend", "aria-hidden": "true" }, series.map((one) => h("li", { class: one.tone }, one.name))),
    h("div", { class: "charts" }, drawn.map((measure) => renderMeasure(aggregate, bins, unit, measure))),
    renderLeftOut(member(aggregate, "left_out")),
    h("details", {}, h("summary", {}, "The numbers behind these charts"), table(`By ${unit}; verified + not verified`,
      [unit, ...drawn.map((measure) => ({ name: measure.name, kind: "number" }))], bins,
      (bin) => [named(bin, unit), ...drawn.map((measure) => told(measure, bin))], 100)));
}

// renderTimeless displays what is unknown about receipts without any time. Other charts display
// their sums.
function renderTimeless(aggregate) {
  const receipts = ["verified", "other"].reduce((sum, side) => sum + count(member(aggregate, "totals", side), "receipts"), 0);
  return receipts === 0 ? null : section("over-time", "Over time", renderLeftOut(member(aggregate, "left_out")));
}

export function count(counts, name) {
  const value = member(counts, name);
  return typeof value === "number" ? value : 0;
}

// decimal returns an exact sum as text. A chart rounds the sum, but the number next to the chart is
// exact.
export function decimal(value) {
  return typeof value === "string" && /^\d+(\.\d+)?$/.test(value) ? value : "0";
}

function total(aggregate, measure) {
  return ["verified", "other"].map((name) => String(measure.of(member(aggregate, "totals", name))));
}

// brief shortens a sum that has too many digits for one line.
function brief(sum) {
  const text = String(sum);
  return text.length > 24 ? `about ${Number(text).toPrecision(6)}` : group(text);
}

export function both(verified, other) {
  return String(other) === "0" ? brief(verified) : `${brief(verified)} + ${brief(other)}`;
}

// told returns the text for a measure in a bin. If no receipt in the bin states the measure, the
// text is "–", because this does not mean 0.
function told(measure, bin) {
  const sides = ["verified", "other"].map((name) => member(bin, name));
  return measure.told && !sides.some(measure.told) ? "–" : both(...sides.map(measure.of));
}

function renderMeasure(aggregate, bins, unit, measure) {
  const [verified, other] = total(aggregate, measure);
  const places = bins.flatMap((bin, i) => {
    const values = [Number(measure.of(member(bin, "verified"))), Number(measure.of(member(bin, "other")))];
    return [...between(i > 0 ? count(bin, "empty") : 0), { label: named(bin, unit), values }];
  });
  const highest = Math.max(...places.map((place) => (place.gap ? 0 : place.values[0] + place.values[1])));
  const peak = places.find((place) => !place.gap && place.values[0] + place.values[1] === highest);
  return h("figure", { class: "measure" },
    h("figcaption", {}, h("strong", {}, measure.name), h("span", {}, both(verified, other), other === "0" ? "" : " not verified")),
    columns(`${measure.name} by ${unit}`, `from ${named(bins[0], unit)} to ${named(bins.at(-1), unit)}; most in ${peak?.label}, ${tick(highest)}`, places, series),
    h("div", { class: bins.length > 1 ? "ends" : "ends single" }, h("span", {}, named(bins[0], unit)), bins.length > 1 && h("span", {}, named(bins.at(-1), unit))),
    h("span", { class: "top" }, tick(highest)));
}

// tick returns a short text for the height of a chart.
export function tick(value) {
  if (value >= 1e15 || (value > 0 && value < 1e-4)) return value.toExponential(1);
  for (const [size, word] of [[1e12, "trillion"], [1e9, "billion"], [1e6, "million"]]) {
    if (value >= size) return `${group(String(Number((value / size).toPrecision(3))))} ${word}`;
  }
  return group(String(Number.isInteger(value) ? value : Number(value.toPrecision(4))));
}

// between returns the places for empty bins, or a gap if there are many.
export function between(empty) {
  return empty > 6 ? [{ gap: true }] : Array.from({ length: Math.max(empty, 0) }, () => ({ label: "", values: [0, 0] }));
}

const lengths = new Map([["hour", 16], ["day", 10], ["month", 7], ["year", 4], ["century", 4]]);

// named returns the name of a bin, which is its first instant.
export function named(bin, unit, first = "start") {
  const at = instant(member(bin, first));
  if (Number.isNaN(at)) return "(no time)";
  const text = new Date(at).toISOString().slice(0, lengths.get(unit) ?? 16).replace("T", " ");
  return unit === "century" ? `${text} to ${text.slice(0, 2)}99` : text;
}

const reasons = new Map([
  ["hash", (n) => `${plural(n, "receipt")} that ${n === 1 ? "does" : "do"} not fit the format or the hash: no evidence of anything`],
  ["copies", (n) => `${number(n)} ${n === 1 ? "copy" : "copies"} of receipts that were counted`],
  ["older", (n) => `${plural(n, "receipt")} that newer versions supersede`],
  ["newer", (n) => `${plural(n, "newer version")} of receipts whose older version is counted`],
  ["currency", (n) => `the cost of ${plural(n, "receipt")} in further currencies`],
  ["time", (n) => `${plural(n, "receipt")} without a recorded time that can be drawn, though in the totals`],
  ["unseen", (n) => `whether ${plural(n, "later receipt")} are copies`],
]);

// Values that a source may not report. A sum without them is a lower bound.
const untold = new Map([["cost", "cost"], ["files", "writes to files"], ["egress", "bytes sent"], ["tool_calls", "tool calls"], ["handoffs", "handoffs"], ["approvals", "approvals"]]);

function renderLeftOut(left) {
  const entries = [...reasons].filter(([name]) => count(left, name) > 0).map(([name, say]) => say(count(left, name)));
  for (const [name, what] of untold) {
    const receipts = count(member(left, "untold"), name);
    if (receipts > 0) entries.push(`${what} of ${plural(receipts, "receipt")}, not recorded, or only in part`);
  }
  const over = count(left, "at_most");
  if (over > 0) entries.push(`how much less the cost of ${plural(over, "receipt")} was, which may be stated too high`);
  const reckoned = count(left, "reckoned");
  if (reckoned > 0) entries.push(`what was billed for ${plural(reckoned, "receipt")}, whose cost is an estimate of the source`);
  if (entries.length === 0) return null;
  return h("div", { class: "aside" }, h("p", {}, "Not in these charts, or unknown:"), h("ul", {}, entries.map((entry) => h("li", {}, entry))));
}
