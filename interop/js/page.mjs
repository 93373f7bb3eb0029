// The script of index.html, which verifies a receipt in the browser. The inputs are the chosen files or
// the addresses in the query, as in index.html?trust=trust.json&receipt=task.json. With ?corpus=ADDRESS,
// the page verifies the cases of a corpus (fixtures/corpus/README.md), and with &every=N only every Nth
// case. With &report=ADDRESS, it also posts the result to that address.

import { verifyCase } from "./case.mjs";
import { Unsupported, worst } from "./finding.mjs";
import { judge } from "./receipt.mjs";
import { readTrust } from "./trust.mjs";

const element = (id) => document.getElementById(id);
const query = new URLSearchParams(location.search);

async function fetchBytes(address) {
  const response = await fetch(address);
  if (!response.ok) throw new Error(`${address}: ${response.status}`);
  return new Uint8Array(await response.arrayBuffer());
}

// read returns the bytes of a chosen file or from an address, or undefined if there is neither.
async function read(id) {
  const file = element(id).files[0];
  if (file === undefined) return query.has(id) ? fetchBytes(query.get(id)) : undefined;
  return new Uint8Array(await file.arrayBuffer());
}

async function verify() {
  if (query.has("corpus")) return verifyCorpus(new URL(query.get("corpus"), location.href), Number(query.get("every") ?? 1));
  const [trust, receipt] = [await read("trust"), await read("receipt")];
  if (trust === undefined || receipt === undefined) return "Choose both files.";
  const finding = worst(await judge(receipt, await readTrust(trust)));
  return finding === undefined ? "verified" : `${finding.outcome}, ${finding.code} ${finding.pointer}`;
}

// verifyCorpus counts the answers and lists the cases whose answer is not the expected one.
async function verifyCorpus(corpus, every) {
  const { vectors } = JSON.parse(new TextDecoder().decode(await fetchBytes(new URL("MANIFEST.json", corpus))));
  const chosen = vectors.filter((_, i) => i % every === 0);
  let answered = 0;
  const wrong = [];
  for (const { id, task, inputs, options, expected } of chosen) {
    try {
      const fetched = inputs.map(async ({ role, file }) => ({ role, bytes: await fetchBytes(new URL(file, corpus)) }));
      const finding = await verifyCase(task, await Promise.all(fetched), options);
      if ((finding?.outcome ?? "verified") !== expected.outcome || (finding?.code ?? null) !== expected.code) wrong.push(id);
      answered++;
    } catch (error) {
      if (!(error instanceof Unsupported)) throw error;
    }
  }
  return `${chosen.length} cases, ${answered} answered, ${wrong.length} differ ${wrong.join(" ")}`.trim();
}

const show = async () => {
  element("verdict").textContent = await verify().catch((error) => `not judged: ${error.message}`);
};
element("trust").addEventListener("change", show);
element("receipt").addEventListener("change", show);
await show();
if (query.has("report")) await fetch(query.get("report"), { method: "POST", body: element("verdict").textContent });
