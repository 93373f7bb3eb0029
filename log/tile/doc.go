// Package tile reads logs that have the layout of C2SP tlog-tiles, either from a directory or over
// HTTP.
//
// A reader identifies the tree that it reads by its size and root. Every hash is authenticated
// against that root. If a source returns other data, the result is an error and never wrong data.
// Callers should take the size and the root from a checkpoint whose signatures they have verified.
package tile
