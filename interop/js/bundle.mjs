// Session bundles (docs/bundles.md). The checks are, in this order: required members, the type, the
// version, secrets, and the types of members.

import schema from "../../schemas/session-bundle.schema.json" with { type: "json" };
import { refuted } from "./finding.mjs";
import { attempt, decode, lookup } from "./json.mjs";
import { isValid } from "./schema.mjs";

// The patterns that match only secrets, between word boundaries.
const forms = String.raw`
  eyJ[\w-]{4,}\.[\w-]{4,}\.[\w-]{4,}        gh[pousr]_[A-Za-z\d]{36,255}   github_pat_\w{20,255}         xox[abprs]-[A-Za-z\d-]{10,255}
  A(KIA|SIA|GPA|IDA|NPA|ROA|IPA)[A-Z\d]{16} glpat-[\w-]{20,255}            hf_[A-Za-z\d]{20,255}         csk-[A-Za-z\d]{20,255}
  tgp_v1_[\w-]{20,255}                      AIza[\w-]{35}                  npm_[A-Za-z\d]{36}            sk-[\w-]{20,255}
  [rs]k_(live|test)_[A-Za-z\d]{16,255}`;
const secrets = [
  new RegExp(`\\b(${forms.trim().split(/\s+/).join("|")})\\b`),
  /-----BEGIN ([A-Z ]*)PRIVATE KEY-----[^]*?-----END \1PRIVATE KEY-----/,
  /https?:\/\/[^\s\/?#@]+@/i,
  /https?:\/\/\S*[?&](auth|bearer|sig|signature|[\w-]*(token|secret|password|api[_-]?key))=(?!%5Bredacted%5D)/i,
];
const key = "(api[_-]?key|(access|refresh|id)[_-]?token|client[_-]?secret|password|passwd|secret|token)";
const heuristics = [
  /bearer +[\w.\-+\/=]{12,}/i,
  new RegExp(`\\b${key}["']?\\s*[:=]\\s*("[^"\\s]{6,}"|'[^'\\s]{6,}'|[\\w.+\\/=-]*[\\d.+\\/=-][\\w.+\\/=-]*|\\b(secret|hidden|hideme|password|passwd|token)\\b)`, "i"),
];

// texts yields all strings and member names in a value.
function* texts(value) {
  if (typeof value === "string") yield value;
  else if (value instanceof Map || Array.isArray(value)) for (const inner of [...(value.keys?.call(value) ?? []), ...value.values()]) yield* texts(inner);
}

// checkBundle returns the finding for the first fault in a bundle, or undefined.
export function checkBundle(bytes, { strict, allow_secret_markers: allowed }) {
  const fault = (code) => refuted("parse", code);
  const { value: bundle } = attempt(bytes, 1000, 256 * 2 ** 20, false);
  if (!(bundle instanceof Map)) return fault("decode");
  const parts = Object.entries(schema.properties).map(([name, part]) => [bundle.get(name), part]);
  const lacks = ([value, { required = [] }]) => value instanceof Map && required.some((name) => !value.has(name));
  if ([[bundle, schema], ...parts].some(lacks)) return fault("missing_required");

  const [type, version] = ["_type", "schema_version"].map((name) => lookup(bundle, name));
  const isInteger = /"schema_version"\s*:\s*-?\d+\s*[,}]/.test(decode(bytes)); // 1.0 is not accepted as an integer
  if (type !== "harn_session_bundle" || !Number.isInteger(version) || !isInteger) return fault("invalid_type");
  if (version !== 1) return fault("unsupported_version");
  const searched = allowed ? [] : [...secrets, ...(strict ? heuristics : [])];
  if ([...texts(bundle)].some((text) => searched.some((form) => form.test(text)))) return fault("unsafe_secret_marker");
  return isValid(schema, bundle) ? undefined : fault("decode");
}
