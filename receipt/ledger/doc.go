// Package ledger issues receipts so that none is lost and no chain forks, and
// keeps them.
//
//	store, err := ledger.Open(ctx, "receipts.db")
//	issuer := &ledger.Issuer{Store: store, Signer: signer} // or Unsigned
//	sealed, err := issuer.Issue(ctx, &draft)
//
// # Issuing
//
// An Issuer asks the Store for the head of the draft's stream, links, looks for
// secrets, seals and signs, and appends the receipt if the head is still the same
// (compare and swap); otherwise it begins anew with the new head. Signing may take
// long, so nothing is locked meanwhile. Any number of goroutines and processes
// may issue at once; they queue up, so that none waits for ever. The drafts that
// wait for one stream in one process are committed together: a group costs about
// as much as one.
//
// # When the outcome is unknown
//
// An error of the disk or of the network, a crash, a deadline: the receipt may be
// stored or not. Issue the same draft again, with the same receipt_id. If the
// first attempt was stored, its receipt is returned and no second one is made.
// Only another content under that id is ErrDuplicateID. [Issuer.IssueUntilKnown] does so by
// itself.
//
// # Keeping
//
// SQLite is one file (and its -wal and -shm beside it while it is in use), written
// with a write-ahead log that is synced before Append returns. FILE-head beside it
// says how far it got: a ledger that lacks something of that is not written into, and
// Check tells. Every row is compared with the receipt that it holds by whoever reads
// it; Check names all that are damaged. The file is watched: when it is deleted,
// replaced or cut while it is open, nothing more is acknowledged.
//
// Old receipts can be pruned: when a signed checkpoint is over the first of them and an
// archive has each, byte for byte, their content is taken out of the ledger. Ids, hashes and
// places stay, and so do the chain and all proofs.
//
// It can be read by those who may not write, on a read-only medium and on a full disk as well.
//
// # Stability
//
// This package may still change: it is not of the frozen core. A ledger that one version
// wrote is read by all later ones.
package ledger
