// Checkpoints of logs: Merkle trees (RFC 9162), and C2SP signed notes, tlog-checkpoint,
// tlog-cosignature, and tlog-proof.

import { digestBytes, equalBytes, refuted, sha256, strictBase64, undecided } from "./finding.mjs";
import { decode, encode, lookup } from "./json.mjs";
import { seconds } from "./schema.mjs";
import { counts, rejection, speaksFor } from "./signatures.mjs";
import { noteId } from "./trust.mjs";

const invalid = () => refuted("batch", "checkpoint_invalid");

export const leafHash = (data) => sha256(Uint8Array.of(0), data);
const nodeHash = (left, right) => sha256(Uint8Array.of(1), left, right);

// treeRoot returns the root of leaf hashes (RFC 9162, section 2.1.1).
export async function treeRoot(leaves) {
  if (leaves.length <= 1) return leaves[0] ?? sha256();
  let split = 1;
  while (split * 2 < leaves.length) split *= 2;
  return nodeHash(await treeRoot(leaves.slice(0, split)), await treeRoot(leaves.slice(split)));
}

// rootOf computes the root from an inclusion path (RFC 9162, section 2.1.3.1), or returns undefined if
// the path has the wrong length for the tree.
async function rootOf(leaf, index, size, path) {
  if (size <= 1n) return index < size && path.length === 0 ? leaf : undefined;
  const split = 1n << BigInt((size - 1n).toString(2).length - 1); // the largest power of 2 below size
  const [isLeft, sibling] = [index < split, path.at(-1)];
  const inner = sibling && (await rootOf(leaf, isLeft ? index : index - split, isLeft ? split : size - split, path.slice(0, -1)));
  return inner && (isLeft ? nodeHash(inner, sibling) : nodeHash(sibling, inner));
}

// openCheckpoint returns a checkpoint with the trusted keys that signed it. Signature lines of other
// keys are ignored.
async function openCheckpoint(note, trust) {
  const end = note.lastIndexOf("\n\n");
  const text = note.slice(0, end + 1);
  const [origin, size, root] = text.split("\n");
  const rootBytes = strictBase64(root ?? "");
  const lines = note.slice(end + 2).split("\n");
  const valid = end > 0 && !text.includes("\n\n") && !/[\x00-\x09\x0b-\x1f]/.test(note) && lines.pop() === "" && lines.length > 0 && origin !== "" && /^(0|[1-9]\d*)$/.test(size) && rootBytes?.length === 32;
  if (!valid) throw invalid();

  const checkpoint = { origin, size: BigInt(size), root: rootBytes, logKeys: [], cosigners: [] };
  for (const line of lines) {
    const [, name, encoded] = /^\u2014 ([^\p{White_Space}+]+) ([A-Za-z0-9+/=]+)$/u.exec(line) ?? [];
    const payload = encoded && strictBase64(encoded);
    if (!payload || payload.length < 5) throw invalid();
    for (const key of trust.values()) {
      if (key.point === undefined || key.origin !== name) continue;
      const is = async (role, type) => key.roles.includes(role) && equalBytes(await noteId(name, type, key.point), payload.subarray(0, 4));
      if (await is("checkpoint", 1)) {
        if (!(await verify(key, payload.subarray(4), text))) throw invalid();
        if (name === origin) checkpoint.logKeys.push(key);
      } else if (await is("witness", 4)) {
        if (payload.length !== 76) throw invalid();
        const time = new DataView(payload.buffer, payload.byteOffset).getBigUint64(4);
        if (!(await verify(key, payload.subarray(12), `cosignature/v1\ntime ${time}\n${text}`))) throw invalid();
        checkpoint.cosigners.push({ key, time: Number(time) });
      }
    }
  }
  return checkpoint;
}

const verify = (key, signature, text) => crypto.subtle.verify(key.params, key.key, signature, encode(text));

async function openProof(bytes, trust) {
  const malformed = () => refuted("batch", "proof_invalid");
  const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes); // only the checkpoint may contain more than ASCII
  const end = text.indexOf("\n\n");
  const [header, ...lines] = text.slice(0, end).split("\n");
  if (end < 0 || header !== "c2sp.org/tlog-proof@v1") throw malformed();
  if (lines[0]?.startsWith("extra ") && strictBase64(lines.shift().slice(6)) === undefined) throw malformed();
  const [, index] = /^index (0|[1-9]\d*)$/.exec(lines.shift() ?? "") ?? [];
  const path = lines.map((line) => strictBase64(line));
  if (index === undefined || path.length > 63 || path.some((hash) => hash?.length !== 32)) throw malformed();
  return { index: BigInt(index), path, checkpoint: await openCheckpoint(decode(bytes).slice(end + 2), trust) };
}

// judgeCheckpoints returns, for each opened receipt, the findings of the step batch and the evidence
// from checkpoints for the step signatures. hole is the number of receipts before the first unreadable
// receipt, or -1. judgeCheckpoints adds to findings if a checkpoint or a proof is itself invalid.
export async function judgeCheckpoints(receipts, notes, proofs, trust, policy, hole, findings) {
  const results = receipts.map(() => ({ findings: [] }));
  const everywhere = (finding) => results.forEach(({ findings }) => findings.push(finding));
  const leaves = await Promise.all(receipts.map(({ computed }) => leafHash(digestBytes(computed))));
  const opened = [];
  try {
    for (const bytes of notes) opened.push({ checkpoint: await openCheckpoint(decode(bytes), trust) });
    for (const bytes of proofs) opened.push(await openProof(bytes, trust));
  } catch (error) {
    const finding = error.step === "batch" ? error : invalid();
    // The checkpoint in a proof applies only to the receipts that the proof includes.
    if (opened.length < notes.length || finding.code === "proof_invalid") findings.push(finding);
    else everywhere(finding);
    return results;
  }

  for (const { checkpoint, path } of opened) {
    if (checkpoint.logKeys.length === 0) everywhere(undecided("batch", "unknown_key"));
    else if (path === undefined) {
      const size = Number(checkpoint.size);
      const root = await treeRoot(leaves.slice(0, size));
      if (equalBytes(root, checkpoint.root) && size <= leaves.length) results.slice(0, size).forEach((result) => (result.checkpoint = checkpoint));
      else if (hole >= 0 && hole < size) everywhere(undecided("batch", "checkpoint_required")); // the unreadable receipt may be a leaf
      else if (size > leaves.length) everywhere(refuted("batch", "truncated"));
      else everywhere(refuted("batch", "merkle_root_mismatch"));
    }
    const other = opened.find(({ checkpoint: c }) => c.origin === checkpoint.origin && c.size === checkpoint.size && !equalBytes(c.root, checkpoint.root));
    if (other !== undefined) everywhere(invalid());
  }
  for (const [i, result] of results.entries()) {
    for (const { checkpoint, index, path } of opened.filter(({ path }) => path !== undefined)) {
      const root = await rootOf(leaves[i], index, checkpoint.size, path);
      if (root !== undefined && equalBytes(root, checkpoint.root)) result.checkpoint = checkpoint;
    }
    if (result.checkpoint === undefined && opened.some(({ checkpoint, path }) => path && checkpoint.logKeys.length > 0)) result.findings.push(refuted("batch", "proof_invalid"));
    else if (result.checkpoint === undefined && (notes.length > 0 || policy.checkpoint?.required)) result.findings.push(undecided("batch", "checkpoint_required"));
    if (result.checkpoint !== undefined) await weigh(result, receipts[i].receipt, trust, policy);
  }
  return results;
}

// weigh checks the keys that signed the checkpoint that includes a receipt.
function weigh(result, receipt, trust, policy) {
  const { logKeys, cosigners } = result.checkpoint;
  const issuer = lookup(receipt, "issuer", "id");
  const time = policy.at ?? seconds(receipt.get("issued_at"));
  const rule = policy.checkpoint?.cosigners;
  const others = [...trust.values()].filter((key) => key.roles.includes("issuer") && speaksFor(key, issuer, policy)).concat(logKeys);
  const counted = cosigners.filter(({ key, time: at }) => counts(key, rule) && rejection(key, trust, at) === undefined && others.every((other) => other.material !== key.material));
  const witnesses = new Set(counted.map(({ key }) => key.material));
  if (witnesses.size < (rule?.threshold ?? 0)) result.findings.push(undecided("batch", "threshold_not_met"));
  result.provenBefore = Math.min(...counted.map(({ time: at }) => at));

  // A log signs after the issuer, so the start of the key's validity is checked only for a given time.
  const valid = (key) => rejection(policy.at === undefined ? { ...key, notBefore: -Infinity } : key, trust, time, result.provenBefore);
  if (logKeys.every((key) => valid(key) !== undefined)) result.findings.push(undecided("batch", valid(logKeys[0])));

  // A log's key proves inclusion. It proves authorship only if it is also the issuer's key.
  const named = lookup(receipt, "issuer", "public_key_id");
  result.logKey = logKeys.find((key) => key.roles.includes("issuer") && key.issuers?.includes(issuer) && (named ?? key.id) === key.id);
}
