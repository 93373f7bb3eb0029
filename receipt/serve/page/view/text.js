// Texts for a person: numbers, times, and foreign text made visible.
// Nothing here touches the page.

// Characters that a reader would not see, or that would reorder what he sees:
// controls, bidirectional overrides, blanks that are letters, unassigned ones.
const unseen = /[^\p{L}\p{M}\p{N}\p{P}\p{S} ]|[\u115f\u1160\u2800\u3164\uffa0\ufffd]/gu;

// More marks on one letter than any language has cover the lines around it.
const heap = /(\p{M}{4})(\p{M}+)/gu;

const short = new Map([["\n", "\\n"], ["\r", "\\r"], ["\t", "\\t"], ["\0", "\\x00"]]);

function escape(character) {
  if (short.has(character)) return short.get(character);
  const code = character.codePointAt(0);
  if (code < 0x80) return "\\x" + code.toString(16).padStart(2, "0");
  return code > 0xffff ? "\\U" + code.toString(16).padStart(8, "0") : "\\u" + code.toString(16).padStart(4, "0");
}

// visible writes what cannot be seen as escapes, as the command does.
export function visible(text) {
  return String(text).replace(unseen, escape).replace(heap, (_, kept, rest) => kept + [...rest].map(escape).join(""));
}

// lines is visible for a text of several lines: line ends and tabs stay what they are.
export function lines(text) {
  return String(text).split(/([\n\t])/).map((part, i) => (i % 2 === 1 ? part : visible(part))).join("");
}

// cut returns the first characters of a text, and how many are left out.
export function cut(text, most) {
  if (text.length <= most) return { text, more: 0 };
  const code = text.charCodeAt(most - 1);
  const end = code >= 0xd800 && code < 0xdc00 ? most - 1 : most; // between two characters
  return { text: text.slice(0, end), more: text.length - end };
}

// group separates the thousands of a plain decimal.
export function group(text) {
  const [whole, fraction] = text.split(".");
  if (/[e-]/.test(text) || whole.length < 4) return text;
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ",");
  return fraction === undefined ? grouped : grouped + "." + fraction;
}

// number writes a number of JSON, which ECMAScript and RFC 8785 write alike.
export function number(value) {
  return group(Object.is(value, -0) ? "0" : String(value));
}

export function plural(count, noun, verb = "") {
  return `${number(count)} ${noun}${count === 1 ? "" : "s"} ${verb}`.trim();
}

const second = 1000, minute = 60 * second, hour = 60 * minute, day = 24 * hour;

// duration writes milliseconds in at most two units.
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

// instant reads an RFC 3339 date-time to milliseconds since 1970; NaN when it is
// none. A leap second is the first instant of the next second.
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
  const fraction = seconds === 60 ? 0 : Math.min(Number("0" + (found[7] ?? "")) * second, 999.9); // not rounded into the next second
  return date.getTime() + hours * hour + minutes * minute + seconds * second + fraction - offset;
}

// clock writes an instant in UTC, with its date or without.
export function clock(milliseconds, withDate = true) {
  const date = new Date(Math.floor(milliseconds)); // a Date cuts toward 1970
  if (Number.isNaN(date.getTime())) return "(no time)";
  const text = date.toISOString();
  const end = text.indexOf("T");
  return (withDate ? text.slice(0, end) + " " : "") + text.slice(end + 1, end + 9);
}
