// The outcome for one receipt.
import { renderHeadlines } from "../view/answer.js";
import { facts, foreign, h, mono, section } from "../view/dom.js";
import { renderReceipt } from "../view/receipt.js";
import { clock, instant, number } from "../view/text.js";
import { renderSteps } from "../view/verdict.js";
import { renderBytes } from "./bytes.js";
import { basis, renderTrusted } from "./trusted.js";

// renderSingle shows a report, the document that it is about, and what can be done
// with them: first the answer, which is printed as a certificate, then the steps for
// who wants to check them. demonstration is {target} when the page changed the receipt
// itself, and example is true of a receipt that the page brought along.
export function renderSingle({ report, summary, keys, together, opened, actions, demonstration, example }) {
  const receipt = parsed(opened);
  return h("div", { class: demonstration ? "single demonstration" : "single" },
    demonstration && banner(demonstration),
    example && h("p", { class: "caution open" }, "This is an example that the page brought along. Nobody has sent it, and its keys are for tests."),
    h("div", { class: "certificate" },
      h("p", { class: "paper-only" }, demonstration || example ? "An example, which certifies nothing" : "Record of a verification"),
      renderHeadlines(report, basis(keys, report, together), receipt),
      renderBasis(report, summary)),
    actions,
    h("details", { class: "technical" }, h("summary", {}, "The seven steps, the receipt in full, and how to check this yourself"),
      renderSteps(report),
      renderReceipt(receipt, report),
      renderBytes(opened, demonstration),
      renderTrusted(keys)));
}

// renderBasis says what was judged, when and by what: on paper nothing else does.
function renderBasis(report, summary) {
  return section("basis", "What was checked", facts([
    ["file", [mono(report.source), report.index > 1 ? `, number ${number(report.index)} in it` : ""]],
    ["its SHA-256", report.input_sha256 ? mono(report.input_sha256) : undefined],
    ["keys judged at", report.at ? mono(report.at) : undefined],
    ["checked", [`${clock(instant(summary.finished))} UTC, by `, foreign(summary.tool)]],
    ["check it again", ["with the same file and keys, on this page or by ", h("code", {}, "receipt verify --keys KEYS FILE"), ". This record is not signed: who must be certain repeats it."]],
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
