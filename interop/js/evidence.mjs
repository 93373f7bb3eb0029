// Values that were withheld and are disclosed, and manifests of batches.

import { digest, digestBytes, equalBytes, hex, refuted, undecided } from "./finding.mjs";
import { leafHash, treeRoot } from "./checkpoint.mjs";
import { canonical, canonicalBytes, lookup, parse, without } from "./json.mjs";
import { isDigest } from "./schema.mjs";

const step = "redactions";

// judgeDisclosures adds the findings of a disclosure file to the receipts that it is about, and returns
// those about the file.
export async function judgeDisclosures(bytes, receipts) {
  const file = parse(bytes);
  const bound = lookup(file, "receipt_hash");
  const fields = lookup(file, "fields");
  const valid = lookup(file, "disclosures_version") === 1 && (bound === null || isDigest(bound)) && Array.isArray(fields);
  if (!valid) return [refuted(step, "disclosure_mismatch")];

  const findings = [];
  const about = receipts.filter(({ stated }) => bound === null || stated === bound);
  if (about.length === 0) findings.push(undecided(step, "disclosure_unbound"));
  for (const field of fields) {
    const proof = await digest(new TextEncoder().encode("receipt-redaction-v1\n" + canonical(field)));
    const judged = about.map((opened) => [opened, judgeField(opened.receipt, field, proof)]);
    if (bound !== null) judged.forEach(([opened, code]) => code && opened.findings.push(refuted(step, code, field.get("field"))));
    else if (judged.every(([, code]) => code)) findings.push(undecided(step, "disclosure_unbound"));
    const twice = fields.some((other) => other.get("field") === field.get("field") && canonical(other.get("value")) !== canonical(field.get("value")));
    if (twice) findings.push(refuted(step, "disclosure_mismatch", field.get("field")));
  }
  return findings;
}

// judgeField returns the code for which a disclosed field is not the one that a receipt commits to, or
// undefined.
function judgeField(receipt, field, proof) {
  const path = field.get("field");
  const commitments = (receipt.get("redactions") ?? []).filter((entry) => entry.get("field") === path && entry.has("proof_hash"));
  if (commitments.length === 0) return "disclosure_unknown";
  if (!commitments.some((entry) => entry.get("proof_hash") === proof)) return "disclosure_mismatch";

  // At its place, the receipt has nothing, or a placeholder.
  const names = path.slice(1).split("/").map((name) => name.replaceAll("~1", "/").replaceAll("~0", "~"));
  const left = names.reduce((at, name) => (at instanceof Map ? at.get(name) : Array.isArray(at) ? at[name] : undefined), receipt);
  const empty = [undefined, null, ""].includes(left) || left.size === 0 || left.length === 0;
  const placeholder = typeof left === "string" && /\[redacted\]|<redacted:[^>]*>/.test(left);
  return empty || placeholder ? undefined : "disclosure_mismatch";
}

// judgeBatch adds the findings of a manifest to receipts.
export async function judgeBatch(bytes, receipts) {
  const manifest = parse(bytes);
  const entries = lookup(manifest, "receipts");
  const root = lookup(manifest, "merkle_root");
  const valid = lookup(manifest, "profile") === "content" && isDigest(root) && entries.every((entry) => isDigest(entry.get("leaf_hash")));
  const mismatch = refuted("batch", "merkle_root_mismatch", "/chain/merkle_root");
  const fits = valid && "sha256:" + hex(await treeRoot(entries.map((entry) => digestBytes(entry.get("leaf_hash"))))) === root;
  for (const { receipt, stated, findings } of receipts) {
    const entry = entries.find((each) => each.get("receipt_id") === receipt.get("receipt_id"));
    const states = lookup(receipt, "chain", "merkle_root") === root;
    if (entry === undefined && !states) findings.push(undecided("batch", "not_in_batch"));
    else {
      const content = await leafHash(canonicalBytes(without(receipt, "chain", "signatures")));
      const listed = states && entry?.get("receipt_hash") === stated && equalBytes(digestBytes(entry.get("leaf_hash")), content);
      if (!fits || !listed) findings.push(mismatch);
    }
  }
}
