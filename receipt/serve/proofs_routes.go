package serve

import (
	"errors"
	"net/http"

	"github.com/receiptkit/receiptkit/receipt/protocol"
)

// Proofs shows that stored receipts are under a checkpoint. Its methods must be safe for
// concurrent use.
//
//	GET /x/checkpoint           the signed checkpoint
//	GET /x/receipts/{id}/proof  the proof of a receipt, the checkpoint in it
//
// Both are text/plain.
type Proofs interface {
	// Checkpoint returns the signed checkpoint (C2SP tlog-checkpoint). It must not be
	// changed by anyone.
	Checkpoint() []byte

	// Proof returns the C2SP tlog-proof of a receipt. The error is or wraps ErrNotFound
	// for one that the checkpoint is not over.
	Proof(receiptID string) ([]byte, error)

	// Within reports whether every receipt that the checkpoint is over is within reach. A
	// proof tells how many they are, and hashes of some, and so is for nobody else.
	Within(reach protocol.Reach) bool
}

// getProofs answers the routes below /x/.
func getProofs(c *call) error {
	p := c.s.options.Proofs
	if p == nil || !p.Within(c.r.Client.Reach) {
		return protocol.NotFound()
	}

	// Paths and methods are read as those of all routes are.
	path := c.r.URL.EscapedPath()
	ids, proof := protocol.MatchPath("/x/receipts/{id}/proof", path)
	switch {
	case !proof && path != "/x/checkpoint":
		return protocol.NotFound()
	case c.r.Method != http.MethodGet && c.r.Method != http.MethodHead:
		return protocol.MethodNotAllowed(http.MethodGet, http.MethodHead)
	}

	// Neither route has a parameter.
	if _, err := protocol.ParseQuery(c.r.URL.RawQuery, nil); err != nil {
		return err
	}
	if !proof {
		return c.write(http.StatusOK, mediaText, p.Checkpoint())
	}

	text, err := p.Proof(ids[0])
	switch {
	case errors.Is(err, ErrNotFound):
		return protocol.NotFound()
	case err != nil:
		return protocol.Internal(err, "the proof could not be made")
	}
	return c.write(http.StatusOK, mediaText, text)
}
