// The page: what is given, what runs, and what came out. The core decides; this
// only shows.
import { h, icon } from "./view/dom.js";
import { number, visible } from "./view/text.js";
import { Cancelled, Core } from "./shell/core.js";
import { button, download } from "./shell/download.js";
import { Inputs } from "./shell/inputs.js";
import { renderMany } from "./shell/many.js";
import { renderSingle } from "./shell/single.js";

const at = (id) => document.getElementById(id);
const core = new Core(at("worker").textContent, at("core").textContent);
const inputs = new Inputs(core);

at("input").hidden = false;
core.tool.then((tool) => { at("tool").textContent = tool; }, fail);

// Only the last of several runs is shown.
let turn = 0;

async function verify() {
  showGiven();
  const mine = ++turn;
  if (inputs.receipts.length === 0) {
    old(false);
    return;
  }
  old(true);
  if (!at("running").hidden) core.cancel(); // what ran before is of no use any more
  const given = { receipts: inputs.receipts, keys: inputs.keys };
  const options = { issuer: at("issuer").value.trim(), at: at("at").value.trim(), integrity_only: at("integrity").checked };
  try {
    running({ bytes: 0, total: 1, receipts: 0, findings: 0 });
    const run = await core.verify(given.receipts, given.keys, options, (progress) => mine === turn && running(progress));
    if (mine === turn) await showRun({ ...run, given, options });
  } catch (error) {
    if (mine === turn) fail(error);
  } finally {
    if (mine === turn) at("running").hidden = true;
  }
}

// attempt does something else that can fail, and says so. An outcome that was shown
// stays true, and comes back unless something runs that will replace it.
async function attempt(act) {
  try {
    await act();
  } catch (error) {
    if (at("running").hidden) old(false);
    if (!(error instanceof Cancelled)) complain(["This did not work: ", error.message, "."]);
  }
}

function fail(error) {
  at("running").hidden = true;
  show(null);
  complain(error instanceof Cancelled ? "Cancelled. Nothing was decided." : ["Nothing was decided: ", error.message, "."]);
}

function complain(text) {
  at("problem").replaceChildren(h("p", { class: "caution bad" }, icon("bad"), h("span", {}, text)));
  at("problem").scrollIntoView({ block: "nearest" });
}

function running({ bytes, total, receipts, findings }) {
  at("problem").replaceChildren();
  at("running").hidden = false;
  at("progress").value = total > 0 ? bytes / total : 0;
  at("running-text").textContent = receipts > 0 ? `Verifying: ${number(receipts)} receipts, ${number(findings)} not verified` : "Verifying…";
}

// The outcome.

// old takes the outcome off the page at once when something new was given: a verdict
// never stands beside a file that it is not about.
function old(is) {
  at("outcome").hidden = is;
  at("outcome").setAttribute("aria-busy", String(is));
  if (is) {
    at("live").textContent = "";
    document.title = "Verify a receipt";
  }
}

function show(element, focus = true) {
  old(false);
  document.title = element?.querySelector?.(".banner") ? "Demonstration: a changed receipt" : "Verify a receipt";
  at("problem").replaceChildren();
  at("outcome").replaceChildren(...(element ? [element] : []));
  at("live").textContent = element ? spoken(element) : "";
  if (element && focus) {
    at("outcome").focus({ preventScroll: true });
    at("outcome").scrollIntoView({ block: "start" });
  }
}

// spoken is what a screen reader says when an outcome appears.
function spoken(element) {
  const texts = [...element.querySelectorAll(".headlines > .about, .verdict strong, .pair h2, .outcomes li")].map((part) => part.textContent);
  return (element.querySelector(".banner") ? "Demonstration. " : "") + texts.join(". ");
}

async function showRun(run) {
  const { summary, first } = run;
  const alone = summary.receipts === 1 && summary.complete && summary.findings.length === 0 && summary.skipped_count === 0;
  const save = () => [
    button("Download the report", () => download("receipt-report.json", run.report)),
    button("Print", () => print()),
  ];
  if (alone && first) {
    await showOne(run, { ...first, not_checked: [...first.not_checked, ...summary.not_checked] }, save);
    return;
  }
  const many = () => renderMany({ run, names: run.given.receipts.map((input) => input.name), actions: h("p", { class: "buttons actions" }, save()), open: (report) => attempt(() => showOne(run, report, save, back)) });
  const back = () => show(many());
  show(many());
}

// showOne shows one receipt of a run. back leads to the others.
async function showOne(run, report, save, back) {
  const { receipts } = run.given;
  const opened = await core.open(receipts.find((input) => input.name === report.source) ?? receipts[0], report.index);
  const actions = h("p", { class: "buttons actions" }, back && button("Back to all receipts", back), save());
  const targets = JSON.parse(opened.targets ?? "null") ?? [];
  const again = () => show(renderSingle({ report, summary: run.summary, keys: run.keys, opened, actions: [actions, targets.length > 0 && tamperForm(targets, tamper)] }));
  const tamper = (pointer) => attempt(() => demonstrate(run, opened.source, pointer, again));
  again();
}

function tamperForm(targets, tamper) {
  const choice = document.createElement("select");
  choice.id = "tamper-target";
  choice.append(...targets.map((target) => new Option(`${target.label}: ${visible(target.before)} → ${visible(target.after)}`, target.pointer)));
  return h("p", { class: "buttons tamper" }, h("label", { for: choice.id }, "Try an altered copy:"), choice,
    button("Change one byte", () => tamper(choice.value), { id: "tamper" }));
}

// demonstrate changes a copy and judges it as the receipt was judged. What is
// shown is marked, and nothing of it can be downloaded.
async function demonstrate({ given, options }, source, pointer, undo) {
  const { source: changed, target } = await core.tamper(source, pointer);
  const input = { name: "demonstration", file: new Blob([changed]) };
  const run = await core.verify([input], given.keys, options);
  const opened = await core.open(input, 1);
  const back = button("Undo: back to the receipt that was given", () => {
    undo();
    at("tamper").focus();
  }, { id: "undo" });
  show(renderSingle({ report: run.first, summary: run.summary, keys: run.keys, opened, demonstration: { target: JSON.parse(target), undo: back } }));
}

// What is given.

function showGiven() {
  const row = (name, kind, remove) => h("li", {}, h("span", { class: "kind" }, kind), h("bdi", {}, name),
    remove && button("Remove", remove, { class: "small", "aria-label": `Remove ${name}` }));
  const receipts = inputs.receipts.slice(0, 20).map(({ name, file }) => row(name, `receipts, ${number(file.size)} bytes`));
  if (inputs.receipts.length > 20) receipts.push(h("li", {}, `… ${number(inputs.receipts.length - 20)} more files`));
  const keys = inputs.keys.map((file) => row(file.name, "keys", () => {
    inputs.removeKeys(file);
    verify();
  }));
  const missing = inputs.receipts.length > 0 && keys.length === 0 ? "No keys yet: only whether the content was changed can be told. Get the key set from the issuer, not from whoever sent the receipt."
    : inputs.receipts.length === 0 && keys.length > 0 ? "The keys are here. Now the receipt." : null;
  at("drop").classList.toggle("small", inputs.receipts.length > 0);
  at("given").replaceChildren(h("ul", {}, receipts, keys), ...(missing ? [h("p", { class: "aside" }, missing)] : []));
}

const take = (files, asKeys) => attempt(async () => {
  if (files.length === 0) return;
  old(true);
  await inputs.add(files, asKeys);
  await verify();
});

for (const [choose, field, asKeys] of [["choose-receipts", "receipt-files", false], ["choose-keys", "key-files", true]]) {
  at(choose).addEventListener("click", () => at(field).click());
  at(field).addEventListener("change", () => {
    const files = [...at(field).files];
    at(field).value = ""; // so that the same file can be chosen again
    take(files, asKeys);
  });
}

at("paste").addEventListener("click", () => {
  const form = at("paste-form");
  form.hidden = !form.hidden;
  at("paste").setAttribute("aria-expanded", String(!form.hidden));
  if (!form.hidden) at("paste-text").focus();
});

const takeText = (text) => take([new File([text], "pasted")], false);

at("paste-form").addEventListener("submit", (event) => {
  event.preventDefault();
  takeText(at("paste-text").value);
  at("paste-text").value = "";
});

addEventListener("paste", (event) => {
  if (event.target instanceof Element && event.target.closest("input, textarea")) return;
  const files = [...event.clipboardData.files], text = event.clipboardData.getData("text/plain");
  if (files.length > 0) take(files, false);
  else if (text !== "") takeText(text);
});

at("options").addEventListener("submit", (event) => {
  event.preventDefault();
  verify();
});
at("integrity").addEventListener("change", verify);
at("cancel").addEventListener("click", () => core.cancel());

// A file may be dropped anywhere: beside the frame the browser would leave the page
// and show it.
let within = 0;
const over = (change) => {
  within = Math.max(within + change, 0);
  at("drop").classList.toggle("over", within > 0);
};
addEventListener("dragenter", () => over(1));
addEventListener("dragleave", () => over(-1));
addEventListener("dragover", (event) => event.preventDefault());
addEventListener("drop", (event) => {
  event.preventDefault();
  over(-within);
  take([...event.dataTransfer.files], false);
});
