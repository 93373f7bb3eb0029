// Runs jobs in the WebAssembly core under node: node run.cjs WASM_EXEC WASM <jobs
// A job is a JSON line {"files": [path], "keys": [path], "options": {...}}; the
// answer a JSON line of what the sink got, or {"error": text}.
"use strict";
const fs = require("node:fs");
const readline = require("node:readline");

require(process.argv[2]);

function input(path) {
  const data = fs.readFileSync(path);
  return { name: path, size: data.length, read: async (offset, length) => new Uint8Array(data.subarray(offset, offset + length)) };
}

async function run(core, job) {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  const got = { lines: "", findings: [] };
  const parts = [];
  const keys = (job.keys ?? []).map((path) => ({ name: path, bytes: new Uint8Array(fs.readFileSync(path)) }));
  await core.verify(job.files.map(input), keys, [], JSON.stringify(job.options ?? {}), {
    keys: (text) => (got.keys = decoder.decode(text)),
    lines: (text) => parts.push(text),
    finding: (text) => got.findings.push(decoder.decode(text)),
    summary: (text) => (got.summary = decoder.decode(text)),
    aggregate: (text) => (got.aggregate = decoder.decode(text)),
  });
  got.lines = decoder.decode(Buffer.concat(parts));
  if (job.open) {
    const opened = await core.open(input(job.files[0]), job.open);
    got.hash = opened.hash;
    got.preimage = opened.preimage && Buffer.from(opened.preimage).toString("base64");
    if (job.tamper) {
      const tampered = await core.tamper(opened.source, job.tamper);
      got.tampered = Buffer.from(tampered.source).toString("base64");
    }
  }
  return got;
}

async function main() {
  const go = new Go();
  const { instance } = await WebAssembly.instantiate(fs.readFileSync(process.argv[3]), go.importObject);
  const ready = new Promise((resolve) => (globalThis.receiptReady = resolve));
  go.run(instance);
  await ready;
  for await (const line of readline.createInterface({ input: process.stdin })) {
    const answer = await run(globalThis.receiptCore, JSON.parse(line)).catch((error) => ({ error: String(error.message) }));
    await new Promise((written) => process.stdout.write(JSON.stringify(answer) + "\n", written));
  }
  process.exit(0); // the core waits for calls forever
}

main();
