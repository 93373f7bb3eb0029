// A simple JavaScript verifier, which ../node.go compares with the Go verifier.
//
//   node verify.mjs SCHEMA KEYS
//
// The program reads one command per line and writes one line for each:
//
//   verdicts FILE   for each line of FILE, 1 if it is a valid receipt, or else 0
//   time FILE       the processor seconds for the verification of all receipts in FILE
import { createHash, createPublicKey, verify } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import Ajv from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import canonicalize from 'canonicalize';

const read = (path) => readFileSync(path, 'utf8');
const [schemaFile, keysFile] = process.argv.slice(2);
const ajv = new Ajv.default({ strict: false });
formats.default(ajv);
const fits = ajv.compile(JSON.parse(read(schemaFile)));
const keys = new Map(JSON.parse(read(keysFile)).keys.map((k) => [k.kid, createPublicKey({ key: k, format: 'jwk' })]));

function good(text) {
  const receipt = JSON.parse(text);
  if (!fits(receipt)) return false;
  const stated = receipt.chain.receipt_hash;
  const entries = receipt.signatures;
  delete receipt.chain.receipt_hash;
  delete receipt.signatures;
  const computed = 'sha256:' + createHash('sha256').update(canonicalize(receipt)).digest('hex');
  if (computed !== stated || entries.length === 0) return false;
  return entries.every((e) => keys.has(e.key_id) && e.signature.startsWith('base64:') &&
    verify(null, Buffer.from(stated), keys.get(e.key_id), Buffer.from(e.signature.slice(7), 'base64')));
}

function time(texts) {
  const before = process.cpuUsage();
  for (const text of texts) {
    if (!good(text)) throw new Error('a receipt is not good');
  }
  const used = process.cpuUsage(before);
  return (used.user + used.system) / 1e6;
}

for await (const line of createInterface({ input: process.stdin })) {
  const space = line.indexOf(' ');
  const texts = read(line.slice(space + 1)).trimEnd().split('\n');
  console.log(line.startsWith('time ') ? time(texts) : texts.map((t) => (good(t) ? '1' : '0')).join(''));
}
