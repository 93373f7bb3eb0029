// Package input splits the bytes of an input into documents. It decompresses a file, detects the
// format, splits the content into pieces of one document each, and parses the pieces. It verifies
// nothing.
//
// A [File] is opened and decompressed, and its [Kind] is detected unless the user has specified it.
// A cutter then splits the file into pieces. There are cutters for lines, arrays, pages of a list,
// and CBOR. A [Decoder] converts each [Piece] into a document or a fault.
package input
