// What somebody gave to the page, sorted by what it is: files of receipts, of keys, of
// evidence for them, and files that are something else.

// What tells a file is in its first bytes, and evidence is not longer.
const head = 1 << 20; // bytes

// Larger files are no key sets, and no evidence.
const mostBeside = 32 << 20; // bytes

const evidence = new Set(["proof", "checkpoint", "disclosures", "batch"]);

// ofOne says whether evidence is of one receipt, and shows nothing of any other.
export function ofOne({ kind }) { return kind === "proof" || kind === "disclosures"; }

// The lists are replaced, never changed: a run keeps those that it was given.
export class Inputs {
  receipts = []; // {name, file, what}
  keys = []; // {name, bytes, what, together}: given at once with receipts
  beside = []; // {name, bytes, kind, what}
  strangers = []; // {name, size, what, next}
  #core;

  constructor(core) { this.#core = core; }

  // add sorts files by what they are, or takes all for keys. New receipts, or what was
  // given for one, take the place of those that were there, with the evidence that was
  // theirs; everything else joins what is there.
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

  // use marks the evidence as that of the receipts that are there.
  use() {
    for (const one of this.beside) one.used = this.receipts.length > 0;
  }

  remove(file) {
    this.keys = this.keys.filter((known) => known !== file);
    this.beside = this.beside.filter((known) => known !== file);
  }

  // forget lets go of the files that a verdict was about, when those that came after them
  // could not be read.
  forget() { this.receipts = this.strangers = []; }

  clear() { this.receipts = this.keys = this.beside = this.strangers = []; }
}

// joined adds files to others, but for those that are there already.
function joined(known, files) {
  for (const file of files) {
    if (!known.some((one) => same(one.bytes, file.bytes))) known = [...known, { ...file, name: unused(file.name, known) }];
  }
  return known;
}

function same(a, b) { return a.length === b.length && a.every((byte, i) => byte === b[i]); }

// unused makes a name one that no other file has: reports name files by it.
function unused(name, files) {
  for (let i = 1; ; i++) {
    const tried = i === 1 ? name : `${name} (${i})`;
    if (!files.some((file) => file.name === tried)) return tried;
  }
}
