// This module formats numbers and times for people, and makes untrusted text safe to display. It
// does not change the page.

// Characters that are invisible or that change the order of the text: control characters,
// bidirectional overrides, letters that look blank, and unassigned characters.
const unseen = /[^\p{L}\p{M}\p{N}\p{P}\p{S} ]|[\u115f\u1160\u2800\u3164\uffa0\ufffd]/gu;

// A letter with more combining marks than any language uses can cover adjacent lines.
const heap = /(\p{M}{4})(\p{M}+)/gu;

const short = new Map([["\n", "\\n"], ["\r", "\\r"], ["\t", "\\t"], ["\0", "\\x00"]]);

function escape(character) {
  if (short.has(character)) return short.get(character);
  const code = character.codePointAt(0);
  if (code < 0x80) return "\\x" + code.toString(16).padStart(2, "0");
  return code > 0xffff ? "\\U" + code.toString(16).padStart(8, "0") : "\\u" + code.toString(16).padStart(4, "0");
}

// visible returns a string with invisible characters as escapes, as the command does.
export function visible(text) {
  return String(text).replace(unseen, escape).replace(heap, (_, kept, rest) => kept + [...rest].map(escape).join(""));
}

// lines is like visible, but keeps line breaks and tabs.
export function lines(text) {
  return String(text).split(/([\n\t])/).map((part, i) => (i % 2 === 1 ? part : visible(part))).join("");
}

// cut returns the first characters of a string, and the number of omitted characters.
export function cut(text, most) {
  if (text.length <= most) return { text, more: 0 };
  const code = text.charCodeAt(most - 1);
  const end = code >= 0xd800 && code < 0xdc00 ? most - 1 : most; // not inside a surrogate pair
  return { text: text.slice(0, end), more: text.length - end };
}

// group inserts thousands separators into a plain decimal.
export function group(text) {
  const [whole, fraction] = text.split(".");
  if (/[e-]/.test(text) || whole.length < 4) return text;
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ",");
  return fraction === undefined ? grouped : grouped + "." + fraction;
}

// number formats a JSON number. ECMAScript and RFC 8785 use the same format.
export function number(value) {
  return group(Object.is(value, -0) ? "0" : String(value));
}

export function plural(count, noun, verb = "") {
  return `${number(count)} ${noun}${count === 1 ? "" : "s"} ${verb}`.trim();
}

const second = 1000, minute = 60 * second, hour = 60 * minute, day = 24 * hour;

// duration formats milliseconds in at most two units.
export function duration(milliseconds) {
  const parts = [];
  let rest = Math.floor(milliseconds);
  for (const [size, name] of [[day, "d"], [hour, "h"], [minute, "min"], [second, "s"]]) {
    const count = Math.floor(rest / size);
    if (count > 0 && parts.length < 2) {
      parts.push(`${count} ${name}`);
      rest -= count * size;
    }
  }
  if (parts.length > 0) return parts.join(" ");
  return milliseconds === 0 ? "0 s" : `${rest} ms`;
}

const dateTime = /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(\.\d+)?(?:[Zz]|([+-])(\d\d):(\d\d))$/;

// instant converts an RFC 3339 date-time to milliseconds since 1970, or returns NaN for any other
// string. A leap second is treated as the first instant of the next second.
export function instant(text) {
  const found = typeof text === "string" ? dateTime.exec(text) : null;
  if (!found) return NaN;
  const [years, months, days, hours, minutes, seconds] = found.slice(1, 7).map(Number);
  const date = new Date(0);
  date.setUTCFullYear(years, months - 1, days);
  if (date.getUTCMonth() !== months - 1 || date.getUTCDate() !== days) return NaN;
  if (hours > 23 || minutes > 59 || seconds > 60) return NaN;
  if (Number(found[9] ?? 0) > 23 || Number(found[10] ?? 0) > 59) return NaN;
  const offset = (found[8] === "-" ? -1 : 1) * (Number(found[9] ?? 0) * hour + Number(found[10] ?? 0) * minute);
  const fraction = seconds === 60 ? 0 : Math.min(Number("0" + (found[7] ?? "")) * second, 999.9); // must not be rounded up to the next second
  return date.getTime() + hours * hour + minutes * minute + seconds * second + fraction - offset;
}

// clock formats an instant in UTC, with or without its date.
export function clock(milliseconds, withDate = true) {
  const date = new Date(Math.floor(milliseconds)); // a Date truncates toward 1970
  if (Number.isNaN(date.getTime())) return "(no time)";
  const text = date.toISOString();
  const end = text.indexOf("T");
  return (withDate ? text.slice(0, end) + " " : "") + text.slice(end + 1, end + 9);
}
