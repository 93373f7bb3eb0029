package serve

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/attest"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

// A Verifier is a set of trusted keys and a policy, of which requests may choose
// the time, the issuer and the scope. It does not change and is safe for concurrent
// use; when a key file is read again, a new one takes its place.
type Verifier struct {
	trust  receipt.Trust
	policy receipt.Policy
	keys   *stream.Keys

	mu    sync.Mutex
	ready map[Question]made
}

// A Question is what a request asks of receipts, beside the policy.
type Question struct {
	At        time.Time // zero: the policy's
	Issuer    string    // "": the policy's
	Integrity bool      // content only
}

// made is a verifier made for a second.
type made struct {
	now time.Time
	v   *receipt.Verifier
}

// mostReady is how many verifiers are kept for questions that come again. Making
// one takes about as long as verifying a hundred receipts.
const mostReady = 64

// NewVerifier returns a Verifier. The policy's Now is not used: each request has
// its own. A policy for integrity only, which needs no trust, answers no other
// question. keys is how summaries name the key file; nil: they name none.
func NewVerifier(trust receipt.Trust, policy receipt.Policy, keys *stream.Keys) (*Verifier, error) {
	v := &Verifier{trust: trust, policy: policy, keys: keys, ready: map[Question]made{}}
	if _, err := receipt.NewVerifier(trust, policy); err != nil {
		return nil, err
	}
	return v, nil
}

// Errors of a question that the policy does not allow.
var (
	errOtherIssuer = errors.New("the policy of this server names another issuer")
	errNoKeys      = errors.New("this server has no trusted keys; scope=integrity asks for the content only")
	errNoIssuer    = errors.New("with scope=integrity no signatures are looked at, so no issuer can be asked for")
)

// For returns what judges receipts at a time, which counts as its whole second, the
// next one when it has begun: so clocks may differ by that much, and the same
// request within it has the same answer.
func (v *Verifier) For(q Question, now time.Time) (*receipt.Verifier, error) {
	policy, err := v.ask(q)
	if err != nil {
		return nil, err
	}

	if policy.Now = now.UTC().Truncate(time.Second); policy.Now.Before(now) {
		policy.Now = policy.Now.Add(time.Second)
	}

	v.mu.Lock() // for the making too: many may ask at the beginning of a second
	defer v.mu.Unlock()
	if m, ok := v.ready[q]; ok && m.now.Equal(policy.Now) {
		return m.v, nil
	}

	// Kept for the rest of its second, for all who ask the same.
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

// ask is the policy with what a request asks for. A request may narrow the policy
// to an issuer, never widen it.
func (v *Verifier) ask(q Question) (receipt.Policy, error) {
	p := v.policy
	if !q.At.IsZero() {
		p.At = q.At
	}

	// A request may narrow the policy, and never widen it.
	switch {
	case q.Integrity && q.Issuer != "":
		return p, errNoIssuer
	case q.Integrity:
		return receipt.Policy{At: p.At, IntegrityOnly: true, Strict: p.Strict, Plain: p.Plain, Limits: p.Limits}, nil
	case p.IntegrityOnly && q.Issuer != "":
		return p, errNoKeys
	case q.Issuer != "" && p.Issuer != "" && q.Issuer != p.Issuer:
		return p, errOtherIssuer
	case q.Issuer != "":
		p.Issuer = q.Issuer
	}

	return p, nil
}

// Full reports whether the verifier looks at signatures unless it is asked not to.
func (v *Verifier) Full() bool { return !v.policy.IntegrityOnly }

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
