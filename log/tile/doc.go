// Package tile reads logs in the layout of C2SP tlog-tiles: a directory, or the same files over
// HTTP.
//
// A reader names the tree that it reads, by size and root. Every hash is authenticated against
// that root, so a source that returns other data causes an error and never a wrong result. The
// tree should be from a checkpoint whose signatures were verified.
package tile
