// Package canon reads JSON strictly, once, and writes it canonically.
//
// # What is read
//
// [Parse] accepts the JSON texts (RFC 8259) that are I-JSON (RFC 7493): UTF-8
// without a byte order mark, no duplicate member names after unescaping, no lone
// surrogates, numbers within a finite IEEE-754 double (and at most 800 bytes of
// one before its exponent), one value and nothing but white space around it.
// Nesting and size are limited, by default to [MaxDepth] levels and [MaxBytes]
// bytes. Noncharacters such as U+FFFE pass. Nothing is normalized: the two
// spellings of é are two names and two values.
//
// The result is a [Document], a flat index over the source: for every value its
// span and kind, for every object the canonical order of its members. Hashing,
// look-up and schema checks all read this index, so there is no second parser to
// disagree with the first.
//
// # What is written
//
// [Document.AppendCanonical] writes RFC 8785 (JCS): no white space, members
// sorted by the UTF-16 code units of their names, strings with the least
// escaping, numbers as ECMAScript prints the nearest double. -0 is 0, 1e-999 is
// 0, 2.0 is 2. Any member can be left out, which is how a receipt's preimage is
// made without a copy of the receipt.
//
// # Why it is fast
//
// The parse marks each value whose source bytes are canonical already. Such
// spans are copied, whole objects of them at once; only the rest is rewritten.
// Sorting, the one step that is not linear, is O(n log n) and is skipped for
// members that are in order. Nothing is allocated once a reused Document has
// grown to the size of its documents.
//
// With a shell, for a file that is canonical already but for its last newline:
//
//	receipt canon file.json | cmp - <(head -c -1 file.json)
package canon
