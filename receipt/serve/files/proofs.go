package files

import (
	"slices"

	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/merkle"
	"github.com/receiptkit/receiptkit/merkle/tlog"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/protocol"
	"github.com/receiptkit/receiptkit/receipt/serve"
)

// Proofs are the [serve.Proofs] of the receipts of files. The checkpoint is the one that was
// given, byte for byte; who trusts its log is for the client to decide. They take 33 bytes
// of memory a receipt.
type Proofs struct {
	index   *Index
	streams []chain.Stream // that the checkpoint is over
	note    []byte
	tree    *tree
}

// NewProofs returns Proofs for a signed checkpoint over the first documents of
// an index, in their order and copies included, as receipt batch checkpoint signs it.
// Its signatures are not checked. The error, a *[CheckpointError], says that the note is
// not a checkpoint, or why it is not over these files.
func NewProofs(index *Index, note []byte) (*Proofs, error) {
	// Without keys: which log to trust is for the client to decide.
	claims, err := tlog.OpenSigned(note, nil, nil)
	if err != nil {
		return nil, &CheckpointError{Code: receipt.CodeCheckpointInvalid, Detail: err.Error(), Err: err}
	}
	if n := index.entries.len; claims.Size > uint64(n) {
		return nil, notOver(receipt.CodeTruncated, "the checkpoint is over %d receipts, the files have %d", claims.Size, n)
	}

	leaves, err := leavesOf(index, int(claims.Size))
	if err != nil {
		return nil, err
	}

	// The root is computed anew: a proof has to lead to what the log signed.
	p := &Proofs{index: index, streams: streamsOf(index, len(leaves)), note: slices.Clone(note), tree: newTree(leaves)}
	if root := p.tree.root(0, len(leaves)); root != claims.Root {
		return nil, notOver(receipt.CodeMerkleRootMismatch, "the root over the first %d receipts of the files is %v, the checkpoint states %v; "+
			"serve the receipts that it is over, in their order", claims.Size, root, claims.Root)
	}

	return p, nil
}

// leavesOf returns the leaf hashes of the first n documents. One whose content does
// not fit its hash is under no checkpoint.
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

// Within reports whether every receipt that the checkpoint is over is within reach. A
// proof tells how many they are, and hashes of some, and so is for nobody else.
func (p *Proofs) Within(r protocol.Reach) bool {
	return !slices.ContainsFunc(p.streams, func(s chain.Stream) bool { return !r.Sees(s) })
}

// Checkpoint returns the signed checkpoint. It must not be changed.
func (p *Proofs) Checkpoint() []byte { return p.note }

// Proof returns the C2SP tlog-proof of a receipt, serve.ErrNotFound for one that the checkpoint is
// not over.
func (p *Proofs) Proof(receiptID string) ([]byte, error) {
	i, found := p.index.find(fingerprintOf(receiptID))
	if !found || int(i) >= len(p.tree.leaves) {
		return nil, serve.ErrNotFound
	}
	proof := tlog.Proof{Index: uint64(i), Hashes: p.tree.prove(int(i)), Checkpoint: p.note}
	return proof.Format(), nil
}
