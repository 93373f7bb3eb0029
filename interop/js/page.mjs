// The page index.html, which judges a receipt in the browser: of the chosen files, or of the addresses
// in the query, as in index.html?trust=trust.json&receipt=task.json.

import { worst } from "./finding.mjs";
import { judge } from "./receipt.mjs";
import { readTrust } from "./trust.mjs";

const element = (id) => document.getElementById(id);
const query = new URLSearchParams(location.search);

// read returns the bytes of a chosen file or of an address, or undefined.
async function read(id) {
  const source = element(id).files[0] ?? (query.has(id) ? await fetch(query.get(id)) : undefined);
  return source && new Uint8Array(await source.arrayBuffer());
}

async function verify() {
  const [trust, receipt] = [await read("trust"), await read("receipt")];
  if (trust === undefined || receipt === undefined) return "Choose both files.";
  const finding = worst(await judge(receipt, await readTrust(trust)));
  return finding === undefined ? "verified" : `${finding.outcome}, ${finding.code} ${finding.pointer}`;
}

const show = async () => {
  element("verdict").textContent = await verify().catch((error) => `not judged: ${error.message}`);
};
element("trust").addEventListener("change", show);
element("receipt").addEventListener("change", show);
await show();
