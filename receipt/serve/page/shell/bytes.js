// This module displays the bytes that the hash of a receipt covers, and explains how to hash them
// without this page.
import { h, section } from "../view/dom.js";
import { lines, number } from "../view/text.js";
import { button, download } from "./download.js";

// Longer text is not displayed completely, but the downloaded file is complete.
const most = 200_000; // characters

const decoder = new TextDecoder();

// renderBytes displays an opened document. In a demonstration, nothing can be downloaded.
export function renderBytes(document, demonstration) {
  if (!document.preimage) {
    return section("bytes", "The hashed bytes", h("p", {}, "There are none: the input is not a strict JSON object."), text("The text as it was received", document.source));
  }
  const copy = button("Copy the command", async () => {
    try {
      await navigator.clipboard.writeText(document.shell);
      copy.textContent = "Copied";
    } catch {
      copy.textContent = "Not allowed here: select it and copy";
    }
  });
  const save = button("Download the hashed bytes", () => download("preimage.json", new Blob([document.preimage])));
  return section("bytes", "The hashed bytes",
    h("p", {}, "The hash covers the receipt without /chain/receipt_hash and /signatures, in canonical form (RFC 8785). This page computed"),
    h("p", {}, h("code", { class: "hash" }, document.hash)),
    h("p", {}, "To compute it without this page, in a shell:"),
    raw(document.shell, "command"),
    demonstration ? null : h("p", { class: "buttons" }, copy, save),
    text("The hashed bytes", document.preimage),
    text("The complete receipt in canonical form", document.canonical),
    text("The text as it was received", document.source));
}

function text(name, bytes) {
  if (!bytes) return null;
  return h("details", {}, h("summary", {}, `${name}, ${number(bytes.length)} bytes`), raw(decoder.decode(bytes)));
}

// raw displays text that can be copied. Characters that are invisible, or that change the order of
// the text, are displayed as escapes. The downloaded file contains the original bytes.
function raw(value, kind = "") {
  const shown = document.createElement("pre");
  shown.className = kind;
  shown.tabIndex = 0; // so that keyboard users can scroll it
  shown.setAttribute("role", "region");
  shown.setAttribute("aria-label", kind === "command" ? "command" : "text");
  shown.dir = "ltr";
  shown.textContent = lines(value.length > most ? value.slice(0, most) : value);
  if (value.length <= most) return shown;
  return [shown, h("p", { class: "rest" }, `… ${number(value.length - most)} more characters, which are not drawn`)];
}
