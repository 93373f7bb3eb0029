// Package input cuts the bytes of an input into documents: it decompresses a file, detects
// its format, cuts it into pieces of one document each, and parses the pieces. It verifies
// nothing.
//
// A [File] is opened and decompressed, and its [Kind] is detected if it is not known. A cutter cuts
// the file into pieces. There are cutters for lines, arrays, pages of a list, and CBOR. A [Decoder]
// converts a [Piece] into a document, a fault, or another kind of document.
package input
