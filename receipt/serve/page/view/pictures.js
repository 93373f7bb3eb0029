// This module displays the charts that an auditor reads first: verdicts over time, cost and tokens
// by model, receipts by key, approvals by decision, and the files that are written most often. Each
// chart is a table with bars, or is followed by its table. Unreported values are displayed as
// unreported, and not as zero.
import { bars, columns } from "./charts.js";
import { foreign, h, mono, section, table } from "./dom.js";
import { isObject, list, member, text } from "./json.js";
import { between, both, count, decimal, named, tick } from "./overtime.js";
import { number, plural } from "./text.js";
import { boundOf } from "./unreported.js";

const series = [{ of: "verified", name: "verified", tone: "good" }, { of: "undecided", name: "not confirmed", tone: "hatched" }, { of: "refuted", name: "refuted", tone: "bad" }];

// renderPictures displays an aggregate, or returns null if there is nothing to display.
export function renderPictures(aggregate) {
  const parts = [renderVerdicts(member(aggregate, "verdicts")), renderModels(aggregate), renderKeyCounts(member(aggregate, "keys")), renderApprovals(aggregate), renderPaths(aggregate)].filter(Boolean);
  if (parts.length === 0) return null;
  return section("pictures", "At a glance", h("div", { class: "glance" }, parts));
}

function renderVerdicts(verdicts) {
  const bins = list(member(verdicts, "bins")).slice(0, 100), unit = text(member(verdicts, "unit")), untimed = count(verdicts, "untimed");
  if (bins.length === 0) return null;
  const of = (bin) => series.map((one) => count(bin, one.of));
  const places = bins.flatMap((bin, i) => [...between(i > 0 ? count(bin, "empty") : 0), { label: named(bin, unit, "from"), values: of(bin) }]);
  const highest = Math.max(...places.map((place) => (place.gap ? 0 : place.values.reduce((a, b) => a + b, 0))));
  return h("figure", { class: "measure wide" },
    h("figcaption", {}, h("strong", {}, "Verdicts over time"), h("ul", { class: "legend", "aria-hidden": "true" }, series.map((one) => h("li", { class: one.tone }, one.name)))),
    h("div", { class: "plot" }, columns(`Verdicts by ${unit}`, `from ${named(bins[0], unit, "from")} to ${named(bins.at(-1), unit, "from")}; at most ${tick(highest)} at a time`, places, series),
    h("div", { class: bins.length > 1 ? "ends" : "ends single" }, h("span", {}, named(bins[0], unit, "from")), bins.length > 1 && h("span", {}, named(bins.at(-1), unit, "from"))),
    h("span", { class: "top" }, tick(highest))),
    h("p", { class: "aside" }, `By ${unit}, UTC, as the receipts state when their tasks were completed; in a refuted receipt, this may be false, too.`, untimed > 0 ? ` ${plural(untimed, "receipt")} without a recorded time that can be read ${untimed === 1 ? "is" : "are"} not drawn.` : ""),
    h("details", {}, h("summary", {}, "The numbers"), table(`Verdicts by ${unit}`, [unit, ...series.map((one) => ({ name: one.name, kind: "number" }))], bins, (bin) => [named(bin, unit, "from"), ...of(bin).map((value) => number(value))], 100)));
}

// split displays the number for verified receipts, followed by the number for all others.
function split(verified, other) {
  return [both(verified, other), String(other) === "0" ? "" : h("span", { class: "aside" }, " not verified")];
}

function renderModels(aggregate) {
  const rows = list(member(aggregate, "models", "rows")).filter(isObject).slice(0, 20);
  if (rows.length === 0) return null;
  const sum = (row, ...names) => ["verified", "other"].map((side) => decimal(member(row, side, ...names)));
  const label = (row) => [foreign(text(row.provider) || "provider not recorded", 80), " ", text(row.model) ? foreign(row.model, 80) : h("span", { class: "absent" }, "model not named")];
  const entry = (row, name, sums) => ({ label: label(row), name: `${name} of ${text(row.model).slice(0, 80)}`, value: Number(sums[0]) + Number(sums[1]), text: split(...sums) });
  const all = (row, name) => count(member(row, "verified"), name) + count(member(row, "other"), name);
  const bounded = (row, name, sums, untold, over) => {
    const made = entry(row, name.replace("_", " "), sums), under = all(row, untold);
    if (under > 0 && under === all(row, "entries") && sums.every((one) => one === "0")) return { ...made, text: "not recorded" };
    return { ...made, text: [boundOf(under > 0, all(row, over) > 0), made.text] };
  };
  const tokens = (row, name) => bounded(row, name, sum(row, name), "untold", "over");
  const currencies = list(member(aggregate, "currencies")).filter((one) => typeof one === "string").slice(0, 8);
  const beyond = () => beyondNames(member(aggregate, "models"), rows, "model");
  return [
    currencies.filter((currency) => rows.some((row) => sum(row, "cost", currency).some((one) => one !== "0"))).map((currency) => h("div", {}, bars(`Cost by model, ${currency.slice(0, 12)}`, ["model", "part", "cost"],
      rows.filter((row) => member(row, "verified", "cost", currency) !== undefined || member(row, "other", "cost", currency) !== undefined).map((row) => bounded(row, "cost", sum(row, "cost", currency), "cost_untold", "cost_over"))), beyond())),
    h("div", {}, bars("Input tokens by model", ["model", "part", "tokens"], rows.map((row) => tokens(row, "input_tokens"))), beyond()),
    h("div", {}, bars("Output tokens by model", ["model", "part", "tokens"], rows.map((row) => tokens(row, "output_tokens"))), beyond()),
  ];
}

function renderKeyCounts(keys) {
  const rows = list(member(keys, "rows")).filter(isObject).slice(0, 20);
  if (rows.length === 0) return null;
  return h("div", {}, bars("Receipts a key", ["key", "part", "receipts"], rows.map((row) => named1(row, text(row.name) ? mono(row.name, 120) : h("span", { class: "absent" }, "no confirmed signature"), "receipts"))),
    beyondNames(keys, rows, "key"));
}

function named1(row, label, what) {
  const verified = count(row, "verified"), other = count(row, "other");
  return { label, name: `${what} of ${text(row.name).slice(0, 80)}`, value: verified + other, text: split(verified, other) };
}

function beyondNames(ranked, rows, noun) {
  const names = count(ranked, "names") - rows.length, more = count(ranked, "more");
  return [names > 0 && h("p", { class: "rest" }, `… ${plural(names, `more ${noun}`)}`), more > 0 && h("p", { class: "rest" }, `${number(more)} ${more === 1 ? "entry" : "entries"} of others, which are not kept by name`)];
}

function renderApprovals(aggregate) {
  const of = (name) => ["verified", "other"].map((side) => count(member(aggregate, "totals", side, "approvals"), name));
  const kinds = [["approved", "approved", "good"], ["denied", "denied", "bad"], ["canceled", "canceled", "open"], ["timeout", "timed out", "open"]];
  const untold = count(member(aggregate, "left_out", "untold"), "approvals");
  if (!isObject(member(aggregate, "totals")) || (kinds.every(([name]) => of(name).every((one) => one === 0)) && untold === 0)) return null;
  return h("div", {}, bars("Approvals by decision", ["decision", "part", "approvals"], kinds.map(([name, words, tone]) => ({ label: words, name: words, value: of(name)[0] + of(name)[1], text: split(...of(name)), tone }))),
    untold > 0 && h("p", { class: "aside" }, `The sources of ${plural(untold, "receipt")} did not record all approvals.`));
}

function renderPaths(aggregate) {
  const paths = member(aggregate, "paths"), rows = list(member(paths, "rows")).filter(isObject).slice(0, 20), untold = count(member(aggregate, "left_out", "untold"), "files");
  if (rows.length === 0) return null;
  return h("div", {}, bars("Files most written", ["file", "part", "writes"], rows.slice(0, 10).map((row) => named1(row, text(row.name) ? mono(row.name, 160) : h("span", { class: "absent" }, "not named"), "writes"))),
    beyondNames(paths, rows.slice(0, 10), "file"),
    untold > 0 && h("p", { class: "aside" }, `The sources of ${plural(untold, "receipt")} did not record all writes.`));
}
