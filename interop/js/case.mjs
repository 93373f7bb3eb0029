// A case of the corpus has inputs with roles, a task, and options.

import { isAttestation, openAttestation } from "./attestation.mjs";
import { judgeLinks } from "./chain.mjs";
import { judgeCheckpoints } from "./checkpoint.mjs";
import { checkBundle } from "./bundle.mjs";
import { judgeBatch, judgeDisclosures } from "./evidence.mjs";
import { Finding, Unsupported, undecided, worst } from "./finding.mjs";
import { attempt, lookup, maxDepth, maxSize, parse } from "./json.mjs";
import { split } from "./archive.mjs";
import { open } from "./receipt.mjs";
import { checkReplay } from "./replay.mjs";
import { seconds } from "./schema.mjs";
import { judgeSignatures } from "./signatures.mjs";
import { readTrust } from "./trust.mjs";

// The roles and options of each task.
const tasks = {
  verify: ["receipts", "trust", "policy", "checkpoint", "proof", "disclosures", "batch", "scope", "strict", "at", "issuer", "previous", "head", "count", "partial", "unordered", "commit", "subjects"],
  check_bundle: ["bundle", "strict", "allow_secret_markers"],
  check_replay: ["receipts", "trust", "log", "request", "at", "issuer"],
};

// verifyCase returns the finding that determines the outcome, or undefined if the receipts are verified.
// inputs is a list of {role, bytes}; task and options are the members of the case.
export async function verifyCase(task, inputs, options) {
  const names = [...inputs.map(({ role }) => role), ...Object.keys(options)];
  if (!names.every((name) => tasks[task]?.includes(name))) throw new Unsupported("another task, role, or option");
  const of = (role) => inputs.filter((input) => input.role === role).map(({ bytes }) => bytes);
  if (task === "check_bundle") return checkBundle(of("bundle")[0], options);
  const trust = of("trust").length > 0 ? await readTrust(of("trust")[0]) : new Map();
  const rules = of("policy").length > 0 ? JSON.parse(new TextDecoder().decode(of("policy")[0])) : {};
  const policy = { ...rules, issuer: options.issuer ?? rules.issuer, at: options.at && seconds(options.at) };

  const sources = await Promise.all(of("receipts").map((bytes) => Promise.all((task === "verify" ? split(bytes) : [bytes]).map((item) => openItem(item, trust)))));
  const findings = judgeLinks(sources, options);
  const receipts = sources.flat().filter(({ receipt }) => receipt !== undefined);
  const hole = sources.flat().findIndex(({ receipt }) => receipt === undefined);
  const included = await judgeCheckpoints(receipts, of("checkpoint"), of("proof"), trust, policy, hole, findings);
  for (const bytes of of("disclosures")) findings.push(...(await judgeDisclosures(bytes, receipts)));
  for (const bytes of of("batch")) findings.push(...(await judgeBatch(bytes, receipts)));

  for (const [i, opened] of receipts.entries()) {
    opened.findings.push(...included[i].findings, ...judgeSubjects(opened, options));
    if (options.scope !== "integrity") opened.findings.push(...(await judgeSignatures(opened.receipt, trust, policy, included[i])), ...(await judgeAttester(opened, trust, policy, included[i])));
    if (task === "check_replay") opened.findings.push(...(await checkReplay(opened.receipt, of("log")[0], of("request")[0])));
    if (options.strict) opened.findings.push(...skippedSteps(opened.receipt, of, options));
  }
  return worst([...sources.flat().flatMap((opened) => opened.findings), ...findings]);
}

// openItem opens a receipt or an attestation that contains one.
async function openItem(item, trust) {
  if (item instanceof Finding) return { findings: [item] };
  const opened = await open(item);
  // An attestation of an unsupported kind may contain any numbers. An item of a list is already parsed.
  const value = item instanceof Uint8Array ? (opened.value ?? attempt(item, maxDepth, maxSize, false).value) : item;
  if (!isAttestation(value)) return opened;
  const attestation = await openAttestation(value, trust).catch((error) => (error instanceof Finding ? error : Promise.reject(error)));
  return attestation instanceof Finding ? { findings: [attestation] } : { ...(await open(attestation.receipt)), attestation };
}

// judgeAttester applies the rules for additional signatures to the key that signed an attestation.
async function judgeAttester({ receipt, attestation }, trust, policy, { provenBefore }) {
  if (attestation === undefined) return [];
  const entries = [new Map([["key_id", attestation.hint]])];
  const check = async () => attestation.signer instanceof Finding ? Promise.reject(attestation.signer) : attestation.signer;
  return judgeSignatures(receipt, trust, { ...policy, witnesses: undefined }, { provenBefore }, entries, check);
}

// judgeSubjects checks that an attestation is about the required commit and digests.
function judgeSubjects({ attestation }, { commit, subjects = [] }) {
  const required = commit === undefined ? subjects : [...subjects, `gitCommit:${commit}`];
  const attested = (attestation?.subject ?? []).flatMap((subject) => [...subject.get("digest")].map((digest) => digest.join(":")));
  return required.every((digest) => attested.includes(digest)) ? [] : [undecided("signatures", "not_attested")];
}

// skippedSteps returns a finding for each step that applies to a receipt and was not checked.
function skippedSteps(receipt, of, { scope }) {
  const skipped = {
    batch: lookup(receipt, "chain", "merkle_root") !== undefined && of("batch").length === 0,
    signatures: scope === "integrity",
    redactions: (receipt.get("redactions") ?? []).length > 0 && of("disclosures").length === 0,
  };
  return Object.keys(skipped).filter((step) => skipped[step]).map((step) => undecided(step, `${step}_not_checked`));
}
