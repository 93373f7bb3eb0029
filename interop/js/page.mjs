// The page index.html, which judges a receipt in the browser.

import { worst } from "./finding.mjs";
import { judge } from "./receipt.mjs";
import { readTrust } from "./trust.mjs";

const element = (id) => document.getElementById(id);

async function verify() {
  const [trust, receipt] = ["trust", "receipt"].map((id) => element(id).files[0]);
  if (trust === undefined || receipt === undefined) return "Choose both files.";
  const bytes = async (file) => new Uint8Array(await file.arrayBuffer());
  const finding = worst(await judge(await bytes(receipt), await readTrust(await bytes(trust))));
  return finding === undefined ? "verified" : `${finding.outcome}, ${finding.code} ${finding.pointer}`;
}

const show = () => verify().catch((error) => `not judged: ${error.message}`).then((text) => (element("verdict").textContent = text));
element("trust").addEventListener("change", show);
element("receipt").addEventListener("change", show);
