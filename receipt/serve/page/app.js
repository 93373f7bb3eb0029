// This script connects the controls of the page with the core. The core decides all verdicts; the
// script only displays them.
import { h, icon } from "./view/dom.js";
import { number, visible } from "./view/text.js";
import { Cancelled, Core } from "./shell/core.js";
import { button, download } from "./shell/download.js";
import { exampleFiles } from "./shell/example.js";
import { entriesOf, listed } from "./shell/folders.js";
import { Inputs, ofOne } from "./shell/inputs.js";
import { renderMany } from "./shell/many.js";
import { renderSingle } from "./shell/single.js";
import { renderStrangers } from "./shell/strangers.js";

const at = (id) => document.getElementById(id);
const core = new Core(at("worker").textContent, at("core").textContent);
const inputs = new Inputs(core);

at("input").hidden = false;
core.tool.then((tool) => { at("tool").textContent = tool; }, fail);

// Each action of the user starts a turn. Only the results of the latest turn are displayed.
let turn = 0;

// begin starts a turn. It hides everything about earlier files, and cancels a run that is still in
// progress.
function begin(about) {
  turn++;
  if (core.busy) core.cancel();
  old(true);
  at("given").replaceChildren();
  running({ bytes: 0, total: 1, receipts: 0, findings: 0 }, about);
  return turn;
}

// Files are sorted one selection after another, in the order in which the user added them.
let sorting = Promise.resolve();

// take sorts the files that the user added, and verifies them unless a new turn has started.
function take(files, choices = {}) {
  if (files.length === 0) return;
  const mine = begin(files.length === 1 ? `Reading ${visible(files[0].name)}…` : `Reading ${number(files.length)} files…`);
  sorting = sorting.then(async () => {
    try {
      if (example) inputs.clear(); // the example keys are only for tests
      example = choices.known === true;
      await inputs.add(await listed(files, choices.entries), choices);
      if (mine === turn) await judge(mine);
    } catch (error) {
      if (!choices.asKeys) inputs.forget();
      if (mine === turn) fail(error);
    }
  });
}

// verify verifies the current files again.
function verify() {
  const mine = begin("Verifying…");
  sorting = sorting.then(() => (mine === turn ? judge(mine) : undefined));
}

let example = false;

// judge verifies the current files and displays the outcome.
async function judge(mine) {
  showGiven();
  try {
    const outcome = await judged(mine);
    if (mine !== turn) return;
    at("running").hidden = true;
    if (outcome) await showRun(outcome, mine);
    else show(inputs.strangers.length > 0 ? renderStrangers(inputs.strangers) : null);
  } catch (error) {
    if (mine === turn) fail(error);
  }
}

async function judged(mine) {
  const given = { receipts: inputs.receipts, keys: inputs.keys, beside: inputs.beside, strangers: inputs.strangers };
  inputs.use();
  if (given.receipts.length === 0) return null;
  const options = { issuer: at("issuer").value.trim(), at: at("at").value.trim(), integrity_only: at("integrity").checked, partial: at("partial").checked, unordered: at("unordered").checked };
  const tell = (progress) => mine === turn && running(progress);
  const without = given.beside.filter((one) => one.kind !== "proof");
  let run = await core.verify(given.receipts, given.keys, without, options, tell);

  // A proof is used only if its receipt is the only receipt, or is opened separately.
  if (run.summary.receipts === 1 && without.length < given.beside.length) run = await core.verify(given.receipts, given.keys, given.beside, options, tell);
  return { ...run, given, options, example };
}

// whole returns the report on the only receipt, adjusted to the verdict of the run. If evidence
// belongs to no receipt, it leaves the run undecided. The step for which that evidence was supplied
// is then undecided as well.
function whole(report, summary) {
  const seen = { ...report, not_checked: [...report.not_checked, ...summary.not_checked] };
  const idle = summary.not_checked.find((note) => note.code === "disclosure_unbound" || note.code === "evidence_unused");
  if (summary.verdict === report.verdict || !idle) return seen;
  const step = idle.code === "disclosure_unbound" ? "redactions" : "batch";
  const checks = report.checks.map((check) => (check.check === step ? { ...check, status: "not_checked", code: idle.code, detail: idle.detail } : check));
  return { ...seen, verdict: summary.verdict, checks };
}

function inputOf({ receipts }, report) { return receipts.find((one) => one.name === report.source) ?? receipts[0]; }

// attempt performs an action other than verifying. If it fails, attempt displays the error and
// keeps the current outcome, unless a new turn has started.
async function attempt(act) {
  const mine = turn;
  try {
    await act();
  } catch (error) {
    if (mine !== turn) return;
    old(false);
    if (!(error instanceof Cancelled)) complain(["This did not work: ", error.message, "."]);
  }
}

function fail(error) {
  at("running").hidden = true;
  showGiven();
  show(null);
  complain(error instanceof Cancelled ? "Canceled. There is no verdict." : ["There is no verdict: ", error.message, "."]);
}

function complain(text) {
  at("problem").replaceChildren(h("p", { class: "caution bad" }, icon("bad"), h("span", {}, text)));
  at("problem").scrollIntoView({ block: "nearest" });
}

function running({ bytes, total, receipts, findings }, about = "Verifying…") {
  at("problem").replaceChildren();
  at("running").hidden = false;
  at("progress").value = total > 0 ? bytes / total : 0;
  at("running-text").textContent = receipts > 0 ? `Verifying: ${number(receipts)} receipts, ${number(findings)} not verified` : about;
}

// The functions below display the outcome.

// old hides the outcome when a turn starts, so that a verdict is never displayed next to a file to
// which it does not apply. With false, it displays the outcome again.
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

// spoken returns the text that a screen reader announces when an outcome appears.
function spoken(element) {
  const texts = [...element.querySelectorAll(".headlines > .about, .verdict strong, .pair h2, .outcomes li, .stranger h2, .stranger .lead")].map((part) => (part.matches("li") ? [...part.children].map((one) => one.textContent).join(" ") : part.textContent));
  return (element.querySelector(".banner") ? "Demonstration. " : "") + texts.join(". ");
}

async function showRun(run, mine) {
  const { summary, reports } = run;
  const alone = summary.receipts === 1 && summary.complete && summary.findings.length === 0 && summary.skipped_count === 0 && run.given.strangers.length === 0;
  const save = () => [
    button("Print, or save as PDF", () => print(), { class: "main" }),
    button("Download the report", () => download("receipt-report.json", run.report)),
  ];
  if (alone && reports.length > 0) {
    await showOne(run, whole(reports[0], summary), save, mine);
    return;
  }
  const many = () => renderMany({ run, actions: h("p", { class: "buttons actions" }, save()), open: (report) => attempt(() => showOne(run, report, save, turn, back)) });
  const back = () => show(many());
  show(many());
}

// showOne displays one receipt of a run. The function back, if present, displays the list of
// receipts again.
async function showOne(run, report, save, mine, back) {
  const input = inputOf(run.given, report);
  const opened = await core.open(input, report.index);
  const shown = back ? await proven(run, report, input) : { report, summary: run.summary, rest: run.given.beside };
  const evidence = shown.rest.length > 0 ? shown.rest : run.given.beside.filter((one) => !ofOne(one));
  if (mine !== turn) return;
  const actions = h("p", { class: "buttons actions" }, back && button("Back to all receipts", back), save());
  const targets = run.example ? JSON.parse(opened.targets ?? "null") ?? [] : [];
  const again = () => show(renderSingle({ ...shown, keys: run.keys, together: together(run.given.keys), evidence, asked: run.options, opened, actions: [actions, targets.length > 0 && tamperForm(targets, tamper)], example: run.example }));
  const tamper = (pointer) => attempt(() => demonstrate(run, opened.source, pointer, again));
  again();
}

// proven verifies one of several receipts separately, with the proofs and the disclosed values that
// belong to the receipt. If there are no such files, it returns the report of the run.
async function proven(run, report, input) {
  const { keys, beside } = run.given;
  const places = beside.some(ofOne) ? await core.fitting(input, report.index, beside) : [];
  const rest = beside.filter((one, i) => places.includes(i));
  if (rest.length === 0) return { report, summary: run.summary, rest };
  const { source } = await core.open(input, report.index);
  const one = await core.verify([{ name: report.source, file: new Blob([source]) }], keys, rest, run.options);
  return { report: { ...one.reports[0], index: report.index, input_sha256: report.input_sha256 }, summary: one.summary, rest };
}

// together reports whether any key was added in the same selection as receipts. It returns
// undefined for the example, because its keys are known.
function together(keys) {
  const known = keys.map((file) => file.together).filter((one) => one !== undefined);
  return known.length === 0 ? undefined : known.includes(true);
}

function tamperForm(targets, tamper) {
  const choice = document.createElement("select");
  choice.id = "tamper-target";
  choice.append(...targets.map((target) => new Option(`${target.label}: ${visible(target.before)} → ${visible(target.after)}`, target.pointer)));
  return h("p", { class: "buttons tamper" }, h("label", { for: choice.id }, "Try an altered copy:"), choice,
    button("Change one byte", () => tamper(choice.value), { id: "tamper" }));
}

// demonstrate changes a copy of a receipt, and verifies the copy in the same way. The result is
// marked as a demonstration, and nothing in it can be downloaded.
async function demonstrate({ given, options }, source, pointer, undo) {
  const { source: changed, target } = await core.tamper(source, pointer);
  const input = { name: "demonstration", file: new Blob([changed]) };
  const run = await core.verify([input], given.keys, [], options);
  const opened = await core.open(input, 1);
  const back = button("Undo: back to the original receipt", () => {
    undo();
    at("tamper").focus();
  }, { id: "undo" });
  show(renderSingle({ report: run.reports[0], summary: run.summary, keys: run.keys, opened, demonstration: { target: JSON.parse(target), undo: back } }));
}

// The functions below display the files that were added.

function showGiven() {
  const row = (file, kind, remove) => h("li", {}, h("span", { class: "kind" }, kind), h("bdi", {}, file.name),
    remove && button("Remove", () => {
      inputs.remove(file);
      verify();
    }, { class: "small", "aria-label": `Remove ${visible(file.name)}` }));
  const few = (files, kind) => [...files.slice(0, 20).map((file) => row(file, kind(file))), files.length > 20 && h("li", {}, `… ${number(files.length - 20)} more files`)];
  const receipts = few(inputs.receipts, ({ file }) => `to be verified, ${number(file.size)} bytes`);
  const strangers = few(inputs.strangers, ({ what }) => `no receipt: ${what}`);
  const beside = inputs.beside.map((file) => row(file, file.what, true)), keys = inputs.keys.map((file) => row(file, file.what, true));
  const waiting = inputs.receipts.length + inputs.strangers.length === 0;
  const missing = inputs.receipts.length > 0 && keys.length === 0 ? "No keys yet: without them, the signer cannot be confirmed. Get the key set from the issuer, not from the sender of the receipt."
    : waiting && keys.length + beside.length > 0 ? `${keys.length > 0 ? "The keys are" : "The evidence is"} here. Now add the receipt.` : null;
  at("drop").classList.toggle("small", !waiting);
  at("given").replaceChildren(h("ul", {}, receipts, strangers, beside, keys), ...(missing ? [h("p", { class: "aside" }, missing)] : []));
}

for (const [choose, field, asKeys] of [["choose-receipts", "receipt-files", false], ["choose-keys", "key-files", true]]) {
  at(choose).addEventListener("click", () => at(field).click());
  at(field).addEventListener("change", () => {
    const files = [...at(field).files];
    at(field).value = ""; // so that the same file can be chosen again
    take(files, { asKeys });
  });
}

at("paste").addEventListener("click", () => {
  const form = at("paste-form");
  form.hidden = !form.hidden;
  at("paste").setAttribute("aria-expanded", String(!form.hidden));
  if (!form.hidden) at("paste-text").focus();
});

const takeText = (text) => take([new File([text], "pasted")]);

at("paste-form").addEventListener("submit", (event) => {
  event.preventDefault();
  takeText(at("paste-text").value);
  at("paste-text").value = "";
});

addEventListener("paste", (event) => {
  if (event.target instanceof Element && event.target.closest("input, textarea")) return;
  const files = [...event.clipboardData.files], text = event.clipboardData.getData("text/plain");
  if (files.length > 0) take(files);
  else if (text !== "") takeText(text);
});

at("options").addEventListener("submit", (event) => {
  event.preventDefault();
  verify();
});
for (const choice of ["integrity", "partial", "unordered"]) at(choice).addEventListener("change", verify);
at("cancel").addEventListener("click", () => core.cancel());
at("example").addEventListener("click", () => take(exampleFiles(), { known: true }));

// Files may be dropped anywhere on the page, because a browser would leave the page to display a
// file that is dropped outside the drop area.
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
  take([...event.dataTransfer.files], { entries: entriesOf(event.dataTransfer) });
});
