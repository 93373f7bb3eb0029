// This worker runs the core outside the main thread. Messages to the worker are {id, method, args}.
// The first message is {id, method: "start", args: [core]}, where core is a gzip file in base64, or
// the module that an earlier worker compiled from it. Answers are {id, result} or {id, error}, and
// may be preceded by {id, progress}.
import "wasm_exec";
import { Lines } from "./shell/lines.js";

// The interval between progress messages, which is as short as a person can notice.
const interval = 100; // milliseconds

async function start(core) {
  const module = core instanceof WebAssembly.Module ? core : await compile(core);
  const go = new Go();
  const instance = await WebAssembly.instantiate(module, go.importObject);
  const ready = new Promise((resolve) => { globalThis.receiptReady = resolve; });
  go.run(instance);
  await ready;
  return { tool: receiptCore.tool, module };
}

async function compile(core) {
  const packed = Uint8Array.fromBase64 ? Uint8Array.fromBase64(core) : Uint8Array.from(atob(core), (c) => c.charCodeAt(0));
  const plain = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return WebAssembly.compile(await new Response(plain).arrayBuffer());
}

const decoder = new TextDecoder();

// verify reads the input files piece by piece, and returns everything that the page displays. The
// report is returned as a Blob, because it may be long.
async function verify(tell, inputs, keys, beside, options) {
  let bytes = 0, last = performance.now();
  const total = inputs.reduce((sum, input) => sum + input.file.size, 0) * (inputs.length > 1 || options.unordered ? 2 : 1);
  const lines = new Lines(), result = { findings: [], total };
  const read = (file) => async (offset, length) => {
    const piece = new Uint8Array(await file.slice(offset, offset + length).arrayBuffer());
    bytes += piece.length;
    if (performance.now() - last >= interval) {
      last = performance.now();
      tell({ bytes, total, receipts: lines.count, findings: result.findings.length });
    }
    return piece;
  };
  await receiptCore.verify(inputs.map(({ name, file }) => ({ name, size: file.size, read: read(file) })), keys, beside, JSON.stringify(options), {
    keys: (text) => { result.keys = decoder.decode(text); },
    lines: (text) => lines.add(decoder.decode(text)),
    finding: (text) => { result.findings.push(decoder.decode(text)); },
    summary: (text) => { result.summary = decoder.decode(text); },
    aggregate: (text) => { result.aggregate = decoder.decode(text); },
  });
  return { ...result, reports: lines.kept, report: lines.report(result.summary) };
}

function source({ name, file }) {
  return { name, size: file.size, read: async (offset, length) => new Uint8Array(await file.slice(offset, offset + length).arrayBuffer()) };
}

const methods = {
  start: (_, core) => start(core),
  recognize: async (_, head, whole) => JSON.parse(await receiptCore.recognize(head, whole)),
  open: (_, input, index) => receiptCore.open(source(input), index),
  fitting: (_, input, index, beside) => receiptCore.fitting(source(input), index, beside),
  tamper: (_, source, pointer) => receiptCore.tamper(source, pointer),
  verify,
};

addEventListener("message", async ({ data: { id, method, args } }) => {
  try {
    postMessage({ id, result: await methods[method]((progress) => postMessage({ id, progress }), ...args) });
  } catch (error) {
    postMessage({ id, error: String(error?.message ?? error) });
  }
});
