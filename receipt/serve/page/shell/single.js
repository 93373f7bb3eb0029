// The outcome for one receipt.
import { facts, foreign, h, mono, section } from "../view/dom.js";
import { renderReceipt } from "../view/receipt.js";
import { clock, instant, number } from "../view/text.js";
import { renderHeadlines, renderSteps } from "../view/verdict.js";
import { renderBytes } from "./bytes.js";
import { basis, renderTrusted } from "./trusted.js";

// renderSingle shows a report, the document that it is about, and what can be done
// with them. demonstration is {target} when the page changed the receipt itself.
export function renderSingle({ report, summary, keys, opened, actions, demonstration }) {
  const receipt = parsed(opened);
  return h("div", { class: demonstration ? "single demonstration" : "single" },
    demonstration && banner(demonstration),
    renderHeadlines(report, basis(keys, report), receipt),
    actions,
    renderSteps(report),
    renderReceipt(receipt, report),
    renderBytes(opened, demonstration),
    renderTrusted(keys),
    renderBasis(report, summary));
}

// renderBasis says what was judged, when and by what: on paper nothing else does.
function renderBasis(report, summary) {
  return section("basis", "What this rests on", facts([
    ["file", [mono(report.source), report.index > 1 ? `, number ${number(report.index)} in it` : ""]],
    ["its SHA-256", report.input_sha256 ? mono(report.input_sha256) : undefined],
    ["keys judged at", report.at ? mono(report.at) : undefined],
    ["made by", foreign(summary.tool)],
    ["finished", `${clock(instant(summary.finished))} UTC`],
  ]));
}

// parsed is the receipt for the views, which only show it: what is true of it was
// decided over its bytes.
function parsed(opened) {
  return opened.canonical ? JSON.parse(new TextDecoder().decode(opened.canonical)) : undefined;
}

function banner({ target, undo }) {
  return h("div", { class: "banner", role: "note", "aria-label": "demonstration" },
    h("p", {}, h("strong", {}, "Demonstration. "), "This is not the receipt that you were given: this page changed one byte of a copy, ", target.label, " at ", h("code", {}, target.pointer), "."),
    h("p", { class: "change" }, h("del", {}, target.before), " → ", h("ins", {}, target.after)),
    h("p", { class: "buttons" }, undo));
}
