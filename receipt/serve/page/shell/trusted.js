// This module displays the trusted keys of a run.
import { foreign, h, mono, section, table } from "../view/dom.js";
import { list } from "../view/json.js";
import { number } from "../view/text.js";

// basis returns what the answer states about the keys: the file, the key that signed as the issuer,
// and whether the keys were added together with the receipt.
export function basis(keys, report, together) {
  if (!keys) return null;
  const used = list(report.signatures).find((entry) => entry.status === "valid" && entry.role === "issuer");
  return { ...keys, together, signer: used && keys.keys.find((key) => key.id === used.key_id) };
}

// renderTrusted lists the keys of a run.
export function renderTrusted(keys) {
  if (!keys) return null;
  const period = (key) => [key.revoked ? [h("strong", { class: "bad" }, "revoked"), ` at ${key.revoked.at}${key.revoked.reason ? ": " : ""}`, foreign(key.revoked.reason)] : "",
    key.not_before ? ` from ${key.not_before}` : "", key.not_after ? ` until ${key.not_after}` : "", !key.revoked && !key.not_before && !key.not_after ? "always" : ""];
  return section("trusted", `Trusted keys (${number(keys.count)})`,
    h("details", {}, h("summary", {}, "Compare the fingerprints with what the issuer published"),
      table("These keys are from the files that you added, never from a receipt", ["key", { name: "fingerprint (RFC 7638)", kind: "code" }, "speaks for", "as", "valid"], keys.keys, (key) => [
        [mono(key.id), h("span", { class: "detail" }, `${key.algorithm}, `, foreign(key.file))], mono(key.fingerprint),
        key.issuers.length > 0 ? key.issuers.map((issuer, i) => [i > 0 ? ", " : "", foreign(issuer)]) : "the issuer that is asked for", key.roles.join(", "), period(key)], 200)));
}
