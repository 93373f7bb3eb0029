// Attestations (docs/pull-requests.md). An attestation is a Sigstore bundle v0.3, which contains a DSSE
// envelope with an in-toto Statement v1 about a receipt. The receipt and an optional commit determine
// every byte of the statement.

import { equalBytes, Finding, refuted, strictBase64, undecided } from "./finding.mjs";
import { canonical, decode, encode, fromObject, lookup, maxDepth, maxSize, parse } from "./json.mjs";

const bundleType = "application/vnd.dev.sigstore.bundle";
const mediaType = `${bundleType}.v0.3+json`;
const payloadType = "application/vnd.in-toto+json";
const statementType = "https://in-toto.io/Statement/v1";
const predicateType = "urn:receiptkit:attestation:receipt:v1";
const otherEvidence = ["certificate", "x509CertificateChain", "tlogEntries", "timestampVerificationData"];
const invalid = () => refuted("parse", "attestation_invalid");
const unsupported = () => undecided("parse", "attestation_unsupported");

export const isAttestation = (value) => value instanceof Map && !value.has("receipt_id") &&
  (value.has("dsseEnvelope") || `${value.get("mediaType")}`.startsWith(bundleType));

// openAttestation returns the receipt in a bundle, its subjects, and its signer: the key that signed the
// attestation, or a Finding if that key is unknown. It throws a Finding if there is no attested receipt.
export async function openAttestation(bundle, trust) {
  const { hint, type, body, signature } = openBundle(bundle);
  const signer = await findSigner(trust.get(hint), signature, await new Blob([`DSSEv1 ${encode(type).length} ${type} ${body.length} `, body]).arrayBuffer());
  const statement = type === payloadType ? parse(body, maxDepth + 2, maxSize, false) : undefined;
  const [receipt, subject] = [lookup(statement, "predicate", "receipt"), lookup(statement, "subject")];
  if (lookup(statement, "_type") !== statementType || lookup(statement, "predicateType") !== predicateType) throw unsupported();

  const isForm = receipt instanceof Map && Array.isArray(subject) && statement.size === 4 && statement.get("predicate").size === 1;
  if (!isForm || canonical(parse(body, maxDepth + 2)) !== decode(body)) throw invalid();
  if (canonical(subject) !== canonical(subjectsOf(receipt, lookup(subject.at(-1), "digest", "gitCommit")))) throw signer instanceof Finding ? signer : refuted("parse", "attestation_mismatch");
  return { receipt, subject, hint, signer };
}

// openBundle returns the content of a bundle, which must have exactly the members that the format lists.
// The signature does not cover the hint, which selects the only key to try.
function openBundle(bundle) {
  const isOther = typeof bundle.get("mediaType") === "string" && bundle.get("mediaType") !== mediaType;
  const hasOther = otherEvidence.some((name) => lookup(bundle, "verificationMaterial", name) !== undefined);
  if (isOther || hasOther || bundle.has("messageSignature")) throw unsupported();

  const hint = lookup(bundle, "verificationMaterial", "publicKey", "hint");
  const [base64, type, signatures] = ["payload", "payloadType", "signatures"].map((name) => lookup(bundle, "dsseEnvelope", name));
  const [sig, keyid] = ["sig", "keyid"].map((name) => lookup(signatures?.[0], name));
  const form = { mediaType, verificationMaterial: { publicKey: { hint } }, dsseEnvelope: { payload: base64, payloadType: type, signatures: [{ sig, keyid }] } };
  const isText = [hint, base64, type, sig].every((text) => typeof text === "string") && hint !== "" && [undefined, "", hint].includes(keyid);
  const isLong = hint?.length > 1024 || sig?.length > 4412; // 3,309 bytes, for ML-DSA-65
  if (!isText || isLong || canonical(bundle) !== canonical(fromObject(form))) throw invalid();
  const [body, signature] = [strictBase64(base64), strictBase64(sig)];
  if (body === undefined || !(signature?.length > 0)) throw invalid();
  return { hint, type, body, signature };
}

// findSigner returns the key that made a signature, or a Finding if that key cannot be determined.
async function findSigner(key, signature, message) {
  if (key === undefined) return undecided("signatures", "unknown_key");
  const isDER = key.params?.namedCurve === "P-256";
  if (!isDER && key.point === undefined) return undecided("signatures", "unsupported_algorithm");
  const raw = isDER ? fromDER(signature) : signature;
  if (!raw || !(await crypto.subtle.verify(key.params, key.key, raw, message))) throw refuted("signatures", "signature_invalid");
  return key;
}

// fromDER returns the two numbers of a DER signature in 32 bytes each, or undefined if the bytes are not
// the DER encoding of two positive numbers.
function fromDER(der) {
  const numbers = [der.subarray(4, 4 + der[3]), der.subarray(6 + der[3])];
  const encoded = numbers.flatMap((number) => [2, number.length, ...number]);
  const isMinimal = ([first, second], i) => first < 0x80 && (first > 0 || second >= 0x80) && numbers[i].length <= (first > 0 ? 32 : 33);
  if (!equalBytes(der, [0x30, encoded.length, ...encoded]) || !numbers.every(isMinimal)) return undefined;
  return Uint8Array.from(numbers.flatMap((number) => [...new Uint8Array(33 - number.length), ...number].slice(1)));
}

const isDigest = (value) => /^sha256:[0-9a-f]{64}$/.test(value);
const isCommit = (value) => /^([0-9a-f]{40}|[0-9a-f]{64})$/.test(value);

// subjectsOf returns the files and commits that a receipt reports, without duplicates. The caller passes
// a commit only if the receipt reports no commit.
function subjectsOf(receipt, supplied) {
  const list = (...path) => [lookup(receipt, ...path) ?? []].flat();
  const [unreported, atMost] = [list("metadata", "unreported"), list("metadata", "at_most")];
  const isReported = (place) => !unreported.includes(place) && !unreported.includes(place.slice(0, place.lastIndexOf("/"))) &&
    !atMost.some((other) => other !== "" && `${place}/`.startsWith(`${other}/`));
  const [artifacts, writes] = [list("final_artifacts"), list("side_effects", "fs_writes")];
  const isLast = (path, i) => writes.slice(i + 1).every((later) => lookup(later, "path") !== path);

  const subjects = new Map();
  const add = (id, kind, value, name = typeof id === "string" ? id : "") => subjects.set(`${kind} ${value} ${name}`, { name, digest: { [kind]: value } });
  const isHashed = (artifact, i) => isDigest(lookup(artifact, "sha256")) && isReported(`/final_artifacts/${i}/sha256`);
  for (const artifact of artifacts.filter(isHashed)) add(artifact.get("artifact_id"), "sha256", artifact.get("sha256").slice(7));
  for (const [i, write] of writes.entries()) {
    const [path, operation, digest] = ["path", "operation", "after_sha256"].map((name) => lookup(write, name));
    const counts = isDigest(digest) && operation !== "delete" && isLast(path, i) && isReported(`/side_effects/fs_writes/${i}/after_sha256`);
    if (counts) add(path, "sha256", digest.slice(7));
  }
  const isNamed = (artifact, i) => lookup(artifact, "kind") === "git_commit" && isReported(`/final_artifacts/${i}/artifact_id`);
  const commits = artifacts.filter(isNamed).map((artifact) => artifact.get("artifact_id")).filter(isCommit);
  for (const commit of commits.length > 0 ? commits : [supplied].filter(isCommit)) add("git commit", "gitCommit", commit);
  if (subjects.size === 0 && isDigest(lookup(receipt, "chain", "receipt_hash"))) add(receipt.get("receipt_id"), "sha256", receipt.get("chain").get("receipt_hash").slice(7));
  return subjects.size === 0 ? null : fromObject([...subjects.values()]); // a statement has a subject
}
