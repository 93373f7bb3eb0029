// The command line in Node:
//
//	node main.mjs CASE           verifies a case of the corpus (fixtures/corpus/README.md)
//	node main.mjs --cases        verifies the cases whose paths are on stdin, one per line
//	node main.mjs --batch TRUST  verifies receipts from stdin, each with a length prefix of 4 bytes

import { readFileSync } from "node:fs";
import { resolve, dirname } from "node:path";
import { verifyCase } from "./case.mjs";
import { Finding, Unsupported, worst } from "./finding.mjs";
import { judge } from "./receipt.mjs";
import { readTrust } from "./trust.mjs";

// The words and exit codes of the contract (fixtures/corpus/README.md).
const answers = { verified: ["valid", 0], refuted: ["invalid", 1], undecided: ["undecidable", 2] };

// answer returns the output line and the exit code for a case.
async function answer(path) {
  const { task, inputs, options } = JSON.parse(readFileSync(path, "utf8"));
  const read = inputs.map(({ role, file }) => ({ role, bytes: new Uint8Array(readFileSync(resolve(dirname(path), file))) }));
  try {
    const finding = await verifyCase(task, read, options);
    const [verdict, exit] = answers[finding?.outcome ?? "verified"];
    return { line: JSON.stringify({ verdict, code: finding?.code ?? null }), exit };
  } catch (error) {
    // A thrown Finding indicates that the evidence cannot be read.
    if (!(error instanceof Unsupported || error instanceof Finding)) throw error;
    return { line: "", exit: 4 };
  }
}

// batch returns an output line for each receipt. The length prefixes are big-endian.
async function batch(trust, bytes) {
  const lines = [];
  for (let at = 0, size; at < bytes.length; at += 4 + size) {
    size = bytes.readUInt32BE(at);
    const finding = worst(await judge(new Uint8Array(bytes.subarray(at + 4, at + 4 + size)), trust));
    lines.push(`${finding?.outcome ?? "verified"} ${finding?.code ?? ""}`);
  }
  return lines;
}

const [mode, argument] = process.argv.slice(2);
if (mode === "--batch") {
  const lines = await batch(await readTrust(readFileSync(argument)), readFileSync(0));
  console.log(lines.join("\n"));
} else if (mode === "--cases") {
  for (const path of readFileSync(0, "utf8").trim().split("\n")) console.log((await answer(path)).line);
} else {
  const { line, exit } = await answer(mode);
  console.log(line);
  process.exitCode = exit;
}
