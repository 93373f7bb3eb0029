// Disclosures of values that receipts withhold, and manifests of batches.

import batchSchema from "../../schemas/batch.schema.json" with { type: "json" };
import disclosuresSchema from "../../schemas/disclosures.schema.json" with { type: "json" };
import { digest, digestBytes, equalBytes, hex, refuted, undecided } from "./finding.mjs";
import { leafHash, treeRoot } from "./checkpoint.mjs";
import { canonical, canonicalBytes, encode, lookup, parse, without } from "./json.mjs";
import { isValid } from "./schema.mjs";

const step = "redactions";

// judgeDisclosures adds findings to the receipts whose values a disclosure file discloses, and returns
// the findings about the file itself.
export async function judgeDisclosures(bytes, receipts) {
  const file = parse(bytes);
  if (!isValid(disclosuresSchema, file)) return [refuted(step, "disclosure_mismatch")];
  const [bound, fields] = [file.get("receipt_hash"), file.get("fields")];
  const findings = [];
  if (bound !== null) receipts = receipts.filter(({ stated }) => stated === bound);
  if (receipts.length === 0 || fields.length === 0) findings.push(undecided(step, "disclosure_unbound"));
  const proven = [];
  for (const field of fields) {
    const proof = await digest(encode("receipt-redaction-v1\n" + canonical(field)));
    const mismatch = refuted(step, "disclosure_mismatch", field.get("field"));
    let matches = 0;
    for (const { receipt, findings: about } of receipts) {
      const commitments = (receipt.get("redactions") ?? []).filter((entry) => entry.get("field") === field.get("field") && entry.has("proof_hash"));
      if (commitments.some((entry) => entry.get("proof_hash") === proof)) {
        matches++;
        if (!isWithheld(at(receipt, field.get("field")))) about.push(mismatch);
      } else if (bound !== null) about.push(commitments.length > 0 ? mismatch : refuted(step, "disclosure_unknown", field.get("field")));
    }
    if (matches > 0) proven.push(field);
    else if (bound === null) findings.push(undecided(step, "disclosure_unbound"));
  }
  for (const field of proven) if (proven.some((other) => contradicts(other, field))) findings.push(refuted(step, "disclosure_mismatch", field.get("field")));
  return findings;
}

// at returns the value at a JSON Pointer (RFC 6901), or undefined.
const at = (value, pointer) => pointer.split("/").slice(1).map((name) => name.replaceAll("~1", "/").replaceAll("~0", "~"))
  .reduce((inner, name) => (inner instanceof Map ? inner.get(name) : Array.isArray(inner) ? inner[name] : undefined), value);

// isWithheld reports whether the value at a pointer in a receipt is absent or a placeholder.
const isWithheld = (left) => left === undefined || left === null || left === "" || left.size === 0 || left.length === 0 ||
  (typeof left === "string" && /\[redacted\]|<redacted:[^>]*>/.test(left));

// contradicts reports whether the disclosed value of a field differs from the same field within the
// disclosed value of an ancestor.
function contradicts(field, ancestor) {
  const [inner, outer] = [field.get("field"), ancestor.get("field")];
  if (inner !== outer && !inner.startsWith(outer + "/")) return false;
  const part = at(ancestor.get("value"), inner.slice(outer.length));
  return part === undefined || (canonical(part) !== canonical(field.get("value")) && (inner === outer || !isWithheld(part)));
}

// judgeBatch adds findings to the receipts of a batch, and returns the findings about its manifest.
export async function judgeBatch(bytes, receipts) {
  const manifest = parse(bytes);
  const mismatch = refuted("batch", "merkle_root_mismatch", "/chain/merkle_root");
  if (!isValid(batchSchema, manifest)) return [mismatch];
  const [entries, root] = [manifest.get("receipts"), manifest.get("merkle_root")];
  const fits = "sha256:" + hex(await treeRoot(entries.map((entry) => digestBytes(entry.get("leaf_hash"))))) === root;
  for (const { receipt, stated, findings } of receipts) {
    const entry = entries.find((each) => each.get("receipt_id") === receipt.get("receipt_id"));
    const states = lookup(receipt, "chain", "merkle_root") === root;
    if (entry === undefined && !states) findings.push(undecided("batch", "not_in_batch"));
    else {
      const content = await leafHash(canonicalBytes(without(receipt, "chain", "signatures")));
      const listed = states && entry?.get("receipt_hash") === stated && equalBytes(digestBytes(entry.get("leaf_hash")), content);
      if (!listed) findings.push(mismatch);
    }
  }
  return fits ? [] : [mismatch];
}
