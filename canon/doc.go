// Package canon strictly parses JSON in a single pass, and writes its canonical form.
//
// # Input
//
// [Parse] accepts JSON texts (RFC 8259) that are also I-JSON (RFC 7493): UTF-8 without a byte order
// mark, no duplicate member names after unescaping, no lone surrogates, numbers within the range of
// a finite IEEE-754 double (with at most 800 bytes before the exponent), and one value surrounded
// only by whitespace. Nesting and size are limited, by default to [MaxDepth] levels and [MaxBytes]
// bytes. Noncharacters such as U+FFFE are accepted. Nothing is normalized: the two spellings of é
// are different names and different values.
//
// The result is a [Document], a flat index of the source. It contains every value's span and kind,
// and the canonical order of every object's members. Hashing, lookup, and schema checks all use
// this index, so no second parser can interpret the text differently.
//
// # Output
//
// [Document.AppendCanonical] writes the canonical form of RFC 8785 (JCS): no whitespace, members
// sorted by the UTF-16 code units of their names, strings with minimal escaping, and numbers as
// ECMAScript prints the nearest double. -0 becomes 0, 1e-999 becomes 0, and 2.0 becomes 2. Any
// value can be omitted. This makes it possible to write a receipt's preimage without copying the
// receipt.
//
// # Performance
//
// The parser marks each value whose source bytes are already canonical. Such spans, up to entire
// objects, are copied, and only the other parts are rewritten. Sorting is the only step that is not
// linear. It takes O(n log n) and is skipped if the members are in order. A reused Document
// allocates no memory once it has grown to the size of its documents.
//
// In a shell, for a file that is canonical except for its final newline:
//
//	receipt canon file.json | cmp - <(head -c -1 file.json)
package canon
