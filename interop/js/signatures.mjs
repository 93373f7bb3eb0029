// The signatures of a receipt and the policy that they must meet. Every signature covers the
// 71 characters of chain.receipt_hash. The hash does not cover key_id, algorithm, and signed_at.

import { refuted, strictBase64, undecided } from "./finding.mjs";
import { attempt, decode, encode, lookup } from "./json.mjs";
import { seconds } from "./schema.mjs";

const step = "signatures";
const limit = 100; // the maximum number of entries to check, because anyone can add entries
const known = /^(ed25519|EdDSA|ES(256|384|512)|[PR]S(256|384|512))$/;
const lengths = { ed25519: [64, 64], EdDSA: [64, 64], ES256: [64, 64], ES384: [96, 96], ES512: [132, 132] };

export const speaksFor = (key, issuer, policy) => (key.issuers === undefined ? policy.issuer === issuer : key.issuers.includes(issuer));

// rejection returns the code that explains why a key is not valid at a time, or undefined if it is valid.
// A revocation, except of a superseded ID, applies to the key's material under every ID and at any time.
export function rejection(key, trust, time, provenBefore = Infinity) {
  for (const other of trust.values()) {
    const stolen = other.material === key.material && other.revokedAt !== undefined && !other.superseded;
    if (stolen && !(provenBefore < other.revokedAt)) return "key_revoked";
  }
  if (key.superseded && time >= key.revokedAt) return "key_revoked";
  if (time < key.notBefore) return "key_not_yet_valid";
  if (time >= key.notAfter) return "key_expired";
  return undefined;
}

// judgeSignatures returns the findings of the step. provenBefore is the earliest time before which a
// trusted witness saw the receipt in a checkpoint. logKey is the key of a checkpoint that is accepted as
// the issuer's signature. check returns the key that made the signature in an entry.
export async function judgeSignatures(receipt, trust, policy, { provenBefore, logKey } = {}, entries = receipt.get("signatures") ?? [], check = checkEntry) {
  const issuer = lookup(receipt, "issuer", "id");
  const named = lookup(receipt, "issuer", "public_key_id");
  const time = policy.at ?? seconds(receipt.get("issued_at"));
  const findings = [];
  const missing = []; // missing evidence that may change the result
  const drops = []; // rejected entries that would otherwise meet the policy
  const witnesses = new Set();
  let none = undecided(step, "unsigned", "/signatures");
  let met = false;

  if (policy.issuer !== undefined && policy.issuer !== issuer) findings.push(refuted(step, "issuer_mismatch", "/issuer/id"));
  for (const [i, entry] of entries.slice(0, limit).entries()) {
    const pointer = `/signatures/${i}`;
    const relevant = named === undefined || named === entry.get("key_id");
    let key;
    try {
      key = await check(entry, lookup(receipt, "chain", "receipt_hash"), trust, pointer);
    } catch (finding) {
      (finding.outcome === "refuted" ? findings : missing).push(finding);
      continue;
    }

    // The signature matches the key. The key must also be valid and trusted.
    const rejected = rejection(key, trust, time, provenBefore);
    if (!key.roles.includes("issuer") && key.roles.includes("witness") && named !== key.id) {
      if (rejected === undefined && counts(key, policy.witnesses)) witnesses.add(key.material);
      continue;
    }
    const dropped = !key.roles.includes("issuer") ? "role_mismatch" : rejected;
    const foreign = !speaksFor(key, issuer, policy);
    if (!relevant) none = undecided(step, "named_key_missing", "/issuer/public_key_id");
    else if (dropped === undefined && foreign && key.issuers === undefined) missing.push(undecided(step, "issuer_unbound", pointer));
    else if (dropped !== undefined || foreign) drops.push(refuted(step, dropped ?? "issuer_mismatch", pointer));
    else met = true;
  }
  if (entries.length > limit) findings.push(undecided(step, "signature_limit", "/signatures"));

  if (!met && logKey !== undefined) {
    const rejected = rejection(logKey, trust, time, provenBefore);
    if (rejected === undefined) met = true;
    else drops.push(refuted(step, rejected));
  }
  if (!met) findings.push(...drops, ...missing, none);

  // A key whose material may sign for the issuer under any ID is never accepted as a witness.
  for (const key of trust.values()) if (key.roles.includes("issuer") && speaksFor(key, issuer, policy)) witnesses.delete(key.material);
  if (witnesses.size < (policy.witnesses?.threshold ?? 0)) findings.push(undecided(step, "threshold_not_met", "/signatures"));
  return findings;
}

export const counts = (key, rule) => rule?.keys === undefined || rule.keys.includes(key.id);

// checkEntry returns the trusted key that made a signature. It throws a refuting finding if the entry is
// invalid, and an undecided finding if the entry cannot be checked.
async function checkEntry(entry, hash, trust, pointer) {
  const algorithm = entry.get("algorithm");
  if (!known.test(algorithm)) throw undecided(step, "unsupported_algorithm", pointer);
  const malformed = () => refuted(step, "malformed_signature", pointer);
  const key = trust.get(entry.get("key_id"));

  let message = encode(hash);
  let signature;
  if (algorithm === "ed25519") {
    const text = entry.get("signature");
    signature = text.startsWith("base64:") ? strictBase64(text.slice(7)) : undefined;
  } else {
    const token = readToken(entry);
    if (token === undefined) throw malformed();
    const payload = btoa(hash).replaceAll("=", ""); // the base64 of this hash never contains + or /
    message = encode(`${token.header}.${payload}`);
    signature = token.signature;
  }
  const [least, most] = lengths[algorithm] ?? [256, 1024]; // the sizes in bytes of RSA signatures with 2,048 to 8,192 bits
  if (signature === undefined || signature.length < least || signature.length > most) throw malformed();

  if (key === undefined) throw undecided(step, "unknown_key", pointer);
  if (!key.algorithms.includes(algorithm)) throw refuted(step, "algorithm_mismatch", pointer);
  if (!(await crypto.subtle.verify(key.params, key.key, signature, message))) throw refuted(step, "signature_invalid", pointer);
  return key;
}

// readToken returns the parts of a compact JWS with a detached payload (RFC 7515, appendix F), or
// undefined if it is malformed. Its header must contain alg and kid, may contain iat, must not contain
// other members, and must agree with the entry.
function readToken(entry) {
  const [, header, encoded] = /^jws:([A-Za-z0-9_-]+)\.\.([A-Za-z0-9_-]+)$/.exec(entry.get("signature")) ?? [];
  const [json, signature] = [header, encoded].map((part) => part && strictBase64(part, true));
  if (!json || !signature) return undefined;
  const members = attempt(json).value;
  if (!(members instanceof Map) || members.get("alg") !== entry.get("algorithm") || members.get("kid") !== entry.get("key_id")) return undefined;
  // iat must be an integer and, if signed_at is present, must not contradict it.
  const stated = entry.has("signed_at") ? seconds(entry.get("signed_at")) : members.get("iat");
  const integral = /"iat"\s*:\s*-?\d+\s*[,}]/.test(decode(json));
  if (members.has("iat") && (members.get("iat") !== stated || !integral)) return undefined;
  return members.size === (members.has("iat") ? 3 : 2) ? { header, signature } : undefined;
}
