// This module displays the parts of a report for users who want to check it: the verdict, the seven
// steps, and the missing checks. A verdict is never conveyed only by a color.
import { foreign, h, icon, mono, section } from "./dom.js";
import { isObject, list, member, text } from "./json.js";
import { cut, plural } from "./text.js";
import { causeName } from "./words.js";

// steps contains the seven steps in order, each with the question that it answers.
export const steps = new Map([
  ["parse", "Are the bytes one strict JSON document?"],
  ["schema", "Does every member match the receipt format?"],
  ["hash", "Does the content match the stated hash?"],
  ["link", "Does it follow the receipt before it in its stream?"],
  ["batch", "Is it in the batch or checkpoint that it names?"],
  ["signatures", "Did its issuer sign the hash, with a trusted key?"],
  ["redactions", "Are disclosed values the ones that were withheld?"],
]);

// These are the words and the tone for each status.
const statuses = new Map([
  ["passed", ["Passed", "plain"]],
  ["failed", ["Failed", "bad"]],
  ["not_checked", ["Not checked", "none"]],
  ["not_applicable", ["Does not apply", "none"]],
]);

export function checks(report) {
  return list(member(report, "checks")).filter(isObject);
}

// status returns the check that represents a step, which is a failed check if there is one.
export function status(report, step) {
  const found = checks(report).filter((check) => check.check === step);
  return found.find((check) => check.status === "failed") ?? found[0] ?? { check: step, status: "not_checked", code: "step_not_reached" };
}

// These codes leave a step unchecked without making the verdict undecided.
const informing = new Set(["link_not_checked", "batch_not_checked", "redactions_not_checked", "signatures_not_checked", "step_not_reached"]);

// finding returns the check that explains a verdict: the first check that failed, or the check
// whose evidence is missing. It returns undefined for a verified receipt.
export function finding(report) {
  if (member(report, "verdict") === "verified") return undefined;
  if (member(report, "verdict") === "refuted") return checks(report).find((check) => check.status === "failed");
  const open = checks(report).filter((check) => check.status === "not_checked");
  return open.find((check) => !informing.has(check.code)) ?? open[0];
}

// verdictOf returns the word and the tone for a verdict. Only the verdict verified with full scope
// is good. Integrity alone is not sufficient, because anyone can write a receipt that matches its
// stated hash.
export function verdictOf(judged) {
  const verdict = member(judged, "verdict");
  if (verdict === "verified" && member(judged, "scope") === "full") return { word: "Verified", tone: "good" };
  if (verdict === "verified") return { word: "Intact", tone: "open" };
  if (verdict === "refuted") return { word: "Refuted", tone: "bad" };
  return { word: "Undecided", tone: "open" };
}

function code(check) {
  return h("code", { class: "reason" }, foreign(text(check.code) || "no_code", 80));
}

// renderSteps displays the seven steps with their findings, the signatures, and the missing checks.
export function renderSteps(report) {
  const why = finding(report);
  return [
    section("steps", "The seven steps", h("ol", {}, [...steps].map(([step, about]) => renderStep(report, step, about, why)))),
    renderSignatures(report),
    notes("not-checked", "Not checked", list(member(report, "not_checked"))),
    notes("warnings", "Warnings", list(member(report, "warnings"))),
  ];
}

function renderStep(report, step, about, why) {
  const found = checks(report).filter((check) => check.check === step);
  const first = status(report, step);
  const [word, usual] = statuses.get(first.status) ?? ["Not checked", "none"];
  const tone = first.status === "not_checked" && why === first ? "open" : usual;
  return h("li", { class: `step ${tone}` },
    h("div", { class: "step-head" }, icon(tone), h("h3", {}, step), h("span", { class: "status" }, word)),
    h("p", { class: "about" }, about),
    found.filter((check) => check.code || check.detail).slice(0, 20).map((check) => renderCheck(check)));
}

// renderCheck displays one finding with its code, its location, and the stated and computed values.
export function renderCheck(check) {
  const stated = text(check.stated), computed = text(check.computed);
  return h("div", { class: "check" },
    h("p", {}, text(check.code) !== "" || check.status !== "passed" ? [code(check), text(check.cause) && [" ", causeName(check)], text(check.pointer) ? [" at ", mono(check.pointer)] : "", text(check.detail) ? ": " : ""] : "", foreign(text(check.detail), 600)),
    (stated || computed) && renderComparison(stated, computed),
    text(check.hint) && h("p", { class: "hint" }, h("strong", {}, "Hint: "), foreign(check.hint, 600)));
}

// renderComparison displays two strings, one below the other, and marks the first difference. If
// there is only one string, it displays that string.
export function renderComparison(stated, computed) {
  const both = stated !== "" && computed !== "", alike = difference(stated, computed);
  const side = (name, value) => value !== "" && h("div", {}, h("dt", {}, name), h("dd", {}, h("code", {}, both ? marked(value, alike) : foreign(value))));
  return h("dl", { class: "comparison" }, side("stated", stated), side("computed", computed));
}

// difference returns the number of characters that two strings have in common at their beginning.
export function difference(a, b) {
  let i = 0;
  while (i < a.length && i < b.length && a.charCodeAt(i) === b.charCodeAt(i)) i++;
  const before = i > 0 ? a.charCodeAt(i - 1) : 0;
  return before >= 0xd800 && before < 0xdc00 ? i - 1 : i; // not inside a surrogate pair
}

function marked(value, alike) {
  if (alike >= value.length) return foreign(value);
  const skipped = alike > 150 ? alike - 100 : 0;
  const mark = value.codePointAt(alike) > 0xffff ? 2 : 1;
  const tail = cut(value.slice(alike + mark), 150);
  return h("bdi", {}, skipped > 0 ? h("span", { class: "rest" }, `${plural(skipped, "character")} alike … `) : "", value.slice(skipped, alike),
    h("mark", {}, value.slice(alike, alike + mark)), tail.text, tail.more > 0 ? h("span", { class: "rest" }, ` … ${plural(tail.more, "more character")}`) : "");
}

const signatureWords = new Map([["valid", ["Valid", "plain"]], ["invalid", ["Not counted", "bad"]], ["not_checked", ["Not checked", "none"]]]);

// attestation is the algorithm of a signature that is not in the receipt, but in the envelope
// around the receipt.
const attestation = "dsse";

function renderSignatures(report) {
  const entries = list(member(report, "signatures")).filter(isObject);
  if (entries.length === 0) return null;
  return section("signature-results", "Signatures examined", h("ul", {}, entries.slice(0, 50).map((entry) => {
    const [word, tone] = signatureWords.get(entry.status) ?? ["Not checked", "none"];
    const good = tone === "plain" && verdictOf(report).tone === "good" ? "good" : tone;
    return h("li", {}, icon(good), h("strong", {}, word), " ", mono(entry.key_id), ", ", foreign(entry.algorithm), entry.role ? [", as ", foreign(entry.role)] : "",
      entry.code ? [": ", code(entry), " ", foreign(entry.detail ?? "", 600)] : entry.algorithm === attestation && entry.detail ? [", attested for ", foreign(entry.detail, 600)] : "");
  })), entries.length > 50 && h("p", {}, `… ${entries.length - 50} more`));
}

// notes displays a list of codes and details, or returns null if the list is empty.
export function notes(name, title, entries) {
  if (entries.length === 0) return null;
  return section(name, title, h("ul", { class: "notes" }, entries.slice(0, 50).map((note) => h("li", {},
    foreign(member(note, "detail") ?? "", 600), " ", h("span", { class: "aside" }, code(isObject(note) ? note : {}), text(member(note, "pointer")) ? [" at ", mono(note.pointer)] : "")))),
    entries.length > 50 && h("p", {}, `… ${entries.length - 50} more`));
}

// renderStrip displays the seven steps on one line.
export function renderStrip(report) {
  return h("ol", { class: "strip" }, [...steps.keys()].map((step) => {
    const [word, tone] = statuses.get(status(report, step).status) ?? ["Not checked", "none"];
    return h("li", { class: tone }, icon(tone), step, h("span", { class: "hidden" }, ` ${word}`));
  }));
}
