package batch

import (
	"errors"
	"fmt"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/merkle"
	"github.com/receiptkit/receiptkit/receipt"
)

// A trial seals drafts before their root is known, under a stand-in of the same
// length. It finds every problem, and the leaves, which hold neither the root
// nor the links.
type trial struct {
	heads  map[chain.Stream]chain.Head
	latest map[chain.Stream]int // index of the latest draft of each stream
	ids    map[string]int       // index of the draft that has the receipt_id
}

// leaf returns the leaf hash of the draft of an index. The error is a
// *[receipt.InvalidError], or one that no draft should lead to.
func (t *trial) leaf(i int, draft *canon.Document) (merkle.Hash, error) {
	before, head, without := t.place(i, chain.StreamOf(draft))
	problems := append(misplaced(draft.Root(), before), t.repeated(i, draft.Root().Member("receipt_id"))...)

	filled, err := fill(draft, canon.Sum(nil), without)
	var sealed *receipt.Sealed
	if err == nil {
		sealed, err = receipt.SealDocument(filled, head)
	}

	// What sealing finds joins what the batch finds: a draft is told everything at once.
	var invalid *receipt.InvalidError
	if errors.As(err, &invalid) {
		problems = append(problems, invalid.Problems...)
	} else if err != nil {
		return merkle.Hash{}, err
	}
	if len(problems) > 0 {
		return merkle.Hash{}, &receipt.InvalidError{Problems: problems}
	}

	// Of the sealed form, for sealing may add the schema marker.
	return receipt.BatchLeaf(sealed.Document()), nil
}

// place returns the index of the draft before this one in its stream, and the
// head to try it after. When there is none, that is -1 and the stream's own
// head; otherwise a stand-in, and a link in the draft itself has to be left out:
// it is a problem whatever it says.
func (t *trial) place(i int, stream chain.Stream) (before int, head chain.Head, without string) {
	before, found := t.latest[stream]
	t.latest[stream] = i
	if found {
		return before, chain.Head{Hash: canon.Sum(nil)}, previousMember
	}
	return -1, t.heads[stream], ""
}

// repeated finds a receipt_id that an earlier draft has.
func (t *trial) repeated(i int, id canon.Node) []receipt.Problem {
	if id.Kind() != canon.KindString {
		return nil // the schema says so
	}
	first, found := t.ids[id.String()]
	if !found {
		t.ids[id.String()] = i
		return nil
	}
	return []receipt.Problem{{Pointer: "/receipt_id", Code: receipt.CodeRepeatedID,
		Detail: fmt.Sprintf("draft %d has the same receipt_id; a batch has each receipt once", first)}}
}
