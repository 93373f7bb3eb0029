package keys_test

import (
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/fixtures/testsize"
	"github.com/receiptkit/receiptkit/merkle"
	"github.com/receiptkit/receiptkit/merkle/tlog"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/keys"
)

// A name is an entry in a trust file. Several names may refer to the same key material.
type name struct {
	id       string
	material int
	roles    []string
	issuers  []string
	nbf, exp int64 // 0: not set
	at       int64 // time of the revocation, or 0 if the key is not revoked
	reason   string
}

// A mark is a signature by the given key material. It states label as the ID of its key.
type mark struct {
	label    string
	material int
}

// A seen cosignature was made under a name at a given time.
type seen struct {
	by *name
	at int64
}

// A trial consists of a receipt with signatures, a trust file, a policy, and a checkpoint.
type trial struct {
	names  []*name
	issuer string
	named  string // issuer.public_key_id
	marks  []mark
	policy receipt.Policy

	logged bool // whether a checkpoint includes the receipt
	logs   []*name
	seen   []seen
}

const (
	issuedAt  = 1_700_000_000
	logOrigin = "log.example.net/a"
)

func material(i int) ed25519.PrivateKey {
	seed := make([]byte, ed25519.SeedSize)
	seed[0] = byte(i + 1)
	return ed25519.NewKeyFromSeed(seed)
}

func (n *name) has(role string) bool { return slices.Contains(n.roles, role) }

// TestNames verifies that verdicts match the results of an oracle that identifies keys only by
// their material.
func TestNames(t *testing.T) {
	n := testsize.Of(1_500, 10_000)

	receipts := map[string]*receipt.Sealed{}
	counts := map[string]int{}
	for i := range n {
		r := rand.New(rand.NewPCG(uint64(i), 27))
		c := randomTrial(r)
		want, got := c.oracle(), c.verdict(t, receipts)
		if counts[want]++; got != want {
			t.Fatalf("trial %d: %s, want %s\n%s", i, got, want, c)
		}
	}
	for _, want := range []string{"verified", "refuted", "undecided", "unreachable"} {
		if counts[want] < n/50 {
			t.Errorf("%d of %d trials are %s: too few to show anything", counts[want], n, want)
		}
	}
	t.Log(counts)
}

func (c *trial) String() string {
	text := fmt.Sprintf("issuer %q names %q, marks %v, policy %+v, logged %v\n", c.issuer, c.named, c.marks, c.policy, c.logged)
	for _, n := range c.names {
		text += fmt.Sprintf("%+v\n", *n)
	}
	for _, n := range c.logs {
		text += "log " + n.id + "\n"
	}
	for _, s := range c.seen {
		text += fmt.Sprintf("seen by %s at %d\n", s.by.id, s.at)
	}
	return text
}

func pick[T any](r *rand.Rand, list ...T) T { return list[r.IntN(len(list))] }

func randomTrial(r *rand.Rand) *trial {
	c := &trial{issuer: "a"}
	times := func() int64 { return issuedAt + pick[int64](r, -20, -10, 0, 10, 20) }
	materials := 2 + r.IntN(4)
	for i := range 2 + r.IntN(8) {
		n := &name{id: fmt.Sprintf("k%d", i), material: r.IntN(materials)}
		n.roles = pick(r, []string{"issuer"}, []string{"issuer"}, []string{"witness"}, []string{"witness"}, []string{"issuer", "witness"}, []string{"checkpoint"}, []string{"issuer", "checkpoint"})
		if n.has("issuer") {
			n.issuers = pick(r, []string{"a"}, []string{"a"}, []string{"b"}, []string{"a", "b"})
			if !n.has("checkpoint") && r.IntN(6) == 0 {
				n.issuers = nil
			}
		}
		if r.IntN(6) == 0 {
			n.nbf = issuedAt + pick[int64](r, -20, -10, 10)
		}
		if r.IntN(6) == 0 {
			n.exp = max(n.nbf, issuedAt) + pick[int64](r, 10, 20)
		}
		if r.IntN(6) == 0 {
			n.at, n.reason = times(), pick(r, "superseded", "compromised", "")
		}
		c.names = append(c.names, n)
	}

	ids := func() []string {
		var list []string
		for _, n := range c.names {
			if r.IntN(2) == 0 {
				list = append(list, n.id)
			}
		}
		return list
	}
	quorum := func() (q receipt.Quorum) {
		if q.Threshold = r.IntN(3); q.Threshold > 0 && r.IntN(2) == 0 {
			if q.Keys = ids(); len(q.Keys) < q.Threshold {
				q.Keys = nil
			}
		}
		return q
	}
	if r.IntN(4) == 0 {
		c.named = pick(r, c.names...).id
	}
	if r.IntN(3) == 0 {
		c.policy.Issuer = pick(r, "a", "a", "a", "b")
	}
	if r.IntN(2) == 0 {
		c.policy.Witnesses = quorum()
	}
	if r.IntN(3) == 0 {
		c.policy.Checkpoint.Cosigners = quorum()
	}

	signers := slices.Clone(c.names)
	r.Shuffle(len(signers), func(i, j int) { signers[i], signers[j] = signers[j], signers[i] })
	for _, n := range signers[:r.IntN(len(signers)+1)] {
		m := mark{n.id, n.material}
		if r.IntN(40) == 0 {
			m.material = r.IntN(materials)
		}
		if r.IntN(40) == 0 {
			m.label = "stranger"
		}
		c.marks = append(c.marks, m)
	}

	if c.logged = r.IntN(2) == 0; !c.logged {
		return c
	}
	for _, n := range c.names {
		switch {
		case n.has("checkpoint") && r.IntN(3) > 0:
			c.logs = append(c.logs, n)
		case n.has("witness") && r.IntN(2) == 0:
			c.seen = append(c.seen, seen{n, times()})
		}
	}

	// A note identifies its log by origin and material, and therefore applies to all entries for
	// the key.
	for _, n := range c.names {
		if n.has("checkpoint") && slices.ContainsFunc(c.logs, func(o *name) bool { return o.material == n.material }) && !slices.Contains(c.logs, n) {
			c.logs = append(c.logs, n)
		}
	}
	return c
}

// oracle computes the verdict from key material. It uses IDs only to resolve names.
func (c *trial) oracle() string {
	if !c.reachable(c.policy.Witnesses) || !c.reachable(c.policy.Checkpoint.Cosigners) {
		return "unreachable"
	}

	signed := c.signatures()
	if signed == "refuted" {
		return signed
	}
	if c.batch() == "undecided" {
		return "undecided"
	}
	return signed
}

// ended returns the time at which a key was first revoked for a reason that applies regardless of
// dates.
func (c *trial) ended(material int) (at int64, yes bool) {
	for _, n := range c.names {
		if n.material == material && n.at != 0 && n.reason != "superseded" && (!yes || n.at < at) {
			at, yes = n.at, true
		}
	}
	return at, yes
}

// counts reports whether a name is valid at a given time. If excused is set, a revocation of the
// material is ignored. If young is set, the start of the validity period is ignored.
func (c *trial) counts(n *name, at int64, excused, young bool) bool {
	if _, ended := c.ended(n.material); ended && !excused {
		return false
	}
	if n.reason == "superseded" && n.at != 0 && at >= n.at {
		return false
	}
	return (young || at >= n.nbf) && (n.exp == 0 || at < n.exp)
}

// speaks returns "yes", "unbound", or "no".
func (c *trial) speaks(n *name) string {
	switch {
	case !n.has("issuer"):
		return "no"
	case n.issuers == nil && c.policy.Issuer == "":
		return "unbound"
	case n.issuers == nil && c.policy.Issuer == c.issuer, slices.Contains(n.issuers, c.issuer):
		return "yes"
	}
	return "no"
}

func (c *trial) any(material int, is func(*name) bool) bool {
	return slices.ContainsFunc(c.names, func(n *name) bool { return n.material == material && is(n) })
}

func (c *trial) issuers(material int) bool {
	return c.any(material, func(n *name) bool { return c.speaks(n) == "yes" })
}

func (c *trial) reachable(q receipt.Quorum) bool {
	found := map[int]bool{}
	for _, n := range c.names {
		listed := len(q.Keys) == 0 || slices.Contains(q.Keys, n.id)
		issuers := c.policy.Issuer != "" && c.any(n.material, func(o *name) bool {
			return o.has("issuer") && (o.issuers == nil || slices.Contains(o.issuers, c.policy.Issuer))
		})
		if listed && n.has("witness") && !issuers {
			found[n.material] = true
		}
	}
	return len(found) >= q.Threshold
}

// witnesses returns the witnesses that count for the checkpoint, excluding the log's own keys and
// revoked keys.
func (c *trial) witnesses() (list []seen) {
	for _, s := range c.seen {
		logs := c.any(s.by.material, func(n *name) bool { return n.has("checkpoint") })
		q := c.policy.Checkpoint.Cosigners
		if !logs && (len(q.Keys) == 0 || slices.Contains(q.Keys, s.by.id)) && c.counts(s.by, s.at, false, false) && !c.issuers(s.by.material) {
			list = append(list, s)
		}
	}
	return list
}

// older reports whether a witness observed the checkpoint before the key material was revoked.
func (c *trial) older(material int) bool {
	at, ended := c.ended(material)
	return ended && slices.ContainsFunc(c.witnesses(), func(s seen) bool { return s.at < at && s.by.material != material })
}

// trusted reports whether any of the log's keys is valid.
func (c *trial) trusted() bool {
	return slices.ContainsFunc(c.logs, func(n *name) bool { return c.counts(n, issuedAt, c.older(n.material), true) })
}

func (c *trial) batch() string {
	need := c.policy.Checkpoint.Cosigners.Threshold
	switch {
	case !c.logged && need == 0:
		return "verified"
	case !c.logged, len(c.logs) == 0, !c.trusted():
		return "undecided"
	}
	distinct := map[int]bool{}
	for _, s := range c.witnesses() {
		distinct[s.by.material] = true
	}
	if len(distinct) < need {
		return "undecided"
	}
	return "verified"
}

func (c *trial) signatures() string {
	if c.policy.Issuer != "" && c.policy.Issuer != c.issuer {
		return "refuted"
	}

	issued, uncounted := false, false
	valid, rejected := map[int]bool{}, map[int]bool{}
	for _, m := range c.marks {
		i := slices.IndexFunc(c.names, func(n *name) bool { return n.id == m.label })
		if i < 0 {
			continue // missing evidence never decides the result
		}
		n := c.names[i]
		if n.material != m.material {
			return "refuted"
		}

		meant := c.named == "" || c.named == n.id
		ok := c.counts(n, issuedAt, c.logged && c.trusted() && c.older(n.material), false)
		speaks := c.speaks(n)
		if n.has("witness") && speaks != "yes" {
			q := c.policy.Witnesses
			switch {
			case c.issuers(n.material), len(q.Keys) > 0 && !slices.Contains(q.Keys, n.id):
			case ok:
				valid[n.material] = true
			default:
				rejected[n.material] = true
			}
			if speaks != "unbound" && c.named != n.id {
				continue
			}
		}
		switch {
		case !meant:
		case speaks == "yes" && ok:
			issued = true
		case speaks == "unbound": // an unspecified issuer is also missing evidence
		default:
			uncounted = true
		}
	}

	// A checkpoint signed with one of the issuer's keys replaces a signature.
	for _, n := range c.logs {
		if meant := c.named == "" || c.named == n.id; meant && c.speaks(n) == "yes" {
			if c.counts(n, issuedAt, c.older(n.material), false) {
				issued = true
			} else {
				uncounted = true
			}
		}
	}

	if !issued {
		if uncounted {
			return "refuted"
		}
		return "undecided"
	}
	need := c.policy.Witnesses.Threshold
	for m := range valid {
		delete(rejected, m)
	}
	switch {
	case len(valid) >= need:
		return "verified"
	case len(valid)+len(rejected) >= need:
		return "refuted"
	}
	return "undecided"
}

// verdict returns the verdict of the library under test.
func (c *trial) verdict(t *testing.T, made map[string]*receipt.Sealed) string {
	t.Helper()
	set, err := keys.ParseSet(c.file(t))
	if err != nil {
		t.Fatalf("%v\n%s", err, c)
	}
	v, err := receipt.NewVerifier(set, c.policy)
	if err != nil {
		return "unreachable"
	}

	sealed := made[c.named]
	if sealed == nil {
		sealed = sealedBy(t, c.issuer, c.named)
		made[c.named] = sealed
	}
	if c.logged {
		proof := &tlog.Proof{Checkpoint: c.checkpoint(t, sealed.Hash())}
		if v, err = v.With(receipt.Evidence{Proofs: []*tlog.Proof{proof}}); err != nil {
			t.Fatal(err)
		}
	}
	for _, m := range c.marks {
		if sealed, err = sealed.Sign(t.Context(), m); err != nil {
			t.Fatal(err)
		}
	}
	rep := new(receipt.Report)
	v.VerifyBytes(sealed.JSON(), new(canon.Document), rep)
	return rep.Verdict.String()
}

// Sign implements receipt.Signer.
func (m mark) Sign(_ context.Context, message []byte) (receipt.Signature, error) {
	value := base64.StdEncoding.EncodeToString(ed25519.Sign(material(m.material), message))
	return receipt.Signature{KeyID: m.label, Algorithm: "ed25519", Signature: "base64:" + value}, nil
}

// file writes the trust file.
func (c *trial) file(t *testing.T) []byte {
	t.Helper()
	var list []map[string]any
	for _, n := range c.names {
		public := material(n.material).Public().(ed25519.PublicKey)
		k := map[string]any{"kid": n.id, "kty": "OKP", "crv": "Ed25519", "x": base64.RawURLEncoding.EncodeToString(public), "roles": n.roles}
		if n.issuers != nil {
			k["issuers"] = n.issuers
		}
		if n.has("checkpoint") {
			k["origin"] = logOrigin
		}
		if n.nbf != 0 {
			k["nbf"] = n.nbf
		}
		if n.exp != 0 {
			k["exp"] = n.exp
		}
		if n.at != 0 {
			revoked := map[string]any{"at": n.at}
			if n.reason != "" {
				revoked["reason"] = n.reason
			}
			k["revoked"] = revoked
		}
		list = append(list, k)
	}
	data, err := json.Marshal(map[string]any{"keys": list})
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// checkpoint returns a log's checkpoint that covers one receipt and is signed under each of the
// names.
func (c *trial) checkpoint(t *testing.T, hash canon.Digest) []byte {
	t.Helper()
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}

	leaf := receipt.CheckpointLeaf(hash)
	claims := &tlog.Checkpoint{Origin: logOrigin, Size: 1, Root: merkle.Root([]merkle.Hash{leaf})}
	signers, done := []int{}, map[int]bool{}
	for _, n := range c.logs {
		if !done[n.material] {
			signers, done[n.material] = append(signers, n.material), true
		}
	}
	if len(signers) == 0 {
		signers = []int{99} // an unknown signer
	}
	var note []byte
	for _, m := range signers {
		key := material(m)
		log, err := tlog.NewLog(logOrigin, key.Public().(ed25519.PublicKey))
		must(err)
		one, err := (&tlog.LogSigner{Log: log, SignMessage: signWith(key)}).SignCheckpoint(t.Context(), claims)
		must(err)
		if note == nil {
			note = one
			continue
		}
		lines := one[slices.Index(one, '\xe2'):]
		note = append(note, lines...)
	}

	for _, s := range c.seen {
		key := material(s.by.material)
		witness, err := tlog.NewWitness(s.by.id, key.Public().(ed25519.PublicKey))
		must(err)
		note, err = (&tlog.Cosigner{Witness: witness, SignMessage: signWith(key)}).Cosign(t.Context(), note, time.Unix(s.at, 0))
		must(err)
	}
	return note
}

func signWith(key ed25519.PrivateKey) func(context.Context, []byte) ([]byte, error) {
	return func(_ context.Context, message []byte) ([]byte, error) { return ed25519.Sign(key, message), nil }
}

func sealedBy(t *testing.T, issuer, named string) *receipt.Sealed {
	t.Helper()
	at := receipt.At(time.Unix(issuedAt, 0))
	sealed, err := receipt.Seal(&receipt.Draft{
		ReceiptID:   "receipt_1",
		Subject:     receipt.ResourceRef{Object: "task", ID: "task_1"},
		Issuer:      receipt.Issuer{ID: issuer, Kind: "harness", PublicKeyID: named},
		IssuedAt:    at,
		Identifiers: receipt.Identifiers{WorkspaceRef: "workspace_1", SessionID: "session_1", TaskID: "task_1"},
		Lifecycle:   receipt.Lifecycle{StartedAt: at, CompletedAt: at, FinalState: receipt.StateSucceeded},
		Trust:       receipt.TrustTiers{StartTier: "shadow", EndTier: "shadow"},
		ReplayInput: receipt.ReplayInput{Determinism: "best_effort"},
		ModelRoute:  receipt.ModelRoute{ChosenModel: receipt.Model{Provider: "none", Model: "none"}, RoutePolicyReason: "none needed"},
		Cost:        receipt.Cost{Currency: "USD"},
	}, chain.Head{})
	if err != nil {
		t.Fatal(err)
	}
	return sealed
}
