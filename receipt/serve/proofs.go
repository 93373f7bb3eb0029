package serve

import (
	"errors"
	"net/http"

	"github.com/receiptkit/receiptkit/receipt/ledger"
	"github.com/receiptkit/receiptkit/receipt/protocol"
)

// Proofs supplies proofs that a checkpoint covers stored receipts. Its methods must be safe for
// concurrent use.
//
//	GET /x/checkpoint           the signed checkpoint
//	GET /x/receipts/{id}/proof  the proof of a receipt, the checkpoint in it
//
// Both are text/plain.
type Proofs interface {
	// Checkpoint returns the signed checkpoint (C2SP tlog-checkpoint), which the caller must not
	// modify.
	Checkpoint() []byte

	// Proof returns the proof for a receipt (C2SP tlog-proof). The error is or wraps
	// ledger.ErrNotFound if the checkpoint does not cover the receipt.
	Proof(receiptID string) ([]byte, error)

	// Within reports whether reach includes every receipt that the checkpoint covers. A proof
	// reveals the number of receipts and some of their hashes, so clients with a smaller reach must
	// not receive it.
	Within(reach protocol.Reach) bool
}

// proofsFor returns the proofs if the client may see every receipt that the checkpoint covers, and
// a 404 error otherwise.
func proofsFor(c *call) (Proofs, error) {
	p := c.s.options.Proofs
	if p == nil || !p.Within(c.r.Client.Reach) {
		return nil, protocol.NotFound()
	}
	return p, nil
}

func getCheckpoint(c *call) error {
	p, err := proofsFor(c)
	if err != nil {
		return err
	}
	return c.write(http.StatusOK, mediaText, p.Checkpoint())
}

func getProof(c *call) error {
	p, err := proofsFor(c)
	if err != nil {
		return err
	}

	text, err := p.Proof(c.id())
	switch {
	case errors.Is(err, ledger.ErrNotFound):
		return protocol.NotFound()
	case err != nil:
		return protocol.Internal(err, "the proof could not be created")
	}
	return c.write(http.StatusOK, mediaText, text)
}
