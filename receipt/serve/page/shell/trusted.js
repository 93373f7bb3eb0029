// Whose keys were used, key by key.
import { foreign, h, mono, section, table } from "../view/dom.js";
import { number } from "../view/text.js";

// basis is what the headlines say of the keys: the file, and the fingerprints of
// the keys that count in a report.
export function basis(keys, report) {
  if (!keys) return null;
  const used = new Set(report.signatures.filter((entry) => entry.status === "valid").map((entry) => entry.key_id));
  return { ...keys, fingerprints: keys.keys.filter((key) => used.has(key.id)).map((key) => `${key.id} ${key.fingerprint}`) };
}

// renderTrusted lists the keys of a run.
export function renderTrusted(keys) {
  if (!keys) return null;
  const period = (key) => [key.revoked ? [h("strong", { class: "bad" }, "revoked"), ` at ${key.revoked.at}${key.revoked.reason ? ": " : ""}`, foreign(key.revoked.reason)] : "",
    key.not_before ? ` from ${key.not_before}` : "", key.not_after ? ` until ${key.not_after}` : "", !key.revoked && !key.not_before && !key.not_after ? "always" : ""];
  return section("trusted", `Trusted keys (${number(keys.count)})`,
    h("details", {}, h("summary", {}, "Compare the fingerprints with what the issuer published"),
      table("These keys came from the files that were given, never from a receipt", ["key", { name: "fingerprint (RFC 7638)", kind: "code" }, "speaks for", "as", "valid"], keys.keys, (key) => [
        [mono(key.id), h("span", { class: "detail" }, `${key.algorithm}, `, foreign(key.file))], mono(key.fingerprint),
        key.issuers.length > 0 ? key.issuers.map((issuer, i) => [i > 0 ? ", " : "", foreign(issuer)]) : "the issuer that is asked for", key.roles.join(", "), period(key)], 200)));
}
