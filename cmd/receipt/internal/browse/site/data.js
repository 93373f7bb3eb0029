// This module loads data files, which are scripts that call receiptData with their name and
// compressed JSON. A page that was opened from disk may load scripts, but may not read files.
const waiting = new Map(), loaded = new Map();
const names = /^(table|receipts)-\d+$/;
const addresses = globalThis.trustedTypes?.createPolicy("receipt-data", { createScriptURL: address });

function address(name) {
  if (!names.test(name)) throw new Error(`${name} is not a data file`);
  return `data/${name}.js`;
}

globalThis.receiptData = (name, packed) => {
  waiting.get(name)?.(unpack(packed));
  waiting.delete(name);
};

async function unpack(packed) {
  const text = atob(packed), bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).json();
}

// load returns the content of a data file.
export function load(name) {
  if (loaded.has(name)) return loaded.get(name);
  const content = new Promise((resolve, reject) => {
    waiting.set(name, resolve);
    const script = document.createElement("script");
    script.src = addresses ? addresses.createScriptURL(name) : address(name);
    script.onload = () => script.remove();
    script.onerror = () => reject(new Error(`${address(name)} cannot be read`));
    document.head.append(script);
  });
  loaded.set(name, content);
  for (const old of [...loaded.keys()].filter((key) => key.startsWith("receipts-")).slice(0, -20)) loaded.delete(old);
  return content;
}
