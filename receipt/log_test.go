package receipt_test

import (
	"cmp"
	"context"
	"crypto/ed25519"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/note"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/merkle"
	"github.com/receiptkit/receiptkit/merkle/tlog"
	"github.com/receiptkit/receiptkit/receipt"
)

// logKeys returns testKeys, together with keys for logs and witnesses that are valid around noon.
func logKeys() ring {
	r := testKeys()
	both := []receipt.Role{receipt.RoleIssuer, receipt.RoleCheckpoint}
	hour := noon.Add(time.Hour)
	stolen := func(at time.Time) *receipt.Revocation { return &receipt.Revocation{At: at, Reason: "compromised"} }
	for _, k := range []receipt.Key{
		{ID: "log1", Roles: []receipt.Role{receipt.RoleCheckpoint}, Origin: "log.example/1"},
		{ID: "log1next", Roles: []receipt.Role{receipt.RoleCheckpoint}, Origin: "log.example/1", NotBefore: noon.Add(1)},
		{ID: "log1stolen", Roles: []receipt.Role{receipt.RoleCheckpoint}, Origin: "log.example/1", Revoked: stolen(hour)},
		{ID: "log1late", Roles: []receipt.Role{receipt.RoleCheckpoint}, Origin: "log.example/1", NotAfter: noon},
		{ID: "log2", Roles: []receipt.Role{receipt.RoleCheckpoint}, Origin: "log.example/2"},
		{ID: "nolog", Roles: []receipt.Role{receipt.RoleIssuer}, Issuers: []string{"issuer_a"}, Origin: "log.example/no"},
		{ID: "own", Roles: both, Issuers: []string{"issuer_a"}, Origin: "log.example/own"},
		{ID: "boundlog", Roles: []receipt.Role{receipt.RoleCheckpoint}, Issuers: []string{"issuer_a"}, Origin: "log.example/bound"},
		{ID: "ownb", Roles: both, Issuers: []string{"issuer_b"}, Origin: "log.example/b"},
		{ID: "ownfree", Roles: both, Origin: "log.example/free"},
		{ID: "ownlate", Roles: both, Issuers: []string{"issuer_a"}, Origin: "log.example/late", NotAfter: noon},
		{ID: "ownearly", Roles: both, Issuers: []string{"issuer_a"}, Origin: "log.example/early", NotBefore: noon.Add(time.Second)},
		{ID: "ownstolen", Roles: both, Issuers: []string{"issuer_a"}, Origin: "log.example/stolen", Revoked: stolen(hour)},
		{ID: "ownold", Roles: both, Issuers: []string{"issuer_a"}, Origin: "log.example/old", Revoked: &receipt.Revocation{At: noon, Reason: receipt.ReasonSuperseded}},
		{ID: "w+", Roles: []receipt.Role{receipt.RoleWitness}},
		{ID: "wnamed", Roles: []receipt.Role{receipt.RoleWitness}, Origin: "witness.example"},
		{ID: "wearly", Roles: []receipt.Role{receipt.RoleWitness}, NotBefore: noon},
		{ID: "wstolen", Roles: []receipt.Role{receipt.RoleWitness}, Revoked: stolen(hour.Add(time.Hour))},
		{ID: "wold", Roles: []receipt.Role{receipt.RoleWitness}, Revoked: &receipt.Revocation{At: noon, Reason: receipt.ReasonSuperseded}},
		{ID: "wgone", Roles: []receipt.Role{receipt.RoleWitness}, Revoked: &receipt.Revocation{At: hour}},
	} {
		r.add(k, k.ID)
	}
	r.add(receipt.Key{ID: "stolenwitness", Roles: []receipt.Role{receipt.RoleWitness}}, "stolen")
	r.add(receipt.Key{ID: "logwitness", Roles: []receipt.Role{receipt.RoleWitness}}, "log1")
	r.add(receipt.Key{ID: "lognextwitness", Roles: []receipt.Role{receipt.RoleWitness}}, "log1next")
	r.add(receipt.Key{ID: "wgonebis", Roles: []receipt.Role{receipt.RoleWitness}}, "wgone")
	r.add(receipt.Key{ID: "log2witness", Roles: []receipt.Role{receipt.RoleWitness}}, "log2")
	r.add(receipt.Key{ID: "bwitness", Roles: []receipt.Role{receipt.RoleWitness}}, "b")
	r.add(receipt.Key{ID: "ownwitness", Roles: []receipt.Role{receipt.RoleWitness}}, "own")
	r.add(receipt.Key{ID: "ownstolenwitness", Roles: []receipt.Role{receipt.RoleWitness}}, "ownstolen")
	return r
}

// logSigner makes m a note.Signer with the given name.
type logSigner struct {
	*tlog.Log
	private ed25519.PrivateKey
}

func (s logSigner) Sign(msg []byte) ([]byte, error) { return ed25519.Sign(s.private, msg), nil }

func (m *member) asLog(t testing.TB, origin string) logSigner {
	t.Helper()
	log, err := tlog.NewLog(origin, m.private().Public().(ed25519.PublicKey))
	if err != nil {
		t.Fatal(err)
	}
	return logSigner{log, m.private()}
}

func (m *member) asWitness(t testing.TB) *tlog.Cosigner {
	t.Helper()
	name := strings.ReplaceAll(cmp.Or(m.Origin, m.ID), "+", "-") // a name that is valid in notes
	w, err := tlog.NewWitness(name, m.private().Public().(ed25519.PublicKey))
	if err != nil {
		t.Fatal(err)
	}
	return &tlog.Cosigner{Witness: w, SignMessage: func(_ context.Context, msg []byte) ([]byte, error) {
		return ed25519.Sign(m.private(), msg), nil
	}}
}

// checkpointOf signs a checkpoint with the signers listed in how: log IDs, followed by witness IDs
// with their times in seconds after noon, such as "log1 w1@-60 w2@3600". The first log specifies
// the origin.
func (r ring) checkpointOf(t testing.TB, how string, size uint64, root merkle.Hash, extensions ...string) []byte {
	t.Helper()
	c := tlog.Checkpoint{Size: size, Root: root, Extensions: extensions}
	var msg []byte
	var logs []note.Signer
	for _, word := range strings.Fields(how) {
		id, seconds, witness := strings.Cut(word, "@")
		m := r[id]
		if m == nil {
			m = newRing(receipt.Key{ID: id, Origin: "stranger.example/" + id})[id]
		}
		if !witness {
			c.Origin = cmp.Or(c.Origin, m.Origin)
			logs = append(logs, m.asLog(t, m.Origin))
		}
		if msg = r.sign(t, msg, c, logs); witness {
			after, err := strconv.Atoi(seconds)
			if err != nil {
				t.Fatal(err)
			}
			if msg, err = m.asWitness(t).Cosign(t.Context(), msg, noon.Add(time.Duration(after)*time.Second)); err != nil {
				t.Fatal(err)
			}
			logs = nil
		}
	}
	return msg
}

// sign returns the checkpoint c as a note signed by the given logs, or msg if there are none.
func (r ring) sign(t testing.TB, msg []byte, c tlog.Checkpoint, logs []note.Signer) []byte {
	t.Helper()
	if len(logs) == 0 {
		return msg
	}
	msg, err := note.Sign(&note.Note{Text: c.String()}, logs...)
	if err != nil {
		t.Fatal(err)
	}
	return msg
}

func hashOf(t testing.TB, data []byte) canon.Digest {
	t.Helper()
	doc, err := canon.Parse(data)
	if err != nil {
		t.Fatal(err)
	}
	hash, err := chain.Hash(doc)
	if err != nil {
		t.Fatal(err)
	}
	return hash
}

// leavesWith returns five leaves, the fourth of which is the receipt's leaf.
func leavesWith(t testing.TB, data []byte) []merkle.Hash {
	t.Helper()
	leaves := make([]merkle.Hash, 5)
	for i := range leaves {
		leaves[i] = merkle.LeafHash([]byte{byte(i)})
	}
	leaves[3] = receipt.CheckpointLeaf(hashOf(t, data))
	return leaves
}

// prove returns a proof that a tree of five leaves includes a receipt. The signers of the tree's
// checkpoint are listed in how.
func (r ring) prove(t testing.TB, data []byte, how string, extensions ...string) *tlog.Proof {
	t.Helper()
	leaves := leavesWith(t, data)
	path, err := merkle.ProveInclusion(leaves, 3)
	if err != nil {
		t.Fatal(err)
	}
	return &tlog.Proof{Index: 3, Hashes: path, Checkpoint: r.checkpointOf(t, how, 5, merkle.Root(leaves), extensions...)}
}

func with(t testing.TB, v *receipt.Verifier, e receipt.Evidence) *receipt.Verifier {
	t.Helper()
	v, err := v.With(e)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func proofs(list ...*tlog.Proof) receipt.Evidence { return receipt.Evidence{Proofs: list} }
