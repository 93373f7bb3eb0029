// Package archive encodes receipts in deterministic CBOR (RFC 8949 section 4.2.1), and decodes only
// encodings that it could have produced.
//
// A .cbor file contains one item, which is one receipt. A .cborseq file contains a CBOR sequence
// (RFC 8742): items one after the other, with nothing before, between, or after them. The media
// type for an item is [MediaType].
//
// The archive of a receipt encodes the same JSON value and is never a different receipt. The hash
// of the receipt is computed from its canonical JSON (RFC 8785), never from CBOR. Verification
// therefore has the same result for a JSON file and for its archive.
//
// # The exact bytes
//
// Every JSON value has exactly one encoding, and every accepted encoding represents exactly one
// value:
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
// This order of members differs from that of canonical JSON, which compares UTF-16 code units and
// therefore puts "aa" before "b".
//
// Everything else is rejected: tags, byte strings, undefined, other simple values, NaN, infinities,
// keys that are not strings, keys that are duplicate or in the wrong order, indefinite lengths,
// heads and floats that are longer than necessary, floats with integral values, invalid UTF-8, and
// bytes after an item. One rule is sufficient for all of this: an item is accepted only if encoding
// its value results in the same bytes.
//
// # Limits
//
// The limits for an archive are those for a receipt: [receipt.MaxDepth] nested arrays and objects,
// and [receipt.MaxBytes] of canonical JSON. An item is at most [MaxItemBytes] long, which is
// sufficient for all such JSON. There are no other limits on arrays and objects. A length in an
// item is never trusted: memory is allocated only for bytes that are actually present.
//
// # By hand
//
// The following program creates the archive of a receipt, and needs only the standard library of
// Python. Save the program as archive.py:
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
// Its input must be canonical JSON, in which integral numbers have no decimal point. The following
// two commands print the same digest:
//
//	receipt canon receipt.json | python3 archive.py | sha256sum
//	sha256sum <receipt.cbor
//
// # Stability
//
// The API of this package may still change. The encoding will not change: every later version can
// read all existing archives.
package archive
