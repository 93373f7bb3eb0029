package files

import (
	"slices"

	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/merkle"
	"github.com/receiptkit/receiptkit/merkle/tlog"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/ledger"
	"github.com/receiptkit/receiptkit/receipt/protocol"
)

// Proofs implements [serve.Proofs] for receipts in files. The checkpoint is served byte for byte;
// clients decide whether to trust its log. Proofs uses 33 bytes of memory per receipt.
type Proofs struct {
	index   *Index
	streams []chain.Stream // streams with receipts that the checkpoint covers
	note    []byte
	tree    *tree
}

// NewProofs returns Proofs for a signed checkpoint, such as one created by the command "receipt
// batch checkpoint". The checkpoint must cover the first documents of the index, in order and
// including copies. The signatures of the checkpoint are not checked. The error is a
// *[CheckpointError] if the note is not a checkpoint or does not cover these files.
func NewProofs(index *Index, note []byte) (*Proofs, error) {
	// No keys are needed, because clients decide which logs to trust.
	claims, err := tlog.OpenSigned(note, nil, nil)
	if err != nil {
		return nil, &CheckpointError{Code: receipt.CodeCheckpointInvalid, Detail: err.Error(), Err: err}
	}
	if n := index.entries.len; claims.Size > uint64(n) {
		return nil, notOver(receipt.CodeTruncated, "the checkpoint covers %d receipts, the files have %d", claims.Size, n)
	}

	leaves, err := leavesOf(index, int(claims.Size))
	if err != nil {
		return nil, err
	}

	// The root is recomputed, because every proof must result in the root that the log signed.
	p := &Proofs{index: index, streams: streamsOf(index, len(leaves)), note: slices.Clone(note), tree: newTree(leaves)}
	if root := p.tree.root(0, len(leaves)); root != claims.Root {
		return nil, notOver(receipt.CodeMerkleRootMismatch, "the root over the first %d receipts of the files is %v, the checkpoint states %v; "+
			"serve the receipts that it is over, in their order", claims.Size, root, claims.Root)
	}

	return p, nil
}

// leavesOf returns the leaf hashes of the first n documents. It returns an error if the content of
// a document does not match the stated hash, because no checkpoint covers such a document.
func leavesOf(index *Index, n int) ([]merkle.Hash, error) {
	leaves := make([]merkle.Hash, n)
	for i := range leaves {
		e := index.entries.at(int32(i))
		if !e.intact {
			return nil, notOver(receipt.CodeHashMismatch, "%q does not fit the hash that it states, so that no checkpoint can be over it", index.address(e))
		}
		leaves[i] = receipt.CheckpointLeaf(e.hash)
	}
	return leaves, nil
}

// streamsOf returns the streams of the first n documents, all of which are intact.
func streamsOf(index *Index, n int) (list []chain.Stream) {
	seen := make([]bool, len(index.streams))
	for i := range n {
		if stream := index.entries.at(int32(i)).stream; !seen[stream] {
			seen[stream] = true
			list = append(list, index.streams[stream])
		}
	}
	return list
}

// Within reports whether reach includes every receipt that the checkpoint covers. A proof reveals
// the number of receipts and some of their hashes, so clients with a smaller reach must not receive
// it.
func (p *Proofs) Within(r protocol.Reach) bool {
	return !slices.ContainsFunc(p.streams, func(s chain.Stream) bool { return !r.Sees(s) })
}

// Checkpoint returns the signed checkpoint, which the caller must not modify.
func (p *Proofs) Checkpoint() []byte { return p.note }

// Proof returns the proof for a receipt (C2SP tlog-proof), or ledger.ErrNotFound if the checkpoint
// does not cover the receipt.
func (p *Proofs) Proof(receiptID string) ([]byte, error) {
	i, found := p.index.find(fingerprintOf(receiptID))
	if !found || int(i) >= len(p.tree.leaves) {
		return nil, ledger.ErrNotFound
	}
	proof := tlog.Proof{Index: uint64(i), Hashes: p.tree.prove(int(i)), Checkpoint: p.note}
	return proof.Format(), nil
}
