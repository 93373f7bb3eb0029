// Package store keeps a log of receipt hashes on a POSIX file system, with Tessera.
//
// An entry of the log is the 32 bytes of a receipt_hash, as in the trees of receipt batch. The
// directory has the layout of C2SP tlog-tiles, so any web server can publish its tiles. The
// checkpoint to publish is .receipt-log/checkpoint: Tessera's checkpoint with the cosignatures that
// the quorum of a policy requires.
//
// # Once each
//
// One process opens a directory at a time. It keeps the hashes of all entries in memory, up to about 100
// bytes each, and reads them from the entries when it starts. A hash that is in the log is not
// added again, so a client may repeat a request whose answer was lost. An entry whose future failed
// for any reason except pushback may or may not be in the tree, so the log then stops: Failed is
// closed, and the process should end.
//
// # Start
//
// Open recomputes the root from the entries and compares it with the last published checkpoint. It
// rejects a directory whose entries were changed or cut off, and one that belongs to another key.
package store
