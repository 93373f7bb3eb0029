// Package tile reads logs that have the layout of C2SP tlog-tiles, either from a directory or over
// HTTP.
//
// A reader identifies the tree that it reads by its size and root. Every hash is authenticated
// against that root. If a source returns other data, the result is an error and never wrong data.
// The tree should be read from a checkpoint whose signatures were verified.
package tile
