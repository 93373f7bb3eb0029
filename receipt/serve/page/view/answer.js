// This module displays the answer for the recipient of a receipt: who states what, when, and
// whether the recipient can rely on it. Causes are stated in words; their codes are displayed with
// the steps.
import { foreign, h, icon, mono } from "./dom.js";
import { isObject, list, member, text } from "./json.js";
import { clock, duration, instant, number, plural } from "./text.js";
import { isUnreported, notRecorded } from "./unreported.js";
import { finding, status, verdictOf } from "./verdict.js";
import { causeName, causeSentence, longDate, openPoint } from "./words.js";

// renderHeadlines displays the answer for one report. The receipt may be undefined. The headline is
// the result of the Go package of this name for the receipt. The keys are {name or path, count,
// sha256, signer, together}, a list of these, or null. The member signer is the key that signed as
// the issuer, and together states whether keys and receipts were added in the same selection.
export function renderHeadlines(report, keys, receipt, headline) {
  const { word, tone } = verdictOf(report), why = finding(report);
  const given = (Array.isArray(keys) ? keys : [keys]).filter(isObject);
  return h("section", { class: `headlines answer ${tone}`, "aria-label": "verdict" },
    renderAbout(report, receipt),
    h("p", { class: `verdict ${tone}` }, icon(tone), h("strong", {}, word), " ", h("span", {}, sentence(report, receipt, given, why))),
    question("Who", renderWho(report, receipt, given)),
    isObject(receipt) && question("What", renderWhat(report, headline)),
    isObject(receipt) && question("When", renderWhen(receipt)),
    question("Can I rely on it?", renderRely(report, receipt, given, why)));
}

function question(name, ...answer) {
  return h("div", { class: "question" }, h("h2", {}, name), h("div", { class: "reply" }, answer));
}

// renderAbout displays the name of the file, and then the receipt, the task, and the issuer as
// stated in it, so that a verdict is never read without its subject.
function renderAbout(report, receipt) {
  const named = [["receipt", member(receipt, "receipt_id") ?? member(report, "receipt_id")], ["task", member(receipt, "identifiers", "task_id")], ["issuer", member(receipt, "issuer", "id")]];
  return h("p", { class: "about" }, h("strong", {}, foreign(text(member(report, "source")) || "(no file)", 160), member(report, "index") > 1 ? `, number ${number(report.index)} in it` : ""),
    named.filter(([, value]) => typeof value === "string" && value !== "").map(([name, value]) => [` · ${name} `, foreign(value, 120)]));
}

// sentence returns the sentence next to the verdict, for people who read nothing else.
function sentence(report, receipt, given, why) {
  const refuted = member(report, "verdict") === "refuted";
  if (why) return [refuted ? "Do not rely on this. " : "Nobody vouches for this yet. ", cause(report, receipt, why)];
  if (member(report, "scope") !== "full") return "Nobody vouches for this yet. The content matches its own hash, which anyone can compute.";

  const dated = longDate(time(receipt, "issued_at"));
  const files = given.map((file) => text(file.path) || text(file.name)).filter((name) => name !== "");
  return [issuerName(receipt), signers(report).length > 0 ? " signed this" : " vouches for this through its log", dated === "" ? "" : `, dated ${dated}`,
    files.length > 0 ? [" (by a key that ", foreign(files[0], 80), files.length > 1 ? ` and ${plural(files.length - 1, "other file")}` : "", " trusts)"] : "",
    "; the content has not changed since."];
}

// cause returns the reason as a sentence. If the content was changed after a valid signature, the
// sentence states this.
function cause(report, receipt, why) {
  if (why.code === "hash_mismatch" && signers(report).length > 0) return ["Its content was changed after ", issuerName(receipt), " signed it."];
  return causeSentence(why);
}

// issuerName displays the name that the issuer states for itself, or its ID.
function issuerName(receipt) {
  const named = text(member(receipt, "issuer", "name")), id = text(member(receipt, "issuer", "id"));
  return h("span", { class: "issuer" }, foreign(named || id || "the issuer", 120));
}

function signers(report) {
  return list(member(report, "signatures")).filter((entry) => member(entry, "status") === "valid" && member(entry, "role") === "issuer");
}

// signed reports whether the issuer's signature was confirmed and the content matches the signed
// hash.
function signed(report) {
  return status(report, "signatures").status === "passed" && status(report, "hash").status === "passed" && member(report, "scope") === "full";
}

const sound = (report) => signed(report) && member(report, "verdict") === "verified";

function renderWho(report, receipt, given) {
  const id = member(receipt, "issuer", "id"), named = text(member(receipt, "issuer", "name"));
  if (!isObject(member(receipt, "issuer"))) return h("p", {}, "The file does not name an issuer.");
  return [
    h("p", { class: "lead" }, h("strong", {}, issuerName(receipt)), named ? [" ", mono(id, 120)] : ""),
    sound(report) ? renderSigner(report, receipt, given, named !== "") : h("p", { class: "doubt" }, signed(report) ? "The signature is valid, but another check did not pass." : "The file names this issuer, but no signature confirms it."),
  ];
}

// renderSigner displays which key signed, which key file trusts it, and since when. It states only
// what the key files contain.
function renderSigner(report, receipt, given, named) {
  const signer = given.map((file) => member(file, "signer")).find(isObject), first = signers(report)[0];
  if (!signer) return h("p", { class: "fingerprints" }, first ? ["Signed with the key ", mono(first.key_id, 120), ", which the key file trusts for this issuer."] : "Confirmed through a checkpoint of its log.");
  const since = text(signer.not_before), until = text(signer.not_after);
  return [
    h("p", { class: "fingerprints" }, "Signed with the key ", mono(signer.id, 120), ", fingerprint ", h("span", { class: "print" }, mono(signer.fingerprint)), "."),
    h("p", { class: "aside" }, "Trusted by ", foreign(signer.file, 120), list(signer.issuers).length > 0 ? " for this issuer" : " for the required issuer",
      since ? ` since ${day(since)}` : "", until ? `, until ${day(until)}` : "", since ? "." : "; the file does not state since when.",
      named ? " The issuer chose this name." : ""),
  ];
}

function day(at) { return longDate(instant(at)) || at; }

function renderWhat(report, headline) {
  const doubt = member(report, "verdict") === "refuted" ? "This is what the file states. Do not rely on it."
    : sound(report) ? null : "This is what the file states. No signature confirms it.";
  return [
    doubt && h("p", { class: "doubt" }, doubt),
    list(member(headline, "title")).length > 0 && h("p", { class: "title" }, words(member(headline, "title"))),
    h("p", { class: "sentence" }, words(member(headline, "sentence"))),
    renderRows(list(member(headline, "rows")).slice(0, 200)),
  ];
}

// renderRows displays the rows that the command "receipt show" prints. A row without a label
// continues the previous row.
function renderRows(rows) {
  const groups = [];
  for (const row of rows) {
    const label = text(member(row, "label"));
    if (label !== "" || groups.length === 0) groups.push({ label, texts: [] });
    groups.at(-1).texts.push(words(member(row, "text")));
  }
  return h("dl", { class: "facts described" }, groups.map(({ label, texts }) => h("div", { class: label === "Not read" && "open" }, h("dt", {}, label), texts.map((one) => h("dd", {}, one)))));
}

// words displays the parts of a headline. The parts with odd indexes are values from the receipt.
export function words(parts) { return list(parts).map((part, i) => (i % 2 === 1 ? foreign(part, 400) : text(part))); }

// time returns an instant that the source recorded, or NaN.
function time(receipt, ...names) { return isUnreported(receipt, `/${names.join("/")}`) ? NaN : instant(member(receipt, ...names)); }

function renderWhen(receipt) {
  const started = time(receipt, "lifecycle", "started_at"), ended = time(receipt, "lifecycle", "completed_at"), issued = time(receipt, "issued_at");
  const absent = isUnreported(receipt, "/lifecycle/completed_at") || member(receipt, "lifecycle", "completed_at") === undefined;
  const ran = Number.isNaN(ended) ? `The end of the task ${absent ? `is ${notRecorded}` : "cannot be read"}.`
    : Number.isNaN(started) || started > ended ? `The task ended at ${clock(ended)} UTC.`
      : `The task ran from ${clock(started)} to ${clock(ended, longDate(started) !== longDate(ended))} UTC, ${duration(ended - started)}.`;
  return [
    h("p", { class: "lead" }, Number.isNaN(issued) ? "Undated" : longDate(issued)),
    h("p", {}, ran, Number.isNaN(issued) ? "" : ` The receipt was issued at ${clock(issued)} UTC.`),
    h("p", { class: "aside" }, "According to the issuer’s clock."),
  ];
}

// renderRely and the functions below display whether the recipient can rely on the receipt.

const verdicts = new Map([["good", "Yes, as what its issuer states."], ["bad", "No."], ["open", "Not yet."]]);

function renderRely(report, receipt, given, why) {
  const { tone } = verdictOf(report);
  return [
    h("p", { class: `lead ${tone}` }, verdicts.get(tone)),
    h("div", { class: "pair" }, [contentOf(report), signerOf(report)].map((headline) => h("div", { class: `headline ${headline.tone}` },
      h("h2", {}, icon(headline.tone), headline.title), h("p", {}, headline.about)))),
    renderExisted(member(report, "existed_before")),
    why && text(why.hint) && h("p", { class: "next" }, h("strong", {}, "What to do: "), foreign(capital(text(why.hint)), 400), "."),
    renderKeys(given),
    renderUnchecked(report),
  ];
}

// renderExisted displays the time before which the receipt existed, if a timestamp states it.
function renderExisted(proven) {
  const at = instant(text(member(proven, "time")));
  return !Number.isNaN(at) && h("p", {}, `It existed before ${clock(at)} UTC, according to the timestamp authority `, foreign(text(member(proven, "authority")), 120), ".");
}

function capital(words) { return words.slice(0, 1).toUpperCase() + words.slice(1).replace(/[.]$/, ""); }

// contentOf returns the first headline, which states whether the content is unchanged.
function contentOf(report) {
  const hash = status(report, "hash");
  if (hash.status === "passed" && status(report, "schema").status === "passed") {
    if (signed(report)) return { title: "Unchanged", tone: verdictOf(report).tone === "good" ? "good" : "plain", about: "The content matches the signed hash." };
    return { title: "Matches its own hash", tone: "plain", about: "Anyone can create such a receipt. Without a confirmed signer, this does not show that the content is unchanged." };
  }
  if (hash.status === "failed" && hash.code === "hash_mismatch") {
    return { title: "Changed", tone: "bad", about: "The content does not match the hash that the receipt states." };
  }
  return { title: "Not readable", tone: member(report, "verdict") === "refuted" ? "bad" : "open", about: "The file is not a receipt in the required format, so there is no content to compare with a hash." };
}

// signerOf returns the second headline, which states whether the signer is confirmed.
function signerOf(report) {
  const check = status(report, "signatures"), found = signers(report);
  if (signed(report)) {
    const whom = found.length > 0 ? ["Signed with ", mono(found[0].key_id, 120), ", a key that is trusted for the issuer."] : "A checkpoint of the issuer’s own log replaces its signature.";
    return { title: "Signer confirmed", tone: verdictOf(report).tone === "good" ? "good" : "plain", about: whom };
  }
  if (member(report, "scope") === "integrity") return { title: "Signer not confirmed", tone: "open", about: "No keys were given, so no signature was checked. Anyone can create a receipt that matches its own hash." };
  if (check.status === "failed") return { title: check.code === "signature_invalid" ? causeName(check) : "Signer not confirmed", tone: "bad", about: causeSentence(check) };
  if (check.code === "step_not_reached" || status(report, "hash").status === "failed") return { title: "Signer not confirmed", tone: "open", about: found.length > 0 ? "The signature covers the hash that the file states, which is not the hash of this content." : "There is no content that a signature could cover." };
  return { title: "Signer not confirmed", tone: "open", about: causeSentence(check) };
}

// renderKeys displays which keys were used, and when they can be relied on.
export function renderKeys(keys) {
  const files = (Array.isArray(keys) ? keys : [keys]).filter(isObject);
  if (files.length === 0) return h("p", { class: "keys" }, h("strong", {}, "Keys: "), "none. Without trusted keys, no signature can be confirmed.");
  return h("div", { class: "keys" }, h("p", {}, h("strong", {}, "Keys: "), files.slice(0, 20).map((file, i) => [i > 0 ? "; " : "",
    foreign(file.name ?? file.path), typeof file.count === "number" ? `, ${plural(file.count, "key")}` : "",
    text(file.sha256) ? [", file ", mono(file.sha256)] : ""]), "."),
  files.some((file) => file.together === true) && h("p", { class: "origin" }, "The receipt and the keys were added together. If the same person sent you both, they show only that they match each other. Compare the fingerprint with the one that the issuer publishes."),
  files.some((file) => file.together === false) && h("p", { class: "origin" }, "This page cannot determine where the keys are from. Rely on keys from the issuer, not from the sender of the receipt."));
}

// renderUnchecked displays what the verification does not show, without codes.
function renderUnchecked(report) {
  const notes = list(member(report, "not_checked")).filter((note) => text(member(note, "detail")) !== "");
  const entries = [...new Set(notes.slice(0, 100).map((note) => openPoint(note.code) ?? note.detail))];
  return h("div", { class: "unchecked" }, h("p", {}, h("strong", {}, "This does not show: ")),
    h("ul", {}, h("li", {}, "that what the issuer states is true; no signature can show that"),
      entries.slice(0, 8).map((entry) => h("li", {}, foreign(entry, 300))), entries.length > 8 && h("li", {}, `${number(entries.length - 8)} more, listed with the steps`)));
}

// causeOf returns in a few words why a receipt is not verified, or "" if it is verified.
export function causeOf(report) {
  const why = finding(report);
  return why ? causeName(why) : "";
}
