// The verification of one receipt in the steps parse, schema, hash, link, batch, signatures, and
// redactions.

import { digest, refuted, strictBase64 } from "./finding.mjs";
import { attempt, canonicalBytes, lookup, without } from "./json.mjs";
import { checkReceipt } from "./schema.mjs";
import { judgeSignatures } from "./signatures.mjs";

// receiptHash returns the SHA-256 digest of the canonical receipt without the two members
// /chain/receipt_hash and /signatures. No value is added or converted.
export async function receiptHash(receipt) {
  const preimage = without(receipt, "signatures");
  preimage.set("chain", without(receipt.get("chain"), "receipt_hash"));
  return digest(canonicalBytes(preimage));
}

// open returns a receipt with its hashes and the findings about its content. bytes is a JSON text or a
// value from an archive. If the value does not match the schema, open returns only a finding.
export async function open(bytes) {
  const { value: receipt, finding = checkReceipt(receipt) } = bytes instanceof Uint8Array ? attempt(bytes) : { value: bytes };
  if (finding !== undefined) return { value: receipt, findings: [finding] };

  const findings = [];
  const stated = lookup(receipt, "chain", "receipt_hash");
  const computed = await receiptHash(receipt);
  if (stated !== computed) findings.push(refuted("hash", "hash_mismatch", "/chain/receipt_hash"));
  findings.push(...(await judgeMaterials(receipt)));

  // No receipt has a hash of zeros. The first receipt of a stream contains null instead.
  const previous = lookup(receipt, "chain", "previous_receipt_hash");
  if (previous === "sha256:" + "0".repeat(64)) findings.push(refuted("link", "chain_break", "/chain/previous_receipt_hash"));
  return { receipt, stated, computed, previous, findings };
}

// judge returns the findings about one receipt, without additional evidence.
export async function judge(bytes, trust, policy = {}) {
  const { receipt, findings } = await open(bytes);
  if (receipt !== undefined) findings.push(...(await judgeSignatures(receipt, trust, policy)));
  return findings;
}

// judgeMaterials compares the included bytes of each material with the stated digest.
async function judgeMaterials(receipt) {
  const findings = [];
  for (const [i, material] of lookup(receipt, "replay_input", "materials").entries()) {
    if (!material.has("bytes_base64")) continue;
    const bytes = strictBase64(material.get("bytes_base64"));
    const matches = bytes !== undefined && [undefined, await digest(bytes)].includes(material.get("sha256"));
    if (!matches) findings.push(refuted("hash", "material_mismatch", `/replay_input/materials/${i}/bytes_base64`));
  }
  return findings;
}

