package serve

import (
	"fmt"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/attest"
)

// A judge is what judges for one request: receipts, and the attestations that they may come
// in. Its opener keeps what it took for the largest of these, and so is not kept.
type judge struct {
	*receipt.Verifier
	opener *attest.Opener
}

// mostOpened is the length of an attestation, in bytes, up to which it is opened here. What
// is inside is encoded, so that nobody can say beforehand how much memory it takes. Those
// of usual receipts are a twentieth of it.
const mostOpened = largeLine

// unwrap opens attestations for package stream.
func (j *judge) unwrap(doc *canon.Document) (inside []byte, wrong *receipt.Check, weigh attest.Weigh) {
	if n := len(doc.Source()); n > mostOpened && attest.Is(doc) {
		return nil, attest.Unopened(fmt.Sprintf("it is opened here up to %d bytes, and has %d", mostOpened, n)), nil
	}
	return j.opener.Unwrap(doc)
}

// judgeFor returns what judges for one request.
func judgeFor(v *Verifier, q Question, now time.Time) (*judge, error) {
	verifier, err := v.For(q, now)
	if err != nil {
		return nil, err
	}
	return &judge{verifier, attest.NewOpener(v.trust, verifier.Policy())}, nil
}
