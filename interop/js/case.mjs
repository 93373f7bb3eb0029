// A case: receipts, keys, and evidence, and the options with which they are verified.

import { judgeLinks } from "./chain.mjs";
import { judgeCheckpoints } from "./checkpoint.mjs";
import { judgeBatch, judgeDisclosures } from "./evidence.mjs";
import { Finding, worst } from "./finding.mjs";
import { split } from "./archive.mjs";
import { open } from "./receipt.mjs";
import { seconds } from "./schema.mjs";
import { judgeSignatures } from "./signatures.mjs";
import { readTrust } from "./trust.mjs";

const roles = ["receipts", "trust", "policy", "checkpoint", "proof", "disclosures", "batch"];
const names = ["scope", "at", "issuer", "previous", "head", "count", "partial", "unordered"];

// An Unsupported error indicates that a case needs something that this verifier lacks.
export class Unsupported extends Error {}

// verifyCase returns the finding that decides, or undefined if the receipts are verified. inputs are
// {role, bytes}, and task and options the members of the case.
export async function verifyCase(task, inputs, options) {
  const known = task === "verify" && inputs.every(({ role }) => roles.includes(role)) && Object.keys(options).every((name) => names.includes(name));
  if (!known) throw new Unsupported("another task, role, or option");
  const of = (role) => inputs.filter((input) => input.role === role).map(({ bytes }) => bytes);
  const trust = of("trust").length > 0 ? await readTrust(of("trust")[0]) : new Map();
  const rules = of("policy").length > 0 ? JSON.parse(new TextDecoder().decode(of("policy")[0])) : {};
  const policy = { ...rules, issuer: options.issuer ?? rules.issuer, at: options.at && seconds(options.at) };

  const sources = [];
  for (const bytes of of("receipts")) sources.push(await Promise.all(split(bytes).map(openItem)));
  if (sources.flat().some(({ value }) => value instanceof Map && value.has("dsseEnvelope"))) throw new Unsupported("an attestation");
  const findings = judgeLinks(sources, options);
  const receipts = sources.flat().filter(({ receipt }) => receipt !== undefined);
  const included = await judgeCheckpoints(receipts, of("checkpoint"), of("proof"), trust, policy);
  for (const bytes of of("disclosures")) findings.push(...(await judgeDisclosures(bytes, receipts)));
  for (const bytes of of("batch")) await judgeBatch(bytes, receipts);

  for (const [i, opened] of receipts.entries()) {
    opened.findings.push(...included[i].findings);
    if (options.scope !== "integrity") opened.findings.push(...(await judgeSignatures(opened.receipt, trust, policy, included[i])));
  }
  return worst([...sources.flat().flatMap((opened) => opened.findings), ...findings]);
}

const openItem = (item) => (item instanceof Finding ? { findings: [item] } : open(item));
