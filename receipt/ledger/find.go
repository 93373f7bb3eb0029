package ledger

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt"
)

// A Key selects a row: by ID, by Hash, by Stream and Position, or by Rival. The first of these
// fields that is not zero is used; the zero Key selects no row.
type Key struct {
	ID       string
	Hash     canon.Digest // if several rows match, the row that was stored first
	Stream   chain.Stream
	Position uint64

	// Rival is the sequence number of a row. It selects the earliest row of the same stream that
	// names the same predecessor and was stored before that row.
	Rival int64

	// Sees excludes rows in streams for which it returns false. These rows are excluded before they
	// are read, because the time needed to read them would reveal that they exist. If it is nil, no
	// rows are excluded.
	Sees func(chain.Stream) bool
}

// selects reports whether the key selects a row.
func (k *Key) selects(r *Row) bool {
	switch {
	case k.ID != "":
		return r.ID == k.ID
	case k.Hash != canon.Digest{}:
		return r.Hash == k.Hash
	case k.Position > 0:
		return r.Stream == k.Stream && r.Position == k.Position
	}
	return true
}

// find returns the row that a key selects, and an error if the store returns neither a row nor an
// error.
func find(ctx context.Context, s Store, k Key) (*Row, error) {
	r, err := s.Find(ctx, k)
	if r == nil && err == nil {
		err = errors.New("ledger: the store returned neither a row nor an error")
	}
	return r, err
}

// Lookup returns the row that a key selects. If the row is not intact, the error is a *[Fault]. The
// content of the receipt in the row may not match its hash.
func Lookup(ctx context.Context, s Store, k Key) (*Row, error) {
	r, err := find(ctx, s, k)
	if err != nil {
		return nil, err
	}
	if err := r.Intact(); err != nil {
		return nil, err
	}
	if !k.selects(r) {
		return nil, r.misled()
	}
	return r, nil
}

// Get returns the receipt with the given receipt_id. Get checks that the receipt has this ID, that
// its content matches its hash, and that its row matches the receipt. If not, the error is a
// *[receipt.RefutedError] or a *[Fault]. If the receipt was pruned, the error is a *[PrunedError].
// If there is no such receipt, the error is or wraps ErrNotFound.
func Get(ctx context.Context, s Store, receiptID string) (*receipt.Sealed, error) {
	r, err := Lookup(ctx, s, Key{ID: receiptID})
	if err == nil && r.Pruned {
		err = prunedError(ctx, s, r)
	}
	if err != nil {
		return nil, err
	}
	return receipt.ParseSealed(r.JSON)
}

// prunedError returns the error for a row whose receipt was pruned.
func prunedError(ctx context.Context, s Store, r *Row) error {
	p, ok := s.(Pruner)
	if !ok {
		return fmt.Errorf("ledger: receipt %.200q has no content, and the store records no archive", r.ID)
	}
	list, err := p.Prunings(ctx)
	if err != nil {
		return err
	}
	for _, p := range list {
		if r.Sequence > p.After && r.Sequence <= p.Last {
			return &PrunedError{ID: r.ID, Hash: r.Hash, Stream: r.Stream, Pruning: p}
		}
	}
	return r.fault(FaultMissing, "it was pruned, and the row that names its archive is gone")
}

// Linked returns the row of a receipt that is to be verified. The content may have been altered,
// and may not even be a receipt. If the row belongs to another receipt or to another position, the
// error is a *[Fault]. If the receipt was pruned, the error is a *[PrunedError].
//
// The link passes if the receipt follows its predecessor. The link fails if the receipt does not
// follow its predecessor, or if an earlier receipt names the same predecessor. The link of a
// receipt that cannot be read is not checked.
func Linked(ctx context.Context, s Store, k Key) (r *Row, link receipt.Check, err error) {
	if r, err = find(ctx, s, k); err != nil {
		return nil, link, err
	}
	if r.Pruned && k.selects(r) {
		if err := r.Intact(); err != nil {
			return nil, link, err
		}
		return nil, link, prunedError(ctx, s, r)
	}
	switch fault := r.fits(); {
	case fault == nil && !k.selects(r):
		return nil, link, r.misled()
	case fault != nil && fault.Code == FaultRow:
		return nil, link, fault
	case fault != nil:
		return r, receipt.Check{Status: receipt.StatusNotChecked, Code: receipt.CodeLinkNotChecked, Reason: "the receipt cannot be read"}, nil
	}

	// Forks are checked first: if two receipts name the same predecessor, the later one is invalid,
	// regardless of its position. A row that does not match its receipt proves nothing.
	rival, err := find(ctx, s, Key{Rival: r.Sequence})
	if err != nil && !errors.Is(err, ErrNotFound) {
		return nil, link, err
	}
	if err == nil && (rival.Pruned || rival.fits() == nil) {
		return r, r.refuted(receipt.CodeChainFork, receipt.CausePredecessorShared, "names a predecessor that another stored receipt also names"), nil
	}

	// Clients may see the details, so these must not name any other receipt.
	if r.Place != nil {
		switch fault := r.placed(); {
		case fault != nil && fault.Code == string(receipt.CodeChainBreak):
			return r, r.refuted(receipt.CodeChainBreak, receipt.CausePredecessorOther, "names a predecessor that is not the receipt stored before it in its stream"), nil
		case fault != nil:
			return nil, link, fault
		}
	}
	return r, receipt.Check{Status: receipt.StatusPassed}, nil
}

// A StreamHead contains a stream in the ledger and its head.
type StreamHead struct {
	Stream chain.Stream
	Head   chain.Head
	Last   uint64 // the highest position of a row in the stream; equal to Head.Count if the stream is intact
}

// Heads returns all streams with their heads, in the order that chain.Stream.Compare defines. It
// checks that each head has the hash and the count of the last receipt in its stream. If not, the
// error is a *[Fault].
func Heads(ctx context.Context, r Reader) ([]StreamHead, error) {
	list, err := r.Streams(ctx)
	if err != nil {
		return nil, err
	}
	for _, s := range list {
		var hash []byte
		last, err := Lookup(ctx, r, Key{Stream: s.Stream, Position: s.Head.Count})
		if err == nil {
			hash = last.Hash[:]
		} else if !errors.Is(err, ErrNotFound) {
			return nil, err
		}
		if err := s.Check(hash); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// Check returns a *[Fault] unless the head has the hash of the last row in its stream. last is that
// hash, or nil if the stream has no rows. A store must call Check before it returns a head or
// appends to a stream, because a receipt with a link to any other hash would be invalid.
func (s *StreamHead) Check(last []byte) error {
	if bytes.Equal(last, s.Head.Hash[:]) {
		return nil
	}
	f := &Fault{Code: string(receipt.CodeHeadMismatch), Stream: s.Stream, Position: s.Head.Count,
		Detail: fmt.Sprintf("ledger records head %v, but the last receipt has hash sha256:%x", s.Head.Hash, last)}
	if last == nil {
		f.Code, f.Detail = FaultMissing, fmt.Sprintf("the last receipt of a stream is gone, number %d with the hash %v", s.Head.Count, s.Head.Hash)
	}
	return f
}

// CountPruned returns the number of pruned receipts that a query selects.
func CountPruned(ctx context.Context, r Reader, q Query) (n int64, err error) {
	p, ok := r.(Pruner)
	if !ok {
		return 0, nil
	}
	list, err := p.Prunings(ctx)
	if err != nil || len(list) == 0 {
		return 0, err
	}
	last := list[len(list)-1]
	if q.all() {
		return int64(last.Size), nil
	}

	// Pruned receipts come before all other receipts.
	q.Pruned = true
	for row, err := range r.Walk(ctx, q, 0) {
		if err != nil {
			return 0, err
		}
		if row.Sequence > last.Last {
			break
		}
		n++
	}
	return n, nil
}
