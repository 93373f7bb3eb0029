// A Finding is a reason why a receipt is not verified. It consists of the outcome, the step, the code
// from docs/codes.md, and the JSON Pointer of the affected member.
export class Finding extends Error {
  constructor(outcome, step, code, pointer = "") {
    super(`${code} ${pointer}`);
    Object.assign(this, { outcome, step, code, pointer });
  }
}

// An Unsupported error indicates that a case needs a feature that this verifier does not have.
export class Unsupported extends Error {}

export const refuted = (step, code, pointer) => new Finding("refuted", step, code, pointer);
export const undecided = (step, code, pointer) => new Finding("undecided", step, code, pointer);

const steps = ["parse", "schema", "hash", "link", "batch", "signatures", "redactions"];

// worst returns the finding that determines the outcome, or undefined if there are no findings. It is the
// first finding of the earliest step, among refuting findings if there are any.
export function worst(findings) {
  const refuting = findings.filter((finding) => finding.outcome === "refuted");
  const deciding = refuting.length > 0 ? refuting : findings;
  return steps.map((step) => deciding.find((finding) => finding.step === step)).find((finding) => finding !== undefined);
}

export const equalBytes = (a, b) => a.length === b.length && a.every((byte, i) => byte === b[i]);

export const hex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");

export const sha256 = async (...parts) => new Uint8Array(await crypto.subtle.digest("SHA-256", await new Blob(parts).arrayBuffer()));

export const digest = async (bytes) => "sha256:" + hex(new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)));

// digestBytes returns the 32 bytes of a digest.
export const digestBytes = (text) => Uint8Array.from(text.slice(7).match(/../g), (two) => parseInt(two, 16));

// strictBase64 decodes padded base64 (RFC 4648, section 4), or unpadded base64url (section 5). It
// returns undefined if the text is not the only encoding of its bytes.
export function strictBase64(text, url = false) {
  const padded = url ? text.replaceAll("-", "+").replaceAll("_", "/") + "===".slice((text.length + 3) % 4) : text;
  try {
    const binary = atob(padded);
    const isOnly = btoa(binary) === padded && !(url && /[+/=]/.test(text));
    return isOnly ? Uint8Array.from(binary, (c) => c.charCodeAt(0)) : undefined;
  } catch {
    return undefined;
  }
}
