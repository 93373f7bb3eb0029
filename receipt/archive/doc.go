// Package archive encodes receipts as deterministic CBOR (RFC 8949 section 4.2.1), and decodes
// exactly the encodings that it produces.
//
// A .cbor file is one item, which is one receipt. A .cborseq file is a CBOR sequence (RFC
// 8742): items one after another, with nothing before, between, or after them. The media type
// of an item is [MediaType].
//
// The archive of a receipt is another encoding of the same JSON value, never a different receipt.
// Its hash is computed from the canonical JSON (RFC 8785), so a JSON file and an archive of the
// same receipt get the same verdict, and no hash is ever computed from CBOR bytes.
//
// # The exact bytes
//
// Every JSON value has one encoding, and every accepted encoding represents one value:
//
//	JSON                                     CBOR                          example
//	null, false, true                        simple 22, 20, 21             f6, f4, f5
//	integral number within ±(2^53−1)         integer, shortest head        2.0 and 2e0 → 02, -1 → 20
//	-0                                       the integer 0                 00
//	other number                             shortest of float16, 32, 64   1.5 → f93e00
//	  that keeps the value                                                 0.1842 → fb3fc793dd97f62b6b
//	integral number outside ±(2^53−1)        rejected: number_precision
//	string                                   text of definite length       "a" → 6161
//	array                                    array of definite length      [] → 80
//	object                                   map of definite length, text  {"b":1,"aa":2} → a261620162616102
//	  keys in bytewise order of their encodings: shorter keys first
//
// The order of members therefore differs from that of canonical JSON, which compares UTF-16 code
// units: in canonical JSON, aa precedes b.
//
// Everything else is rejected: tags, byte strings, undefined, other simple values, NaN, infinities,
// keys that are not text, duplicate or misordered keys, indefinite lengths, heads or floats that
// could be shorter, floats with integral values, invalid UTF-8, and bytes after an item. One rule
// enforces all of this: an item is accepted only if encoding its value produces the same bytes.
//
// # Limits
//
// An archive has the same limits as a receipt: [receipt.MaxDepth] nested arrays and objects, and
// [receipt.MaxBytes] of canonical JSON. An item is at most [MaxItemBytes] long, which is enough for
// all such JSON. There are no other limits on arrays and objects. A length that an item states is
// never trusted: memory is allocated only for bytes that exist.
//
// # By hand
//
// The following program computes the archive of a receipt with Python's standard library. Save it
// as archive.py:
//
//	import json, struct, sys
//
//	def head(major, n):
//	    for info, end, form in (24, 1<<8, ">B"), (25, 1<<16, ">H"), (26, 1<<32, ">I"), (27, 1<<64, ">Q"):
//	        if n < 24: return bytes([major << 5 | n])
//	        if n < end: return bytes([major << 5 | info]) + struct.pack(form, n)
//
//	def encode(v):
//	    if v is None or isinstance(v, bool): return {False: b"\xf4", True: b"\xf5", None: b"\xf6"}[v]
//	    if isinstance(v, int): return head(0, v) if v >= 0 else head(1, -1 - v)
//	    if isinstance(v, float):
//	        for first, form in (b"\xf9", ">e"), (b"\xfa", ">f"), (b"\xfb", ">d"):
//	            try: b = struct.pack(form, v)
//	            except OverflowError: continue
//	            if struct.unpack(form, b)[0] == v: return first + b
//	    if isinstance(v, str): return head(3, len(v.encode())) + v.encode()
//	    if isinstance(v, list): return head(4, len(v)) + b"".join(map(encode, v))
//	    return head(5, len(v)) + b"".join(sorted(encode(n) + encode(v[n]) for n in v))
//
//	sys.stdout.buffer.write(encode(json.load(sys.stdin)))
//
// Its input is canonical JSON, in which integral numbers have no decimal point. These two
// commands print the same digest:
//
//	receipt canon receipt.json | python3 archive.py | sha256sum
//	sha256sum <receipt.cbor
//
// # Stability
//
// The API of this package may still change. The encoding does not change: every later version reads
// every archive that was readable before.
package archive
