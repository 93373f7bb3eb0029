package receipt_test

import (
	"cmp"
	"crypto/ed25519"
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/note"

	"github.com/receiptkit/receiptkit/merkle"
	"github.com/receiptkit/receiptkit/merkle/tlog"
	"github.com/receiptkit/receiptkit/receipt"
)

// A growthRing contains the trusted keys for checkpoints.
type growthRing struct {
	receipt.Trust // embedded; never called for receipts
	list          []receipt.NoteKey
}

func (r *growthRing) NoteKeys() []receipt.NoteKey { return r.list }

func growthKeys() *growthRing {
	noon := time.Date(2026, 4, 25, 12, 0, 0, 0, time.UTC)
	log := []receipt.Role{receipt.RoleCheckpoint}

	r := new(growthRing)
	for _, k := range []receipt.Key{
		{ID: "log1", Roles: log, Origin: "log.example/1"},
		{ID: "log1next", Roles: log, Origin: "log.example/1", NotBefore: noon.Add(1)},
		{ID: "log1stolen", Roles: log, Origin: "log.example/1", Revoked: &receipt.Revocation{At: noon, Reason: "compromised"}},
		{ID: "log1late", Roles: log, Origin: "log.example/1", NotAfter: noon},
		{ID: "ownold", Roles: log, Origin: "log.example/old", Revoked: &receipt.Revocation{At: noon, Reason: receipt.ReasonSuperseded}},
		{ID: "nolog", Roles: []receipt.Role{receipt.RoleIssuer}, Origin: "stranger.example/stranger"},
	} {
		r.list = append(r.list, receipt.NoteKey{Key: &k, Public: growthKey(k.ID).Public().(ed25519.PublicKey)})
	}
	return r
}

// growthKey returns the key with the given ID.
func growthKey(id string) ed25519.PrivateKey {
	seed := sha256.Sum256([]byte(id))
	return ed25519.NewKeyFromSeed(seed[:])
}

// A growthSigner signs notes on behalf of a log.
type growthSigner struct {
	*tlog.Log
	private ed25519.PrivateKey
}

func (s growthSigner) Sign(msg []byte) ([]byte, error) { return ed25519.Sign(s.private, msg), nil }

// open signs a checkpoint with the keys listed in ids, and opens it with the keys of all logs. The
// first key specifies the origin.
func (r *growthRing) open(t *testing.T, ids string, size int, root merkle.Hash) *tlog.Signed {
	t.Helper()
	origins := map[string]string{"stranger": "stranger.example/stranger"}
	var logs []*tlog.Log
	for _, k := range r.list {
		if k.Has(receipt.RoleCheckpoint) {
			origins[k.ID] = k.Origin
			logs = append(logs, growthLog(t, k.Origin, k.ID))
		}
	}

	c := tlog.Checkpoint{Size: uint64(size), Root: root}
	var signers []note.Signer
	for _, id := range strings.Fields(ids) {
		c.Origin = cmp.Or(c.Origin, origins[id])
		signers = append(signers, growthSigner{growthLog(t, origins[id], id), growthKey(id)})
	}
	msg, err := note.Sign(&note.Note{Text: c.String()}, signers...)
	if err != nil {
		t.Fatal(err)
	}

	s, err := tlog.OpenSigned(msg, logs, nil)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func growthLog(t *testing.T, origin, id string) *tlog.Log {
	t.Helper()
	log, err := tlog.NewLog(origin, growthKey(id).Public().(ed25519.PublicKey))
	if err != nil {
		t.Fatal(err)
	}
	return log
}

// TestCheckGrowth verifies the result for combinations of trees, proofs, and signers of two
// checkpoints.
func TestCheckGrowth(t *testing.T) {
	keys := growthKeys()
	leaves := make([]merkle.Hash, 5)
	for i := range leaves {
		leaves[i] = merkle.LeafHash([]byte{byte(i)})
	}
	root := func(n int) merkle.Hash { return merkle.Root(leaves[:n]) }

	proof := func(from, to int) *tlog.Extension {
		x, err := tlog.ProveExtension(leaves[:to], uint64(from))
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	short, long := proof(3, 5), proof(3, 5)
	short.Hashes = short.Hashes[1:]
	long.Hashes[0][0] ^= 1

	type head struct {
		how  string
		size int
		root merkle.Hash
	}
	good := func(how string, size int) head { return head{how, size, root(size)} }
	open := func(h head) *tlog.Signed { return keys.open(t, h.how, h.size, h.root) }

	for name, c := range map[string]struct {
		from, to head
		proof    *tlog.Extension
		want     string // verdict, code, signers, revoked key, "later", and error type
	}{
		"good":                {good("log1", 3), good("log1", 5), proof(3, 5), "verified  log1 log1"},
		"same tree":           {good("log1", 3), good("log1", 3), proof(3, 3), "verified  log1 log1"},
		"any time":            {good("log1next", 3), good("log1late", 5), proof(3, 5), "verified  log1next log1late"},
		"shrunk":              {good("log1", 5), good("log1", 3), proof(3, 5), "refuted truncated log1 log1"},
		"two trees":           {good("log1", 3), head{"log1", 3, root(4)}, proof(3, 3), "refuted merkle_root_mismatch log1 log1"},
		"two trees, unsigned": {good("stranger", 3), head{"stranger", 3, root(4)}, nil, "refuted merkle_root_mismatch - -"},
		"no proof":            {good("log1", 3), good("log1", 5), nil, "refuted proof_invalid log1 log1"},
		"from another":        {good("log1", 3), good("log1", 5), proof(2, 5), "refuted proof_invalid log1 log1"},
		"from another root":   {head{"log1", 3, root(4)}, good("log1", 5), proof(3, 5), "refuted proof_invalid log1 log1"},
		"to another":          {good("log1", 3), good("log1", 5), proof(3, 4), "refuted proof_invalid log1 log1 later"},
		"to another root":     {good("log1", 3), head{"log1", 5, root(4)}, proof(3, 5), "refuted proof_invalid log1 log1 later"},
		"short":               {good("log1", 3), good("log1", 5), short, "refuted proof_invalid log1 log1 *merkle.LengthError"},
		"false":               {good("log1", 3), good("log1", 5), long, "refuted proof_invalid log1 log1 *merkle.RootError"},
		"unsigned":            {good("stranger", 3), good("stranger", 5), proof(3, 5), "undecided unknown_key - -"},
		"stolen":              {good("log1stolen", 3), good("log1", 5), proof(3, 5), "refuted key_revoked - log1 by log1stolen"},
		"stolen later":        {good("log1", 3), good("log1stolen", 5), proof(3, 5), "refuted key_revoked log1 - by log1stolen later"},
		"stolen beside":       {good("log1stolen log1", 3), good("log1", 5), proof(3, 5), "verified  log1 log1"},
		"superseded":          {good("ownold", 3), good("ownold", 5), proof(3, 5), "verified  ownold ownold"},
		"false and stolen":    {good("log1stolen", 3), good("log1", 5), short, "refuted proof_invalid - log1 *merkle.LengthError"},
	} {
		g := receipt.CheckGrowth(keys, open(c.from), open(c.to), c.proof)
		got := fmt.Sprintf("%v %s", g.Verdict, g.Code)
		for _, key := range g.Signers {
			if key == nil {
				got += " -"
			} else {
				got += " " + key.ID
			}
		}
		if g.Revoked != nil {
			got += " by " + g.Revoked.ID
		}
		if g.Later {
			got += " later"
		}
		if g.Err != nil {
			got += fmt.Sprintf(" %T", g.Err)
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}
