// Package input cuts the bytes of an input into documents: it decompresses and sniffs a file,
// cuts it into pieces, one for each document, and parses these. It judges nothing.
//
// A [File] is opened and decompressed, and sniffed if its [Kind] is not known. A cutter cuts
// it into pieces: one for lines, one for arrays, one for pages of a list, one for CBOR. A
// [Decoder] turns a [Piece] into a document, or a fault, or a document of another kind.
package input
