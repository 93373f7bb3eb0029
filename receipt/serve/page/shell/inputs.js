// What somebody gave to the page: files of receipts, and files of keys.

// Larger files are no key sets.
const mostKeys = 4 << 20; // bytes

// The lists are replaced, never changed: a run keeps those that it was given.
export class Inputs {
  receipts = []; // {name, file}
  keys = []; // {name, bytes}
  #core;

  constructor(core) { this.#core = core; }

  // add sorts files into receipts and keys, by what they are, or all as keys. New
  // receipts take the place of those that were there; keys join theirs.
  async add(files, asKeys = false) {
    const receipts = [], keys = [];
    for (const file of files) {
      const bytes = file.size <= mostKeys ? new Uint8Array(await file.arrayBuffer()) : undefined;
      if (asKeys && !bytes) throw new Error(`${file.name} is too large for a key set`);
      if (asKeys || (bytes && (await this.#core.isKeys(bytes)))) keys.push({ name: file.name, bytes });
      else receipts.push({ name: unused(file.name, receipts), file });
    }
    if (receipts.length > 0) this.receipts = receipts;
    for (const file of keys) {
      if (!this.keys.some((known) => same(known.bytes, file.bytes))) this.keys = [...this.keys, { name: unused(file.name, this.keys), bytes: file.bytes }];
    }
  }

  removeKeys(file) { this.keys = this.keys.filter((known) => known !== file); }
}

function same(a, b) { return a.length === b.length && a.every((byte, i) => byte === b[i]); }

// unused makes a name one that no other file has: reports name files by it.
function unused(name, files) {
  for (let i = 1; ; i++) {
    const tried = i === 1 ? name : `${name} (${i})`;
    if (!files.some((file) => file.name === tried)) return tried;
  }
}
