// A validator for JSON Schema (draft 2020-12), which defines the formats of receipts and other inputs.

import receipt from "../../schemas/receipt-2026-04-25.schema.json" with { type: "json" };
import { refuted, undecided } from "./finding.mjs";

const typeOf = (value) => (value === null ? "null" : value instanceof Map ? "object" : Array.isArray(value) ? "array" : typeof value);
const isOf = (type, value) => type === typeOf(value) || (type === "integer" && Number.isInteger(value)); // 1.0 is also an integer

// An assertion reports whether a value satisfies a keyword. An assertion for one type accepts all values
// of other types.
const assertions = {
  type: (types, value) => [types].flat().some((type) => isOf(type, value)),
  const: (only, value) => value === only,
  enum: (choices, value) => choices.includes(value),
  anyOf: (parts, value, root) => parts.some((part) => isValid(part, value, root)),
};
const ofType = {
  string: {
    minLength: (least, value) => value.length >= least,
    pattern: (form, value) => new RegExp(form, "u").test(value),
    format: (_, value) => seconds(value) !== undefined, // date-time is the only format
  },
  number: { minimum: (least, value) => value >= least, maximum: (most, value) => value <= most },
  object: { required: (names, value) => names.every((name) => value.has(name)) },
  array: {
    minItems: (least, value) => value.length >= least,
    contains: (part, value, root) => value.some((element) => isValid(part, element, root)),
  },
};

export const isValid = (schema, value, root) => faults(schema, value, root).next().done;

// faults yields the JSON Pointer (RFC 6901) of each fault in a value. References are relative to the
// schema root.
function* faults(schema, value, root = schema, pointer = "") {
  const below = (part, inner, name) => faults(part, inner, root, `${pointer}/${`${name}`.replaceAll("~", "~0").replaceAll("/", "~1")}`);
  if (schema === false) yield pointer;
  const type = typeOf(value);
  for (const [keyword, rule] of Object.entries(schema)) {
    const assertion = assertions[keyword] ?? ofType[type]?.[keyword];
    if (assertion?.(rule, value, root) === false) yield pointer;
    if (keyword === "$ref") yield* faults(rule.split("/").slice(1).reduce((at, name) => at[name], root), value, root, pointer);
    if (keyword === "items" && type === "array") for (const [i, element] of value.entries()) yield* below(rule, element, i);
    if (keyword !== "properties" || type !== "object") continue;
    for (const [name, inner] of value) yield* below(Object.hasOwn(rule, name) ? rule[name] : schema.additionalProperties ?? true, inner, name);
  }
}

// checkReceipt returns a Finding for the first fault of a receipt against its schema, or undefined.
export function checkReceipt(value) {
  if (!(value instanceof Map)) return refuted("parse", "not_object");
  const schema = value.get("schema");
  const marked = typeof schema === "string" && schema.startsWith("receipt-");
  if (!marked && !value.has("receipt_id") && !value.has("chain")) return refuted("schema", "not_a_receipt");
  const isOther = marked && /^receipt-\d{4}-\d\d-\d\d$/.test(schema) && schema !== "receipt-2026-04-25";
  if (isOther) return undecided("schema", "unsupported_schema", "/schema");
  const { done, value: pointer } = faults(receipt, value).next();
  return done ? undefined : refuted("schema", "schema_invalid", pointer);
}

// seconds returns the seconds since 1970 of an RFC 3339 time, without its fraction, or undefined
// if the text is not such a time. A leap second is allowed only at the end of a UTC day and has the same
// value as the first second of the next day.
export function seconds(time) {
  const form = /^(\d{4})-(\d\d)-(\d\d)[Tt]([01]\d|2[0-3]):([0-5]\d):([0-5]\d|60)(?:\.\d+)?(?:[Zz]|([+-])([01]\d|2[0-3]):([0-5]\d))$/;
  const [, year, month, day, hour, minute, second, sign, offsetHour = 0, offsetMinute = 0] = form.exec(time) ?? [];
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== Number(day)) return undefined;

  const offset = (sign === "-" ? -1 : 1) * (offsetHour * 60 + Number(offsetMinute));
  const minutes = hour * 60 + Number(minute) - offset;
  if (second === "60" && (minutes + 2 * 1440) % 1440 !== 1439) return undefined;
  return date.getTime() / 1000 + minutes * 60 + Number(second);
}
