package serve

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/internal/attest"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

// A Verifier combines a set of trusted keys with a policy. A request can choose the time, the
// issuer, and the scope of the verification. A Verifier is immutable and safe for concurrent use;
// after a key file is reloaded, there is a new Verifier.
type Verifier struct {
	trust  receipt.Trust
	policy receipt.Policy
	keys   *stream.Keys

	mu    sync.Mutex
	ready map[question]made
}

// A question is the part of the policy that a request chooses.
type question struct {
	At        time.Time // zero: the policy's
	Issuer    string    // "": the policy's
	Integrity bool      // content only
}

// A made value is a verifier that was created for one particular second.
type made struct {
	now time.Time
	v   *receipt.Verifier
}

// mostReady is the maximum number of verifiers that are kept for repeated questions. Creating a
// verifier takes about as long as verifying a hundred receipts.
const mostReady = 64

// NewVerifier returns a Verifier for a set of trusted keys and a policy. The policy's Now is
// ignored, because each request has its own time. A Verifier whose policy checks only integrity
// needs no trusted keys, and cannot be used for any other scope. keys describes the key file in
// summaries. If keys is nil, summaries name no key file. The policy's rules apply to every request,
// including requests that check only integrity.
func NewVerifier(trust receipt.Trust, policy receipt.Policy, keys *stream.Keys) (*Verifier, error) {
	valid, err := receipt.NewVerifier(trust, policy)
	if err != nil {
		return nil, err
	}
	return &Verifier{trust: trust, policy: valid.Policy(), keys: keys, ready: map[question]made{}}, nil
}

// These are errors for questions that the policy does not allow.
var (
	errOtherIssuer = errors.New("the policy of this server names another issuer")
	errNoKeys      = errors.New("this server has no trusted keys; use scope=integrity to check only content")
	errNoIssuer    = errors.New("scope=integrity does not check signatures, so issuer cannot be required")
)

// verifierFor returns a verifier for the given time, rounded up to a whole second. The rounding
// tolerates clocks that differ by up to a second. It also makes equal requests within a second get
// equal responses.
func (v *Verifier) verifierFor(q question, now time.Time) (*receipt.Verifier, error) {
	policy, err := v.ask(q)
	if err != nil {
		return nil, err
	}

	if policy.Now = now.UTC().Truncate(time.Second); policy.Now.Before(now) {
		policy.Now = policy.Now.Add(time.Second)
	}

	// The lock is held even while a verifier is created, because many requests may arrive at the
	// beginning of a second.
	v.mu.Lock()
	defer v.mu.Unlock()
	if m, ok := v.ready[q]; ok && m.now.Equal(policy.Now) {
		return m.v, nil
	}

	// The verifier is reused for equal questions during the rest of the second.
	judge, err := receipt.NewVerifier(v.trust, policy)
	if err != nil {
		return nil, err
	}
	if len(v.ready) >= mostReady {
		clear(v.ready)
	}

	v.ready[q] = made{policy.Now, judge}
	return judge, nil
}

// ask returns the policy for a question.
func (v *Verifier) ask(q question) (receipt.Policy, error) {
	p := v.policy
	if !q.At.IsZero() {
		p.At = q.At
	}

	// A request may narrow the policy, for example to an issuer, but never widen it.
	switch {
	case q.Integrity && q.Issuer != "":
		return p, errNoIssuer
	case q.Integrity:
		return receipt.Policy{At: p.At, IntegrityOnly: true, Strict: p.Strict, Plain: p.Plain, Rules: p.Rules, Limits: p.Limits}, nil
	case p.IntegrityOnly && q.Issuer != "":
		return p, errNoKeys
	case q.Issuer != "" && p.Issuer != "" && q.Issuer != p.Issuer:
		return p, errOtherIssuer
	case q.Issuer != "":
		p.Issuer = q.Issuer
	}

	return p, nil
}

// full reports whether the verifier checks signatures. A question may still restrict it to
// integrity.
func (v *Verifier) full() bool { return !v.policy.IntegrityOnly }

// A judge verifies receipts, and attestations that may contain them, for a single request. Its
// opener keeps memory for the largest attestation, so a judge is not reused for other requests.
type judge struct {
	*receipt.Verifier
	opener *attest.Opener
}

// mostOpened is the maximum length, in bytes, of an attestation that the server opens. The content
// of an attestation is encoded, so it is not known in advance how much memory is needed to open it.
// Attestations of typical receipts have a twentieth of this length.
const mostOpened = largeLine

// unwrap opens attestations on behalf of package stream.
func (j *judge) unwrap(doc *canon.Document) (inside []byte, wrong *receipt.Check, weigh attest.Weigh) {
	if n := len(doc.Source()); n > mostOpened && attest.Is(doc) {
		return nil, attest.Unopened(fmt.Sprintf("it is opened here up to %d bytes, and has %d", mostOpened, n)), nil
	}
	return j.opener.Unwrap(doc)
}

// judgeFor returns the judge for a request.
func judgeFor(v *Verifier, q question, now time.Time) (*judge, error) {
	verifier, err := v.verifierFor(q, now)
	if err != nil {
		return nil, err
	}
	return &judge{verifier, attest.NewOpener(v.trust, verifier.Policy())}, nil
}
