// The audit report: one block of data in the page, shown by the same views as the
// verification page. The text that was there before stays when this fails.
import { renderHeadlines } from "./answer.js";
import { h } from "./dom.js";
import { renderFilter } from "./filter.js";
import { isObject } from "./json.js";
import { renderReceipt } from "./receipt.js";
import { renderSummary } from "./summary.js";
import { renderSteps } from "./verdict.js";

// render returns the report of data {summary, reports, more, aggregate} and, when
// there was one receipt only, {receipt, headline, report} with all that is known of it.
function render(data) {
  const findings = { reports: data.reports, more: data.more, groups: data.groups, brief: true };
  if (!isObject(data.report)) return filtered(renderSummary(data.summary, findings, data.aggregate), data.more);
  return h("div", {},
    renderHeadlines(data.report, data.summary.keys, data.receipt, data.headline),
    renderSteps(data.report),
    isObject(data.receipt) ? renderReceipt(data.receipt, data.report) : null,
    h("h2", { class: "part" }, "The run"),
    renderSummary(data.summary, { reports: [], more: {} }, null));
}

// filtered puts the filter before the findings.
function filtered(summary, more) {
  const box = renderFilter(summary, more.refuted + more.undecided);
  if (box) summary.querySelector(".of-refuted, .of-undecided, .streams")?.before(box);
  return summary;
}

const block = document.getElementById("data"), place = document.getElementById("report");
place.replaceChildren(render(JSON.parse(block.textContent)));
if (location.hash !== "") document.getElementById(decodeURIComponent(location.hash.slice(1)))?.scrollIntoView();
