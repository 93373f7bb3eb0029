// Package store stores a log of receipt hashes on a POSIX file system, using Tessera.
//
// An entry in the log consists of the 32 bytes of a receipt_hash, as in the trees of the command
// "receipt batch". The directory has the layout of C2SP tlog-tiles, so any web server can publish
// the tiles. The checkpoint to publish is in .receipt-log/checkpoint. It is Tessera's checkpoint
// with the cosignatures that the quorum of a policy requires.
//
// # Once each
//
// Only one process at a time can open a directory. The process keeps the hashes of all entries in
// memory, which takes up to about 100 bytes per entry, and reads the hashes from the entries at
// startup. A hash that is already in the log is not added again, so a client may repeat a request
// whose response was lost. If adding an entry fails for any reason except pushback, the entry may
// or may not be in the tree. The log then stops: the channel returned by Failed is closed, and the
// process should end.
//
// # Start
//
// Open recomputes the hash tiles and the root from the entries, and compares them with the stored
// tiles and the last published checkpoint. It rejects a directory in which entries or hash tiles
// were changed or are missing, and a directory that belongs to another key.
package store
