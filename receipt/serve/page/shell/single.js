// This module displays the outcome for one receipt.
import { renderHeadlines } from "../view/answer.js";
import { facts, foreign, h, mono, section } from "../view/dom.js";
import { renderReceipt } from "../view/receipt.js";
import { clock, instant, number } from "../view/text.js";
import { renderSteps } from "../view/verdict.js";
import { renderBytes } from "./bytes.js";
import { basis, renderTrusted } from "./trusted.js";

// renderSingle displays a report, its document, and the available actions. The answer comes first,
// and is printed as a certificate. The steps follow, for users who want to check them.
// demonstration is {target, undo} if the page changed the receipt itself. example is true for the
// receipt that the page contains. evidence is the list of files that were used in addition to keys.
// asked is {issuer, at}, with the values that the user entered.
export function renderSingle({ report, summary, keys, together, evidence = [], asked = {}, opened, actions, demonstration, example }) {
  const receipt = parsed(opened);
  return h("div", { class: demonstration ? "single demonstration" : "single" },
    demonstration && banner(demonstration),
    example && h("p", { class: "caution open" }, "This is an example that is part of the page. Nobody sent it to you, and its keys are for tests."),
    h("div", { class: "certificate" },
      h("p", { class: "paper-only" }, demonstration || example ? "An example, which certifies nothing" : "Record of a verification"),
      renderHeadlines(report, basis(keys, report, together), receipt, JSON.parse(opened.headline)),
      renderBasis(report, summary, evidence, asked)),
    actions,
    h("details", { class: "technical" }, h("summary", {}, "The seven steps, the receipt in full, and how to check this yourself"),
      renderSteps(report),
      renderReceipt(receipt, report),
      renderBytes(opened, demonstration),
      renderTrusted(keys)));
}

// These are the flags of the command for each kind of evidence.
const flags = new Map([["proof", "--proof"], ["checkpoint", "--checkpoint"], ["disclosures", "--disclosures"], ["batch", "--batch"]]);

// again returns the command that verifies the receipt as the page did. With less evidence, the
// verdict may differ.
function again(report, evidence, asked) {
  const keys = report.scope === "full" ? "--keys KEYS" : "--integrity-only", file = report.index > 1 ? `FILE:${report.index}` : "FILE";
  return ["receipt verify", keys, asked.issuer && "--issuer ID", asked.at && "--at TIME", ...evidence.map(({ kind }) => `${flags.get(kind)} EVIDENCE`), file].filter(Boolean).join(" ");
}

// renderBasis displays what was verified, when, and by which tool. A printed page has no other
// record of this.
function renderBasis(report, summary, evidence, asked) {
  return section("basis", "What was checked", facts([
    ["file", [mono(report.source), report.index > 1 ? `, number ${number(report.index)} in it` : ""]],
    ["its SHA-256", report.input_sha256 ? mono(report.input_sha256) : undefined],
    ["evidence", evidence.length > 0 && evidence.map(({ name, what }, i) => [i > 0 ? ", " : "", mono(name), ` (${what})`])],
    ["issuer asked for", asked.issuer && mono(asked.issuer)],
    ["keys judged at", report.at ? mono(report.at) : undefined],
    ["checked", [`${clock(instant(summary.finished))} UTC, by `, foreign(summary.tool)]],
    ["check it again", ["with the same files, on this page or by ", h("code", {}, again(report, evidence, asked)), ". This record is not signed: who must be certain repeats it."]],
  ]));
}

// parsed returns the receipt for display only. Its bytes, not this value, were verified.
function parsed(opened) {
  return opened.canonical ? JSON.parse(new TextDecoder().decode(opened.canonical)) : undefined;
}

function banner({ target, undo }) {
  return h("div", { class: "banner", role: "note", "aria-label": "demonstration" },
    h("p", {}, h("strong", {}, "Demonstration. "), "This is not the receipt that you received: this page changed one byte of a copy, ", target.label, " at ", h("code", {}, target.pointer), "."),
    h("p", { class: "change" }, h("del", {}, target.before), " → ", h("ins", {}, target.after)),
    h("p", { class: "buttons" }, undo));
}
