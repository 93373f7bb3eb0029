// Package canon strictly parses JSON in a single pass, and writes its canonical form.
//
// # Input
//
// [Parse] accepts JSON texts (RFC 8259) that are also I-JSON (RFC 7493): UTF-8 without a byte order
// mark, no duplicate member names after unescaping, no lone surrogates, numbers within the range of
// a finite IEEE-754 double (with at most 800 bytes before the exponent, if there is one), and one
// value surrounded only by whitespace. Nesting and size are limited, by default to [MaxDepth] levels
// and [MaxBytes] bytes. Noncharacters, such as U+FFFE, are accepted. Nothing is normalized, so two
// names or values that spell é in different ways are different.
//
// The result is a [Document], a flat index of the source. It contains the span and the kind of
// every value, and the canonical order of the members of every object. Hashing, lookup, and schema
// checks all use this index, so there is no second parser that could interpret the text
// differently.
//
// # Output
//
// [Document.AppendCanonical] writes the canonical form of RFC 8785 (JCS): no whitespace, members
// sorted by the UTF-16 code units of their names, strings with minimal escaping, and numbers as
// ECMAScript prints the nearest double. -0 becomes 0, 1e-999 becomes 0, and 2.0 becomes 2. Any
// value can be omitted from the output. A receipt's preimage can therefore be written without
// copying the receipt.
//
// # Performance
//
// The parser marks each value whose source bytes are already canonical. These spans, which may be
// entire objects, are copied, and only the other parts are rewritten. Sorting members is the only
// step that does not take linear time. Sorting takes O(n log n) time and is skipped if the members
// are already in order. If a Document is reused, parsing allocates no memory once its index is
// large enough.
//
// In a shell, this command checks that a file is canonical except for its final newline:
//
//	receipt canon file.json | cmp - <(head -c -1 file.json)
package canon
