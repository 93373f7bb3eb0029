package serve

import (
	"fmt"
	"slices"

	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/merkle"
	"github.com/receiptkit/receiptkit/merkle/tlog"
	"github.com/receiptkit/receiptkit/receipt"
)

// Proofs are the serve.Proofs of the receipts of files. The checkpoint is the one that was
// given, byte for byte; who trusts its log is for the client to decide. They take 33 bytes
// of memory a receipt.
type proofsOfFiles struct {
	files   *Files
	streams []chain.Stream // that the checkpoint is over
	note    []byte
	tree    *tree
}

// A CheckpointError says why a checkpoint is not served: it is none, or it is not over the
// receipts of the files.
type CheckpointError struct {
	Code   receipt.Code
	Detail string // what was expected and what was found
	Err    error  // what the detail tells of; may be nil
}

// Error gives the code and the detail.
func (e *CheckpointError) Error() string { return fmt.Sprintf("serve: %s: %s", e.Code, e.Detail) }

// Unwrap returns Err.
func (e *CheckpointError) Unwrap() error { return e.Err }

func notOver(code receipt.Code, format string, args ...any) error {
	return &CheckpointError{Code: code, Detail: fmt.Sprintf(format, args...)}
}

// NewProofs returns Proofs for a signed checkpoint over the first documents of
// files, in their order and copies included, as receipt batch checkpoint signs it.
// Its signatures are not checked. The error, a *[CheckpointError], says that the note is
// not a checkpoint, or why it is not over these files.
func NewProofs(files *Files, note []byte) (*proofsOfFiles, error) {
	// Without keys: which log to trust is for the client to decide.
	claims, err := tlog.OpenSigned(note, nil, nil)
	if err != nil {
		return nil, &CheckpointError{Code: receipt.CodeCheckpointInvalid, Detail: err.Error(), Err: err}
	}
	if n := len(files.entries); claims.Size > uint64(n) {
		return nil, notOver(receipt.CodeTruncated, "the checkpoint is over %d receipts, the files have %d", claims.Size, n)
	}

	leaves, err := files.leaves(int(claims.Size))
	if err != nil {
		return nil, err
	}

	// The root is computed anew: a proof has to lead to what the log signed.
	p := &proofsOfFiles{files: files, streams: files.streamsOf(len(leaves)), note: slices.Clone(note), tree: newTree(leaves)}
	if root := p.tree.root(0, len(leaves)); root != claims.Root {
		return nil, notOver(receipt.CodeMerkleRootMismatch, "the root over the first %d receipts of the files is %v, the checkpoint states %v; "+
			"serve the receipts that it is over, in their order", claims.Size, root, claims.Root)
	}

	return p, nil
}

// leaves returns the leaf hashes of the first n documents. One whose content does
// not fit its hash is under no checkpoint.
func (f *Files) leaves(n int) ([]merkle.Hash, error) {
	leaves := make([]merkle.Hash, n)
	for i := range leaves {
		e := &f.entries[i]
		if !e.intact {
			return nil, notOver(receipt.CodeHashMismatch, "%q does not fit the hash that it states, so that no checkpoint can be over it", f.address(e))
		}
		leaves[i] = receipt.CheckpointLeaf(e.hash)
	}
	return leaves, nil
}

// streamsOf returns the streams of the first n documents, all of which are intact.
func (f *Files) streamsOf(n int) (list []chain.Stream) {
	seen := make([]bool, len(f.streams))
	for i := range f.entries[:n] {
		if stream := f.entries[i].stream; !seen[stream] {
			seen[stream] = true
			list = append(list, f.streams[stream])
		}
	}
	return list
}

// Within reports whether every receipt that the checkpoint is over is within reach. A
// proof tells how many they are, and hashes of some, and so is for nobody else.
func (p *proofsOfFiles) Within(r *Reach) bool {
	return !slices.ContainsFunc(p.streams, func(s chain.Stream) bool { return !r.Sees(s) })
}

// Checkpoint returns the signed checkpoint. It must not be changed.
func (p *proofsOfFiles) Checkpoint() []byte { return p.note }

// Proof returns the proof of a receipt, ErrNotFound for one that the checkpoint is
// not over.
func (p *proofsOfFiles) Proof(receiptID string) ([]byte, error) {
	i, found := p.files.find(fingerprintOf(receiptID))
	if !found || int(i) >= len(p.tree.leaves) {
		return nil, ErrNotFound
	}
	proof := tlog.Proof{Index: uint64(i), Hashes: p.tree.prove(int(i)), Checkpoint: p.note}
	return proof.Format(), nil
}
