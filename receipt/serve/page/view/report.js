// This script displays the audit report from a block of data in the page, with the same views as
// the verification page. If the script fails, the text that was in the page remains.
import { renderHeadlines } from "./answer.js";
import { h } from "./dom.js";
import { renderFilter } from "./filter.js";
import { isObject } from "./json.js";
import { renderFolded } from "./receipt.js";
import { renderSummary } from "./summary.js";
import { renderSteps } from "./verdict.js";

// render returns the report for data {summary, reports, more, aggregate}. If there was only one
// receipt, data also contains {receipt, headline, report} with all details.
function render(data) {
  const findings = { reports: data.reports, more: data.more, groups: data.groups, brief: true };
  if (!isObject(data.report)) return filtered(renderSummary(data.summary, findings, data.aggregate), data.more);
  return h("div", {},
    renderHeadlines(data.report, data.summary.keys, data.receipt, data.headline),
    renderSteps(data.report),
    isObject(data.receipt) && renderFolded(data.receipt, data.report),
    h("h2", { class: "part" }, "The run"),
    renderSummary(data.summary, { reports: [], more: {} }, null));
}

// filtered inserts the filter before the findings.
function filtered(summary, more) {
  const box = renderFilter(summary, more.refuted + more.undecided);
  if (box) summary.querySelector(".of-refuted, .of-undecided, .streams")?.before(box);
  return summary;
}

const block = document.getElementById("data"), place = document.getElementById("report");
place.replaceChildren(render(JSON.parse(block.textContent)));
if (location.hash !== "") document.getElementById(decodeURIComponent(location.hash.slice(1)))?.scrollIntoView();
