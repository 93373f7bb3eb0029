// This module sorts the files that the user added into receipts, keys, evidence for receipts, and
// other files.

// The number of bytes at the beginning of a file that are used to recognize it.
const head = 1 << 20; // bytes

// Larger files are neither key sets nor evidence.
const mostBeside = 32 << 20; // bytes

const evidence = new Set(["proof", "checkpoint", "disclosures", "batch"]);

// ofOne reports whether a kind of evidence belongs to a single receipt.
export function ofOne({ kind }) { return kind === "proof" || kind === "disclosures"; }

// The lists are replaced instead of changed, because each run uses the lists with which it started.
export class Inputs {
  receipts = []; // {name, file, what}
  keys = []; // {name, bytes, what, together}; together if added in the same selection as receipts
  beside = []; // {name, bytes, kind, what}
  strangers = []; // {name, size, what, next}
  #core;

  constructor(core) { this.#core = core; }

  // add sorts files by kind. If asKeys is set, it treats all of them as keys. New receipts, and
  // files that were added as receipts, replace the previous ones and the evidence for them. All
  // other files are added to the existing files.
  async add(files, { asKeys = false, known = false } = {}) {
    const sorted = { receipts: [], keys: [], beside: [], strangers: [] };
    for (const file of files) await this.#sort(file, asKeys, sorted);

    if (sorted.receipts.length + sorted.strangers.length > 0) {
      this.receipts = sorted.receipts;
      this.strangers = sorted.strangers;
      this.beside = this.beside.filter((one) => !one.used);
    } else if (this.receipts.length === 0) {
      this.strangers = [];
    }
    for (const key of sorted.keys) key.together = known ? undefined : sorted.receipts.length > 0;
    this.keys = joined(this.keys, sorted.keys);
    this.beside = joined(this.beside, sorted.beside);
  }

  async #sort(file, asKeys, sorted) {
    if (file.size === 0) {
      sorted.strangers.push({ name: file.name, size: 0, what: "an empty file", next: "ask for it again: what was in it got lost on its way" });
      return;
    }
    const first = new Uint8Array(await file.slice(0, head).arrayBuffer());
    const found = asKeys ? { kind: "keys", what: "a key set" } : await this.#core.recognize(first, file.size <= head);
    const what = found.what, beside = asKeys || found.kind === "keys" || evidence.has(found.kind);
    if (beside && file.size > mostBeside) throw new Error(`${file.name} is too large for ${what}`);
    const bytes = !beside || file.size <= head ? first : new Uint8Array(await file.arrayBuffer());

    if (found.kind === "keys") sorted.keys.push({ name: file.name, bytes, what });
    else if (beside) sorted.beside.push({ name: file.name, bytes, kind: found.kind, what });
    else if (found.kind === "") sorted.receipts.push({ name: unused(file.name, sorted.receipts), file, what: "receipts" });
    else sorted.strangers.push({ name: file.name, size: file.size, what, next: found.next });
  }

  // use marks the evidence as belonging to the current receipts.
  use() {
    for (const one of this.beside) one.used = this.receipts.length > 0;
  }

  remove(file) {
    this.keys = this.keys.filter((known) => known !== file);
    this.beside = this.beside.filter((known) => known !== file);
  }

  // forget removes the files of the last verdict if the files that were added afterward could not
  // be read.
  forget() { this.receipts = this.strangers = []; }

  clear() { this.receipts = this.keys = this.beside = this.strangers = []; }
}

// joined adds files to a list, except for files that the list already contains.
function joined(known, files) {
  for (const file of files) {
    if (!known.some((one) => same(one.bytes, file.bytes))) known = [...known, { ...file, name: unused(file.name, known) }];
  }
  return known;
}

function same(a, b) { return a.length === b.length && a.every((byte, i) => byte === b[i]); }

// unused returns a name that no other file has, because reports identify files by name.
function unused(name, files) {
  for (let i = 1; ; i++) {
    const tried = i === 1 ? name : `${name} (${i})`;
    if (!files.some((file) => file.name === tried)) return tried;
  }
}
