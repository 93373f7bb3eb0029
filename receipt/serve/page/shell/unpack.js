// Takes out what the generator of the page packed: a .lzma file (the format of the LZMA
// SDK), whole in memory.

// unpack returns the bytes. The header tells how many there are; a file that ends before
// them is an error.
export function unpack(file) {
  const view = new DataView(file.buffer, file.byteOffset, file.length);
  let rest = file[0];
  const lc = rest % 9, lp = (rest = Math.floor(rest / 9)) % 5, pb = Math.floor(rest / 5);
  const size = view.getUint32(5, true);
  if (view.getUint32(9, true) !== 0) throw new Error("the verifier is larger than a page can hold");
  const out = new Uint8Array(size);

  // The range decoder: range and code are 32 bits without a sign.
  let at = 18, range = 0xffffffff, code = view.getUint32(14);
  const bit = (probs, i) => {
    if (range < 0x1000000) {
      range = (range << 8) >>> 0;
      code = ((code << 8) | file[at++]) >>> 0;
    }
    const p = probs[i], bound = (range >>> 11) * p;
    if (code < bound) {
      range = bound;
      probs[i] = p + ((2048 - p) >> 5);
      return 0;
    }
    range -= bound;
    code -= bound;
    probs[i] = p - (p >> 5);
    return 1;
  };
  const direct = (count) => {
    let value = 0;
    for (; count > 0; count--) {
      if (range < 0x1000000) {
        range = (range << 8) >>> 0;
        code = ((code << 8) | file[at++]) >>> 0;
      }
      range >>>= 1;
      const one = code >= range ? 1 : 0;
      if (one) code -= range;
      value = (value << 1) | one;
    }
    return value;
  };
  const tree = (probs, base, count) => {
    let m = 1;
    for (let i = 0; i < count; i++) m = (m << 1) | bit(probs, base + m);
    return m - (1 << count);
  };
  const reverse = (probs, base, count) => {
    let m = 1, value = 0;
    for (let i = 0; i < count; i++) {
      const b = bit(probs, base + m);
      m = (m << 1) | b;
      value |= b << i;
    }
    return value;
  };

  const probs = (count) => new Uint16Array(count).fill(1024);
  const states = 12, places = 1 << pb;
  const isMatch = probs(states * places), isRep = probs(states), isRep0 = probs(states), isRep1 = probs(states), isRep2 = probs(states), isRep0Long = probs(states * places);
  const literals = probs(0x300 << (lc + lp)), slots = probs(4 * 64), special = probs(128), align = probs(16);
  const lengths = () => ({ choice: probs(2), low: probs(places * 8), mid: probs(places * 8), high: probs(256) });
  const matchLength = lengths(), repLength = lengths();
  const length = (of, place) => {
    if (bit(of.choice, 0) === 0) return 2 + tree(of.low, place * 8, 3);
    if (bit(of.choice, 1) === 0) return 10 + tree(of.mid, place * 8, 3);
    return 18 + tree(of.high, 0, 8);
  };

  let state = 0, rep0 = 0, rep1 = 0, rep2 = 0, rep3 = 0, to = 0;
  while (to < size) {
    if (at > file.length + 8) throw new Error("the verifier in this page is damaged");
    const place = to & (places - 1);
    if (bit(isMatch, state * places + place) === 0) {
      const previous = to > 0 ? out[to - 1] : 0;
      const base = 0x300 * (((to & ((1 << lp) - 1)) << lc) + (previous >> (8 - lc)));
      let symbol = 1;
      if (state >= 7) {
        let other = out[to - rep0 - 1];
        do {
          const o = (other >> 7) & 1;
          other <<= 1;
          const b = bit(literals, base + ((1 + o) << 8) + symbol);
          symbol = (symbol << 1) | b;
          if (o !== b) break;
        } while (symbol < 0x100);
      }
      while (symbol < 0x100) symbol = (symbol << 1) | bit(literals, base + symbol);
      out[to++] = symbol;
      state = state < 4 ? 0 : state < 10 ? state - 3 : state - 6;
      continue;
    }

    let count;
    if (bit(isRep, state) === 1) {
      if (bit(isRep0, state) === 0) {
        if (bit(isRep0Long, state * places + place) === 0) {
          state = state < 7 ? 9 : 11;
          out[to] = out[to - rep0 - 1];
          to++;
          continue;
        }
      } else {
        let distance;
        if (bit(isRep1, state) === 0) distance = rep1;
        else {
          if (bit(isRep2, state) === 0) distance = rep2;
          else {
            distance = rep3;
            rep3 = rep2;
          }
          rep2 = rep1;
        }
        rep1 = rep0;
        rep0 = distance;
      }
      count = length(repLength, place);
      state = state < 7 ? 8 : 11;
    } else {
      rep3 = rep2;
      rep2 = rep1;
      rep1 = rep0;
      count = length(matchLength, place);
      state = state < 7 ? 7 : 10;
      const slot = tree(slots, Math.min(count - 2, 3) * 64, 6);
      if (slot < 4) rep0 = slot;
      else {
        const more = (slot >> 1) - 1;
        rep0 = (2 | (slot & 1)) * 2 ** more;
        if (slot < 14) rep0 += reverse(special, rep0 - slot, more);
        else rep0 += direct(more - 4) * 16 + reverse(align, 0, 4);
      }
    }
    if (rep0 >= to || count > size - to) throw new Error("the verifier in this page is damaged");
    for (const end = to + count; to < end; to++) out[to] = out[to - rep0 - 1];
  }
  return out;
}
